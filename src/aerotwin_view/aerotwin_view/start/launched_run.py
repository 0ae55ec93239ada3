# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A launch that the page started: its output, its state, its end."""

import re
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aerotwin_core.foreign_text import printable
from aerotwin_view.defaults import TIME_PASSES
from aerotwin_view.start.guarded_child import GuardedChild

STARTING, RUNNING, REPORTING = "starting", "running", "reporting"
STOPPING, ENDED = "stopping", "ended"
_MOST_LINES, _MOST_LETTERS = 300, 400
_VIEW = re.compile(r"view: (http://\S+)$")
_REPORT = re.compile(r"report: (\S.*)/report\.html$")
_CHAPTER = "writing the report: "
_REASON = re.compile(r"(?:fatal: |^aerotwin launch: )(\S.*)$")
"""What a node, or the launch itself, says at last of a run that failed."""
_OUTCOME = re.compile(r"flight: (\S.*) \([\d.]+ s, \S.*\)$")
"""What a simulator says of a flight, its length and its folder."""


class LaunchedRun:
    """A running `aerotwin launch`, which ends as the launch does by itself."""

    def __init__(self, line: str, arguments: Sequence[str]) -> None:
        self.line = line
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._view: str | None = None
        self._has_begun = self._is_reporting = False
        self._report: Path | None = None
        self._reason, self._outcome = "", ""
        self._is_stopping = False
        self._child = GuardedChild(["launch", *arguments], self._take)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._child.is_running

    @property
    def report_folder(self) -> Path | None:
        """The run folder whose report it named, if it has."""
        return self._report

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does; asked again, it gives up the report."""
        self._is_stopping = True
        if self.is_running:
            self._child.interrupt()

    def wait(self) -> None:
        """Wait for its end."""
        self._child.wait()

    def state(self) -> dict[str, Any]:
        """Return what a page shows of it."""
        if not self.is_running:
            phase = ENDED
        elif self._is_stopping:
            phase = STOPPING
        elif self._is_reporting:
            phase = REPORTING
        else:
            phase = RUNNING if self._view is not None and self._has_begun else STARTING
        return {
            "phase": phase,
            "line": self.line,
            "exit_code": self._child.exit_code,
            "reason": self._reason or self._outcome,
            "view": None if phase == ENDED else self._view,
            "output": list(self._lines),
        }

    def _take(self, line: str) -> None:
        if (view := _VIEW.search(line)) is not None:
            self._view = view[1]
        if line.endswith(TIME_PASSES):
            self._has_begun = True
        if _CHAPTER in line:
            self._is_reporting = True
        if (report := _REPORT.search(line)) is not None:
            self._report = Path(report[1])
        if (reason := _REASON.search(line)) is not None:
            self._reason = printable(reason[1], _MOST_LETTERS)
        if (outcome := _OUTCOME.search(line)) is not None:
            self._outcome = printable(outcome[1], _MOST_LETTERS)
        if line:
            self._lines.append(printable(line, _MOST_LETTERS))
