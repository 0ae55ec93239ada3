# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Speed schedule of a route: slower in turns, down to a stop at cusps and at the end."""

import numpy as np

from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.route_path import FloatArray, RoutePath, Segment

_STRAIGHT_1_M = 1e-9


def speed_schedule(route: RoutePath, parameters: TrackerParameters) -> FloatArray:
    """Return the speed (m,) at every sample of a route [m/s], never negative.

    The least of: the reference speed; the limit by turn rate, less its reserve, at the curvature;
    the limit by lateral acceleration; the speed from which the next slower sample can be reached,
    v^2 = v_next^2 + 2 a ds, with a reserve. The minimum speed holds in turns unless the turn rate
    itself forbids it; stops are approached at the creep speed at least.
    """
    curvature = np.maximum(np.abs(route.curvature_1_m), _STRAIGHT_1_M)
    allowed = np.minimum(
        (1.0 - parameters.turn_reserve) * parameters.max_turn_rate_rad_s / curvature,
        np.sqrt(parameters.max_lateral_acceleration_m_s2 / curvature),
    )
    speed = np.clip(allowed, parameters.min_speed_m_s, parameters.reference_speed_m_s)
    speed = np.minimum(speed, parameters.max_turn_rate_rad_s / curvature)
    for segment in route.segments:
        part = slice(segment.start, segment.stop)
        speed[part] = _brake(route.s_m[part], speed[part], parameters)
    return speed


def _brake(s_m: FloatArray, speed: FloatArray, parameters: TrackerParameters) -> FloatArray:
    """Return the speeds from which every slower one ahead, and the stop at the end, is reached.

    The running minimum of v_j^2 + 2 a (s_j - s_i) over j >= i, from behind.
    """
    square = speed**2
    square[-1] = 0.0
    fall = 2.0 * (1.0 - parameters.brake_reserve) * parameters.max_acceleration_m_s2 * s_m
    reachable = np.minimum.accumulate((square + fall)[::-1])[::-1] - fall
    slow = np.sqrt(np.maximum(reachable, 0.0))
    slow = np.maximum(slow, np.minimum(parameters.creep_speed_m_s, speed))
    slow[-1] = 0.0
    return slow


def speed_at(route: RoutePath, schedule: FloatArray, s_m: float, segment: Segment) -> float:
    """Return the scheduled speed at arc length s within a segment [m/s]."""
    part = slice(segment.start, segment.stop)
    if s_m >= segment.stop_s_m:
        return 0.0
    return float(np.interp(s_m, route.s_m[part], schedule[part]))
