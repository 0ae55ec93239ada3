# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that find what each pixel sees: cull, transform, fill the visibility buffer.

Triangles are filled by homogeneous edge functions (Olano and Greer 1997): for a ray d through a
pixel and the triangle P0 P1 P2 in camera axes, e0 = d . (P1 x P2) and its two turns have one sign
inside, depth is P0 . (P1 x P2) / (e0 + e1 + e2), and e_i / sum(e) are the barycentric weights,
perspective included. Only the rays are asked for, so any lens is exact. No polygon is clipped:
what lies nearer than the near plane fails the depth test pixel by pixel. A shared edge has exactly
opposite values in its two triangles, so surfaces have no cracks. Equal depths go to the lower
cluster and triangle, so that the order of the clusters (near ones first) changes no byte.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from aerotwin_worlds.rasteriser.clusters import CLUSTER_TRIANGLES, CLUSTER_VERTICES
from aerotwin_worlds.rasteriser.lens import EMPTY_HIGH, EMPTY_LOW

# Grid coordinates of vertices are single precision: 5e-4 px off at 8192 px.
MARGIN = np.float32(2e-3)
FAR_AWAY = 1e6  # grid coordinates are kept below, so that they fit an integer
# Twice the rounding of single-precision inverse depths.
NEARER = np.float32(1.0 + 2.4e-7)


class Visible(NamedTuple):
    """Clusters that a view may see, the nearest first.

    Attributes
    ----------
    cluster : (k,) int32 array
    box : (k, 4) int32 array
        First and last column, first and last row of the pixels that may see it.
    inverse_depth : (k,) float32 array
        That of the nearest point of its box [1/m].
    crosses_near : (k,) bool array
        Whether parts of it may lie nearer than the near plane.
    """

    cluster: np.ndarray
    box: np.ndarray
    inverse_depth: np.ndarray
    crosses_near: np.ndarray


class Scratch(NamedTuple):
    """Working memory of one thread.

    ``point`` holds x, y, z of a cluster's vertices in camera axes, ``grid`` their two grid
    coordinates, ``triangle`` and ``box`` the triangles that may cover a pixel centre. Per pixel of
    the band: ``nearest`` (inverse depth; ``nearest_bits`` is the same memory as integers, which
    are in the same order), ``cluster`` (-1: nothing) and ``surface``: u, v, the texture area that a
    unit of the plane of the rays sees, and light.
    """

    point: np.ndarray
    grid: np.ndarray
    triangle: np.ndarray
    box: np.ndarray
    nearest: np.ndarray
    nearest_bits: np.ndarray
    cluster: np.ndarray
    surface: np.ndarray
    surface_bits: np.ndarray


def make_scratch(n_rows: int, width: int) -> Scratch:
    """Return working memory for bands of an image."""
    nearest = np.empty((n_rows, width), np.float32)
    surface = np.empty((n_rows, width, 4), np.float32)
    return Scratch(
        point=np.empty(3 * CLUSTER_VERTICES),
        grid=np.empty(2 * CLUSTER_VERTICES, np.float32),
        triangle=np.empty(CLUSTER_TRIANGLES, np.int32),
        box=np.empty((CLUSTER_TRIANGLES, 4), np.int32),
        nearest=nearest,
        nearest_bits=nearest.view(np.int32),
        cluster=np.empty((n_rows, width), np.int32),
        surface=surface,
        surface_bits=surface.view(np.int32),
    )


@njit(nogil=True, cache=True)
def _cells_of(lens, u_low, u_high, v_low, v_high):
    """Box of the pixels whose rays lie in a box of table cells: up to 2 x 2 cells of one level."""
    i0 = min(max(math.floor(u_low), 0), lens.level_width[0] - 1)
    i1 = min(max(math.floor(u_high), 0), lens.level_width[0] - 1)
    j0 = min(max(math.floor(v_low), 0), lens.level_height[0] - 1)
    j1 = min(max(math.floor(v_high), 0), lens.level_height[0] - 1)
    level = 0
    while i1 - i0 > 1 or j1 - j0 > 1:
        level += 1
        i0, i1, j0, j1 = i0 >> 1, i1 >> 1, j0 >> 1, j1 >> 1
    u0, u1, v0, v1 = EMPTY_LOW, EMPTY_HIGH, EMPTY_LOW, EMPTY_HIGH
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            cell = lens.cells[lens.level_start[level] + j * lens.level_width[level] + i]
            u0, u1 = min(u0, cell[0]), max(u1, cell[1])
            v0, v1 = min(v0, cell[2]), max(v1, cell[3])
    return u0, u1, v0, v1


