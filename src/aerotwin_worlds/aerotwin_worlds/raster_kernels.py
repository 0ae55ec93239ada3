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

HORIZON_GREY = 208.0
ZENITH_GREY = 238.0
NADIR_GREY = 120.0
ZERO, HALF = np.float32(0.0), np.float32(0.5)


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
    row0, row1, clusters, slot_start, vertex_start, triangle_start, triangles, uv, texture_index,
    view, near, points, pixels, rows, texture, surface,
):  # fmt: skip
    """Keep, for each pixel of the band, what the nearest triangle shows there.

    ``texture`` (-1: nothing) and ``surface``: inverse depth, u, v, and the area of the pixel's
    footprint as a share of the texture.
    """
    inverse_fx, inverse_fy, cx, cy = 1.0 / view[12], 1.0 / view[13], view[14], view[15]
    width = texture.shape[1]
    inverse_near = 1.0 / near
    for k in range(len(clusters)):
        if rows[k, 1] < row0 or rows[k, 0] > row1 - 1:
            continue
        c = clusters[k]
        base, start = slot_start[k], vertex_start[c]
        for t in range(triangle_start[c], triangle_start[c + 1]):
            j0, j1, j2 = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            i0, i1, i2 = base + j0, base + j1, base + j2
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
            # Texture coordinates are quotients of linear functions of the ray d; with the edge
            # functions a, b, e: u = u0 + ((u1 - u0) b + (u2 - u0) e) / (a + b + e), likewise v;
            # depth = det / (a + b + e).
            s0, t0 = uv[start + j0, 0], uv[start + j0, 1]
            s1, t1 = uv[start + j1, 0] - s0, uv[start + j1, 1] - t0
            s2, t2 = uv[start + j2, 0] - s0, uv[start + j2, 1] - t0
            # Their Jacobian determinant is (s1 t2 - s2 t1) det^2 / (a + b + e)^3.
            footprint = abs(s1 * t2 - s2 * t1) * det * det * inverse_fx * inverse_fy
            inverse_det = 1.0 / det
            for v in range(v0, v1 + 1):
                dy = (v - cy) * inverse_fy
                a_row, b_row, e_row = ay * dy + az, by * dy + bz, ey * dy + ez
                for u in range(u0, u1 + 1):
                    dx = (u - cx) * inverse_fx
                    a, b, e = ax * dx + a_row, bx * dx + b_row, ex * dx + e_row
                    if a >= 0.0 and b >= 0.0 and e >= 0.0:
                        total = a + b + e
                        inverse_depth = np.float32(total * inverse_det)
                        r = v - row0
                        if inverse_depth > surface[r, u, 0] and inverse_depth <= inverse_near:
                            inverse = 1.0 / total
                            surface[r, u, 0] = inverse_depth
                            surface[r, u, 1] = s0 + (s1 * b + s2 * e) * inverse
                            surface[r, u, 2] = t0 + (t1 * b + t2 * e) * inverse
                            surface[r, u, 3] = footprint * inverse * inverse * inverse
                            texture[r, u] = texture_index[c]


@njit(nogil=True, cache=True, inline="always")
def _bilinear(texels, offset, width, height, u, v):
    """Look up a texture level at u, v in [0, 1]; beyond the outer texel centres it is constant.

    Single precision and unsigned indices (no test for negative ones): 1.7 times as fast.
    """
    x = min(max(u * np.float32(width) - HALF, ZERO), np.float32(width - 1))
    y = min(max(v * np.float32(height) - HALF, ZERO), np.float32(height - 1))
    c0, r0 = np.int32(x), np.int32(y)
    fx, fy = x - np.float32(c0), y - np.float32(r0)
    c1, r1 = min(c0 + 1, width - 1), min(r0 + 1, height - 1)
    upper, lower = np.uint64(offset + r0 * width), np.uint64(offset + r1 * width)
    a0, a1 = texels[upper + np.uint64(c0)], texels[upper + np.uint64(c1)]
    b0, b1 = texels[lower + np.uint64(c0)], texels[lower + np.uint64(c1)]
    a = np.float32(a0) + fx * (np.float32(a1) - np.float32(a0))
    b = np.float32(b0) + fx * (np.float32(b1) - np.float32(b0))
    return a + fy * (b - a)


@njit(nogil=True, cache=True, inline="always")
def _trilinear(texels, offset, width, height, n_levels, k, u, v, level):
    """Look up texture k between two levels of its pyramid."""
    level = min(max(level, 0.0), n_levels[k] - 1.0)
    i = int(level)
    share = np.float32(level - i)
    value = _bilinear(texels, offset[k, i], width[k, i], height[k, i], u, v)
    if share > ZERO:
        i += 1
        other = _bilinear(texels, offset[k, i], width[k, i], height[k, i], u, v)
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
    row0, row1, view, texture, surface, texels, offset, level_width, level_height, n_levels, bias,
    image, depth,
):  # fmt: skip
    """Turn what a band's pixels show into grey values and depths."""
    inverse_fx, inverse_fy, cx, cy = 1.0 / view[12], 1.0 / view[13], view[14], view[15]
    for v in range(row0, row1):
        dy = (v - cy) * inverse_fy
        for u in range(image.shape[1]):
            k = texture[v - row0, u]
            if k < 0:
                depth[v, u] = np.inf
                image[v, u] = int(_sky((u - cx) * inverse_fx, dy, view) + 0.5)
                continue
            r = v - row0
            depth[v, u] = 1.0 / surface[r, u, 0]
            # Square root of the area in texels: geometric mean of the footprint's two axes.
            area = surface[r, u, 3] * level_width[k, 0] * level_height[k, 0]
            level = 0.5 * math.log2(max(area, 1e-30)) + bias
            grey = _trilinear(
                texels, offset, level_width, level_height, n_levels, k,
                surface[r, u, 1], surface[r, u, 2], level,
            )  # fmt: skip
            image[v, u] = int(grey + HALF)


@njit(nogil=True, cache=True)
def render_band(
    row0, row1, clusters, slot_start, vertex_start, triangle_start, triangles, uv, texture_index,
    view, near, points, pixels, rows, texels, offset, level_width, level_height, n_levels, bias,
    image, depth,
):  # fmt: skip
    """Render the image rows row0..row1: fill, then shade while the band is in the cache."""
    width = image.shape[1]
    texture = np.full((row1 - row0, width), -1, np.int32)
    surface = np.zeros((row1 - row0, width, 4), np.float32)
    _fill_band(
        row0, row1, clusters, slot_start, vertex_start, triangle_start, triangles, uv,
        texture_index, view, near, points, pixels, rows, texture, surface,
    )  # fmt: skip
    _shade_band(
        row0, row1, view, texture, surface, texels, offset, level_width, level_height, n_levels,
        bias, image, depth,
    )  # fmt: skip
