# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A moving reference: from where it is to a target, within speed, acceleration and jerk."""

import math

from numba import types

from aerotwin_core.kernel_cache import njit

APPROACH_1_S = 1.0
"""Slope of speed over distance close to the target."""
FOLLOW_1_S = 4.0
"""How fast the reference reaches its desired speed; four times the slope damps the arrival."""
BRAKING_SHARE = 0.7
"""Part of the acceleration limit that braking plans with; the rest corrects."""

VECTOR = types.float64[::1]


@njit(types.float64(types.float64, types.float64, types.float64), cache=True)
def approach_speed(distance, acceleration, limit):
    """Return the speed from which a distance suffices to stop: linear near, square root far."""
    knee = acceleration / APPROACH_1_S**2
    if distance < knee:
        return min(limit, APPROACH_1_S * distance)
    return min(limit, math.sqrt(2.0 * acceleration * (distance - 0.5 * knee)))


@njit(
    types.void(
        VECTOR, VECTOR, types.float64, types.float64, types.float64, types.float64,
        types.float64, types.float64,
    ),
    cache=True,
)  # fmt: skip
def move(reference, target, speed, climb, descent, acceleration, jerk, dt):
    """Advance a reference (position, velocity, acceleration: 9 numbers) towards a target.

    Horizontal axes move together along the straight line; the vertical one on its own.
    """
    ex, ey, ez = target[0] - reference[0], target[1] - reference[1], target[2] - reference[2]
    distance = math.hypot(ex, ey)
    braking = BRAKING_SHARE * acceleration
    along = approach_speed(distance, braking, speed) / distance if distance > 1e-9 else 0.0
    vertical = approach_speed(abs(ez), braking, climb if ez > 0.0 else descent)
    wx = FOLLOW_1_S * (along * ex - reference[3])
    wy = FOLLOW_1_S * (along * ey - reference[4])
    wz = FOLLOW_1_S * (math.copysign(vertical, ez) - reference[5])
    length = math.hypot(wx, wy)
    if length > acceleration:
        wx, wy = wx * acceleration / length, wy * acceleration / length
    wz = min(max(wz, -acceleration), acceleration)
    jx, jy, jz = wx - reference[6], wy - reference[7], wz - reference[8]
    length = math.sqrt(jx * jx + jy * jy + jz * jz)
    if length > jerk * dt:
        share = jerk * dt / length
        jx, jy, jz = jx * share, jy * share, jz * share
    reference[6] += jx
    reference[7] += jy
    reference[8] += jz
    for i in range(3):
        reference[i] += (reference[3 + i] + 0.5 * reference[6 + i] * dt) * dt
        reference[3 + i] += reference[6 + i] * dt