@njit(nogil=True, cache=True)
def _pixels_of(lens, u_low, u_high, v_low, v_high):
    """First and last column and row of the pixels whose rays may lie in a box of the grid."""
    u_low, u_high = max(u_low - MARGIN, -FAR_AWAY), min(u_high + MARGIN, FAR_AWAY)
    v_low, v_high = max(v_low - MARGIN, -FAR_AWAY), min(v_high + MARGIN, FAR_AWAY)
    if len(lens.cells) > 0:
        return _cells_of(lens, u_low, u_high, v_low, v_high)
    return (
        max(math.ceil(u_low), 0), min(math.floor(u_high), lens.x.shape[1] - 1),
        max(math.ceil(v_low), 0), min(math.floor(v_high), lens.y.shape[0] - 1),
    )  # fmt: skip


@njit(nogil=True, cache=True, inline="always")
def _grid(t, squeeze, scale, offset):
    return scale * (t / (1.0 + squeeze * abs(t))) + offset


@njit(nogil=True, cache=True)
def _corner_box(low, high, pose, lens):
    """Pixels that may see a box whose corners all lie in front of the camera."""
    u_low, u_high, v_low, v_high = np.inf, -np.inf, np.inf, -np.inf
    for corner in range(8):
        dx = (high[0] if corner & 1 else low[0]) - pose[9]
        dy = (high[1] if corner & 2 else low[1]) - pose[10]
        dz = (high[2] if corner & 4 else low[2]) - pose[11]
        inverse = 1.0 / (pose[6] * dx + pose[7] * dy + pose[8] * dz)
        x = (pose[0] * dx + pose[1] * dy + pose[2] * dz) * inverse
        y = (pose[3] * dx + pose[4] * dy + pose[5] * dz) * inverse
        u = _grid(x, lens.squeeze, lens.u_scale, lens.u_offset)
        v = _grid(y, lens.squeeze, lens.v_scale, lens.v_offset)
        u_low, u_high = min(u_low, u), max(u_high, u)
        v_low, v_high = min(v_low, v), max(v_high, v)
    return _pixels_of(lens, u_low, u_high, v_low, v_high)


@njit(nogil=True, cache=True)
def find_visible(clusters, pose, lens, near, far, first_row, last_row):
    """Return the clusters that may be seen, in no particular order.

    ``pose``: R_optical_map row by row (9), p_map_optical (3).
    """
    n = len(clusters.mesh)
    out = Visible(
        np.empty(n, np.int32), np.empty((n, 4), np.int32), np.empty(n, np.float32),
        np.empty(n, np.bool_),
    )  # fmt: skip
    # Outwards normals of the planes around all rays, in camera axes: (ax, ay, az) . P > 0 outside.
    planes = ((1.0, 0.0, -lens.high_x), (-1.0, 0.0, lens.low_x),
              (0.0, 1.0, -lens.high_y), (0.0, -1.0, lens.low_y))  # fmt: skip
    normals = np.empty((5, 3))
    for a in range(3):
        for k in range(4):
            p = planes[k]
            normals[k, a] = p[0] * pose[a] + p[1] * pose[3 + a] + p[2] * pose[6 + a]
        normals[4, a] = pose[6 + a]
    count = 0
    for c in range(n):
        low, high = clusters.box_low[c], clusters.box_high[c]
        outside = False
        z_low, z_high = 0.0, 0.0
        for k in range(5):
            least, most = 0.0, 0.0
            for a in range(3):
                s, t = (
                    normals[k, a] * (low[a] - pose[9 + a]),
                    normals[k, a] * (high[a] - pose[9 + a]),
                )
                least, most = least + min(s, t), most + max(s, t)
            if k < 4:
                # Rounding: a hair of the box's distance.
                outside |= least > 1e-12 * (abs(least) + abs(most))
            else:
                z_low, z_high = least, most
        if outside or z_high < near or z_low > far:
            continue
        u0, u1, v0, v1 = 0, lens.x.shape[1] - 1, first_row, last_row - 1
        crosses = z_low < 1.0000001 * near
        if not crosses:
            u0, u1, v0, v1 = _corner_box(low, high, pose, lens)
        if u0 > u1 or v0 > v1 or v1 < first_row or v0 >= last_row:
            continue
        out.cluster[count] = c
        out.box[count, 0], out.box[count, 1] = u0, u1
        out.box[count, 2], out.box[count, 3] = v0, v1
        out.inverse_depth[count] = NEARER / max(z_low, near)
        out.crosses_near[count] = crosses
        count += 1
    return Visible(
        out.cluster[:count], out.box[:count], out.inverse_depth[:count], out.crosses_near[:count]
    )


