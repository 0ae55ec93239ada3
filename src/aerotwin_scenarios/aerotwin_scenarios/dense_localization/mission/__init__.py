# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Mapping and scan flown as one mission, the loop closed through camera, map and autopilot."""
