# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands and motion of a ground vehicle: delays, first-order lags and exact arcs."""

import math
from collections import deque
from typing import NamedTuple

import numpy as np

_NEARLY_STRAIGHT = 1e-4
"""Half a turn [rad] below which sin(a) / a is 1 - a^2 / 6 to 1e-17."""


class VelocityCommand(NamedTuple):
    """Command of a path tracker.

    `v_m_s` is the speed of `base_link` along its x axis [m/s]; negative drives backwards.
    `omega_rad_s` is the yaw rate [rad/s], counter-clockwise seen from above.
    """

    v_m_s: float = 0.0
    omega_rad_s: float = 0.0


class Twist(NamedTuple):
    """Motion in the plane of the ground; `v_m_s`, `omega_rad_s` as in `VelocityCommand`."""

    v_m_s: float = 0.0
    omega_rad_s: float = 0.0


class CommandDelay:
    """Delays commands by `delay_ns` [ns]; until the first one takes effect the command is zero."""

    def __init__(self, delay_ns: int) -> None:
        if delay_ns < 0:
            raise ValueError(f"delay_ns must not be negative, got {delay_ns}")
        self._delay_ns = delay_ns
        self.forget()

    def forget(self) -> None:
        """Forget all commands, those in effect included: the command is zero."""
        self._waiting: deque[tuple[int, VelocityCommand]] = deque()
        self._acting = self._provided = VelocityCommand()

    def set_command(self, stamp_ns: int, command: VelocityCommand) -> None:
        """Add a command issued at a time [ns]; times do not decrease."""
        if command != self._provided:
            self._waiting.append((stamp_ns + self._delay_ns, command))
            self._provided = command

    def acting(self, stamp_ns: int) -> VelocityCommand:
        """Return the command in effect at a time [ns]."""
        while self._waiting and self._waiting[0][0] <= stamp_ns:
            self._acting = self._waiting.popleft()[1]
        return self._acting


def lag_step(
    value: float, target: float, *, time_constant_s: float, limit_per_s: float, dt: float
) -> tuple[float, float]:
    """Return the value after a step of dt [s], and its mean over the step.

    The lag `value' = (target - value) / time_constant` has the closed solution:

        value(dt) = target + (value - target) exp(-dt / time_constant)
        mean      = target + (value - target) time_constant / dt (1 - exp(-dt / time_constant))

    As long as the value would change faster than `limit_per_s`, it changes at that rate instead;
    the step in which one goes over to the other counts as all limited if its whole change is more
    than the limit allows. A time constant of 0 means no lag.
    """
    decay = math.exp(-dt / time_constant_s) if time_constant_s > 0.0 else 0.0
    change, allowed = (target - value) * (1.0 - decay), limit_per_s * dt
    if abs(change) > allowed:
        change = math.copysign(allowed, change)
        return value + change, value + 0.5 * change
    return value + change, target - change * time_constant_s / dt


def arc(way: float, turn: float) -> tuple[float, float]:
    """Return how far ahead and to the left [m] an arc ends, from its length [m] and turn [rad].

    The chord of an arc is `way sin(turn / 2) / (turn / 2)` long and points to half the turn.
    """
    half = 0.5 * turn
    share = 1.0 - half * half / 6.0 if abs(half) < _NEARLY_STRAIGHT else math.sin(half) / half
    return way * share * math.cos(half), way * share * math.sin(half)


def planar_pose(x: float, y: float, yaw: float) -> np.ndarray:
    """Return T (4, 4) of a pose in the plane z = 0, [m] and [rad]."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