@njit(nogil=True, cache=True)
def _transform(clusters, c, pose, lens, point, grid):
    """Bring a cluster's vertices to camera axes and to the lens's grid; return how many."""
    start = clusters.vertex_start[c]
    n = clusters.vertex_start[c + 1] - start
    xyz = clusters.xyz_map[3 * start : 3 * (start + n)]
    r0, r1, r2, r3, r4, r5 = pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]
    r6, r7, r8, px, py, pz = pose[6], pose[7], pose[8], pose[9], pose[10], pose[11]
    u_scale, u_offset, v_scale, v_offset = lens.u_scale, lens.u_offset, lens.v_scale, lens.v_offset
    squeeze = lens.squeeze
    for i in range(n):
        dx, dy, dz = xyz[i] - px, xyz[n + i] - py, xyz[2 * n + i] - pz
        x, y, z = (
            r0 * dx + r1 * dy + r2 * dz,
            r3 * dx + r4 * dy + r5 * dz,
            r6 * dx + r7 * dy + r8 * dz,
        )
        point[i], point[CLUSTER_VERTICES + i], point[2 * CLUSTER_VERTICES + i] = x, y, z
    for i in range(n):
        inverse = 1.0 / point[2 * CLUSTER_VERTICES + i]
        tx, ty = point[i] * inverse, point[CLUSTER_VERTICES + i] * inverse
        if squeeze != 0.0:
            tx, ty = tx / (1.0 + squeeze * abs(tx)), ty / (1.0 + squeeze * abs(ty))
        grid[i] = u_scale * tx + u_offset
        grid[CLUSTER_VERTICES + i] = v_scale * ty + v_offset
    return n


@njit(nogil=True, cache=True)
def _clipped_box(point, i0, i1, i2, lens, near):
    """Grid box of the part of a triangle beyond the near plane."""
    index = (i0, i1, i2)
    low_x, high_x, low_y, high_y = np.inf, -np.inf, np.inf, -np.inf
    for a in range(3):
        p, q = index[a], index[(a + 1) % 3]
        x0, y0, z0 = point[p], point[CLUSTER_VERTICES + p], point[2 * CLUSTER_VERTICES + p]
        x1, y1, z1 = point[q], point[CLUSTER_VERTICES + q], point[2 * CLUSTER_VERTICES + q]
        if z0 > near:
            low_x, high_x = min(low_x, x0 / z0), max(high_x, x0 / z0)
            low_y, high_y = min(low_y, y0 / z0), max(high_y, y0 / z0)
        if (z0 > near) != (z1 > near):
            s = (near - z0) / (z1 - z0)
            x, y = (x0 + s * (x1 - x0)) / near, (y0 + s * (y1 - y0)) / near
            low_x, high_x = min(low_x, x), max(high_x, x)
            low_y, high_y = min(low_y, y), max(high_y, y)
    # The cut is computed, not the edge itself: a margin of a grid unit costs nothing.
    return (
        _grid(low_x, lens.squeeze, lens.u_scale, lens.u_offset) - 1.0,
        _grid(high_x, lens.squeeze, lens.u_scale, lens.u_offset) + 1.0,
        _grid(low_y, lens.squeeze, lens.v_scale, lens.v_offset) - 1.0,
        _grid(high_y, lens.squeeze, lens.v_scale, lens.v_offset) + 1.0,
    )


