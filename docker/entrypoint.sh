#!/bin/bash
# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
set -e
. /opt/ros/jazzy/setup.bash
. /aerotwin/.venv/bin/activate
. /aerotwin/install/setup.bash
exec "$@"
