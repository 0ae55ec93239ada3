# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that find what each pixel sees: transform, fill the visibility buffer.

Triangles are filled by homogeneous edge functions (Olano and Greer 1997): for a ray d through a
pixel and the triangle P0 P1 P2 in camera axes, e0 = d . (P1 x P2) and its two rotations have one
sign inside, depth is P0 . (P1 x P2) / (e0 + e1 + e2), and e_i / sum(e) are the barycentric weights,
perspective included. Only the rays are used, so any lens is exact. No polygon is clipped: parts
nearer than the near plane fail the depth test pixel by pixel. A shared edge has exactly opposite
values in its two triangles, so surfaces have no cracks. Equal depths go to the lower cluster and
triangle, so that the order of the clusters (near ones first) changes no byte.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_rendering.rasteriser.clusters import CLUSTER_VERTICES, Clusters
from aerotwin_rendering.rasteriser.cull_kernels import MARGIN, Visible, pixels_of, to_grid
from aerotwin_rendering.rasteriser.lanes import (
    N_LANES,
    absolute,
    any_of,
    ceil,
    floor,
    greatest,
    lane_njit,
    lane_numbers,
    least,
    select,
    spread,
    to_floats,
    to_integers,
)
from aerotwin_rendering.rasteriser.lens import Lens
from aerotwin_rendering.rasteriser.memory import (
    gather_floats,
    load_doubles,
    load_floats,
    load_integers,
    load_shorts,
    places_in,
    store,
)
from aerotwin_rendering.rasteriser.scratch import Scratch

FAR_PIXEL = np.float32(40000.0)
"""Columns and rows are clamped to these, so that they fit an integer."""


@njit(nogil=True, cache=True, error_model="numpy")
def _transform(xyz, n, pose, point):
    """Transform the n vertices of a cluster to camera axes."""
    r0, r1, r2, r3, r4, r5 = pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]
    r6, r7, r8, px, py, pz = pose[6], pose[7], pose[8], pose[9], pose[10], pose[11]
    for i in range(n):
        dx, dy, dz = xyz[i] - px, xyz[n + i] - py, xyz[2 * n + i] - pz
        point[i] = r0 * dx + r1 * dy + r2 * dz
        point[CLUSTER_VERTICES + i] = r3 * dx + r4 * dy + r5 * dz
        point[2 * CLUSTER_VERTICES + i] = r6 * dx + r7 * dy + r8 * dz


@njit(nogil=True, cache=True, error_model="numpy")
def _project(n, point, lens: Lens, grid):
    """Find the grid coordinates of vertices that all lie in front of the camera."""
    u_scale, u_offset, v_scale, v_offset = lens.u_scale, lens.u_offset, lens.v_scale, lens.v_offset
    squeeze = lens.squeeze
    for i in range(n):
        inverse = 1.0 / point[2 * CLUSTER_VERTICES + i]
        tx, ty = point[i] * inverse, point[CLUSTER_VERTICES + i] * inverse
        if squeeze != 0.0:
            tx, ty = tx / (1.0 + squeeze * abs(tx)), ty / (1.0 + squeeze * abs(ty))
        grid[i] = u_scale * tx + u_offset
        grid[CLUSTER_VERTICES + i] = v_scale * ty + v_offset


@njit(nogil=True, cache=True, error_model="numpy")
def _clipped_box(point, i0, i1, i2, lens: Lens, near):
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
        to_grid(low_x, lens.squeeze, lens.u_scale, lens.u_offset) - 1.0,
        to_grid(high_x, lens.squeeze, lens.u_scale, lens.u_offset) + 1.0,
        to_grid(low_y, lens.squeeze, lens.v_scale, lens.v_offset) - 1.0,
        to_grid(high_y, lens.squeeze, lens.v_scale, lens.v_offset) + 1.0,
    )


