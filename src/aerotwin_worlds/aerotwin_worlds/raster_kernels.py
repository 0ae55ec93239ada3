# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels of the rasteriser: cull, transform, fill a visibility buffer, shade it.

Triangles are filled by homogeneous edge functions (Olano and Greer 1997): for a ray d through a
pixel and the triangle P0 P1 P2 in camera axes, e0 = d . (P1 x P2) and its two turns have one sign
inside, depth is P0 . (P1 x P2) / (e0 + e1 + e2), and e_i / sum(e) are the barycentric weights,
perspective included. No polygon is clipped: what lies nearer than the near plane fails the depth
test pixel by pixel. A shared edge has exactly opposite values in its two triangles, so surfaces
have no cracks. Every band of rows belongs to one task; equal depths go to the lower triangle: the
bytes do not depend on the number of threads.
"""

import math

import numpy as np
from numba import njit

from aerotwin_worlds.clusters import CLUSTER_TRIANGLES

HORIZON_GREY = 208.0
ZENITH_GREY = 238.0
NADIR_GREY = 120.0


@njit(nogil=True, cache=True)
def visible_clusters(box_low, box_high, planes):
    """Return the indices of the boxes that reach inside all planes (k, 4): n . x + d >= 0."""
    out = np.empty(len(box_low), np.int32)
    n = 0
    for c in range(len(box_low)):
        inside = True
        for k in range(len(planes)):
            s = planes[k, 3]
            for a in range(3):
                s += planes[k, a] * (box_high[c, a] if planes[k, a] > 0.0 else box_low[c, a])
            if s < 0.0:
                inside = False
                break
        if inside:
            out[n] = c
            n += 1
    return out[:n].copy()


@njit(nogil=True, cache=True)
def transform_slots(
    first, last, clusters, slot_start, vertices, vertex_start, view, near, points, pixels, rows
):
    """Bring the vertices of the slots first..last to camera axes and to pixels.

    ``view``: R_optical_map row by row (9), p_map_optical (3), fx, fy, cx, cy. A slot is a visible
    cluster; ``rows`` receives its first and last image row (all, where it crosses the near plane).
    """
    fx, fy, cx, cy = view[12], view[13], view[14], view[15]
    for k in range(first, last):
        base = slot_start[k]
        start = vertex_start[clusters[k]]
        low, high = np.inf, -np.inf
        for i in range(slot_start[k + 1] - base):
            x = vertices[start + i, 0] - view[9]
            y = vertices[start + i, 1] - view[10]
            z = vertices[start + i, 2] - view[11]
            xc = view[0] * x + view[1] * y + view[2] * z
            yc = view[3] * x + view[4] * y + view[5] * z
            zc = view[6] * x + view[7] * y + view[8] * z
            j = base + i
            points[j, 0], points[j, 1], points[j, 2] = xc, yc, zc
            if zc > near:
                inverse = 1.0 / zc
                v = fy * yc * inverse + cy
                pixels[j, 0] = fx * xc * inverse + cx
                pixels[j, 1] = v
                low, high = min(low, v), max(high, v)
            else:
                low, high = -np.inf, np.inf
        rows[k, 0], rows[k, 1] = low, high


@njit(nogil=True, cache=True)
def _clipped_box(points, pixels, i0, i1, i2, view, near):
    """Bounding box in pixels of the part of a triangle beyond the near plane."""
    index = (i0, i1, i2)
    x_low, x_high, y_low, y_high = np.inf, -np.inf, np.inf, -np.inf
    for a in range(3):
        p, q = index[a], index[(a + 1) % 3]
        if points[p, 2] > near:
            x_low, x_high = min(x_low, pixels[p, 0]), max(x_high, pixels[p, 0])
            y_low, y_high = min(y_low, pixels[p, 1]), max(y_high, pixels[p, 1])
        if (points[p, 2] > near) != (points[q, 2] > near):
            s = (near - points[p, 2]) / (points[q, 2] - points[p, 2])
            x = points[p, 0] + s * (points[q, 0] - points[p, 0])
            y = points[p, 1] + s * (points[q, 1] - points[p, 1])
            u, v = view[12] * x / near + view[14], view[13] * y / near + view[15]
            x_low, x_high = min(x_low, u), max(x_high, u)
            y_low, y_high = min(y_low, v), max(y_high, v)
    # The cut is computed, not the edge itself: one pixel of margin costs nothing.
    return x_low - 1.0, x_high + 1.0, y_low - 1.0, y_high + 1.0


@njit(nogil=True, cache=True, inline="always")
def _edges(points, i0, i1, i2):
    """Edge normals P1 x P2, P2 x P0, P0 x P1 and the determinant, turned so that it is >= 0."""
    x0, y0, z0 = points[i0, 0], points[i0, 1], points[i0, 2]
    x1, y1, z1 = points[i1, 0], points[i1, 1], points[i1, 2]
    x2, y2, z2 = points[i2, 0], points[i2, 1], points[i2, 2]
    ax, ay, az = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
    bx, by, bz = y2 * z0 - z2 * y0, z2 * x0 - x2 * z0, x2 * y0 - y2 * x0
    cx, cy, cz = y0 * z1 - z0 * y1, z0 * x1 - x0 * z1, x0 * y1 - y0 * x1
    det = x0 * ax + y0 * ay + z0 * az
    if det < 0.0:
        return -ax, -ay, -az, -bx, -by, -bz, -cx, -cy, -cz, -det
    return ax, ay, az, bx, by, bz, cx, cy, cz, det


@njit(nogil=True, cache=True)
def _fill_band(
    row0, row1, width, clusters, slot_start, triangle_start, triangles, view, near,
    points, pixels, rows, inverse_depth, code,
):  # fmt: skip
    """Keep, for each pixel of the band, the nearest triangle and its inverse depth."""
    inverse_fx, inverse_fy, cx, cy = 1.0 / view[12], 1.0 / view[13], view[14], view[15]
    inverse_near = 1.0 / near
    for k in range(len(clusters)):
        if rows[k, 1] < row0 or rows[k, 0] > row1 - 1:
            continue
        base = slot_start[k]
        first = triangle_start[clusters[k]]
        for t in range(triangle_start[clusters[k] + 1] - first):
            i0 = base + triangles[first + t, 0]
            i1 = base + triangles[first + t, 1]
            i2 = base + triangles[first + t, 2]
            n_front = (points[i0, 2] > near) + (points[i1, 2] > near) + (points[i2, 2] > near)
            if n_front == 3:
                y_low = min(pixels[i0, 1], pixels[i1, 1], pixels[i2, 1])
                y_high = max(pixels[i0, 1], pixels[i1, 1], pixels[i2, 1])
                x_low = min(pixels[i0, 0], pixels[i1, 0], pixels[i2, 0])
                x_high = max(pixels[i0, 0], pixels[i1, 0], pixels[i2, 0])
            elif n_front == 0:
                continue
            else:
                x_low, x_high, y_low, y_high = _clipped_box(points, pixels, i0, i1, i2, view, near)
            v0, v1 = max(math.ceil(y_low), row0), min(math.floor(y_high), row1 - 1)
            u0, u1 = max(math.ceil(x_low), 0), min(math.floor(x_high), width - 1)
            if v0 > v1 or u0 > u1:
                continue
            ax, ay, az, bx, by, bz, ex, ey, ez, det = _edges(points, i0, i1, i2)
            if det == 0.0:
                continue
            inverse_det = 1.0 / det
            triangle_code = k * CLUSTER_TRIANGLES + t
            for v in range(v0, v1 + 1):
                dy = (v - cy) * inverse_fy
                a_row, b_row, e_row = ay * dy + az, by * dy + bz, ey * dy + ez
                for u in range(u0, u1 + 1):
                    dx = (u - cx) * inverse_fx
                    a, b, e = ax * dx + a_row, bx * dx + b_row, ex * dx + e_row
                    if a >= 0.0 and b >= 0.0 and e >= 0.0:
                        inverse = np.float32((a + b + e) * inverse_det)
                        if inverse > inverse_depth[v - row0, u] and inverse <= inverse_near:
                            inverse_depth[v - row0, u] = inverse
                            code[v - row0, u] = triangle_code


@njit(nogil=True, cache=True, inline="always")
def _bilinear(texels, offset, width, height, u, v):
    """Look up a texture level at u, v in [0, 1]; beyond the outer texel centres it is constant."""
    x = min(max(u * width - 0.5, 0.0), width - 1.0)
    y = min(max(v * height - 0.5, 0.0), height - 1.0)
    c0, r0 = int(x), int(y)
    fx, fy = x - c0, y - r0
    c1, r1 = min(c0 + 1, width - 1), min(r0 + 1, height - 1)
    upper, lower = offset + r0 * width, offset + r1 * width
    a = texels[upper + c0] * (1.0 - fx) + texels[upper + c1] * fx
    b = texels[lower + c0] * (1.0 - fx) + texels[lower + c1] * fx
    return a * (1.0 - fy) + b * fy


@njit(nogil=True, cache=True, inline="always")
def _trilinear(texels, offset, width, height, n_levels, u, v, level):
    """Look up between two levels of the pyramid."""
    if level <= 0.0:
        return _bilinear(texels, offset[0], width[0], height[0], u, v)
    level = min(level, n_levels - 1.0)
    i = int(level)
    share = level - i
    value = _bilinear(texels, offset[i], width[i], height[i], u, v)
    if share > 0.0:
        other = _bilinear(texels, offset[i + 1], width[i + 1], height[i + 1], u, v)
        value += share * (other - value)
    return value


@njit(nogil=True, cache=True)
def _sky(dx, dy, view):
    """Grey of the background: a smooth function of the ray's elevation in the map."""
    up = view[2] * dx + view[5] * dy + view[8]
    sine = up / math.sqrt(dx * dx + dy * dy + 1.0)
    if sine >= 0.0:
        return HORIZON_GREY + (ZENITH_GREY - HORIZON_GREY) * sine
    return HORIZON_GREY + (HORIZON_GREY - NADIR_GREY) * sine


