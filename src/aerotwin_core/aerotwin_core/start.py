# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Start a program whose imports take seconds: Ctrl-C meanwhile ends it without a traceback."""

import importlib
import os
import signal
from types import FrameType

EXIT_INTERRUPTED = 130


def run(module: str) -> None:
    """Import a module and call its `main`.

    SIGINT ends the process at once and in silence until the program sets a handler of its own:
    nothing has been made by then that would have to be put away.
    """
    signal.signal(signal.SIGINT, _leave)
    importlib.import_module(module).main()


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(EXIT_INTERRUPTED)