@lane_njit
def _find_bounds(corners, n, grid, width, row0, row1, bounds):
    """Bound the pixels of the band that each of n triangles in front of a pinhole may cover."""
    corners_at, side = np.int64(corners.ctypes.data), 2 * n
    columns_at = np.int64(grid.ctypes.data)
    rows_at = columns_at + 4 * CLUSTER_VERTICES
    out, stride = np.int64(bounds.ctypes.data), 4 * bounds.shape[1]
    for t in range(0, n, N_LANES):
        at = corners_at + 2 * t
        a, b, c = load_shorts(at), load_shorts(at + side), load_shorts(at + side + side)
        first, last = _pixels_between(columns_at, a, b, c, 0, width - 1)
        top, bottom = _pixels_between(rows_at, a, b, c, row0, row1 - 1)
        store(out + 4 * t, first)
        store(out + 4 * t + stride, last)
        store(out + 4 * t + 2 * stride, top)
        store(out + 4 * t + 3 * stride, bottom)


@lane_njit(forceinline=True)
def _pixels_between(grid, a, b, c, first, last):
    """Return the first and last pixel between grid coordinates of corners, in first..last."""
    x, y = gather_floats(places_in(grid, a, 4)), gather_floats(places_in(grid, b, 4))
    z, margin = gather_floats(places_in(grid, c, 4)), spread(MARGIN)
    low = ceil(least(least(x, y), z) - margin)
    high = floor(greatest(greatest(x, y), z) + margin)
    return (
        greatest(_as_pixels(low), spread(np.int32(first))),
        least(_as_pixels(high), spread(np.int32(last))),
    )


@lane_njit(forceinline=True)
def _as_pixels(whole):
    """Return whole numbers as integers, which hold those far outside of any image only clamped."""
    return to_integers(greatest(least(whole, spread(FAR_PIXEL)), spread(-FAR_PIXEL)))


@njit(nogil=True, cache=True)
def _find_bounds_carefully(corners, n, point, grid, lens: Lens, near, row0, row1, bounds):
    """As `_find_bounds`, for any lens and for clusters that reach through the near plane."""
    m = CLUSTER_VERTICES
    cells, levels = lens.cells, lens.levels
    width, height = lens.x.shape[1], lens.y.shape[0]
    for t in range(n):
        i0, i1, i2 = int(corners[t]), int(corners[n + t]), int(corners[2 * n + t])
        z0, z1, z2 = point[2 * m + i0], point[2 * m + i1], point[2 * m + i2]
        n_front = (z0 > near) + (z1 > near) + (z2 > near)
        u0, u1, v0, v1 = 1, 0, 1, 0
        if n_front == 3:
            a, b, c = grid[i0], grid[i1], grid[i2]
            u_low, u_high = min(a, b, c), max(a, b, c)
            a, b, c = grid[m + i0], grid[m + i1], grid[m + i2]
            v_low, v_high = min(a, b, c), max(a, b, c)
            u0, u1, v0, v1 = pixels_of(cells, levels, width, height, u_low, u_high, v_low, v_high)
        elif n_front > 0:
            u_low, u_high, v_low, v_high = _clipped_box(point, i0, i1, i2, lens, near)
            u0, u1, v0, v1 = pixels_of(cells, levels, width, height, u_low, u_high, v_low, v_high)
        bounds[0, t], bounds[1, t] = u0, u1
        bounds[2, t], bounds[3, t] = max(v0, row0), min(v1, row1 - 1)


@njit(nogil=True, cache=True)
def _list_triangles(n, bounds, small, wide):
    """List the triangles that may cover one or two pixels, and those that may cover more.

    ``small`` receives twice the triangle, and for a second pixel one more. Most triangles of a fine
    mesh fall between the pixel centres at random: no branch is taken for them, here and in
    `_hit_small`.
    """
    n_small, n_wide = 0, 0
    for t in range(n):
        n_columns, n_rows = 1 + bounds[1, t] - bounds[0, t], 1 + bounds[3, t] - bounds[2, t]
        is_any = (n_columns > 0) & (n_rows > 0)
        is_small = (n_columns + n_rows <= 3) & is_any
        small[n_small], small[n_small + 1] = 2 * t, 2 * t + 1
        n_small += is_small * (n_columns + n_rows - 1)
        wide[n_wide] = t
        n_wide += is_any & (not is_small)
    return n_small, n_wide


