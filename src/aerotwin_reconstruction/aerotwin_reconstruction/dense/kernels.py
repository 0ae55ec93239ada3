# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of the dense reconstruction: depths of pixels, agreement, confirmation."""

import numpy as np

from aerotwin_core.kernel_cache import njit

_STEP = 16.0  # disparities are in sixteenths of a pixel
_SMOOTH_PX = 1.0  # neighbouring disparities that differ by more are not interpolated between
_OPTIONS = {"cache": True, "nogil": True}


@njit("void(i2[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8, f8[:, ::1], f4[:, ::1])", **_OPTIONS)
def inverse_depths(disparity, R_rect_optical, K_rect, lowest, baseline, K_inverse, out):
    """Write the inverse depth of every pixel of the reference (h, w) [1/m]; 0 where unknown.

    A ray r = K^-1 (u, v, 1) turns to r' = R r; a point at depth s along the axis has the turned
    depth s r'_z, and disparity f b / (s r'_z).
    """
    h, w = out.shape
    rows, columns = disparity.shape
    f, cu, cv = K_rect[0, 0], K_rect[0, 2], K_rect[1, 2]
    M = R_rect_optical @ K_inverse
    for v in range(h):
        for u in range(w):
            out[v, u] = 0.0
            z = M[2, 0] * u + M[2, 1] * v + M[2, 2]
            x = f * (M[0, 0] * u + M[0, 1] * v + M[0, 2]) / z + cu
            y = f * (M[1, 0] * u + M[1, 1] * v + M[1, 2]) / z + cv
            j, i = int(np.floor(x)), int(np.floor(y))
            if i < 0 or j < 0 or i + 1 >= rows or j + 1 >= columns:
                continue
            a, b = disparity[i, j], disparity[i, j + 1]
            c, d = disparity[i + 1, j], disparity[i + 1, j + 1]
            low, high = min(a, b, c, d), max(a, b, c, d)
            if low < 0 or high - low > _SMOOTH_PX * _STEP:
                continue
            s, t = x - j, y - i
            mean = (1 - t) * ((1 - s) * a + s * b) + t * ((1 - s) * c + s * d)
            out[v, u] = (mean / _STEP + lowest) * z / (f * baseline)


@njit("void(f4[:, :, ::1], f8[::1], f8, i8, f4[:, ::1])", **_OPTIONS)
def agreed_depths(inverse, pixels_per_inverse, agreement_px, n_agreeing, out):
    """Write the depth (h, w) [m] that most neighbours agree on; 0 where too few do.

    `inverse` (k, h, w): inverse depths by each neighbour; 0 unknown. `pixels_per_inverse` (k,):
    focal length times baseline: the resolution of each neighbour. Means are weighted by its square.
    `agreement_px`: in the disparities of the neighbour with the higher resolution.
    """
    n, h, w = inverse.shape
    for v in range(h):
        for u in range(w):
            best_n, best_weight, best = 0, 0.0, 0.0
            for i in range(n):
                q = inverse[i, v, u]
                if q <= 0.0:
                    continue
                count, total, weights = 0, 0.0, 0.0
                for j in range(n):
                    p = inverse[j, v, u]
                    scale = min(pixels_per_inverse[i], pixels_per_inverse[j])
                    if p > 0.0 and abs(p - q) * scale <= agreement_px:
                        weight = pixels_per_inverse[j] ** 2
                        count += 1
                        total += weight * p
                        weights += weight
                if count > best_n or (count == best_n and weights > best_weight):
                    best_n, best_weight, best = count, weights, total / weights
            out[v, u] = 1.0 / best if best_n >= n_agreeing and best_n > 0 else 0.0


@njit(
    "void(f4[:, ::1], f8[:, ::1], f8[:, :, ::1], f4[:, :, ::1], f8[:, ::1], f8, i8, i8, "
    "u1[:, ::1])",
    **_OPTIONS,
)
def confirm(depth, K_inverse, T_other_optical, others, K, tolerance, n_confirming, step, out):
    """Write which pixels (h, w) of a depth map other pictures confirm, 1 or 0.

    A picture confirms a point if its own depth there differs by less than a share; it contradicts
    it if its depth there is larger by more than that. Contradictions must not outnumber
    confirmations. Only every `step`-th row and column is checked.

    `T_other_optical` (k, 4, 4): from the reference's optical axes to those of each other picture.
    `others` (k, h, w): their depths; 0 unknown.
    """
    h, w = depth.shape
    out[:] = 0
    for v in range(0, h, step):
        for u in range(0, w, step):
            s = depth[v, u]
            if s <= 0.0:
                continue
            x = s * (K_inverse[0, 0] * u + K_inverse[0, 1] * v + K_inverse[0, 2])
            y = s * (K_inverse[1, 0] * u + K_inverse[1, 1] * v + K_inverse[1, 2])
            n_good, n_bad = 0, 0
            for k in range(len(others)):
                T = T_other_optical[k]
                z = T[2, 0] * x + T[2, 1] * y + T[2, 2] * s + T[2, 3]
                if z <= 0.0:
                    continue
                a = (T[0, 0] * x + T[0, 1] * y + T[0, 2] * s + T[0, 3]) / z
                b = (T[1, 0] * x + T[1, 1] * y + T[1, 2] * s + T[1, 3]) / z
                j = int(np.floor(K[0, 0] * a + K[0, 2] + 0.5))
                i = int(np.floor(K[1, 1] * b + K[1, 2] + 0.5))
                if i < 0 or j < 0 or i >= h or j >= w or others[k, i, j] <= 0.0:
                    continue
                off = others[k, i, j] / z - 1.0
                if abs(off) <= tolerance:
                    n_good += 1
                elif off > 0.0:
                    n_bad += 1
            if n_good >= n_confirming and n_bad <= n_good:
                out[v, u] = 1
