# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Start a program whose imports take seconds: Ctrl-C meanwhile ends it without a traceback."""

import importlib
import sys

from aerotwin_core.errors import UserError
from aerotwin_core.stop_request import StopRequest
from aerotwin_core.working_folder import check_environment, set_thread_defaults

EXIT_CONFIGURATION = 78
"""EX_CONFIG of sysexits.h."""


def run(module: str) -> None:
    """Import a module and call its `main`.

    SIGINT and SIGTERM end the process at once and silently until the program sets handlers of its
    own: until then there is nothing to clean up.
    """
    StopRequest(ends_at_once=True)
    try:
        check_environment()
    except UserError as error:
        from aerotwin_core.cli import say_fatal

        say_fatal(error)
        sys.exit(EXIT_CONFIGURATION)
    set_thread_defaults()
    importlib.import_module(module).main()
