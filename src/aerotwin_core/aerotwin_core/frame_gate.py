# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the loop in step with nodes that process camera frames, and measures their latency."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class FrameLatency:
    """Wall time [s] from publishing the frame of a stamp to the output with the same stamp."""

    stamp_ns: int
    latency_s: float


class FrameGate:
    """Releases a frame only when all but the last few before it were answered.

    An answer is an output whose stamp equals the frame's. If one does not come within the limit,
    the gate stays open: the run continues, and reports it.

    `frames_in_flight` frames may be unanswered; 2 lets rendering and processing overlap. `limit_s`
    is the longest wait for one answer, `first_limit_s` that for the first (kernels are compiled,
    libraries loaded), wall time [s]. `meanwhile` is called while waiting; it must deliver answers
    (spin) and return within some milliseconds. `on_answer` is called with the latency [s] of every
    answer and the stamp [ns] of its frame.
    """

    def __init__(
        self,
        *,
        frames_in_flight: int,
        limit_s: float,
        first_limit_s: float,
        meanwhile: Callable[[], None],
        on_answer: Callable[[float, int], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if frames_in_flight < 1:
            raise ValueError(f"frames_in_flight must be at least 1, got {frames_in_flight}")
        self._frames_in_flight = frames_in_flight
        self._limit_s, self._first_limit_s = limit_s, first_limit_s
        self._meanwhile, self._clock = meanwhile, clock
        self._on_answer = on_answer
        self._sent_at: dict[int, float] = {}
        self.latencies: list[FrameLatency] = []
        self.n_passed_over = 0
        self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether frames are released without waiting for answers."""
        return self._is_open

    def open(self) -> None:
        """Release every frame from here on, including those that wait."""
        self._is_open = True

    def restart(self) -> None:
        """Forget the released frames: time begins anew."""
        self._sent_at.clear()
        self.latencies.clear()
        self.n_passed_over = 0

    def call_on_answer(self, on_answer: Callable[[float, int], None]) -> None:
        """Replace the callback of every answer: latency [s] and stamp [ns] of the frame."""
        self._on_answer = on_answer

    @property
    def n_unanswered(self) -> int:
        """Number of released frames without answer."""
        return len(self._sent_at)

    def pass_frame(self, stamp_ns: int) -> None:
        """Wait until the frame may be released, and record its release."""
        self.drain(self._frames_in_flight - 1)
        self._sent_at[stamp_ns] = self._clock()

    def answer(self, stamp_ns: int) -> None:
        """Record an output with this stamp; an unknown stamp is ignored."""
        sent_at = self._sent_at.pop(stamp_ns, None)
        if sent_at is None:
            return
        for older in [stamp for stamp in self._sent_at if stamp < stamp_ns]:
            del self._sent_at[older]  # outputs come in order: these frames were skipped
            self.n_passed_over += 1
        latency_s = self._clock() - sent_at
        self.latencies.append(FrameLatency(stamp_ns, latency_s))
        if self._on_answer is not None:
            self._on_answer(latency_s, stamp_ns)

    def drain(self, n_left: int = 0) -> None:
        """Wait until at most n_left frames are unanswered."""
        since, n_unanswered = self._clock(), self.n_unanswered
        while self.n_unanswered > n_left and not self.is_open:
            if self.n_unanswered < n_unanswered:  # each answer has its own limit
                since, n_unanswered = self._clock(), self.n_unanswered
            limit_s = self._limit_s if self.latencies else self._first_limit_s
            if self._clock() - since > limit_s:
                self.open()
                return
            self._meanwhile()