@njit(nogil=True, cache=True, forceinline=True)
def _edges(point, i0, i1, i2):
    """Edge normals P1 x P2, P2 x P0, P0 x P1 and the determinant P0 . (P1 x P2)."""
    m = CLUSTER_VERTICES
    x0, y0, z0 = point[i0], point[m + i0], point[2 * m + i0]
    x1, y1, z1 = point[i1], point[m + i1], point[2 * m + i1]
    x2, y2, z2 = point[i2], point[m + i2], point[2 * m + i2]
    ax, ay, az = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
    bx, by, bz = y2 * z0 - z2 * y0, z2 * x0 - x2 * z0, x2 * y0 - y2 * x0
    ex, ey, ez = y0 * z1 - z0 * y1, z0 * x1 - x0 * z1, x0 * y1 - y0 * x1
    det = x0 * ax + y0 * ay + z0 * az
    return ax, ay, az, bx, by, bz, ex, ey, ez, det


@njit(nogil=True, cache=True, forceinline=True)
def _values_of(uv, light, i0, i1, i2):
    """Return u, v and light of a triangle's first corner, and what the others' add to them."""
    s0, t0, l0 = uv[i0, 0], uv[i0, 1], light[i0]
    s1, t1, l1 = uv[i1, 0] - s0, uv[i1, 1] - t0, light[i1] - l0
    s2, t2, l2 = uv[i2, 0] - s0, uv[i2, 1] - t0, light[i2] - l0
    return s0, s1, s2, t0, t1, t2, l0, l1, l2


@njit(nogil=True, cache=True, error_model="numpy")
def _keep_hits(count, corners, n, uv, light, c, scratch: Scratch):
    """Write the surface of small triangles at the pixels they hit, where nothing is nearer.

    Texture coordinates are quotients of linear functions of the ray d; with the edge functions
    a, b, e: u = u0 + ((u1 - u0) b + (u2 - u0) e) / (a + b + e), as also v and light;
    depth = det / (a + b + e). The Jacobian determinant of (u, v) by (x, y) of the ray is
    ((u1 - u0) (v2 - v0) - (u2 - u0) (v1 - v0)) det^2 / (a + b + e)^3.
    """
    hit_triangle, hit_pixel = scratch.hit_triangle, scratch.hit_pixel
    hit_depth, hit_edges = scratch.hit_depth, scratch.hit_edges
    nearest, cluster, surface = scratch.nearest, scratch.cluster, scratch.surface
    for h in range(count):
        pixel, inverse_depth = hit_pixel[h], hit_depth[h]
        old = nearest[pixel]
        if inverse_depth > old or (inverse_depth == old and c < cluster[pixel]):
            t = hit_triangle[h]
            i0, i1, i2 = int(corners[t]), int(corners[n + t]), int(corners[2 * n + t])
            inverse, det = 1.0 / hit_edges[h, 0], hit_edges[h, 1]
            b, e = hit_edges[h, 2] * inverse, hit_edges[h, 3] * inverse
            s0, s1, s2, t0, t1, t2, l0, l1, l2 = _values_of(uv, light, i0, i1, i2)
            nearest[pixel] = inverse_depth
            cluster[pixel] = c
            surface[0, pixel] = s0 + (s1 * b + s2 * e)
            surface[1, pixel] = t0 + (t1 * b + t2 * e)
            area = (s1 * t2 - s2 * t1) * (det * det) * (inverse * inverse * inverse)
            surface[2, pixel] = abs(area)
            surface[3, pixel] = l0 + (l1 * b + l2 * e)


