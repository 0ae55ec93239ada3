# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Orbits: MAV_CMD_DO_ORBIT, with the limits and defaults of PX4."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.guidance import Guidance
from aerotwin_autopilot.settings import Settings

NAN = math.nan
SMALLEST_RADIUS_M, LARGEST_RADIUS_M = 1.0, 1000.0
"""PX4 v1.14: the least radius of its orbit task, and MC_ORBIT_RAD_MAX."""
FASTEST_M_S, LARGEST_ACCELERATION_M_S2 = 10.0, 2.0
"""Limits of PX4's orbit task: a request beyond them is flown slower, on the same circle."""
ON_CIRCLE_M = 0.5

TO_CENTRE, INITIAL_HEADING, UNCONTROLLED, TANGENT, BY_STICK = range(5)  # ORBIT_YAW_BEHAVIOUR


@dataclass(frozen=True, kw_only=True)
class Orbit:
    """A circle as requested; NaN selects the default, for the centre the vehicle's position."""

    radius_m: float = NAN  # positive clockwise seen from above
    speed_m_s: float = NAN
    yaw_behaviour: int = TO_CENTRE  # ORBIT_YAW_BEHAVIOUR
    centre: tuple[float, float, float] = (NAN, NAN, NAN)

    @property
    def is_possible(self) -> bool:
        """Whether the radius can be flown."""
        is_default = math.isnan(self.radius_m)
        return is_default or SMALLEST_RADIUS_M <= abs(self.radius_m) <= LARGEST_RADIUS_M


class OrbitFlight:
    """Flies to the nearest point of the circle, then along it.

    `centre`, `radius_m` (3,): local axes [m]; positive clockwise. `is_circling`: true once the
    vehicle has reached the circle.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.request = Orbit()
        self.centre = np.zeros(3)
        self.radius_m = SMALLEST_RADIUS_M
        self.is_circling = False
        self._speed = self._reached_speed = self._angle = self._heading = 0.0
        self._time = NAN

    def begin(self, position: np.ndarray, yaw: float) -> None:
        """Start towards the circle of the last request."""
        r = self.request
        centre = np.array(r.centre)
        self.centre = np.where(np.isfinite(centre), centre, position)
        self.radius_m = SMALLEST_RADIUS_M if math.isnan(r.radius_m) else r.radius_m
        speed = 1.0 if math.isnan(r.speed_m_s) else abs(r.speed_m_s)
        fastest = math.sqrt(LARGEST_ACCELERATION_M_S2 * abs(self.radius_m))
        self._speed = min(speed, FASTEST_M_S, fastest)
        self._heading, self.is_circling, self._reached_speed = yaw, False, 0.0

    def step(self, guidance: Guidance, position: np.ndarray, time_s: float) -> None:
        """Write the target on the approach, then a set-point that moves along the circle."""
        if self.is_circling:
            self._circle(guidance, time_s)
        else:
            self._approach(guidance, position, time_s)

    def _approach(self, guidance: Guidance, position: np.ndarray, time_s: float) -> None:
        away = position[:2] - self.centre[:2]
        distance = float(np.hypot(*away))
        self._angle = math.atan2(away[1], away[0]) if distance > 0.1 else self._heading
        target = guidance.target
        target[:2] = self.centre[:2] + abs(self.radius_m) * self._direction()
        target[2] = self.centre[2]
        guidance.yaw = self._yaw()
        if np.linalg.norm(target - position) < ON_CIRCLE_M:
            self.is_circling, self._time = True, time_s

    def _circle(self, guidance: Guidance, time_s: float) -> None:
        dt, self._time = time_s - self._time, time_s
        gain = self._settings.values.acceleration_m_s2 * dt
        self._reached_speed = min(self._reached_speed + gain, self._speed)
        turn = -math.copysign(self._reached_speed, self.radius_m) / abs(self.radius_m)  # from east
        self._angle = math.remainder(self._angle + turn * dt, math.tau)
        out = self._direction()
        radius = abs(self.radius_m)
        place = self.centre[:2] + radius * out
        velocity = turn * radius * np.array([-out[1], out[0]])
        acceleration = -(turn**2) * radius * out
        follows = self.request.yaw_behaviour in (TO_CENTRE, TANGENT)
        guidance.kind = at.STREAM
        guidance.values["received_s"] = time_s
        guidance.stream[:] = (
            *place, self.centre[2], *velocity, 0.0, *acceleration, 0.0,
            self._yaw(), turn if follows else 0.0,
        )  # fmt: skip

    def _direction(self) -> np.ndarray:
        return np.array([math.cos(self._angle), math.sin(self._angle)])

    def _yaw(self) -> float:
        behaviour = self.request.yaw_behaviour
        if behaviour == TO_CENTRE:
            return math.remainder(self._angle + math.pi, math.tau)
        if behaviour == TANGENT:
            ahead = math.copysign(0.5 * math.pi, self.radius_m)
            return math.remainder(self._angle - ahead, math.tau)
        return self._heading
