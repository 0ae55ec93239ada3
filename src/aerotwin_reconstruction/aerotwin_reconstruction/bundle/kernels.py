# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of the bundle adjustment: residuals with their derivatives, elimination of points.

A picture has six unknowns: a turn w about its own axes, R <- R exp(w), and a step of its centre in
the map. All pictures share five: focal length, principal point, two radial coefficients. With
x = R^T (X - c): dx/dX = R^T, dx/dc = -R^T, dx/dw = [x]x.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit

N_POSE, N_LENS = 6, 5
N_UNKNOWNS = N_POSE + N_LENS
BEHIND_PX = 1e4  # residual of a point behind a picture
_NEAREST = 1e-3

_SIGNATURE = (
    "void(float64[:,:,::1], float64[:,::1], float64[::1], float64[:,::1], int64[::1], int64[::1],"
    " float64[:,::1], float64[:,::1], float64[:,:,::1], float64[:,:,::1])"
)
_OPTIONS = {"cache": True, "nogil": True}


@njit(_SIGNATURE, cache=True, nogil=True)
def linearise(rotation, centre, lens, points, picture, point, pixels, residual, J_picture, J_point):
    """Write residuals (n, 2) [px] and derivatives by picture and lens (n, 2, 11), point (n, 2, 3).

    Behind a picture the residual is large and the derivatives are zero.
    """
    f, cu, cv, k1, k2 = lens
    for i in range(len(picture)):
        R, d = rotation[picture[i]], points[point[i]] - centre[picture[i]]
        x = R[0, 0] * d[0] + R[1, 0] * d[1] + R[2, 0] * d[2]
        y = R[0, 1] * d[0] + R[1, 1] * d[1] + R[2, 1] * d[2]
        z = R[0, 2] * d[0] + R[1, 2] * d[1] + R[2, 2] * d[2]
        J_picture[i] = 0.0
        J_point[i] = 0.0
        if z < _NEAREST:
            residual[i] = BEHIND_PX
            continue
        a, b = x / z, y / z
        r2 = a * a + b * b
        bend = 1.0 + r2 * (k1 + k2 * r2)
        slope = 2.0 * (k1 + 2.0 * k2 * r2)
        residual[i, 0] = f * a * bend + cu - pixels[i, 0]
        residual[i, 1] = f * b * bend + cv - pixels[i, 1]
        # derivatives of the pixel by a and b, then by x, y, z in the picture's axes
        uu, uv, vv = f * (bend + slope * a * a), f * slope * a * b, f * (bend + slope * b * b)
        by_x = (uu / z, uv / z, -(uu * a + uv * b) / z)
        by_y = (uv / z, vv / z, -(uv * a + vv * b) / z)
        for k in range(2):
            g0, g1, g2 = by_x if k == 0 else by_y
            J_picture[i, k, 0] = g1 * z - g2 * y
            J_picture[i, k, 1] = g2 * x - g0 * z
            J_picture[i, k, 2] = g0 * y - g1 * x
            for c in range(3):
                by_point = g0 * R[c, 0] + g1 * R[c, 1] + g2 * R[c, 2]
                J_point[i, k, c] = by_point
                J_picture[i, k, 3 + c] = -by_point
            along = a if k == 0 else b
            J_picture[i, k, 6] = along * bend
            J_picture[i, k, 7 + k] = 1.0
            J_picture[i, k, 9] = f * along * r2
            J_picture[i, k, 10] = f * along * r2 * r2


@njit(**_OPTIONS)
def _add_square(J_a, J_b, weight, block):
    """Add weight J_a^T J_b of one observation to a block."""
    for a in range(block.shape[0]):
        for b in range(block.shape[1]):
            block[a, b] += weight * (J_a[0, a] * J_b[0, b] + J_a[1, a] * J_b[1, b])


@njit(**_OPTIONS)
def _subtract_product(Y, W, block):
    """Subtract Y W^T, both with three columns, from a block."""
    for a in range(block.shape[0]):
        for b in range(block.shape[1]):
            block[a, b] -= Y[a, 0] * W[b, 0] + Y[a, 1] * W[b, 1] + Y[a, 2] * W[b, 2]