@njit(nogil=True, cache=True, error_model="numpy")
def _hit_small(n_small, corners, n, lens: Lens, row0, inverse_near, scratch: Scratch):
    """Find the hits of triangles that may cover one or two pixels; return how many."""
    # Members of tuples are counted references: outside the loop.
    rays_x, rays_y = lens.x, lens.y
    point, bounds, small = scratch.point, scratch.bounds, scratch.small
    hit_triangle, hit_pixel = scratch.hit_triangle, scratch.hit_pixel
    hit_depth, hit_edges, nearest = scratch.hit_depth, scratch.hit_edges, scratch.nearest
    row_step, column_step = int(rays_x.shape[0] > 1), int(rays_y.shape[1] > 1)
    width = rays_x.shape[1]
    count = 0
    for k in range(n_small):
        t, second = int(small[k] >> 1), int(small[k] & 1)
        i0, i1, i2 = int(corners[t]), int(corners[n + t]), int(corners[2 * n + t])
        ax, ay, az, bx, by, bz, ex, ey, ez, det = _edges(point, i0, i1, i2)
        u0, v0 = int(bounds[0, t]), int(bounds[2, t])
        u, v = u0 + second * (u0 < bounds[1, t]), v0 + second * (v0 < bounds[3, t])
        dx, dy = rays_x[v * row_step, u], rays_y[v, u * column_step]
        sign = -1.0 if det < 0.0 else 1.0
        a, b, e = ax * dx + (ay * dy + az), bx * dx + (by * dy + bz), ex * dx + (ey * dy + ez)
        a, b, e, det = a * sign, b * sign, e * sign, det * sign
        total = a + b + e
        inverse_depth = np.float32(total / det)  # NaN or infinite for a triangle seen edge-on
        pixel = (v - row0) * width + u
        hit_triangle[count], hit_pixel[count], hit_depth[count] = t, pixel, inverse_depth
        hit_edges[count, 0], hit_edges[count, 1] = total, det
        hit_edges[count, 2], hit_edges[count, 3] = b, e
        is_inside = (a >= 0.0) & (b >= 0.0) & (e >= 0.0) & (inverse_depth <= inverse_near)
        count += is_inside & (inverse_depth >= nearest[pixel])
    return count


@lane_njit(error_model="numpy")
def _fill_wide(n_wide, corners, n, uv, light, c, lens: Lens, row0, inverse_near, scratch: Scratch):
    """Fill by triangles that may cover several pixels, blocks of a row at a time."""
    rays_x, rays_y = lens.x, lens.y
    point, bounds, wide = scratch.point, scratch.bounds, scratch.wide
    row_step, is_table = int(rays_x.shape[0] > 1), rays_y.shape[1] > 1
    width = rays_x.shape[1]
    x_at, y_at = np.uint64(rays_x.ctypes.data), np.uint64(rays_y.ctypes.data)
    nearest_at = np.uint64(scratch.nearest.ctypes.data)
    cluster_at = np.uint64(scratch.cluster.ctypes.data)
    surface_at = np.uint64(scratch.surface.ctypes.data)
    stride = np.uint64(4 * scratch.surface.shape[1])
    zero, near, own = spread(0.0), spread(inverse_near), spread(np.int32(c))
    for k in range(n_wide):
        t = wide[k]
        i0, i1, i2 = int(corners[t]), int(corners[n + t]), int(corners[2 * n + t])
        ax, ay, az, bx, by, bz, ex, ey, ez, det = _edges(point, i0, i1, i2)
        if det < 0.0:
            ax, ay, az, bx, by, bz = -ax, -ay, -az, -bx, -by, -bz
            ex, ey, ez, det = -ex, -ey, -ez, -det
        s0, s1, s2, t0, t1, t2, l0, l1, l2 = _values_of(uv, light, i0, i1, i2)
        area = (s1 * t2 - s2 * t1) * (det * det)
        u0, u1 = bounds[0, t], bounds[1, t]
        last = spread(np.int32(u1))
        for v in range(bounds[2, t], bounds[3, t] + 1):
            dy = spread(rays_y[v, 0])
            for u in range(u0, u1 + 1, N_LANES):
                dx = load_doubles(x_at + np.uint64(8 * (v * row_step * width + u)))
                if is_table:
                    dy = load_doubles(y_at + np.uint64(8 * (v * width + u)))
                a = spread(ax) * dx + (spread(ay) * dy + spread(az))
                b = spread(bx) * dx + (spread(by) * dy + spread(bz))
                e = spread(ex) * dx + (spread(ey) * dy + spread(ez))
                is_kept = (a >= zero) & (b >= zero) & (e >= zero)
                is_kept = is_kept & (spread(np.int32(u)) + lane_numbers() <= last)
                if not any_of(is_kept):
                    continue
                at = np.uint64(4 * ((v - row0) * width + u))
                total = a + b + e
                depth = to_floats(total / spread(det))
                before, owner = load_floats(nearest_at + at), load_integers(cluster_at + at)
                is_nearer = (depth > before) | ((depth == before) & (own < owner))
                is_kept = is_kept & is_nearer & (depth <= near)
                if not any_of(is_kept):
                    continue
                inverse = spread(1.0) / total
                b, e = b * inverse, e * inverse
                store(nearest_at + at, select(is_kept, depth, before))
                store(cluster_at + at, select(is_kept, own, owner))
                at += surface_at
                _keep(at, is_kept, _mixed(s0, s1, s2, b, e))
                _keep(at + stride, is_kept, _mixed(t0, t1, t2, b, e))
                texels = absolute(spread(area) * (inverse * inverse * inverse))
                _keep(at + stride + stride, is_kept, texels)
                _keep(at + stride + stride + stride, is_kept, _mixed(l0, l1, l2, b, e))


