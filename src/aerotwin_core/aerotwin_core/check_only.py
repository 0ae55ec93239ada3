# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs that check what they were started with, and end before they do anything else."""

import os
from collections.abc import Mapping

_VARIABLE, _SET = "AEROTWIN_CHECK_ONLY", "1"
CHECK_ONLY: Mapping[str, str] = {_VARIABLE: _SET}
"""What is added to the environment of such a program; one that does not know it runs as always."""


def is_check_only(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether this program was started for its checks alone."""
    return environment.get(_VARIABLE) == _SET
