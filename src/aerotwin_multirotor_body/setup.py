# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from setuptools import setup

# All else stands in setup.cfg; colcon cannot read this from there.
setup(python_requires=">=3.11")
