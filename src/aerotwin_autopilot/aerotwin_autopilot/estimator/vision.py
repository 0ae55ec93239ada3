# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""External vision: poses of a camera or a tracker, in a frame that need not be the local one.

The vision frame is level. Local axes are turned in it by X_TURN and the local origin is at
X_DATUM: p_vision = turned(p_local) + datum. Where vision alone sets the local frame both are zero
by definition. With an existing local frame both are estimated from the first pose, with the errors
of that moment in the covariance, so that vision contributes only new information on the position.
"""

import math

import numpy as np
from numba import types

from aerotwin_autopilot.attitude import rotation_entries
from aerotwin_autopilot.estimator import layout as at
from aerotwin_autopilot.estimator.correction import MATRIX, SCALAR, VECTOR, fuse, watch
from aerotwin_core.kernel_cache import njit


@njit(types.UniTuple(types.float64, 3)(VECTOR), cache=True)
def nose(state):
    """Return the yaw of the nose and its slopes over an attitude error about x and y."""
    q = at.X_ATTITUDE
    r = rotation_entries(state[q], state[q + 1], state[q + 2], state[q + 3])
    level2 = max(r[0] * r[0] + r[3] * r[3], 1e-6)
    return math.atan2(r[3], r[0]), -r[6] * r[0] / level2, -r[6] * r[3] / level2


@njit(types.boolean(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, SCALAR, SCALAR), cache=True)
def _correct_place(state, covariance, scratch, monitor, row, late, gate2):
    """Fuse the position of a pose, axis by axis; return whether all passed the gate."""
    h, p, v = scratch[0], at.X_POSITION, at.X_VELOCITY
    is_alive = covariance.shape[0] > at.N_CORE
    passed = True
    for i in range(3):
        c, s = math.cos(state[at.X_TURN]), math.sin(state[at.X_TURN])  # each update may turn it
        x = state[p] - late * state[v]
        y = state[p + 1] - late * state[v + 1]
        z = state[p + 2] - late * state[v + 2]
        cx = c if i == 0 else (s if i == 1 else 0.0)
        cy = -s if i == 0 else (c if i == 1 else 0.0)
        cz = 1.0 if i == 2 else 0.0
        h[:] = 0.0
        h[at.E_POSITION], h[at.E_POSITION + 1], h[at.E_POSITION + 2] = cx, cy, cz
        h[at.E_VELOCITY], h[at.E_VELOCITY + 1], h[at.E_VELOCITY + 2] = (
            -late * cx,
            -late * cy,
            -late * cz,
        )
        if is_alive:
            h[at.E_DATUM + i] = 1.0
            h[at.E_TURN] = -s * x - c * y if i == 0 else (c * x - s * y if i == 1 else 0.0)
        innovation = row[at.V_POSITION + i] - (cx * x + cy * y + cz * z + state[at.X_DATUM + i])
        squared = fuse(state, covariance, scratch, innovation, row[at.V_VARIANCE_P], gate2)
        watch(monitor, at.M_VISION, squared)
        passed = passed and squared >= 0.0
    return passed


@njit(types.void(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, SCALAR), cache=True)
def _correct_velocity(state, covariance, scratch, monitor, row, gate2):
    """Fuse the velocity of a pose, in the axes of the vision frame."""
    h, v = scratch[0], at.X_VELOCITY
    for i in range(3):
        c, s = math.cos(state[at.X_TURN]), math.sin(state[at.X_TURN])
        cx = c if i == 0 else (s if i == 1 else 0.0)
        cy = -s if i == 0 else (c if i == 1 else 0.0)
        cz = 1.0 if i == 2 else 0.0
        h[:] = 0.0
        h[at.E_VELOCITY], h[at.E_VELOCITY + 1], h[at.E_VELOCITY + 2] = cx, cy, cz
        if covariance.shape[0] > at.N_CORE and i < 2:
            h[at.E_TURN] = (
                -s * state[v] - c * state[v + 1] if i == 0 else c * state[v] - s * state[v + 1]
            )
        predicted = cx * state[v] + cy * state[v + 1] + cz * state[v + 2]
        innovation = row[at.V_VELOCITY + i] - predicted
        fuse(state, covariance, scratch, innovation, row[at.V_VARIANCE_V], gate2)


@njit(types.void(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, SCALAR, SCALAR), cache=True)
def correct_vision(state, covariance, scratch, monitor, row, late, gate2):
    """Fuse a pose of external vision; `late` is its age at the state's time [s]."""
    if not math.isnan(row[at.V_POSITION]):
        passed = _correct_place(state, covariance, scratch, monitor, row, late, gate2)
        monitor[at.M_VISION_STREAK] = 0.0 if passed else monitor[at.M_VISION_STREAK] + 1.0
    if not math.isnan(row[at.V_VELOCITY]):
        _correct_velocity(state, covariance, scratch, monitor, row, gate2)
    if not math.isnan(row[at.V_YAW]):
        h = scratch[0]
        yaw, slope_x, slope_y = nose(state)
        h[:] = 0.0
        h[at.E_ATTITUDE], h[at.E_ATTITUDE + 1], h[at.E_ATTITUDE + 2] = slope_x, slope_y, 1.0
        if covariance.shape[0] > at.N_CORE:
            h[at.E_TURN] = 1.0
        innovation = row[at.V_YAW] - yaw - state[at.X_TURN]
        innovation -= 2.0 * math.pi * math.floor(innovation / (2.0 * math.pi) + 0.5)
        squared = fuse(state, covariance, scratch, innovation, row[at.V_VARIANCE_YAW], gate2)
        watch(monitor, at.M_VISION_YAW, squared)