@lane_njit(forceinline=True)
def _mixed(first, second, third, b, e):
    """Return a value of the first corner plus differences to the others by their weights."""
    return spread(1.0 * first) + (spread(1.0 * second) * b + spread(1.0 * third) * e)


@lane_njit(forceinline=True)
def _keep(address, is_kept, values):
    """Write values of pixels as single precision, where they are to be kept."""
    store(address, select(is_kept, to_floats(values), load_floats(address)))


@njit(nogil=True, cache=True)
def _is_hidden(u0, u1, r0, r1, width, bits, nearest_bits):
    """Whether every pixel of a box sees something nearer than an inverse depth (as integer)."""
    for r in range(r0, r1 + 1):
        farther = 0
        for pixel in range(r * width + u0, r * width + u1 + 1):
            farther += nearest_bits[pixel] <= bits
        if farther > 0:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def clear_band(row0, row1, lens: Lens, far, scratch: Scratch):
    """Clear the visibility buffer of the image rows row0..row1."""
    width = lens.x.shape[1]
    scratch.nearest[: (row1 - row0) * width] = np.float32(1.0 / far)
    scratch.cluster[: (row1 - row0) * width] = -1


@njit(nogil=True, cache=True, error_model="numpy")
def fill_band(
    row0, row1, visible: Visible, clusters: Clusters, number, pose, lens: Lens, near,
    scratch: Scratch,
):  # fmt: skip
    """Fill the visibility buffer of rows row0..row1 by clusters, numbered from ``number`` on."""
    width = lens.x.shape[1]
    inverse_near = np.float32(1.0 / near)
    bits = visible.inverse_depth.view(np.int32)
    for k in range(len(visible.cluster)):
        v0, v1 = visible.box[k, 2], visible.box[k, 3]
        if v1 < row0 or v0 >= row1:
            continue
        first, last = max(v0, row0) - row0, min(v1, row1 - 1) - row0
        u0, u1 = visible.box[k, 0], visible.box[k, 1]
        if _is_hidden(u0, u1, first, last, width, bits[k], scratch.nearest_bits):
            continue
        c = visible.cluster[k]
        start, end = clusters.vertex_start[c], clusters.vertex_start[c + 1]
        uv, light = clusters.uv[start:end], clusters.light[start:end]
        n_vertices = end - start
        _transform(clusters.xyz_map[3 * start : 3 * end], n_vertices, pose, scratch.point)
        _project(n_vertices, scratch.point, lens, scratch.grid)
        start, end = clusters.triangle_start[c], clusters.triangle_start[c + 1]
        n = end - start
        corners = clusters.corners[3 * start : 3 * end]
        if visible.crosses_near[k] or len(lens.cells) > 0:
            _find_bounds_carefully(
                corners, n, scratch.point, scratch.grid, lens, near, row0, row1, scratch.bounds
            )
        else:
            _find_bounds(corners, n, scratch.grid, width, row0, row1, scratch.bounds)
        n_small, n_wide = _list_triangles(n, scratch.bounds, scratch.small, scratch.wide)
        c += number
        _fill_wide(n_wide, corners, n, uv, light, c, lens, row0, inverse_near, scratch)
        count = _hit_small(n_small, corners, n, lens, row0, inverse_near, scratch)
        _keep_hits(count, corners, n, uv, light, c, scratch)
