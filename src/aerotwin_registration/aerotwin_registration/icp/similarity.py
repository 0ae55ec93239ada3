# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rigid motions and similarities: least-squares fits of pairs, steps, and their size."""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import transform_points
from aerotwin_core.rigid_motion import rotation_svd

LARGEST_GROWTH = 2.0  # of one fit: pairs of nearest points that need more are invalid
_NO_SPREAD = 1e-12  # variance of coincident points, as a share of their mean square: rounding


def fit_rigid(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return T_target_source (4, 4) that moves paired points onto each other, least squares."""
    return fit_similarity(source, target, with_scale=False)


def fit_similarity(
    source: np.ndarray, target: np.ndarray, *, with_scale: bool = True
) -> np.ndarray:
    """Return S_target_source (4, 4), scale times rotation and translation, least squares.

    Pairs that do not determine a rotation (all points coincide) give a shift alone.

    Reference: Umeyama 1991, equations 34-43.
    """
    x, q, xx = source.sum(axis=0), target.sum(axis=0), float(np.sum(source * source))
    return fit_moments(float(len(source)), x, q, target.T @ source, xx, with_scale=with_scale)


def fit_moments(
    weight: float,
    x: np.ndarray,
    q: np.ndarray,
    qx: np.ndarray,
    xx: float,
    *,
    with_scale: bool,
) -> np.ndarray:
    """Return the fit of `fit_similarity` from (weighted) sums over the pairs.

    `weight` is the sum of the weights, `x` and `q` (3,) the sums of source and target points, `qx`
    (3, 3) that of q x^T, `xx` that of x^T x.
    """
    x, q = x / weight, q / weight
    U, values, Vt = rotation_svd(qx / weight - np.outer(q, x))
    R = U @ Vt
    spread = xx / weight - float(x @ x)
    has_spread = spread > _NO_SPREAD * (xx / weight)
    scale = float(values.sum()) / spread if with_scale and has_spread else 1.0
    scale = float(np.clip(scale, 1.0 / LARGEST_GROWTH, LARGEST_GROWTH))
    S = np.eye(4)
    S[:3, :3] = scale * R
    S[:3, 3] = q - scale * (R @ x)
    return S


def step_about(centre: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return the (4, 4) motion of a step: shift, rotation vector, log of scale, about a centre."""
    S = np.eye(4)
    growth = np.clip(np.exp(step[6]), 1.0 / LARGEST_GROWTH, LARGEST_GROWTH)
    S[:3, :3] = growth * Rotation.from_rotvec(step[3:6]).as_matrix()
    S[:3, 3] = centre + step[:3] - S[:3, :3] @ centre
    return S


def split_scale(S: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (T, scale) of a similarity, T orthonormal to rounding; ValueError if it mirrors."""
    U, values, Vt = rotation_svd(S[:3, :3])
    if values[2] < 0.0:
        raise ValueError(f"a similarity must not mirror, got {S[:3, :3].tolist()}")
    T = S.copy()
    T[:3, :3] = U @ Vt
    return T, float(np.prod(values) ** (1.0 / 3.0))


def motion_of(
    S_motion: np.ndarray, source: np.ndarray, S_initial: np.ndarray
) -> tuple[float, float]:
    """Return how far [m] a motion shifts the centre of the source and how far it turns it [deg]."""
    centre = transform_points(S_initial, source.mean(axis=0, keepdims=True))
    shift = float(np.linalg.norm(transform_points(S_motion, centre) - centre))
    R = split_scale(S_motion)[0][:3, :3]
    return shift, float(np.degrees(Rotation.from_matrix(R).magnitude()))
