# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lens distortion and its inverse, on normalised image coordinates (x/z, y/z).

Two models, those of OpenCV and of `sensor_msgs/CameraInfo`: Brown's (`plumb_bob`: radial and
decentring terms) and the fisheye of Kannala and Brandt (`equidistant`: the radius as a polynomial
of the angle). Both use an odd polynomial g(s) = s (1 + c1 s^2 + c2 s^4 + ...), which has an
inverse up to its first turning point.

References
----------
D. C. Brown: Close-range camera calibration. Photogrammetric Engineering 37(8), 1971.
J. Kannala, S. Brandt: A generic camera model and calibration method for conventional, wide-angle,
and fish-eye lenses. IEEE Trans. PAMI 28(8), 2006.
OpenCV 4.x reference, modules calib3d and calib3d_fisheye (order of the coefficients).
"""

import math
from collections.abc import Sequence

import numpy as np

from aerotwin_core.frames import FloatArray

_MAX_ITERATIONS = 80  # plain bisection of a double ends after 64; Newton takes 4 to 6
_ROUNDING = 4.0 * np.finfo(np.float64).eps
_RESIDUAL = 1e-12  # normalised; 1e-9 px at a focal length of 1000 px


def odd_polynomial(coefficients: Sequence[float], s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return g(s) = s (1 + c1 s^2 + c2 s^4 + ...) and its derivative."""
    square = s * s
    factor, slope = np.zeros_like(s), np.zeros_like(s)
    for power, c in reversed(list(enumerate(coefficients, start=1))):
        factor = (factor + c) * square
        slope = (slope + (2 * power + 1) * c) * square
    return s * (1.0 + factor), 1.0 + slope


def turning_point(coefficients: Sequence[float]) -> float:
    """Return the smallest positive s where the odd polynomial turns back; inf if it never does."""
    slope = [1.0, *((2 * power + 1) * c for power, c in enumerate(coefficients, start=1))]
    squares = np.polynomial.polynomial.polyroots(np.trim_zeros(slope, "b"))
    real = squares[(np.abs(squares.imag) < _ROUNDING * np.abs(squares)) & (squares.real > 0.0)].real
    return math.sqrt(real.min()) if len(real) else math.inf


def invert_odd_polynomial(
    coefficients: Sequence[float], values: FloatArray, limit: float
) -> FloatArray:
    """Return s in [0, limit] with g(s) = values (n,), to rounding; NaN where there is none.

    Newton's method inside a shrinking bracket: a step that leaves it becomes a bisection.
    `limit` must not lie beyond the turning point.
    """
    low = np.zeros_like(values)
    high = np.full_like(values, _upper_bound(coefficients, values, limit))
    has_root = (values >= 0.0) & (values <= odd_polynomial(coefficients, high)[0])
    s = np.minimum(values, high)
    for _ in range(_MAX_ITERATIONS):
        g, slope = odd_polynomial(coefficients, s)
        low, high = np.where(g <= values, s, low), np.where(g >= values, s, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = s - (g - values) / slope
        inside = (step >= low) & (step <= high)
        step = np.where(inside, step, 0.5 * (low + high))
        is_done = np.abs(step - s) <= _ROUNDING * np.abs(s)
        s = step
        if np.all(is_done | ~has_root):
            break
    return np.where(has_root, s, np.nan)


def _upper_bound(coefficients: Sequence[float], values: FloatArray, limit: float) -> float:
    """Return a finite s, at most limit, where g has passed all finite values if it ever does."""
    if math.isfinite(limit):
        return limit
    largest = float(np.max(values[np.isfinite(values)], initial=1.0))
    bound = largest
    while odd_polynomial(coefficients, np.array([bound]))[0][0] < largest:
        bound *= 2.0
    return bound


def brown_distort(
    radial: Sequence[float], tangential: Sequence[float], xy: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return distorted coordinates (n, 2) and their Jacobian (n, 2, 2) by the true ones.

    radial is (k1, k2, k3), tangential (p1, p2), as in OpenCV.
    """
    p1, p2 = tangential
    x, y = xy[:, 0], xy[:, 1]
    square = x * x + y * y
    factor, slope = np.ones_like(x), np.zeros_like(x)  # f(r^2) and df/d(r^2)
    for power, k in enumerate(radial, start=1):
        factor = factor + k * square**power
        slope = slope + power * k * square ** (power - 1)
    distorted = np.column_stack(
        [
            x * factor + 2.0 * p1 * x * y + p2 * (square + 2.0 * x * x),
            y * factor + p1 * (square + 2.0 * y * y) + 2.0 * p2 * x * y,
        ]
    )
    cross = 2.0 * x * y * slope + 2.0 * p1 * x + 2.0 * p2 * y
    jacobian = np.empty((len(x), 2, 2))
    jacobian[:, 0, 0] = factor + 2.0 * x * x * slope + 2.0 * p1 * y + 6.0 * p2 * x
    jacobian[:, 0, 1] = jacobian[:, 1, 0] = cross
    jacobian[:, 1, 1] = factor + 2.0 * y * y * slope + 6.0 * p1 * y + 2.0 * p2 * x
    return distorted, jacobian


def brown_undistort(
    radial: Sequence[float], tangential: Sequence[float], distorted: FloatArray
) -> FloatArray:
    """Return the true coordinates (n, 2) of distorted ones; NaN where the lens folds back.

    The radial part is inverted first; from there the decentring terms need a few Newton steps.
    """
    limit = turning_point(radial)
    radius = np.hypot(distorted[:, 0], distorted[:, 1])
    true_radius = invert_odd_polynomial(radial, radius, limit)
    with np.errstate(invalid="ignore"):
        xy = distorted * np.where(radius > 0.0, true_radius / radius, 1.0)[:, None]
    if any(tangential):
        xy = _correct_decentring(radial, tangential, distorted, xy)
        xy[np.hypot(xy[:, 0], xy[:, 1]) > limit] = np.nan
    return xy


def _correct_decentring(
    radial: Sequence[float], tangential: Sequence[float], distorted: FloatArray, xy: FloatArray
) -> FloatArray:
    """Return xy after Newton steps in both coordinates; NaN where they do not converge."""
    longest = 0.5 * (np.hypot(xy[:, 0], xy[:, 1]) + 1.0)  # a longer step would leave the branch
    for _ in range(_MAX_ITERATIONS):
        found, jacobian = brown_distort(radial, tangential, xy)
        ex, ey = (found - distorted).T
        (a, b), (c, d) = jacobian.transpose(1, 2, 0)
        determinant = a * d - b * c
        is_wrong = np.hypot(ex, ey) > _RESIDUAL
        if not is_wrong.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.column_stack([d * ex - b * ey, a * ey - c * ex]) / determinant[:, None]
            step *= np.minimum(1.0, longest / np.hypot(step[:, 0], step[:, 1]))[:, None]
        xy = xy - step
    return np.where((is_wrong | (determinant <= 0.0))[:, None], np.nan, xy)
