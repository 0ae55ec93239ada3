# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A command of aerotwin that the page starts: its output and its end."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence

from aerotwin_core.child_python import python_command
from aerotwin_core.process_guard import ProcessGuard

MARK = "AEROTWIN_START_PAGE"
_READ_BYTES = 8192


class GuardedChild:
    """A running `aerotwin` command, in a session of its own: a Ctrl-C here does not reach it.

    It ends by itself or as it is told; if this process is killed, it is ended, too. `on_line` is
    called with each line of its output and its errors, `on_end` once it has ended, both in a thread
    of their own. `exit_code` is None until then.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        on_line: Callable[[str], None],
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.exit_code: int | None = None
        self._on_line, self._on_end = on_line, on_end
        self._ended = threading.Event()
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
        threading.Thread(target=self._follow, name="output of a child", daemon=True).start()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return not self._ended.is_set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for its end, so long at most [s]; return whether it has ended."""
        return self._ended.wait(timeout_s)

    def _follow(self) -> None:
        stream = self._popen.stdout
        assert stream is not None
        with stream:
            while data := stream.readline(_READ_BYTES):
                self._on_line(data.decode("utf-8", "replace").rstrip())
        self.exit_code = self._popen.wait()
        self._guard.gone(self._popen.pid)
        self._guard.dismiss()
        self._ended.set()
        self._on_end()

    def terminate(self) -> None:
        """Have it end; what it has begun is lost."""
        self._popen.terminate()

    def kill(self) -> None:
        """End it."""
        self._popen.kill()

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""
        self._popen.send_signal(signal.SIGINT)
