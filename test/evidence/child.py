# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Child processes that import `evidence`, which no installation lets them find."""

import os
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1]


def environment() -> dict[str, str]:
    """Return the environment of this process with the folder of `evidence` on Python's path."""
    rest = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(_FOLDER), *([rest] if rest else [])])
    return {**os.environ, "PYTHONPATH": path}
