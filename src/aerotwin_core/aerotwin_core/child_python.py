# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Child processes of this Python, which never import from the working folder.

With `-c` and `-m` Python looks for every module in the working folder first, those of the standard
library included: a `json.py` beside somebody's data would run.
"""

import os
import sys
from multiprocessing import get_context
from multiprocessing.context import SpawnContext


def python_command(*arguments: str) -> list[str]:
    """Return the command that runs this interpreter, the working folder not on its path.

    Parameters
    ----------
    *arguments : str
        What follows the interpreter: `-m` and a module, or `-c` and a program, and theirs.
    """
    return [sys.executable, "-P", *arguments]


def spawning_context() -> SpawnContext:
    """Return multiprocessing's context of fresh processes, with the same protection.

    It starts them with `-c` and takes no options, so the environment of this process says it: what
    else this process starts gets it, too.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    return get_context("spawn")
