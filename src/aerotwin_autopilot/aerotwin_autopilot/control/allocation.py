# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From thrust and torque to rotor commands, from the geometry of any number of rotors."""

import math

import numpy as np

from aerotwin_autopilot.parameters import AirframeParameters
from aerotwin_core.kernel_cache import njit


def allocation_matrix(airframe: AirframeParameters) -> np.ndarray:
    """Return the (4, n) matrix from rotor thrusts to (thrust, torque x, y, z) in body axes.

    A rotor that turns counter-clockwise is dragged clockwise by the air and so is the body:
    its reaction torque about the upward axis is negative.
    """
    x, y = np.array(airframe.rotor_x_m), np.array(airframe.rotor_y_m)
    ccw = np.array(airframe.rotor_is_ccw)
    return np.vstack([np.ones(len(x)), y, -x, -airframe.moment_ratio_m * ccw])


@njit("void(f8[::1],f8[:,::1],f8,f8,f8,f8,f8,f8)", cache=True)
def allocate(thrusts, inverse, total, roll, pitch, yaw, lowest, highest):
    """Allocate a wrench to the rotors; beyond their limits yaw is reduced first, then thrust.

    Yaw is scaled until all rotors stay within bounds around the best thrust, then the thrust moves,
    and only when roll and pitch alone exceed the span are they scaled. `thrusts` (n,): output:
    thrust per rotor [N], within [lowest, highest]. `inverse` (n, 4): pseudo-inverse of the
    allocation matrix: the smallest thrusts for a wrench. `total`, `roll`, `pitch`, `yaw`: thrust
    [N] and body torques [N m].
    """
    n = inverse.shape[0]
    span = highest - lowest
    scale = 1.0
    low, high = math.inf, -math.inf
    for i in range(n):
        tilt = inverse[i, 1] * roll + inverse[i, 2] * pitch
        low, high = min(low, tilt), max(high, tilt)
    if high - low > span:
        scale = span / (high - low)
    yaw_scale = 1.0
    for i in range(n):
        for j in range(n):
            tilt = scale * (
                (inverse[i, 1] - inverse[j, 1]) * roll + (inverse[i, 2] - inverse[j, 2]) * pitch
            )
            turn = (inverse[i, 3] - inverse[j, 3]) * yaw
            if tilt + turn > span and turn > 0.0:
                yaw_scale = min(yaw_scale, max(0.0, (span - tilt) / turn))
    least, most = -math.inf, math.inf
    for i in range(n):
        thrusts[i] = scale * (inverse[i, 1] * roll + inverse[i, 2] * pitch)
        thrusts[i] += yaw_scale * inverse[i, 3] * yaw
        least = max(least, (lowest - thrusts[i]) / inverse[i, 0])
        most = min(most, (highest - thrusts[i]) / inverse[i, 0])
    share = min(max(total, least), most)
    for i in range(n):
        thrusts[i] = min(max(thrusts[i] + share * inverse[i, 0], lowest), highest)
