# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A command of aerotwin that the page starts: its output and its end."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence

from aerotwin_core.child_python import python_command
from aerotwin_core.process_guard import ProcessGuard

MARK = "AEROTWIN_START_PAGE"
_READ_BYTES = 8192


class GuardedChild:
    """A running `aerotwin` command, in a session of its own: a Ctrl-C here does not reach it.

    It ends by itself or by `interrupt`; if this process is killed, it is ended, too.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._guard = ProcessGuard(MARK)
        try:
            self._popen = subprocess.Popen(
                python_command("-m", "aerotwin_core.cli", *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=os.environ | self._guard.mark,
                start_new_session=True,
            )
        except BaseException:
            self._guard.dismiss()
            raise
        self._guard.started(self._popen.pid)

    def lines(self) -> Iterator[str]:
        """Yield the lines of its output and its errors, until it closes them."""
        stream = self._popen.stdout
        assert stream is not None
        with stream:
            while data := stream.readline(_READ_BYTES):
                yield data.decode("utf-8", "replace").rstrip()

    def wait(self) -> int:
        """Wait for its end; return its exit code. It is called once."""
        exit_code = self._popen.wait()
        self._guard.gone(self._popen.pid)
        self._guard.dismiss()
        return exit_code

    def terminate(self) -> None:
        """Have it end; what it has begun is lost."""
        self._popen.terminate()

    def kill(self) -> None:
        """End it."""
        self._popen.kill()

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""
        self._popen.send_signal(signal.SIGINT)
