# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Child processes of this Python, which never import from the working folder.

With `-c` and `-m` Python looks for every module in the working folder first, those of the standard
library included: a `json.py` in the folder of a user's data would run.
"""

import os
import sys
from multiprocessing import get_context
from multiprocessing.context import SpawnContext


def python_command(*arguments: str) -> list[str]:
    """Return the command that runs this interpreter without the working folder on its path.

    `arguments` follow the interpreter: `-m` and a module, or `-c` and a program, and theirs.
    """
    return [sys.executable, "-P", *arguments]


def spawning_context() -> SpawnContext:
    """Return multiprocessing's context of fresh processes, with the same protection.

    It starts them with `-c` and accepts no options, so the protection is set in the environment of
    this process, and other processes that this one starts inherit it.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    return get_context("spawn")
