# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference over a receding horizon: poses on the route and the commands that keep them."""

from dataclasses import dataclass

import numpy as np

from aerotwin_teach_repeat.tracking.motion_model import CommandResponse
from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.path_tracker import speed_at
from aerotwin_teach_repeat.tracking.route_path import FloatArray, RoutePath, Segment


@dataclass(frozen=True, kw_only=True)
class Horizon:
    """Reference poses at n + 1 instants and the commands that would keep them.

    `points` (n + 1, 2) lie on the route [m], `heading_rad` (n + 1,) is continuous, `commands`
    (n, 2) are speed and turn (rate or curvature), compensated for the vehicle's response, and
    `direction` is +1 forward, -1 reverse.
    """

    points: FloatArray
    heading_rad: FloatArray
    commands: FloatArray
    direction: int


def plan_horizon(
    route: RoutePath,
    schedule: FloatArray,
    segment: Segment,
    s_m: float,
    speed_m_s: float,
    response: CommandResponse,
    parameters: TrackerParameters,
) -> Horizon:
    """Return the reference from arc length s on, for a vehicle at a speed along the route.

    The reference follows the speed schedule, within the vehicle's acceleration at the start, and
    waits at the end of the segment.
    """
    dt, speed = parameters.step_s, max(speed_m_s, 0.0)
    stations, speeds = [s_m], []
    for _ in range(parameters.n_steps):
        faster = speed + parameters.max_acceleration_m_s2 * dt
        speed = min(speed_at(route, schedule, stations[-1], segment), faster)
        stations.append(min(stations[-1] + dt * speed, segment.stop_s_m))
        speeds.append((stations[-1] - stations[-2]) / dt)
    points, heading, curvature = route.at(stations, segment)
    v = np.array(speeds)
    if parameters.vehicle == "bicycle":
        turn = segment.direction * 0.5 * (curvature[1:] + curvature[:-1])
    else:
        turn = np.diff(heading) / dt
    v_command = segment.direction * v / response.speed_gain
    turn_command = (turn - response.turn_bias) / response.turn_gain
    return Horizon(
        points=points[:, :2],
        heading_rad=heading,
        commands=np.column_stack([v_command, turn_command]),
        direction=segment.direction,
    )
