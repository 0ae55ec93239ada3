# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One line with the state of the flight: phase, flight time, real-time factor."""

import sys
import time
from typing import TextIO

from aerotwin_core.foreign_text import printable
from aerotwin_core.time import to_seconds

REFRESH_S = 0.5
PLAIN_REFRESH_S = 10.0
BAR_WIDTH = 24


class StatusLine:
    """Progress of a flight: redrawn in place on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        self._next_s = 0.0
        self._phase = ""

    def update(
        self, stamp_ns: int, real_time_factor: float, phase: str, fraction: float | None
    ) -> None:
        """Show the state if it is due, or if the phase is new."""
        now = time.monotonic()
        if now < self._next_s and (self._is_terminal or phase == self._phase):
            return
        self._next_s = now + (REFRESH_S if self._is_terminal else PLAIN_REFRESH_S)
        self._phase = phase
        bar = ""
        if fraction is not None:
            full = round(max(0.0, min(1.0, fraction)) * BAR_WIDTH)
            bar = f"[{'█' * full}{'░' * (BAR_WIDTH - full)}] "
        text = (
            f"{bar}flight {to_seconds(stamp_ns):6.1f} s | "
            f"{real_time_factor:5.2f} x real time | {printable(phase)}"
        )
        self._stream.write(f"\r\x1b[2K{text}" if self._is_terminal else f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        """End the line, with the last state on it."""
        if self._is_terminal:
            self._stream.write("\n")
            self._stream.flush()
