# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The path of a body at a constant speed and rate of turn: an exact arc."""

import math

import numpy as np

_NEARLY_STRAIGHT = 1e-4
"""Half a turn [rad] below which sin(a) / a is 1 - a^2 / 6 to 1e-17."""


def arc(way: float, turn: float) -> tuple[float, float]:
    """Return how far ahead and to the left [m] an arc ends, from its length [m] and turn [rad].

    The chord of an arc is `way sin(turn / 2) / (turn / 2)` long and points to half the turn
    (Thrun, Burgard, Fox 2005, Probabilistic Robotics, eq. 5.9, without its division by the rate
    of turn).
    """
    half = 0.5 * turn
    share = 1.0 - half * half / 6.0 if abs(half) < _NEARLY_STRAIGHT else math.sin(half) / half
    return way * share * math.cos(half), way * share * math.sin(half)


def planar_pose(x: float, y: float, yaw: float) -> np.ndarray:
    """Return T (4, 4) of a pose in the plane z = 0, [m] and [rad]."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