@njit(nogil=True, cache=True)
def _candidates(triangles, grid, row0, row1, width, triangle, box):
    """List the triangles of a pinhole's cluster whose box holds a pixel centre of the band.

    Most triangles of a fine mesh fall between the pixel centres: no branch is taken for them.
    """
    count = 0
    last_row, last_column = row1 - 1, width - 1
    for t in range(len(triangles)):
        i0, i1, i2 = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        a, b, c = grid[i0], grid[i1], grid[i2]
        u_low, u_high = (a if a < b else b), (b if a < b else a)
        u_low, u_high = (c if c < u_low else u_low), (c if c > u_high else u_high)
        a = grid[np.uint16(CLUSTER_VERTICES) + i0]
        b = grid[np.uint16(CLUSTER_VERTICES) + i1]
        c = grid[np.uint16(CLUSTER_VERTICES) + i2]
        v_low, v_high = (a if a < b else b), (b if a < b else a)
        v_low, v_high = (c if c < v_low else v_low), (c if c > v_high else v_high)
        u0, u1 = np.int32(math.ceil(u_low - MARGIN)), np.int32(math.floor(u_high + MARGIN))
        v0, v1 = np.int32(math.ceil(v_low - MARGIN)), np.int32(math.floor(v_high + MARGIN))
        u0, u1 = max(u0, np.int32(0)), min(u1, np.int32(last_column))
        v0, v1 = max(v0, np.int32(row0)), min(v1, np.int32(last_row))
        triangle[count] = t
        box[count, 0], box[count, 1], box[count, 2], box[count, 3] = u0, u1, v0, v1
        count += (u0 <= u1) & (v0 <= v1)
    return count


@njit(nogil=True, cache=True)
def _careful_candidates(triangles, point, grid, lens, near, row0, row1, triangle, box):
    """As `_candidates`, for any lens and for clusters that reach through the near plane."""
    count = 0
    n = CLUSTER_VERTICES
    for t in range(len(triangles)):
        i0, i1, i2 = int(triangles[t, 0]), int(triangles[t, 1]), int(triangles[t, 2])
        z0, z1, z2 = point[2 * n + i0], point[2 * n + i1], point[2 * n + i2]
        n_front = (z0 > near) + (z1 > near) + (z2 > near)
        if n_front == 0:
            continue
        if n_front == 3:
            u_low, u_high = min(grid[i0], grid[i1], grid[i2]), max(grid[i0], grid[i1], grid[i2])
            v_low = min(grid[n + i0], grid[n + i1], grid[n + i2])
            v_high = max(grid[n + i0], grid[n + i1], grid[n + i2])
            u0, u1, v0, v1 = _pixels_of(lens, u_low, u_high, v_low, v_high)
        else:
            u_low, u_high, v_low, v_high = _clipped_box(point, i0, i1, i2, lens, near)
            u0, u1, v0, v1 = _pixels_of(lens, u_low, u_high, v_low, v_high)
        v0, v1 = max(v0, row0), min(v1, row1 - 1)
        if u0 <= u1 and v0 <= v1:
            triangle[count] = t
            box[count, 0], box[count, 1], box[count, 2], box[count, 3] = u0, u1, v0, v1
            count += 1
    return count


@njit(nogil=True, cache=True, inline="always")
def _edges(point, i0, i1, i2):
    """Edge normals P1 x P2, P2 x P0, P0 x P1 and the determinant, turned so that it is >= 0."""
    n = np.uint64(CLUSTER_VERTICES)
    x0, y0, z0 = point[i0], point[n + i0], point[n + n + i0]
    x1, y1, z1 = point[i1], point[n + i1], point[n + n + i1]
    x2, y2, z2 = point[i2], point[n + i2], point[n + n + i2]
    ax, ay, az = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
    bx, by, bz = y2 * z0 - z2 * y0, z2 * x0 - x2 * z0, x2 * y0 - y2 * x0
    cx, cy, cz = y0 * z1 - z0 * y1, z0 * x1 - x0 * z1, x0 * y1 - y0 * x1
    det = x0 * ax + y0 * ay + z0 * az
    if det < 0.0:
        return -ax, -ay, -az, -bx, -by, -bz, -cx, -cy, -cz, -det
    return ax, ay, az, bx, by, bz, cx, cy, cz, det


