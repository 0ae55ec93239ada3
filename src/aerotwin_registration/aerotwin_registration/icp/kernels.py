# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of ICP: normals of neighbourhoods and the normal equations of a step.

Kernels work on ranges with separate sums: their sum over ranges, in order, is repeatable to the
bit on any number of threads.
"""

import math

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_registration.tree_kernels import robust_weight

POINT_TO_PLANE, GICP = 1, 2  # kinds of residual of `normal_equations`
GICP_EPSILON = 1e-3  # variance across a surface, along it 1 (Segal et al. 2009, III-B).
N_UNKNOWNS = 7  # shift, rotation vector, log of scale
_OPTIONS = {"cache": True, "nogil": True}


@njit(**_OPTIONS)
def _jacobi(app, aqq, apq):
    """Return (cosine, sine, tangent) of the rotation that makes apq zero (Golub, 8.5.2)."""
    if apq == 0.0:
        return 1.0, 0.0, 0.0
    theta = (aqq - app) / (2.0 * apq)
    if theta >= 0.0:
        t = 1.0 / (theta + math.sqrt(1.0 + theta * theta))
    else:
        t = -1.0 / (-theta + math.sqrt(1.0 + theta * theta))
    c = 1.0 / math.sqrt(1.0 + t * t)
    return c, t * c, t


@njit(**_OPTIONS)
def _smallest_axis(xx, xy, xz, yy, yz, zz):
    """Return the smallest eigenvalue of a symmetric 3x3 matrix and its unit eigenvector."""
    v00 = v11 = v22 = 1.0
    v01 = v02 = v10 = v12 = v20 = v21 = 0.0
    for _ in range(12):
        off = xy * xy + xz * xz + yz * yz
        if off <= 1e-28 * (xx * xx + yy * yy + zz * zz):
            break
        c, s, t = _jacobi(xx, yy, xy)
        xx, yy, xy = xx - t * xy, yy + t * xy, 0.0
        xz, yz = c * xz - s * yz, s * xz + c * yz
        v00, v01 = c * v00 - s * v01, s * v00 + c * v01
        v10, v11 = c * v10 - s * v11, s * v10 + c * v11
        v20, v21 = c * v20 - s * v21, s * v20 + c * v21
        c, s, t = _jacobi(xx, zz, xz)
        xx, zz, xz = xx - t * xz, zz + t * xz, 0.0
        xy, yz = c * xy - s * yz, s * xy + c * yz
        v00, v02 = c * v00 - s * v02, s * v00 + c * v02
        v10, v12 = c * v10 - s * v12, s * v10 + c * v12
        v20, v22 = c * v20 - s * v22, s * v20 + c * v22
        c, s, t = _jacobi(yy, zz, yz)
        yy, zz, yz = yy - t * yz, zz + t * yz, 0.0
        xy, xz = c * xy - s * xz, s * xy + c * xz
        v01, v02 = c * v01 - s * v02, s * v01 + c * v02
        v11, v12 = c * v11 - s * v12, s * v11 + c * v12
        v21, v22 = c * v21 - s * v22, s * v21 + c * v22
    if xx <= yy and xx <= zz:
        return xx, v00, v10, v20
    if yy <= zz:
        return yy, v01, v11, v21
    return zz, v02, v12, v22


@njit("void(i8, i8, f8[:, ::1], i8[::1], i8[:, ::1], f8[:, ::1], f8[::1])", **_OPTIONS)
def surface_normals(start, stop, points, places, neighbours, normals, roughness):
    """Write unit normals and RMS distances to the plane of the neighbours of some points.

    `neighbours` (r, k) holds indices into `points`, `places` (r,) the index into `normals` (n, 3)
    and `roughness` (n,) of each row's result. The smallest eigenvector of the covariance is found
    by Jacobi rotations, which are exact to rounding and need no case distinction.
    """
    k = neighbours.shape[1]
    for i in range(start, stop):
        mx = my = mz = 0.0
        for j in range(k):
            p = neighbours[i, j]
            mx += points[p, 0]
            my += points[p, 1]
            mz += points[p, 2]
        mx /= k
        my /= k
        mz /= k
        xx = xy = xz = yy = yz = zz = 0.0
        for j in range(k):
            p = neighbours[i, j]
            x, y, z = points[p, 0] - mx, points[p, 1] - my, points[p, 2] - mz
            xx += x * x
            xy += x * y
            xz += x * z
            yy += y * y
            yz += y * z
            zz += z * z
        value, nx, ny, nz = _smallest_axis(xx, xy, xz, yy, yz, zz)
        p = places[i]
        normals[p, 0], normals[p, 1], normals[p, 2] = nx, ny, nz
        roughness[p] = math.sqrt(max(value, 0.0) / k)


@njit(**_OPTIONS)
def _weight_matrix(kind, W, a, b):
    """Fill W (3, 3), in units in which a pure distance along the normal counts once.

    Point to plane: n n^T of the target. GICP: 2 eps inv(C_target + C_source), C = I - (1 - eps)
    n n^T (Segal et al. 2009, III-B), whose eigenvectors are the sum a + b and the difference
    a - b of the two normals and their common perpendicular.
    """
    if kind == POINT_TO_PLANE:
        for i in range(3):
            for j in range(3):
                W[i, j] = a[i] * a[j]
        return
    c = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    sign = 1.0 if c >= 0.0 else -1.0
    c = min(c * sign, 1.0)
    along = 2.0 * GICP_EPSILON / (2.0 - (1.0 - GICP_EPSILON) * (1.0 + c)) - GICP_EPSILON
    across = 2.0 * GICP_EPSILON / (2.0 - (1.0 - GICP_EPSILON) * (1.0 - c)) - GICP_EPSILON
    along /= 2.0 + 2.0 * c
    across = across / (2.0 - 2.0 * c) if c < 1.0 - 1e-12 else 0.0
    for i in range(3):
        for j in range(3):
            W[i, j] = along * (a[i] + sign * b[i]) * (a[j] + sign * b[j])
            W[i, j] += across * (a[i] - sign * b[i]) * (a[j] - sign * b[j])
        W[i, i] += GICP_EPSILON


@njit(
    "f8[:, ::1](i8, i8, i8, i8, f8, f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], "
    "i8[::1], f8[::1])",
    **_OPTIONS,
)
def normal_equations(
    start, stop, method, robust, robust_m, moved, source_normals, R, target, normals, index, centre
):
    """Return the sums (9, 7) over the pairs of a range that a Gauss-Newton step is solved from.

    The source is at `moved`, turned by R from where its normals were fitted. A step d =
    (shift, rotation vector, log of scale) about `centre` moves x by J d, J = [1, -[x - centre]x,
    x - centre]; the residual of a pair is r = q - x, its weight W. Rows 0 to 6 hold the upper
    half of H = sum J^T W J, row 7 g = sum J^T W r, row 8 the sums of r^T W r, of r^T r, and the
    number of pairs. A negative index is no pair.
    """
    out = np.zeros((N_UNKNOWNS + 2, N_UNKNOWNS))
    J = np.zeros((3, N_UNKNOWNS))
    A = np.zeros((N_UNKNOWNS, 3))
    W = np.zeros((3, 3))
    r, turned = np.zeros(3), np.zeros(3)
    J[0, 0] = J[1, 1] = J[2, 2] = 1.0
    for i in range(start, stop):
        q = index[i]
        if q < 0:
            continue
        if method == GICP:
            for a in range(3):
                turned[a] = 0.0
                for b in range(3):
                    turned[a] += R[a, b] * source_normals[i, b]
        _weight_matrix(method, W, normals[q], turned)
        x, y, z = moved[i, 0] - centre[0], moved[i, 1] - centre[1], moved[i, 2] - centre[2]
        J[1, 3], J[2, 3] = -z, y
        J[0, 4], J[2, 4] = z, -x
        J[0, 5], J[1, 5] = -y, x
        J[0, 6], J[1, 6], J[2, 6] = x, y, z
        squared = 0.0
        for a in range(3):
            r[a] = target[q, a] - moved[i, a]
        for a in range(3):
            for b in range(3):
                squared += r[a] * W[a, b] * r[b]
        w = robust_weight(robust, math.sqrt(max(squared, 0.0)), robust_m)
        for a in range(N_UNKNOWNS):
            for b in range(3):
                A[a, b] = w * (J[0, a] * W[0, b] + J[1, a] * W[1, b] + J[2, a] * W[2, b])
        for a in range(N_UNKNOWNS):
            for b in range(a, N_UNKNOWNS):
                out[a, b] += A[a, 0] * J[0, b] + A[a, 1] * J[1, b] + A[a, 2] * J[2, b]
            out[N_UNKNOWNS, a] += A[a, 0] * r[0] + A[a, 1] * r[1] + A[a, 2] * r[2]
        out[N_UNKNOWNS + 1, 0] += w * squared
        out[N_UNKNOWNS + 1, 1] += r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        out[N_UNKNOWNS + 1, 2] += 1.0
    return out
