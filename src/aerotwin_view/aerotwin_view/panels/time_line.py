# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Time on the page: play and pause, rate, and a slider to any instant."""

import threading
import time
from collections.abc import Callable

from aerotwin_view.page import Page

RATES = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x", "50x")
UPDATE_S = 0.05
_SECOND = 1e9


class TimeLine:
    """The time that is shown, from the first to the last instant of a recording.

    `show` is called with a time [ns] whenever another one is to be shown, never by two threads at
    once. At the end it begins again.
    """

    def __init__(self, page: Page, start_ns: int, end_ns: int, show: Callable[[int], None]) -> None:
        self._start_ns, self._show = start_ns, show
        self._length_s = max((end_ns - start_ns) / _SECOND, UPDATE_S)
        self._at_s = 0.0
        self._lock, self._ends = threading.Lock(), threading.Event()
        with page.gui.add_folder("Time"):
            self._play = page.gui.add_checkbox("Play", initial_value=True)
            self._rate = page.gui.add_dropdown("Rate", RATES, initial_value="1x")
            self._slider = page.gui.add_slider(
                "Time [s]", 0.0, self._length_s, step=0.01, initial_value=0.0
            )

        @self._slider.on_update
        def _(event: object) -> None:
            if getattr(event, "client", None) is not None:  # moved by a person, not by this
                self.jump(float(self._slider.value))

    @property
    def at_s(self) -> float:
        """The time that is shown, from the start [s]."""
        return self._at_s

    def jump(self, at_s: float) -> None:
        """Show a time from the start [s], the nearest there is."""
        with self._lock:
            self._at_s = min(max(at_s, 0.0), self._length_s)
            self._show(self._start_ns + round(self._at_s * _SECOND))

    def run(self) -> None:
        """Play until `close`."""
        self.jump(0.0)
        last = time.monotonic()
        while not self._ends.wait(UPDATE_S):
            now = time.monotonic()
            passed_s, last = now - last, now
            if self._play.value:
                at_s = self._at_s + passed_s * float(str(self._rate.value).rstrip("x"))
                self.jump(0.0 if at_s >= self._length_s else at_s)
                self._slider.value = round(self._at_s, 2)

    def close(self) -> None:
        """End `run`."""
        self._ends.set()
