# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The sticks of a radio from outside: what a receiver on board makes of them."""

from collections.abc import Sequence

from aerotwin_px4_bridge.hil_extras import stick_pulses_us

PERIOD_NS = 20_000_000
"""A common receiver sends a frame each 20 ms."""
SILENCE_NS = 500_000_000
"""A transmitter that is silent for so long is out of range; COM_RC_LOSS_T of PX4."""


class Sticks:
    """Positions of sticks and switches, each in [-1, 1], `at_most` so many."""

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._positions: Sequence[float] = ()
        self._heard_ns: int | None = None
        self._now_ns = self._due_ns = 0

    def set(self, positions: Sequence[float]) -> None:
        """Set them now. Raises ValueError if there are too many, or one is not finite."""
        stick_pulses_us(positions, at_most=self._at_most)
        self._positions, self._heard_ns = list(positions), self._now_ns

    def are_heard(self, now_ns: int) -> bool:
        """Return whether they were ever set, at a simulated time that has come."""
        self._now_ns = now_ns
        return self._heard_ns is not None

    def is_frame_due(self, now_ns: int) -> bool:
        """Return whether the receiver sends a frame at a simulated time; none before the first."""
        if not self.are_heard(now_ns) or now_ns < self._due_ns:
            return False
        self._due_ns = now_ns + PERIOD_NS
        return True

    @property
    def positions(self) -> Sequence[float] | None:
        """The positions; None once the transmitter is out of range."""
        if self._heard_ns is None or self._now_ns - self._heard_ns >= SILENCE_NS:
            return None
        return self._positions