@njit(nogil=True, cache=True)
def _fill(count, triangles, uv, light, c, lens, row0, inverse_near, scratch):
    """Keep, for each pixel, what the nearest of a cluster's triangles shows there.

    Texture coordinates are quotients of linear functions of the ray d; with the edge functions
    a, b, e: u = u0 + ((u1 - u0) b + (u2 - u0) e) / (a + b + e), likewise v and light;
    depth = det / (a + b + e). The Jacobian determinant of (u, v) by (x, y) of the ray is
    ((u1 - u0) (v2 - v0) - (u2 - u0) (v1 - v0)) det^2 / (a + b + e)^3.
    """
    row_step, column_step = int(lens.x.shape[0] > 1), int(lens.y.shape[1] > 1)
    for k in range(count):
        t = scratch.triangle[k]
        i0, i1, i2 = (
            np.uint64(triangles[t, 0]),
            np.uint64(triangles[t, 1]),
            np.uint64(triangles[t, 2]),
        )
        ax, ay, az, bx, by, bz, ex, ey, ez, det = _edges(scratch.point, i0, i1, i2)
        if det == 0.0:
            continue
        inverse_det = 1.0 / det
        for v in range(scratch.box[k, 2], scratch.box[k, 3] + 1):
            r = v - row0
            for u in range(scratch.box[k, 0], scratch.box[k, 1] + 1):
                dx, dy = lens.x[v * row_step, u], lens.y[v, u * column_step]
                a, b, e = (
                    ax * dx + (ay * dy + az),
                    bx * dx + (by * dy + bz),
                    ex * dx + (ey * dy + ez),
                )
                if a >= 0.0 and b >= 0.0 and e >= 0.0:
                    total = a + b + e
                    inverse_depth = np.float32(total * inverse_det)
                    old = scratch.nearest[r, u]
                    if inverse_depth >= old and inverse_depth <= inverse_near:
                        if inverse_depth == old and c >= scratch.cluster[r, u]:
                            continue
                        inverse = 1.0 / total
                        b, e = b * inverse, e * inverse
                        s0, t0 = uv[i0, 0], uv[i0, 1]
                        s1, t1 = uv[i1, 0] - s0, uv[i1, 1] - t0
                        s2, t2 = uv[i2, 0] - s0, uv[i2, 1] - t0
                        area = abs(s1 * t2 - s2 * t1) * det * det * inverse * inverse * inverse
                        l0 = light[i0]
                        scratch.nearest[r, u] = inverse_depth
                        scratch.cluster[r, u] = c
                        scratch.surface[r, u, 0] = s0 + s1 * b + s2 * e
                        scratch.surface[r, u, 1] = t0 + t1 * b + t2 * e
                        scratch.surface[r, u, 2] = area
                        scratch.surface[r, u, 3] = l0 + (light[i1] - l0) * b + (light[i2] - l0) * e


@njit(nogil=True, cache=True)
def _is_hidden(u0, u1, r0, r1, bits, nearest_bits):
    """Whether every pixel of a box sees something nearer than an inverse depth (as integer)."""
    for r in range(r0, r1 + 1):
        farther = 0
        for u in range(u0, u1 + 1):
            farther += nearest_bits[r, u] <= bits
        if farther > 0:
            return False
    return True


@njit(nogil=True, cache=True)
def fill_band(row0, row1, visible, clusters, pose, lens, near, far, scratch):
    """Fill the visibility buffer of the image rows row0..row1."""
    width = lens.x.shape[1]
    scratch.nearest[: row1 - row0] = np.float32(1.0 / far)
    scratch.cluster[: row1 - row0] = -1
    inverse_near = 1.0 / near
    bits = visible.inverse_depth.view(np.int32)
    for k in range(len(visible.cluster)):
        u0, u1, v0, v1 = visible.box[k]
        if v1 < row0 or v0 >= row1:
            continue
        first, last = max(v0, row0) - row0, min(v1, row1 - 1) - row0
        if _is_hidden(u0, u1, first, last, bits[k], scratch.nearest_bits):
            continue
        c = visible.cluster[k]
        _transform(clusters, c, pose, lens, scratch.point, scratch.grid)
        triangles = clusters.triangles[clusters.triangle_start[c] : clusters.triangle_start[c + 1]]
        if visible.crosses_near[k] or len(lens.cells) > 0:
            count = _careful_candidates(
                triangles, scratch.point, scratch.grid, lens, near, row0, row1, scratch.triangle,
                scratch.box,
            )  # fmt: skip
        else:
            count = _candidates(
                triangles, scratch.grid, row0, row1, width, scratch.triangle, scratch.box
            )
        start, end = clusters.vertex_start[c], clusters.vertex_start[c + 1]
        uv, light = clusters.uv[start:end], clusters.light[start:end]
        _fill(count, triangles, uv, light, c, lens, row0, inverse_near, scratch)
