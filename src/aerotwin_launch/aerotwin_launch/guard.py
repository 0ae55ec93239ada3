# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The runner's side of the guardian, which ends the processes if the runner is killed."""

import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path

from aerotwin_launch import guardian

MARK = "AEROTWIN_LAUNCH"


class Guard:
    """A running guardian process; it tracks the started and the ended processes."""

    def __init__(self, folder: Path) -> None:
        self.mark = {MARK: uuid.uuid4().hex}  # in the environment of everything that is started
        [(name, value)] = self.mark.items()
        self._popen = subprocess.Popen(
            [sys.executable, "-I", "-S", guardian.__file__, str(folder), f"{name}={value}"],
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
