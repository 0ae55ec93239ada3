# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pure pursuit: drive the arc through a point ahead on the route.

Coulter, Implementation of the pure pursuit path tracking algorithm, CMU-RI-TR-92-01 (1992).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_teach_repeat.tracking.motion_model import CommandResponse, State
from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.path_tracker import PathTracker, TrackerCommand, speed_at
from aerotwin_teach_repeat.tracking.route_path import FloatArray, RoutePath, Segment


def pursuit_command(
    state: State,
    route: RoutePath,
    schedule: FloatArray,
    segment: Segment,
    s_m: float,
    response: CommandResponse,
    parameters: TrackerParameters,
) -> tuple[float, float]:
    """Return speed [m/s] and turn rate [rad/s] towards the point a look-ahead from s on.

    kappa = 2 y / L^2 with the goal's lateral coordinate y in the vehicle's frame and its distance
    L. Beyond the end of a segment the goal lies on the tangent. The speed is the one scheduled
    where the vehicle will have reached it, lowered where the arc would exceed the greatest turn
    rate. The vehicle's response is compensated.
    """
    x, y, theta, v, _ = state
    p = parameters
    reach = float(np.clip(p.look_ahead_s * abs(v), p.min_look_ahead_m, p.max_look_ahead_m))
    points, heading, _ = route.at(min(s_m + reach, segment.stop_s_m), segment)
    beyond = segment.direction * max(s_m + reach - segment.stop_s_m, 0.0)
    gx = points[0, 0] + beyond * math.cos(heading[0]) - x
    gy = points[0, 1] + beyond * math.sin(heading[0]) - y
    sideways = -math.sin(theta) * gx + math.cos(theta) * gy
    curvature = 2.0 * sideways / max(gx * gx + gy * gy, p.min_look_ahead_m**2)
    taken_up = s_m + abs(v) * (p.speed_lag_s + p.control_period_s)
    slowest = p.creep_speed_m_s if s_m < segment.stop_s_m else 0.0
    speed = max(speed_at(route, schedule, taken_up, segment), slowest)
    if abs(curvature) * speed > p.max_turn_rate_rad_s:
        speed = p.max_turn_rate_rad_s / abs(curvature)
    velocity = segment.direction * speed
    omega = (velocity * curvature - response.turn_bias) / response.turn_gain
    return velocity / response.speed_gain, omega


class PurePursuitTracker(PathTracker):
    """Follows a route by pure pursuit."""

    def command(
        self, T_map_base: ArrayLike, twist: ArrayLike, s_m: float, *,
        time_s: float | None = None, age_s: float = 0.0,
    ) -> TrackerCommand:  # fmt: skip
        """Return the command that leaves at time_s; see `PathTracker.command`."""
        now = self._now(time_s)
        state, s_m, segment = self._where(T_map_base, twist, s_m, now, age_s)
        v, omega = pursuit_command(
            state, self.route, self.schedule, segment, s_m, self._memory.response, self.parameters
        )
        return self._send(v, omega, now)
