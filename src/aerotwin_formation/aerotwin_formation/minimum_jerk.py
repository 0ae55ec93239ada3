# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Minimum-jerk curves from rest to rest.

The share of the way at the share tau of the time is beta = 10 tau^3 - 15 tau^4 + 6 tau^5 (Flash and
Hogan 1985), of all motions between two rests the one of least squared jerk.
"""

import math

SPEED_PEAK = 15.0 / 8.0
"""Greatest speed over mean speed, in the middle."""
ACCELERATION_PEAK = 10.0 / math.sqrt(3.0)
"""Greatest acceleration over way / duration^2, at tau = 1/2 +- 1 / sqrt(12)."""


def share_of_way(tau: float) -> tuple[float, float, float]:
    """Return the share of the way at a share of the time, and its two derivatives by that.

    Before 0 and after 1 it is at rest.

    >>> share_of_way(0.5)
    (0.5, 1.875, 0.0)
    """
    if tau <= 0.0:
        return 0.0, 0.0, 0.0
    if tau >= 1.0:
        return 1.0, 0.0, 0.0
    square = tau * tau
    return (
        square * tau * (10.0 + tau * (6.0 * tau - 15.0)),
        30.0 * square * (1.0 - tau) ** 2,
        60.0 * tau * (1.0 - tau) * (1.0 - 2.0 * tau),
    )


def shortest_duration_s(
    way_m: float, *, maximum_speed_m_s: float, maximum_acceleration_m_s2: float
) -> float:
    """Return the shortest duration [s] of a curve of a length [m] within both limits."""
    return max(
        SPEED_PEAK * way_m / maximum_speed_m_s,
        math.sqrt(ACCELERATION_PEAK * way_m / maximum_acceleration_m_s2),
    )
