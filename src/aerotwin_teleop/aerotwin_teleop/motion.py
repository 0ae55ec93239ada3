# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a driver or pilot asks for: a velocity in the level body's axes and a rate of turn."""

from typing import NamedTuple


class SteeredMotion(NamedTuple):
    """Forward, left, up [m/s] and a turn to the left [rad/s], as in a cmd_vel."""

    forward: float = 0.0
    left: float = 0.0
    up: float = 0.0
    turn: float = 0.0

    def scaled(self, speed: float, turn: float) -> "SteeredMotion":
        """Return the motion with its speeds and its turn multiplied.

        >>> SteeredMotion(forward=1.0, turn=-1.0).scaled(0.5, 2.0)
        SteeredMotion(forward=0.5, left=0.0, up=0.0, turn=-2.0)
        """
        return SteeredMotion(
            self.forward * speed, self.left * speed, self.up * speed, self.turn * turn
        )

    def plus(self, other: "SteeredMotion") -> "SteeredMotion":
        """Return the sum of two motions, rounded to a millionth: steps add up to round numbers."""
        return SteeredMotion(*(round(a + b, 6) for a, b in zip(self, other, strict=True)))

    def within(self, speed: float, turn: float) -> "SteeredMotion":
        """Return the motion with each part limited."""
        limits = speed, speed, speed, turn
        return SteeredMotion(*(min(max(x, -m), m) for x, m in zip(self, limits, strict=True)))


AT_REST = SteeredMotion()
