# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Set-points that come from outside: the stream that offboard flight follows."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_autopilot.control.setpoint import (
    P_ACCELERATION,
    P_POSITION,
    P_VELOCITY,
    P_YAW,
    P_YAW_RATE,
    Setpoint,
)

NAN = math.nan
STREAM_GAP_S = 0.5
"""Offboard needs a stream of at least 2 Hz before it is entered (as PX4)."""
LONGEST_EXTRAPOLATION_S = 0.2


@dataclass(frozen=True, kw_only=True)
class OffboardTarget:
    """One set-point message in local axes; NaN where the sender's type mask ignores a field."""

    position: tuple[float, float, float] = (NAN, NAN, NAN)
    velocity: tuple[float, float, float] = (NAN, NAN, NAN)
    acceleration: tuple[float, float, float] = (0.0, 0.0, 0.0)
    yaw: float = NAN
    yaw_rate: float = NAN

    @property
    def is_usable(self) -> bool:
        """True when something is asked for that the controller can follow."""
        return any(math.isfinite(value) for value in (*self.position, *self.velocity))

    @property
    def is_position_only(self) -> bool:
        """True when there is a place to go to and nothing said about how."""
        return all(math.isfinite(v) for v in self.position) and not any(
            math.isfinite(v) for v in self.velocity
        )


class OffboardStream:
    """The latest set-point and whether the stream is alive, in simulated time."""

    def __init__(self) -> None:
        self.target: OffboardTarget | None = None
        self._received_at = -math.inf
        self._previous_at = -math.inf

    def receive(self, target: OffboardTarget, time_s: float) -> None:
        """Take a set-point; one that asks for nothing is dropped."""
        if not target.is_usable:
            return
        self.target = target
        self._previous_at, self._received_at = self._received_at, time_s

    def is_alive(self, time_s: float) -> bool:
        """True when set-points stream at 2 Hz or more."""
        return (
            time_s - self._received_at <= STREAM_GAP_S
            and self._received_at - self._previous_at <= STREAM_GAP_S
        )

    def silence(self, time_s: float) -> float:
        """Return the seconds since the last set-point."""
        return time_s - self._received_at

    def write(self, setpoint: Setpoint, time_s: float, fallback_yaw: float) -> float:
        """Write the set-point carried forward to time_s; return the yaw asked for.

        Between two messages the position moves on with the velocity, and the velocity with the
        acceleration: the loops see a smooth path, not a staircase at the sender's rate.
        """
        target = self.target
        assert target is not None
        ahead = min(max(time_s - self._received_at, 0.0), LONGEST_EXTRAPOLATION_S)
        values = setpoint.values
        for i in range(3):
            a, v, p = target.acceleration[i], target.velocity[i], target.position[i]
            moving = 0.0 if math.isnan(v) else v
            values[P_POSITION + i] = p + (moving + 0.5 * a * ahead) * ahead
            values[P_VELOCITY + i] = v + a * ahead
            values[P_ACCELERATION + i] = a
        rate = 0.0 if math.isnan(target.yaw_rate) else target.yaw_rate
        if math.isnan(target.yaw):
            yaw = fallback_yaw if rate == 0.0 else NAN
        else:
            yaw = target.yaw + rate * ahead
        values[P_YAW] = yaw
        values[P_YAW_RATE] = rate
        return yaw


def position_array(target: OffboardTarget) -> np.ndarray:
    """Return the position of a target."""
    return np.array(target.position)
