# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Start a program whose imports take seconds: Ctrl-C meanwhile ends it without a traceback.

Every node's entry point goes through here, as `aerotwin_core.start:program.PACKAGE.MODULE.main`:
had it named its module, that would be imported before anything could be done about signals.
"""

import importlib

from aerotwin_core.errors import UserError
from aerotwin_core.stop_request import StopRequest
from aerotwin_core.working_folder import check_environment, set_thread_defaults

EXIT_CONFIGURATION = 78
"""EX_CONFIG of sysexits.h."""


def run(module: str, function: str = "main") -> int | None:
    """Import a module, call its function, and return the exit code.

    SIGINT and SIGTERM end the process at once and silently until the program sets handlers of its
    own: until then there is nothing to clean up.
    """
    StopRequest(ends_at_once=True)
    try:
        check_environment()
    except UserError as error:
        from aerotwin_core.cli import say_fatal

        say_fatal(error)
        return EXIT_CONFIGURATION
    set_thread_defaults()
    code: int | None = getattr(importlib.import_module(module), function)()
    return code


class LazyProgram:
    """A function of a module by its dotted name, imported when it is called, by `run`."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __getattr__(self, name: str) -> "LazyProgram":
        if name.startswith("__"):
            raise AttributeError(name)
        return LazyProgram(f"{self._name}.{name}".lstrip("."))

    def __call__(self) -> int | None:
        """Run it, and return its exit code."""
        module, _, function = self._name.rpartition(".")
        return run(module, function)


program = LazyProgram()
"""What entry points begin with."""