@njit(
    "void(f8[:, :, ::1], f8[:, :, ::1], f8[:, ::1], f8[::1], i8[::1], i8[::1], i8, f8, "
    "f8[:, ::1], f8[::1], f8[:, :, ::1], f8[:, ::1])",
    **_OPTIONS,
)
def reduce_to_pictures(
    J_picture, J_point, residual, weight, picture, starts, n_pictures, damping, S, g, V_inverse, g_v
):
    """Add the normal equations of pictures and lens, points eliminated (Triggs et al. 2000, 6.1).

    S (m, m) and g (m,) with m = 6 n_pictures + 5: S step = -g; the lower triangle of S is complete,
    blocks of pictures above the diagonal are left out. V_inverse (k, 3, 3) and g_v (k, 3) are saved
    for `step_of_points`. The diagonal of a point's block is raised by 1 + damping.
    """
    lens = N_POSE * n_pictures
    longest = np.max(np.diff(starts))
    W, Y = np.empty((longest, N_POSE, 3)), np.empty((longest, N_POSE, 3))
    V = np.empty((3, 3))
    for p in range(len(starts) - 1):
        first, n = starts[p], starts[p + 1] - starts[p]
        V[:], W[:n], g_v[p] = 0.0, 0.0, 0.0
        W_lens = np.zeros((N_LENS, 3))
        for j in range(n):
            i = first + j
            pose, inner = J_picture[i, :, :N_POSE], J_picture[i, :, N_POSE:]
            at, w = N_POSE * picture[i], weight[i]
            _add_square(J_point[i], J_point[i], w, V)
            _add_square(pose, J_point[i], w, W[j])
            _add_square(inner, J_point[i], w, W_lens)
            _add_square(pose, pose, w, S[at : at + N_POSE, at : at + N_POSE])
            _add_square(inner, pose, w, S[lens:, at : at + N_POSE])
            _add_square(inner, inner, w, S[lens:, lens:])
            for k in range(2):
                g_v[p] += w * residual[i, k] * J_point[i, k]
                g[at : at + N_POSE] += w * residual[i, k] * pose[k]
                g[lens:] += w * residual[i, k] * inner[k]
        for c in range(3):
            V[c, c] += damping * V[c, c] + 1e-9
        V_inverse[p] = np.linalg.inv(V)
        Y_lens = W_lens @ V_inverse[p]
        g[lens:] -= Y_lens @ g_v[p]
        _subtract_product(Y_lens, W_lens, S[lens:, lens:])
        for j in range(n):
            at = N_POSE * picture[first + j]
            Y[j] = W[j] @ V_inverse[p]
            g[at : at + N_POSE] -= Y[j] @ g_v[p]
            _subtract_product(Y_lens, W[j], S[lens:, at : at + N_POSE])
            for k in range(n):
                other = N_POSE * picture[first + k]
                if other <= at:
                    _subtract_product(Y[j], W[k], S[at : at + N_POSE, other : other + N_POSE])


@njit(
    "void(f8[:, :, ::1], f8[:, :, ::1], f8[::1], i8[::1], i8[::1], f8[::1], f8[:, :, ::1], "
    "f8[:, ::1], f8[:, ::1])",
    **_OPTIONS,
)
def step_of_points(J_picture, J_point, weight, picture, starts, step, V_inverse, g_v, out):
    """Write the step of each point (k, 3) that follows from that of pictures and lens (m,)."""
    lens = len(step) - N_LENS
    for p in range(len(starts) - 1):
        right = -g_v[p].copy()
        for i in range(starts[p], starts[p + 1]):
            for k in range(2):
                moved = 0.0
                for a in range(N_POSE):
                    moved += J_picture[i, k, a] * step[N_POSE * picture[i] + a]
                for a in range(N_LENS):
                    moved += J_picture[i, k, N_POSE + a] * step[lens + a]
                for c in range(3):
                    right[c] -= weight[i] * J_point[i, k, c] * moved
        for c in range(3):
            out[p, c] = (
                V_inverse[p, c, 0] * right[0]
                + V_inverse[p, c, 1] * right[1]
                + V_inverse[p, c, 2] * right[2]
            )
