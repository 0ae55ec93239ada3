# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Views of past runs that the page started, each by `aerotwin view RUN`."""

import re
import threading
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_view.start.guarded_child import GuardedChild

MOST_PLAYED = 3
"""Of another one the oldest is ended: each holds a flight and its world."""
_ADDRESS = re.compile(r"(http://\S+)  \(Ctrl-C ends\)$")
_MOST_LETTERS = 400
_PATIENCE_S, _END_S = 120.0, 5.0
"""The world of a run may have to be made anew; a view ends at once."""


class PlayedRun:
    """A running view of a past run."""

    def __init__(self, run: Path, host: str, port: int) -> None:
        self._name = run.name
        self._address: str | None = None
        self._last_line = ""
        self._is_known = threading.Event()
        arguments = ["view", str(run), "--host", host, "--port", str(port)]
        self._child = GuardedChild(arguments, self._take, self._is_known.set)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._child.is_running

    def address(self) -> str:
        """Wait until its page is there and return the address; UserError with the reason if not."""
        if not self._is_known.wait(_PATIENCE_S):
            self.end()
            raise UserError(f"play {self._name}: no view after {_PATIENCE_S:.0f} s; see its disk")
        if self._address is None:
            raise UserError(f"play {self._name}: its view has ended: {self._last_line}")
        return self._address

    def end(self) -> None:
        """End it, and wait for that."""
        if self.is_running:
            self._child.terminate()  # it has nothing to save; a shell's & makes it ignore SIGINT
        if not self._child.wait(_END_S):
            self._child.kill()
            self._child.wait()

    def _take(self, line: str) -> None:
        if (found := _ADDRESS.search(line)) is not None:
            self._address = found[1]
            self._is_known.set()
        self._last_line = printable(line, _MOST_LETTERS) or self._last_line


class PlayedRuns:
    """The views of past runs that are open, from any thread.

    `host` is where they listen, `port` from where each looks for a free one.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._played: dict[Path, PlayedRun] = {}
        self._is_ended = False
        self._lock = threading.Lock()

    def address(self, run: Path) -> str:
        """Return the address of the view of a run, which is started unless it is open.

        Raises UserError if it cannot be shown.
        """
        with self._lock:
            if self._is_ended:
                raise UserError("play: the page has ended; start aerotwin view again")
            self._drop_ended()
            played = self._played.pop(run, None) or PlayedRun(run, self._host, self._port)
            self._played[run] = played
            oldest = list(self._played)[:-MOST_PLAYED]
            closed = [self._played.pop(each) for each in oldest]
        for each in closed:
            each.end()
        return played.address()

    def _drop_ended(self) -> None:
        self._played = {run: each for run, each in self._played.items() if each.is_running}

    def end(self) -> None:
        """End all."""
        with self._lock:
            self._is_ended = True
            played = list(self._played.values())
        for each in played:
            each.end()
