# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin bench` and `aerotwin verify` for one more version: they moved to `test/evidence`."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from aerotwin_core.errors import UserError


def evidence_command(name: str) -> ModuleType:
    """Return the module of a verb that is no longer installed.

    Raises `UserError` if this installation is not in a checkout of the source.
    """
    folder = Path(__file__).resolve().parents[3] / "test"
    if not (folder / "evidence").is_dir():
        raise UserError(f"it is part of the source tree and not installed: `make {name}` in a "
                        "checkout runs it")  # fmt: skip
    sys.path.append(str(folder))
    return importlib.import_module(f"evidence.{name}_command")
