# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Normal equations of an alignment: their solution and its covariance."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_dense_localization.alignment.kernels import N_UNKNOWNS

_LONGEST = 5.0  # largest factor by which a step is lengthened


@dataclass(frozen=True, kw_only=True, eq=False)
class Equations:
    """H step = g at an estimate; `overlap` and `correlation` are those of `ImageAlignment`."""

    H: FloatArray  # (8, 8) of motion (v, omega), gain and offset
    g: FloatArray
    overlap: float
    correlation: float
    spread: float  # factor that makes the inverse of H a covariance


def image_shifts(points: np.ndarray) -> FloatArray:
    """Return M (6, 6): a motion d = (v, omega) shifts points in the image by d M d in mean square.

    Shifts are in units of the focal length. Where a rotation compensates a translation, as in front
    of a plane wall, a long motion causes little shift.

    `points` (n, 3): in the optical frame [m].
    """
    if len(points) == 0:
        return np.zeros((6, 6))
    x, y, z = np.asarray(points, dtype=np.float64).T
    x, y, none, one = x / z, y / z, np.zeros(len(z)), np.ones(len(z))
    of_x = np.column_stack([one / z, none, -x / z, -x * y, one + x * x, -y])
    of_y = np.column_stack([none, one / z, -y / z, -(one + y * y), x * y, x])
    return (of_x.T @ of_x + of_y.T @ of_y) / len(z)


def solve(equations: Equations) -> FloatArray | None:
    """Return the step; unobservable unknowns, such as a fixed gain, keep their value."""
    H, scale = equations.H, np.sqrt(np.diag(equations.H))
    is_observable = scale > 0.0
    if not is_observable[:6].all():
        return None
    step = np.zeros(N_UNKNOWNS)
    A = H[np.ix_(is_observable, is_observable)] / np.outer(
        scale[is_observable], scale[is_observable]
    )
    try:
        step[is_observable] = (
            np.linalg.solve(A, equations.g[is_observable] / scale[is_observable])
            / scale[is_observable]
        )
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None


def lengthened(
    equations: Equations, step: FloatArray, before: FloatArray | None, taken: FloatArray | None
) -> float:
    """Return the factor by which to lengthen a motion, from how much too short the last one was.

    Noise in a view's slopes, and weights that change with the residuals, make H too large: each
    step (v, omega) falls short by the same share. Moving by `taken` turned the last requested step,
    `before`, into this one; the remaining way follows.

    Reference: Barzilai, Borwein: Two-point step size gradient methods. IMA J. Numerical Analysis 8,
    1988; the lengths here are those of H.
    """
    if before is None or taken is None:
        return 1.0
    H = equations.H[:6, :6]
    gained = float(taken @ H @ (before - step))
    if not gained > 0.0:
        return 1.0
    return float(np.clip(taken @ H @ taken / gained, 1.0, _LONGEST))


def inverse_of_motion(H: FloatArray) -> FloatArray:
    """Return the inverse of H for the motion, gain and offset unknown; infinite if singular."""
    is_observable = np.diag(H) > 0.0
    try:
        return np.asarray(
            np.linalg.inv(H[np.ix_(is_observable, is_observable)])[:6, :6], dtype=np.float64
        )
    except np.linalg.LinAlgError:
        return np.full((6, 6), np.inf)


def spread_of(sums: FloatArray) -> float:
    """Return the factor by which H, whose weights change with the residuals, is overconfident.

    The variance of an M-estimator is E[psi^2] / E[psi']^2 (Huber: Robust Statistics, 1981, 3.2);
    the inverse of H has 1 / E[w] in its place.
    """
    w, psi_squared, psi_slope = sums[:3]
    return float(psi_squared * w / psi_slope**2) if psi_slope > 0.0 else np.inf


def correlation_of(sums: FloatArray) -> float:
    """Return the correlation of view and image; 0 where one of them is uniform."""
    n, a, b, aa, bb, ab = sums[3:]
    spread = (n * aa - a * a) * (n * bb - b * b)
    return float((n * ab - a * b) / np.sqrt(spread)) if spread > 0.0 else 0.0