def anchor(state: np.ndarray, covariance: np.ndarray, row: np.ndarray, *, is_aligned: bool) -> None:
    """Estimate the vision frame from one pose and the present estimate, in place.

    `state`, `covariance` (24,), (23, 23): nominal state close to the time of the pose; rows and
    columns of the vision frame are written. `row` (11,): the pose, with a position. `is_aligned`:
    true if the frame has local axes by definition: then the turn is zero.

    Notes
    -----
    datum = z - R(turn) p with the errors of pose and estimate: the uncertainty of p becomes that
    of the datum, and the cross terms make it the same error.
    """
    yaw, slope_x, slope_y = nose(state)
    turn = 0.0 if is_aligned or math.isnan(row[at.V_YAW]) else float(row[at.V_YAW]) - yaw
    c, s = math.cos(turn), math.sin(turn)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    slope = np.array([[-s, -c, 0.0], [c, -s, 0.0], [0.0, 0.0, 0.0]]) @ state[:3]
    state[at.X_TURN] = turn
    state[at.X_DATUM : at.X_DATUM + 3] = row[at.V_POSITION : at.V_POSITION + 3] - R @ state[:3]
    J = np.zeros((at.N_ERROR, at.N_CORE))
    J[: at.N_CORE] = np.eye(at.N_CORE)
    noise = np.zeros((at.N_ERROR, 4))
    if not is_aligned:
        J[at.E_TURN, at.E_ATTITUDE : at.E_ATTITUDE + 3] = -slope_x, -slope_y, -1.0
        noise[at.E_TURN, 3] = math.sqrt(row[at.V_VARIANCE_YAW])
    J[at.E_DATUM : at.E_DATUM + 3, at.E_POSITION : at.E_POSITION + 3] = -R
    J[at.E_DATUM : at.E_DATUM + 3] -= np.outer(slope, J[at.E_TURN])
    noise[at.E_DATUM : at.E_DATUM + 3, :3] = np.eye(3) * math.sqrt(row[at.V_VARIANCE_P])
    noise[at.E_DATUM : at.E_DATUM + 3] -= np.outer(slope, noise[at.E_TURN])
    covariance[:] = J @ covariance[: at.N_CORE, : at.N_CORE] @ J.T + noise @ noise.T
