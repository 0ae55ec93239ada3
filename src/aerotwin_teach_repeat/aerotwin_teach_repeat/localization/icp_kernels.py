# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled point-to-plane ICP with a Gaussian prior on the pose; the whole loop in one call.

A step moves the source about its own origin: p <- p + d, R <- Exp(w) R in axes of the target. So
translation and rotation of a vehicle do not depend on the target's origin. With pairs
x_i -> q_i, normals n_i and e = (p - p0, Log(R R0^T)) the cost is

    sum_i w_i (r_i^2 s_i + f |q_i - x_i|^2) / variance + e^T L e,      r_i = n_i . (q_i - x_i),

w_i a Cauchy weight of r_i, s_i the weight of the normal, f small (W = s n n^T + f I of VTR3).
"""

import math

import numpy as np
from numba import float32, float64, int32, int64, types

from aerotwin_core.kernel_cache import njit
from aerotwin_teach_repeat.localization.grid_kernels import nearest_in_grid

N_STATS = 9
N_ITERATIONS, HAS_SETTLED, N_PAIRS, SUM_WEIGHT, SUM_SQUARED = range(5)
N_CLOSE, N_STANDING, SHIFT, TURN = range(5, N_STATS)
"""What `align` returns in `stats`: steps, 1 if the last was small; of the pairs: their number, sum
of weights, weighted sum of squared residuals, number within `close_m`, number of those above
`standing_m`; the last step [m, rad]."""
PAIR, PLANAR, ROBUST, POINT_SHARE, CLOSE, VARIANCE, LEAST_SHIFT, LEAST_TURN, RANGE, STANDING = (
    range(10)
)
"""What `choices` holds: gates of a pair and of its residual [m], residual at which weights fall
[m], f, `close_m`, variance of a residual [m^2], step below which the loop ends [m, rad], range at
which that variance has doubled [m], `standing_m`."""
N_CHOICES = 10
_DAMPING = 1e-9


@njit(cache=True, nogil=True)
def _solve(H, g, x):
    """Solve H x = g for a positive definite H (6, 6) by Cholesky's method; H is overwritten."""
    for i in range(6):
        for j in range(i + 1):
            total = H[i, j]
            for k in range(j):
                total -= H[i, k] * H[j, k]
            H[i, j] = math.sqrt(max(total, 1e-300)) if i == j else total / H[j, j]
    for i in range(6):
        x[i] = g[i]
        for k in range(i):
            x[i] -= H[i, k] * x[k]
        x[i] /= H[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            x[i] -= H[k, i] * x[k]
        x[i] /= H[i, i]


@njit(cache=True, nogil=True)
def _turn(T, w0, w1, w2):
    """Rotate T (3, 4) by Exp(w) from the left (Rodrigues' formula)."""
    angle = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
    if angle < 1e-12:
        return
    s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / (angle * angle)
    for k in range(3):
        x, y, z = T[0, k], T[1, k], T[2, k]
        a, b, d = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
        T[0, k] = x + s * a + c * (w1 * d - w2 * b)
        T[1, k] = y + s * b + c * (w2 * a - w0 * d)
        T[2, k] = z + s * d + c * (w0 * b - w1 * a)


@njit(cache=True, nogil=True)
def _from_prior(T, T_prior, e):
    """Write e = (p - p0, Log(R R0^T)) of two poses (3, 4)."""
    M = np.zeros((3, 3))
    for i in range(3):
        e[i] = T[i, 3] - T_prior[i, 3]
        for j in range(3):
            for k in range(3):
                M[i, j] += T[i, k] * T_prior[j, k]
    a, b, c = M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]
    sine = math.sqrt(a * a + b * b + c * c)
    angle = math.atan2(sine, M[0, 0] + M[1, 1] + M[2, 2] - 1.0)
    scale = angle / sine if sine > 1e-12 else 0.5
    e[3], e[4], e[5] = scale * a, scale * b, scale * c


