# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ODOMETRY with its covariances: the one telemetry message with its own computation."""

import math
import struct

import numpy as np
from numba import types

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.attitude import rotation_entries
from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.estimator import layout as lay
from aerotwin_autopilot.estimator.kernel import covariance_at_present
from aerotwin_core.kernel_cache import njit

HALF = math.sqrt(0.5)
FRAME_LOCAL_NED, FRAME_BODY_FRD = 1, 12
ESTIMATOR_AUTOPILOT = 8
N_VALUES = 55  # position 3, quaternion 4, velocity 3, rates 3, two upper triangles of 21


@njit(types.void(types.float32[::1], types.float64[::1], types.int64[::1]), cache=True)
def odometry_values(out, arena, cursor):
    """Write the numbers of ODOMETRY, in NED and FRD, from the arena's estimate.

    MAVLink common.xml, message 331: the pose covariance over x, y, z, roll, pitch, yaw in the
    frame of the pose, the velocity's in that of the body; NaN where unknown (the rates).
    """
    o = arena[at.A_OUTPUT : at.A_STATE]
    covariance = np.empty((cursor[lay.C_ALIVE], lay.N_ERROR))
    covariance_at_present(covariance, arena, cursor)
    x, y, z, w = (
        o[lay.O_ATTITUDE],
        o[lay.O_ATTITUDE + 1],
        o[lay.O_ATTITUDE + 2],
        o[lay.O_ATTITUDE + 3],
    )
    r = rotation_entries(x, y, z, w)
    sign = 1.0 if w + z >= 0.0 else -1.0
    out[0], out[1], out[2] = o[1], o[0], -o[2]
    out[3], out[4] = sign * HALF * (w + z), sign * HALF * (x + y)
    out[5], out[6] = sign * HALF * (x - y), sign * HALF * (w - z)
    to_frd = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            to_frd[i, j] = r[3 * j + i] if i == 0 else -r[3 * j + i]
    for i in range(3):
        out[7 + i] = 0.0
        for j in range(3):
            out[7 + i] += to_frd[i, j] * o[lay.O_VELOCITY + j]
        out[10 + i] = o[lay.O_RATE + i] if i == 0 else -o[lay.O_RATE + i]
    source = (1, 0, 2, lay.E_ATTITUDE + 1, lay.E_ATTITUDE, lay.E_ATTITUDE + 2)
    k = 13
    for i in range(6):
        for j in range(i, 6):
            flipped = (i % 3 == 2) != (j % 3 == 2)
            value = covariance[source[i], source[j]]
            out[k] = -value if flipped else value
            out[k + 21] = math.nan
            if i < 3 and j < 3:
                total = 0.0
                for a in range(3):
                    for b in range(3):
                        turned = to_frd[i, a] * covariance[lay.E_VELOCITY + a, lay.E_VELOCITY + b]
                        total += turned * to_frd[j, b]
                out[k + 21] = total
            k += 1


_TIME, _TAIL = struct.Struct("<Q"), struct.Struct("<BBBBb")


def odometry_payload(autopilot: Autopilot) -> bytes | None:
    """Return the payload of ODOMETRY, None before there is an estimate."""
    estimator = autopilot.estimator
    if not estimator.is_initialised:
        return None
    values = np.empty(N_VALUES, dtype=np.float32)
    odometry_values(values, estimator.arena.array, estimator.arena.cursor)
    tail = _TAIL.pack(
        FRAME_LOCAL_NED, FRAME_BODY_FRD, estimator.n_vision_resets & 0xFF, ESTIMATOR_AUTOPILOT, 0
    )
    return _TIME.pack(autopilot.time_us) + values.tobytes() + tail
