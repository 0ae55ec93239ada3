# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Leave no process behind when the program that started it is killed."""

import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path

from aerotwin_core import guardian


class ProcessGuard:
    """A running guardian process, which ends the processes if this one is killed.

    `mark` belongs into the environment of everything that is started; its `name` differs among
    programs that start each other. `folder` is then deleted, too.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.mark = {name: uuid.uuid4().hex}
        self._popen = subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                guardian.__file__,
                str(folder or ""),
                f"{name}={self.mark[name]}",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        self.pid = self._popen.pid

    def started(self, pid: int) -> None:
        """Report the start of a process in a session of its own."""
        self._send(f"+{pid}")

    def gone(self, pid: int) -> None:
        """Report the end of a process and its group: the pid may be reused."""
        self._send(f"-{pid}")

    def dismiss(self) -> None:
        """Report the orderly end, and wait for the guardian to end."""
        self._send("done")
        with suppress(OSError):
            if self._popen.stdin is not None:
                self._popen.stdin.close()
        self._popen.wait()

    def _send(self, token: str) -> None:
        with suppress(OSError):
            if self._popen.stdin is not None:
                self._popen.stdin.write(f"{token}\n".encode())
                self._popen.stdin.flush()
