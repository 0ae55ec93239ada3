# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Disparity of features in a rectified pair: search, sub-pixel refinement, left-right check."""

from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_stereo_odometry.patches import align_patches, cut_patches

MIN_GAP = 0.002  # and by this much, so that rounding does not choose between repetitions
MIN_LEAD = 1.3  # the second-best correlation misses 1 by this factor more than the best


class Disparities(NamedTuple):
    """Disparities of left-image features."""

    disparity: np.ndarray  # (n,) float64 u_left - u_right [px]; NaN where none was found
    # (n,) float64 standard deviation from the patch's gradients and residual variance [px]
    std: np.ndarray


@njit(cache=True, error_model="numpy")
def _search(left, right, uv, size, bounds, min_lead):
    """Return the best whole-pixel disparity of each feature by ZNCC, or -1 if ambiguous."""
    n = uv.shape[0]
    height, width = left.shape
    half = size // 2
    best = np.full(n, -1, dtype=np.int64)
    scores = np.empty(max(bounds[:, 1].max() if n else 0, 0) + 1)
    patch = np.empty((size, size), dtype=np.float32)
    for i in range(n):
        u = int(np.rint(uv[i, 0]))
        v = int(np.rint(uv[i, 1]))
        if u - half < 0 or v - half < 0 or u + half >= width or v + half >= height:
            continue
        mean = 0.0
        for row in range(size):
            for column in range(size):
                patch[row, column] = left[v - half + row, u - half + column]
                mean += patch[row, column]
        mean /= size * size
        power = 0.0
        for row in range(size):
            for column in range(size):
                patch[row, column] -= mean
                power += patch[row, column] ** 2
        low = bounds[i, 0]
        last = min(bounds[i, 1], u - half)
        if last < low:
            continue
        scores[:] = -1.0
        for d in range(low, last + 1):
            s = ss = st = 0.0
            for row in range(size):
                line = right[v - half + row]
                for column in range(size):
                    value = line[u - d - half + column]
                    s += value
                    ss += value * value
                    st += value * patch[row, column]
            spread = ss - s * s / (size * size)
            if spread > 0.0 and power > 0.0:
                scores[d] = st / np.sqrt(spread * power)
        d = int(np.argmax(scores))
        second = -1.0
        for k in range(low, last + 1):
            if abs(k - d) > 2 and scores[k] > second:
                second = scores[k]
        if scores[d] > 0.0 and 1.0 - second > min_lead * (1.0 - scores[d]) + MIN_GAP:
            best[i] = d
    return best


def search_disparities(left, right, uv, *, size: int, bounds) -> np.ndarray:
    """Return coarse disparities of features by correlation along the row.

    `left`, `right` (h, w) float32: smoothed rectified pair [DN]. `uv` (n, 2): features in the left
    image [px]. `size`: odd patch size [px]. `bounds` (n, 2): smallest and largest disparity [px];
    no search where smallest exceeds largest. Returns whole-pixel disparities (n,); NaN where
    no match or more than one stands out.
    """
    uv = np.ascontiguousarray(uv, dtype=np.float64)
    bounds = np.array(np.broadcast_to(bounds, (len(uv), 2)), dtype=np.int64, order="C")
    best = _search(left, right, uv, size, bounds, MIN_LEAD)
    return np.where(best >= 0, best.astype(np.float64), np.nan)


def refine_disparities(
    left,
    right,
    uv,
    guess,
    *,
    size: int,
    min_correlation: float,
    noise_variance: float,
    smoothed_noise_variance: float,
    floor_px: float,
) -> Disparities:
    """Refine disparities to a few hundredths of a pixel and check them from right to left.

    `left`, `right` (h, w) float32: smoothed rectified pair [DN]. `uv` (n, 2), `guess` (n,):
    features in the left image, and initial disparities within about 2 px [px]; NaN = skip. `size`:
    odd patch size [px]. `min_correlation`: matches below are rejected. `noise_variance`,
    `smoothed_noise_variance`: noise of the difference of two images, a lower limit, and the same
    after smoothing [DN^2]. `floor_px`: systematic error, added in quadrature [px]. Rejected
    matches are NaN.

    The forward and the backward match use the same two patches with the roles of template and
    image exchanged; their mean is free of the first-order bias of either.
    """
    uv = np.ascontiguousarray(uv, dtype=np.float64)
    start = uv.copy()
    start[:, 0] -= guess
    forward = align_patches(right, cut_patches(left, uv, size + 2), start, is_horizontal=True)
    templates = cut_patches(right, forward.uv, size + 2)
    back = align_patches(left, templates, uv, is_horizontal=True)
    disparity = uv[:, 0] - forward.uv[:, 0]
    disagreement = back.uv[:, 0] - uv[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.maximum(forward.variance, noise_variance) / forward.information[:, 0]
        std = np.sqrt(variance + floor_px**2)
        is_good = (
            forward.is_match(min_correlation, smoothed_noise_variance)
            & back.is_match(min_correlation, smoothed_noise_variance)
            & (np.abs(disagreement) < 0.5)
            & (np.abs(disparity - guess) < 3.0)
            & (disparity > 0.0)
        )
    disparity = disparity + 0.5 * disagreement
    return Disparities(np.where(is_good, disparity, np.nan), np.where(is_good, std, np.nan))
