# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled part of stereo depth: sub-pixel refinement of disparities."""

import math

import numpy as np

from aerotwin_core.kernel_cache import njit

F = np.float32
N_STEPS = 4
FARTHEST_PX = F(1.0)  # A disparity that its patch changes by more is wrong
DONE_PX = F(0.02)  # steps shrink by an order each: what is left is far below the noise
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit(inline="always", **_OPTIONS)
def _cut_slopes(image, row, column, half, slopes):
    """Write the row slopes of a patch, minus their mean; return the sum of their squares."""
    mean = F(0.0)
    k = 0
    for j in range(row - half, row + half + 1):
        for i in range(column - half, column + half + 1):
            slopes[k] = F(0.5) * (image[j, i + 1] - image[j, i - 1])
            mean += slopes[k]
            k += 1
    mean /= F(len(slopes))
    total = F(0.0)
    for k in range(len(slopes)):
        slopes[k] -= mean
        total += slopes[k] * slopes[k]
    return total


@njit(inline="always", **_OPTIONS)
def _compared(left, right, row, column, d, half):
    """Return the variance of the difference of two patches [DN^2], and their correlation."""
    at = F(column) - d
    whole = math.floor(at)
    share = at - F(whole)
    if whole < half or whole + half + 1 >= left.shape[1]:
        return F(0.0), F(-1.0)
    sa = sb = saa = sbb = sab = F(0.0)
    first = left[row, column]  # keeps the sums of squares small
    for j in range(row - half, row + half + 1):
        for i in range(-half, half + 1):
            x = whole + i
            b = right[j, x] + share * (right[j, x + 1] - right[j, x]) - first
            a = left[j, column + i] - first
            sa += a
            sb += b
            saa += a * a
            sbb += b * b
            sab += a * b
    n = F((2 * half + 1) * (2 * half + 1))
    va, vb, vab = saa / n - (sa / n) ** 2, sbb / n - (sb / n) ** 2, sab / n - sa * sb / (n * n)
    if not (va > F(0.0) and vb > F(0.0)):
        return F(0.0), F(-1.0)
    return max(va + vb - F(2.0) * vab, F(0.0)), vab / math.sqrt(va * vb)


@njit(
    "void(i8, i8, f4[:, ::1], f4[:, ::1], f4[:, ::1], i8, f8, f8, f4[:, ::1], f4[:, ::1])",
    fastmath={"contract", "reassoc"},
    **_OPTIONS,
)
def refine_disparities(
    top, bottom, left, right, disparity, half, noise, least, refined, sigma
):  # fmt: skip
    """Move patches of the right image along their rows until they match the left's.

    Gauss-Newton on the grey values minus their means (Lucas and Kanade 1981, in one dimension),
    with the slopes of the left image. `sigma` is the standard deviation from noise of the grey
    values, or from the patch's own residual where that is larger. NaN where there was no disparity,
    none was found, or the patches' correlation is below `least`.
    """
    height, width = left.shape
    size = 2 * half + 1
    slopes = np.empty(size * size, np.float32)
    for row in range(top, bottom):
        for column in range(width):
            refined[row, column] = F(np.nan)
            sigma[row, column] = F(np.nan)
            first = disparity[row, column]
            if not first > F(0.0) or row < half or row >= height - half:
                continue
            if column < half + 1 or column >= width - half - 1:
                continue
            steep = _cut_slopes(left, row, column, half, slopes)
            if not steep > F(0.0):
                continue
            d = first
            for _ in range(N_STEPS):
                at = F(column) - d
                whole = math.floor(at)
                share = at - F(whole)
                if whole < half or whole + half + 1 >= width:
                    d = F(np.nan)
                    break
                off = F(0.0)
                for j in range(size):
                    a, b = left[row - half + j], right[row - half + j]
                    for i in range(size):
                        x = whole - half + i
                        seen = b[x] + share * (b[x + 1] - b[x])
                        off += slopes[j * size + i] * (a[column - half + i] - seen)
                step = off / steep
                d -= step
                if not abs(d - first) <= FARTHEST_PX:
                    d = F(np.nan)
                    break
                if abs(step) < DONE_PX:
                    break
            if math.isnan(d):
                continue
            misfit, correlation = _compared(left, right, row, column, d, half)
            if correlation < F(least):
                continue
            refined[row, column] = d
            sigma[row, column] = math.sqrt(max(misfit, F(2.0 * noise * noise)) / steep)