@njit(cache=True, nogil=True)
def _accumulate(points, T, index, choices, f, keys, spans, rows, per_metre, H, g, stats):
    """Pair every point and add up the normal equations of the pairs, for residuals of 1 m."""
    pair2, planar = choices[PAIR] * choices[PAIR], choices[PLANAR]
    per_robust2 = 1.0 / (choices[ROBUST] * choices[ROBUST])
    close = choices[CLOSE]
    per_range2 = 1.0 / (choices[RANGE] * choices[RANGE])
    J = np.empty(6)
    H[:], g[:] = 0.0, 0.0
    n = n_close = n_standing = 0
    standing = choices[STANDING]
    total = squares = 0.0
    for i in range(len(points)):
        u, v, w = float64(points[i, 0]), float64(points[i, 1]), float64(points[i, 2])
        ax = T[0, 0] * u + T[0, 1] * v + T[0, 2] * w
        ay = T[1, 0] * u + T[1, 1] * v + T[1, 2] * w
        az = T[2, 0] * u + T[2, 1] * v + T[2, 2] * w
        x, y, z = ax + T[0, 3], ay + T[1, 3], az + T[2, 3]
        squared, best = pair2, np.int64(-1)
        known = index[i]
        if known >= 0:  # the neighbour of the previous step is a good guess
            dx, dy, dz = rows[known, 0] - x, rows[known, 1] - y, rows[known, 2] - z
            d = dx * dx + dy * dy + dz * dz
            if d < squared:
                squared, best = d, np.int64(known)
        best, squared = nearest_in_grid(x, y, z, squared, best, keys, spans, rows, per_metre)
        index[i] = best
        if best < 0:
            continue
        s = float64(rows[best, 6])
        nx, ny, nz = float64(rows[best, 3]), float64(rows[best, 4]), float64(rows[best, 5])
        dx, dy, dz = rows[best, 0] - x, rows[best, 1] - y, rows[best, 2] - z
        r = nx * dx + ny * dy + nz * dz
        off = abs(r) if s > 0.0 else math.sqrt(squared)
        if off > planar:
            continue
        n += 1
        n_close += off <= close
        n_standing += w > standing
        weight = 1.0 / (1.0 + (u * u + v * v + w * w) * per_range2)
        weight /= 1.0 + weight * r * r * per_robust2
        if s > 0.0:
            total += weight
            squares += weight * r * r
        weight_n = weight * s
        J[0], J[1], J[2] = nx, ny, nz
        J[3], J[4], J[5] = ay * nz - az * ny, az * nx - ax * nz, ax * ny - ay * nx
        for a in range(6):
            wa = weight_n * J[a]
            g[a] += wa * r
            for b in range(a + 1):
                H[a, b] += wa * J[b]
        weight_f = weight * f
        if weight_f == 0.0:
            continue
        # f I: d(q - x) = -(d + w x a), the lower half of [I, -[a]; [a], -[a]^2]
        for a in range(3):
            H[a, a] += weight_f
        H[3, 1] -= weight_f * az
        H[3, 2] += weight_f * ay
        H[4, 0] += weight_f * az
        H[4, 2] -= weight_f * ax
        H[5, 0] -= weight_f * ay
        H[5, 1] += weight_f * ax
        H[3, 3] += weight_f * (ay * ay + az * az)
        H[4, 4] += weight_f * (ax * ax + az * az)
        H[5, 5] += weight_f * (ax * ax + ay * ay)
        H[4, 3] -= weight_f * ax * ay
        H[5, 3] -= weight_f * ax * az
        H[5, 4] -= weight_f * ay * az
        g[0] += weight_f * dx
        g[1] += weight_f * dy
        g[2] += weight_f * dz
        g[3] += weight_f * (ay * dz - az * dy)
        g[4] += weight_f * (az * dx - ax * dz)
        g[5] += weight_f * (ax * dy - ay * dx)
    for a in range(6):
        for b in range(a):
            H[b, a] = H[a, b]
    stats[N_STANDING] = n_standing
    stats[N_PAIRS], stats[N_CLOSE], stats[SUM_WEIGHT], stats[SUM_SQUARED] = (
        n, n_close, total, squares,
    )  # fmt: skip


@njit(
    types.Tuple((float64[:, ::1], float64[::1]))(
        float32[:, ::1],
        float64[:, ::1],
        float64[:, ::1],
        float64[:, ::1],
        float64[::1],
        int64,
        int64[::1],
        int64[::1],
        int32[:, ::1],
        float32[:, ::1],
        float64,
    ),
    cache=True,
    nogil=True,
)
def align(points, T, T_prior, L, choices, max_steps, index, keys, spans, rows, per_metre):
    """Move T (3, 4) until it converges; return H (6, 6) for residuals of 1 m, and `stats`.

    `index` (n,) holds the neighbours' rows, -1 at first; with `max_steps` 0 nothing moves and the
    pairs at T are evaluated. H is that of the residuals along normals, without f (which helps a
    step but carries no information), about the source's origin.
    """
    stats = np.zeros(N_STATS)
    H, A = np.zeros((6, 6)), np.zeros((6, 6))
    g, b, e, step = np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6)
    per_variance = 1.0 / choices[VARIANCE]
    while True:
        is_last = stats[HAS_SETTLED] > 0.0 or stats[N_ITERATIONS] >= max_steps
        f = 0.0 if is_last else choices[POINT_SHARE]
        _accumulate(points, T, index, choices, f, keys, spans, rows, per_metre, H, g, stats)
        if is_last:
            return H, stats
        _from_prior(T, T_prior, e)
        size = 0.0
        for i in range(6):
            b[i] = g[i] * per_variance
            for j in range(6):
                A[i, j] = H[i, j] * per_variance + L[i, j]
                b[i] -= L[i, j] * e[j]
            size += A[i, i]
        for i in range(6):
            A[i, i] += _DAMPING * size + 1e-300
        _solve(A, b, step)
        for i in range(3):
            T[i, 3] += step[i]
        _turn(T, step[3], step[4], step[5])
        stats[SHIFT] = math.sqrt(step[0] ** 2 + step[1] ** 2 + step[2] ** 2)
        stats[TURN] = math.sqrt(step[3] ** 2 + step[4] ** 2 + step[5] ** 2)
        stats[N_ITERATIONS] += 1.0
        if stats[SHIFT] <= choices[LEAST_SHIFT] and stats[TURN] <= choices[LEAST_TURN]:
            stats[HAS_SETTLED] = 1.0
