# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lets the tests import the recordings that they share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