@njit(nogil=True, cache=True)
def _shade_band(
    row0, row1, clusters, slot_start, vertex_start, triangle_start, triangles, uv, texture_index,
    view, points, code, texels, offset, level_width, level_height, n_levels, bias, image, depth,
):  # fmt: skip
    """Turn the visibility buffer of a band into grey values and depths."""
    inverse_fx, inverse_fy, cx, cy = 1.0 / view[12], 1.0 / view[13], view[14], view[15]
    last = -1
    texture = 0
    sx = sy = sz = tx = ty = tz = nx = ny = nz = det = s0 = t0 = footprint = 0.0
    for v in range(row0, row1):
        dy = (v - cy) * inverse_fy
        for u in range(image.shape[1]):
            dx = (u - cx) * inverse_fx
            triangle = code[v - row0, u]
            if triangle < 0:
                depth[v, u] = np.inf
                image[v, u] = int(_sky(dx, dy, view) + 0.5)
                continue
            if triangle != last:
                last = triangle
                k = triangle // CLUSTER_TRIANGLES
                c = clusters[k]
                t = triangle_start[c] + triangle - k * CLUSTER_TRIANGLES
                j0, j1, j2 = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                base, start = slot_start[k], vertex_start[c]
                ax, ay, az, bx, by, bz, ex, ey, ez, det = _edges(
                    points, base + j0, base + j1, base + j2
                )
                # Texture coordinates are quotients of linear functions of the ray:
                # s = s0 + (s_vector . d) / (n . d), likewise t; depth = det / (n . d).
                s0, t0 = uv[start + j0, 0], uv[start + j0, 1]
                s1, t1 = uv[start + j1, 0] - s0, uv[start + j1, 1] - t0
                s2, t2 = uv[start + j2, 0] - s0, uv[start + j2, 1] - t0
                sx, sy, sz = s1 * bx + s2 * ex, s1 * by + s2 * ey, s1 * bz + s2 * ez
                tx, ty, tz = t1 * bx + t2 * ex, t1 * by + t2 * ey, t1 * bz + t2 * ez
                nx, ny, nz = ax + bx + ex, ay + by + ey, az + bz + ez
                texture = texture_index[c]
                # Their Jacobian determinant is (s1 t2 - s2 t1) det^2 / (n . d)^3: the footprint's
                # area, whose square root is the geometric mean of its two axes, in texels.
                footprint = abs(s1 * t2 - s2 * t1) * det * det * inverse_fx * inverse_fy
                footprint *= level_width[texture, 0] * level_height[texture, 0]
            inverse = 1.0 / (nx * dx + (ny * dy + nz))
            s = s0 + (sx * dx + (sy * dy + sz)) * inverse
            t_v = t0 + (tx * dx + (ty * dy + tz)) * inverse
            depth[v, u] = det * inverse
            area = footprint * inverse * inverse * inverse
            level = 0.5 * math.log2(max(area, 1e-30)) + bias
            grey = _trilinear(
                texels, offset[texture], level_width[texture], level_height[texture],
                n_levels[texture], s, t_v, level,
            )  # fmt: skip
            image[v, u] = int(grey + 0.5)


@njit(nogil=True, cache=True)
def render_band(
    row0, row1, clusters, slot_start, vertex_start, triangle_start, triangles, uv, texture_index,
    view, near, points, pixels, rows, texels, offset, level_width, level_height, n_levels, bias,
    image, depth,
):  # fmt: skip
    """Render the image rows row0..row1: fill, then shade while the band is in the cache."""
    width = image.shape[1]
    inverse_depth = np.zeros((row1 - row0, width), np.float32)
    code = np.full((row1 - row0, width), -1, np.int32)
    _fill_band(
        row0, row1, width, clusters, slot_start, triangle_start, triangles, view, near,
        points, pixels, rows, inverse_depth, code,
    )  # fmt: skip
    _shade_band(
        row0, row1, clusters, slot_start, vertex_start, triangle_start, triangles, uv,
        texture_index, view, points, code, texels, offset, level_width, level_height, n_levels,
        bias, image, depth,
    )  # fmt: skip
