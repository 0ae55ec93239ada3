# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A program that is started to be measured, and leaves no process behind."""

import os
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from aerotwin_core.errors import UserError
from aerotwin_core.process_guard import ProcessGuard
from aerotwin_trajectory_evaluation.orphans import Orphans
from aerotwin_trajectory_evaluation.process_tree import end_tree


class MeasuredProgram:
    """A program that runs while the context is entered.

    On leaving, all that it started is ended, be it in a session of its own, without its parent or
    with an empty environment. If the caller is killed, what has `mark` in its environment is ended:
    the name of a variable, which differs among callers that start each other. The caller starts
    nothing else meanwhile (`Orphans`).

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    mark : str
        Name of the variable.
    patience_s : float
        From SIGTERM to SIGKILL.
    **options
        Of `subprocess.Popen`; `env` is extended.

    Attributes
    ----------
    popen : subprocess.Popen
        The program; it has ended after the context.
    n_left : int
        Processes that a program that had ended by itself left running; known after the context.

    Raises
    ------
    aerotwin_core.errors.UserError
        On entering, if it cannot be started.
    """

    popen: subprocess.Popen

    def __init__(
        self, command: Sequence[str], *, mark: str, patience_s: float, **options: Any
    ) -> None:
        self._command, self._options = command, options
        self._mark, self._patience_s = mark, patience_s
        self.n_left = 0

    def __enter__(self) -> "MeasuredProgram":
        self._guard = ProcessGuard(self._mark)
        self._orphans = Orphans()
        self._orphans.__enter__()
        environment = {**self._options.get("env", os.environ), **self._guard.mark}
        try:
            self.popen = subprocess.Popen(self._command, **self._options | {"env": environment})
        except (OSError, ValueError) as error:  # ValueError: a zero byte in an argument
            self._orphans.__exit__(None, None, None)
            self._guard.dismiss()
            reason = error.strerror if isinstance(error, OSError) else error
            raise UserError(f"{self._command[0]}: cannot be started ({reason})") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        has_ended = self.popen.poll() is not None
        n = end_tree(
            self.popen.pid,
            patience_s=self._patience_s,
            mark=self._guard.mark,
            orphans=self._orphans.pids,
        )
        self.n_left = n if has_ended else 0
        self.popen.wait()
        self._orphans.__exit__(kind, error, traceback)
        self._guard.dismiss()
