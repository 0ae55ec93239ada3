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
from aerotwin_autopilot.estimator.correction import MATRIX, SCALAR, VECTOR, fuse, watch
from aerotwin_autopilot.estimator.layout import (
    E_ATTITUDE,
    E_DATUM,
    E_POSITION,
    E_TURN,
    E_VELOCITY,
    M_VISION,
    M_VISION_STREAK,
    M_VISION_YAW,
    N_CORE,
    N_ERROR,
    V_POSITION,
    V_VARIANCE_P,
    V_VARIANCE_V,
    V_VARIANCE_YAW,
    V_VELOCITY,
    V_YAW,
    X_ATTITUDE,
    X_DATUM,
    X_POSITION,
    X_TURN,
    X_VELOCITY,
)
from aerotwin_core.kernel_cache import njit


@njit(types.UniTuple(types.float64, 3)(VECTOR), cache=True)
def nose(state):
    """Return the yaw of the nose and its slopes over an attitude error about x and y."""
    q = X_ATTITUDE
    r = rotation_entries(state[q], state[q + 1], state[q + 2], state[q + 3])
    level2 = max(r[0] * r[0] + r[3] * r[3], 1e-6)
    return math.atan2(r[3], r[0]), -r[6] * r[0] / level2, -r[6] * r[3] / level2


@njit(types.boolean(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, SCALAR, SCALAR), cache=True)
def _correct_place(state, covariance, scratch, monitor, row, late, gate2):
    """Fuse the position of a pose, axis by axis; return whether all passed the gate."""
    h, p, v = scratch[0], X_POSITION, X_VELOCITY
    is_alive = covariance.shape[0] > N_CORE
    passed = True
    for i in range(3):
        c, s = math.cos(state[X_TURN]), math.sin(state[X_TURN])  # each update may turn it
        x = state[p] - late * state[v]
        y = state[p + 1] - late * state[v + 1]
        z = state[p + 2] - late * state[v + 2]
        cx = c if i == 0 else (s if i == 1 else 0.0)
        cy = -s if i == 0 else (c if i == 1 else 0.0)
        cz = 1.0 if i == 2 else 0.0
        h[:] = 0.0
        h[E_POSITION], h[E_POSITION + 1], h[E_POSITION + 2] = cx, cy, cz
        h[E_VELOCITY], h[E_VELOCITY + 1], h[E_VELOCITY + 2] = -late * cx, -late * cy, -late * cz
        if is_alive:
            h[E_DATUM + i] = 1.0
            h[E_TURN] = -s * x - c * y if i == 0 else (c * x - s * y if i == 1 else 0.0)
        innovation = row[V_POSITION + i] - (cx * x + cy * y + cz * z + state[X_DATUM + i])
        squared = fuse(state, covariance, scratch, innovation, row[V_VARIANCE_P], gate2)
        watch(monitor, M_VISION, squared)
        passed = passed and squared >= 0.0
    return passed


@njit(types.void(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, SCALAR), cache=True)
def _correct_velocity(state, covariance, scratch, monitor, row, gate2):
    """Fuse the velocity of a pose, in the axes of the vision frame."""
    h, v = scratch[0], X_VELOCITY
    for i in range(3):
        c, s = math.cos(state[X_TURN]), math.sin(state[X_TURN])
        cx = c if i == 0 else (s if i == 1 else 0.0)
        cy = -s if i == 0 else (c if i == 1 else 0.0)
        cz = 1.0 if i == 2 else 0.0
        h[:] = 0.0
        h[E_VELOCITY], h[E_VELOCITY + 1], h[E_VELOCITY + 2] = cx, cy, cz
        if covariance.shape[0] > N_CORE and i < 2:
            h[E_TURN] = (
                -s * state[v] - c * state[v + 1] if i == 0 else c * state[v] - s * state[v + 1]
            )
        predicted = cx * state[v] + cy * state[v + 1] + cz * state[v + 2]
        innovation = row[V_VELOCITY + i] - predicted
        fuse(state, covariance, scratch, innovation, row[V_VARIANCE_V], gate2)


@njit(types.void(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, SCALAR, SCALAR), cache=True)
def correct_vision(state, covariance, scratch, monitor, row, late, gate2):
    """Fuse a pose of external vision; `late` is its age at the state's time [s]."""
    if not math.isnan(row[V_POSITION]):
        passed = _correct_place(state, covariance, scratch, monitor, row, late, gate2)
        monitor[M_VISION_STREAK] = 0.0 if passed else monitor[M_VISION_STREAK] + 1.0
    if not math.isnan(row[V_VELOCITY]):
        _correct_velocity(state, covariance, scratch, monitor, row, gate2)
    if not math.isnan(row[V_YAW]):
        h = scratch[0]
        yaw, slope_x, slope_y = nose(state)
        h[:] = 0.0
        h[E_ATTITUDE], h[E_ATTITUDE + 1], h[E_ATTITUDE + 2] = slope_x, slope_y, 1.0
        if covariance.shape[0] > N_CORE:
            h[E_TURN] = 1.0
        innovation = row[V_YAW] - yaw - state[X_TURN]
        innovation -= 2.0 * math.pi * math.floor(innovation / (2.0 * math.pi) + 0.5)
        squared = fuse(state, covariance, scratch, innovation, row[V_VARIANCE_YAW], gate2)
        watch(monitor, M_VISION_YAW, squared)


def anchor(state: np.ndarray, covariance: np.ndarray, row: np.ndarray, *, is_aligned: bool) -> None:
    """Estimate the vision frame from one pose and the present estimate, in place.

    Parameters
    ----------
    state, covariance : (24,), (23, 23) array
        Nominal state close to the time of the pose; rows and columns of the vision frame are
        written.
    row : (11,) array
        The pose, with a position.
    is_aligned : bool
        True if the frame has local axes by definition: then the turn is zero.

    Notes
    -----
    datum = z - R(turn) p with the errors of pose and estimate: the uncertainty of p becomes that
    of the datum, and the cross terms make it the same error.
    """
    yaw, slope_x, slope_y = nose(state)
    turn = 0.0 if is_aligned or math.isnan(row[V_YAW]) else float(row[V_YAW]) - yaw
    c, s = math.cos(turn), math.sin(turn)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    slope = np.array([[-s, -c, 0.0], [c, -s, 0.0], [0.0, 0.0, 0.0]]) @ state[:3]
    state[X_TURN] = turn
    state[X_DATUM : X_DATUM + 3] = row[V_POSITION : V_POSITION + 3] - R @ state[:3]
    J = np.zeros((N_ERROR, N_CORE))
    J[:N_CORE] = np.eye(N_CORE)
    noise = np.zeros((N_ERROR, 4))
    if not is_aligned:
        J[E_TURN, E_ATTITUDE : E_ATTITUDE + 3] = -slope_x, -slope_y, -1.0
        noise[E_TURN, 3] = math.sqrt(row[V_VARIANCE_YAW])
    J[E_DATUM : E_DATUM + 3, E_POSITION : E_POSITION + 3] = -R
    J[E_DATUM : E_DATUM + 3] -= np.outer(slope, J[E_TURN])
    noise[E_DATUM : E_DATUM + 3, :3] = np.eye(3) * math.sqrt(row[V_VARIANCE_P])
    noise[E_DATUM : E_DATUM + 3] -= np.outer(slope, noise[E_TURN])
    covariance[:] = J @ covariance[:N_CORE, :N_CORE] @ J.T + noise @ noise.T
