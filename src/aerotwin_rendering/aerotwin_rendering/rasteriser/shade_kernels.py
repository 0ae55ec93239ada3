# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that turn a visibility buffer into images, depths and ids."""

import math
from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_rendering.rasteriser.clusters import Clusters
from aerotwin_rendering.rasteriser.cull_kernels import Visible
from aerotwin_rendering.rasteriser.fill_kernels import clear_band, fill_band
from aerotwin_rendering.rasteriser.lanes import (
    N_LANES,
    absolute,
    any_of,
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
    load_bytes,
    load_floats,
    load_integers,
    store_bytes,
)
from aerotwin_rendering.rasteriser.scratch import Scratch
from aerotwin_rendering.rasteriser.texel_kernels import (
    HALF,
    ZERO,
    Tables,
    Textures,
    addresses_of,
    colour_of,
    grey_of,
    look_up,
    look_up_floats,
)

HORIZON_GREY = 208.0
ZENITH_GREY = 238.0
NADIR_GREY = 120.0
ONE = np.float32(1.0)
WHITE = np.float32(255.0)
# Inverse depth is linear in the image on every plane. A relative bend above this is an edge of a
# shape.
EDGE = np.float32(0.01)


class Output(NamedTuple):
    """The arrays of a frame; those not requested have no elements."""

    image: np.ndarray
    depth: np.ndarray
    ids: np.ndarray


@lane_njit(forceinline=True)
def _half_log2(bits):
    """Half the binary logarithm of positive floats, passed as integers; error at most 0.005.

    Exponent and mantissa m of the float; log2(1 + m) = m + 0.34 m (1 - m) + rest.
    """
    mantissa = to_floats(bits & spread(np.int32(0x7FFFFF))) * spread(np.float32(1.0 / 0x800000))
    curve = mantissa + spread(np.float32(0.34)) * mantissa * (spread(ONE) - mantissa)
    exponent = (bits >> spread(np.int32(23))) - spread(np.int32(127))
    return spread(HALF) * (to_floats(exponent) + curve)


@njit(nogil=True, cache=True)
def _sky(dx, dy, pose):
    """Grey of the background: a smooth function of the ray's elevation in the map."""
    up = pose[2] * dx + pose[5] * dy + pose[8]
    sine = up / math.sqrt(dx * dx + dy * dy + 1.0)
    if sine >= 0.0:
        return np.uint8(HORIZON_GREY + (ZENITH_GREY - HORIZON_GREY) * sine + 0.5)
    return np.uint8(HORIZON_GREY + (HORIZON_GREY - NADIR_GREY) * sine + 0.5)


@lane_njit(error_model="numpy")
def _shade_row(
    v, r, pose, lens: Lens, scratch: Scratch, mesh_of_cluster, textures: Textures, bias, n_channels
):
    """Convert the visible surfaces of image row v, band row r, to grey values or colours."""
    cluster, surface, shaded, areas = (
        scratch.cluster, scratch.surface, scratch.shaded, lens.half_log2_area,
    )  # fmt: skip
    tables = addresses_of(mesh_of_cluster, textures)
    width = lens.x.shape[1]
    row = r * width
    cluster_at, area_at = cluster.ctypes.data + 4 * row, areas.ctypes.data + 4 * v * areas.shape[1]
    surface_at, stride = surface.ctypes.data + 4 * row, 4 * surface.shape[1]
    shaded_at, plane = shaded.ctypes.data + row, shaded.shape[1]
    has_table, pixel_area = len(areas) > 1, areas[0, 0]
    zero, n_sky = spread(np.int32(0)), 0
    for u in range(0, width, N_LANES):
        owner = load_integers(cluster_at + 4 * u)
        is_here = lane_numbers() < spread(np.int32(width - u))
        is_seen = (owner >= zero) & is_here
        n_sky += any_of((owner < zero) & is_here)
        if not any_of(is_seen):
            continue
        mesh = look_up(tables.mesh_of_cluster, select(is_seen, owner, zero))
        area = load_floats(area_at + 4 * u) if has_table else spread(pixel_area)
        _shade_block(
            is_seen, mesh, surface_at + 4 * u, stride, area + spread(bias), tables, n_channels,
            shaded_at + u, plane,
        )  # fmt: skip
    if n_sky > 0:
        _paint_sky(v, row, lens, pose, cluster, n_channels, shaded)


@lane_njit(error_model="numpy", forceinline=True)
def _shade_block(
    is_seen, mesh, surface, stride, half_log2_area, tables: Tables, n_channels, out, plane
):
    """Write grey values or colours of eight pixels that see meshes.

    `surface` is the address of their first u, ``stride`` bytes before those of v, area and light;
    `out` that where they are written, ``plane`` bytes before those of the next channel.
    """
    zero, one = spread(ZERO), spread(np.int32(1))
    s = select(is_seen, load_floats(surface), zero)
    t = select(is_seen, load_floats(surface + stride), zero)
    light = load_floats(surface + 3 * stride)
    k = look_up(tables.of_mesh, mesh)
    is_repeated = look_up(tables.repeats, mesh) > spread(np.int32(0))
    # Half the logarithm of the area in texels: geometric mean of the footprint's two axes.
    level = _half_log2(load_integers(surface + 2 * stride))
    level = level + look_up_floats(tables.half_log2_size, k) + half_log2_area
    last = look_up(tables.n_levels, k) - one
    level = least(greatest(level, zero), to_floats(last))
    i = to_integers(level)
    share = level - to_floats(i)
    first = k * spread(np.int32(tables.most_levels))
    i, j = first + i, first + least(i + one, last)
    is_between = any_of(share > zero)
    if n_channels == 1:
        grey = grey_of(tables, i, is_repeated, s, t)
        if is_between:
            grey = grey + share * (grey_of(tables, j, is_repeated, s, t) - grey)
        _store_lit(out, grey, light)
        return
    red, green, blue = colour_of(tables, i, is_repeated, s, t)
    if is_between:
        other = colour_of(tables, j, is_repeated, s, t)
        red = red + share * (other[0] - red)
        green = green + share * (other[1] - green)
        blue = blue + share * (other[2] - blue)
    _store_lit(out, red, light)
    _store_lit(out + plane, green, light)
    _store_lit(out + 2 * plane, blue, light)


@njit(nogil=True, cache=True)
def _paint_sky(v, row, lens: Lens, pose, cluster, n_channels, shaded):
    """Write what sees nothing in image row v; without a ray there is no light."""
    rays_x, rays_y = lens.x, lens.y
    row_step, column_step = int(rays_x.shape[0] > 1), int(rays_y.shape[1] > 1)
    for u in range(rays_x.shape[1]):
        if cluster[row + u] < 0:
            dx, dy = rays_x[v * row_step, u], rays_y[v, u * column_step]
            sky = np.uint8(0) if dx != dx else _sky(dx, dy, pose)
            for channel in range(n_channels):
                shaded[channel, row + u] = sky


@lane_njit(forceinline=True)
def _store_lit(address, values, light):
    """Write values as light lets them appear, rounded to bytes."""
    lit = least(values * light + spread(HALF), spread(WHITE))
    store_bytes(address, to_integers(lit))


@lane_njit(forceinline=True)
def _bends(a, b, c):
    """Tell where inverse depth bends at b by more than `EDGE`."""
    nearest = greatest(b, greatest(a, c))
    return absolute(a - (b + b) + c) > spread(EDGE) * nearest


@lane_njit
def _soften_row(r, n_rows, n_channels, scratch: Scratch, out):
    """Copy band row r of an image and blend its pixels across the edges of shapes.

    One sample tells that an edge passes between two pixels, not where. A pixel's area beside it
    belongs by 0 to 1/2 to the other side, evenly distributed if this pixel holds the edge, and not
    at all if the other one does: an eighth, the mean, has the least expected square error.
    """
    width, shaded, softened = out.shape[0], scratch.shaded, scratch.softened
    nearest_at, shaded_at = scratch.nearest.ctypes.data, shaded.ctypes.data
    softened_at = softened.ctypes.data
    row, up, down = r * width, max(r - 1, 0) * width, min(r + 1, n_rows - 1) * width
    is_inner_row = spread(0 < r < n_rows - 1)
    for u in range(0, width, N_LANES):
        column = lane_numbers() + spread(np.int32(u))
        at = nearest_at + 4 * (row + u)
        here = load_floats(at)
        across = _bends(load_floats(at - 4), here, load_floats(at + 4))
        across = across & (column > spread(np.int32(0))) & (column < spread(np.int32(width - 1)))
        above, below = nearest_at + 4 * (up + u), nearest_at + 4 * (down + u)
        along = is_inner_row & _bends(load_floats(above), here, load_floats(below))
        for k in range(n_channels):
            plane = shaded_at + k * shaded.shape[1] + u
            value = load_bytes(plane + row)
            blended = spread(np.int32(8)) * value + spread(np.int32(4))
            if any_of(across | along):
                twice, nothing = value + value, spread(np.int32(0))
                sides = load_bytes(plane + row - 1) + load_bytes(plane + row + 1) - twice
                ends = load_bytes(plane + up) + load_bytes(plane + down) - twice
                blended = blended + select(across, sides, nothing) + select(along, ends, nothing)
            store_bytes(softened_at + k * softened.shape[1] + u, blended >> spread(np.int32(3)))
    for k in range(n_channels):
        for u in range(width):
            out[u, k] = softened[k, u]


@njit(nogil=True, cache=True)
def _draw(
    row0,
    row1,
    top,
    bottom,
    pose,
    lens: Lens,
    mesh_of_cluster,
    textures: Textures,
    bias,
    scratch: Scratch,
    image,
):
    """Shade the band's rows and the adjacent ones, soften edges, blacken pixels without ray."""
    rays_x, n_channels = lens.x, image.shape[2]
    for v in range(top, bottom):
        _shade_row(v, v - top, pose, lens, scratch, mesh_of_cluster, textures, bias, n_channels)
    for v in range(row0, row1):
        _soften_row(v - top, bottom - top, n_channels, scratch, image[v])
        if rays_x.shape[0] > 1:
            for u in range(image.shape[1]):
                if rays_x[v, u] != rays_x[v, u]:
                    image[v, u] = 0


@njit(nogil=True, cache=True)
def filled_rows(row0, row1, height, image):
    """Return the rows to fill for the image rows row0..row1: edges are softened by neighbours."""
    if image.size > 0:
        return max(row0 - 1, 0), min(row1 + 1, height)
    return row0, row1


@njit(nogil=True, cache=True, error_model="numpy")
def render_band(
    row0,
    row1,
    visible: Visible,
    clusters: Clusters,
    pose,
    lens: Lens,
    near,
    far,
    textures: Textures,
    bias,
    scratch: Scratch,
    output: Output,
):
    """Render the image rows row0..row1: fill, then shade while the band is in the cache."""
    top, bottom = filled_rows(row0, row1, lens.y.shape[0], output.image)
    clear_band(top, bottom, lens, far, scratch)
    fill_band(top, bottom, visible, clusters, 0, pose, lens, near, scratch)
    shade_band(
        row0, row1, pose, lens, clusters.mesh, clusters.mesh, textures, bias, scratch, output
    )


@njit(nogil=True, cache=True, error_model="numpy")
def shade_band(
    row0,
    row1,
    pose,
    lens: Lens,
    mesh_of_cluster,
    id_of_cluster,
    textures: Textures,
    bias,
    scratch: Scratch,
    output: Output,
):
    """Convert the visibility buffer to the image rows row0..row1, their depths and ids.

    The mesh of a cluster selects its texture; its id is what images of ids show.
    """
    cluster, nearest = scratch.cluster, scratch.nearest
    image, depth, ids = output.image, output.depth, output.ids
    width = lens.x.shape[1]
    top, bottom = filled_rows(row0, row1, lens.y.shape[0], image)
    if image.size > 0:
        _draw(row0, row1, top, bottom, pose, lens, mesh_of_cluster, textures, bias, scratch, image)
    for v in range(row0, row1):
        first = (v - top) * width
        if depth.size > 0:
            for u in range(width):
                seen = cluster[first + u] >= 0
                depth[v, u] = ONE / nearest[first + u] if seen else np.float32(np.inf)
        if ids.size > 0:
            for u in range(width):
                c = cluster[first + u]
                ids[v, u] = id_of_cluster[c] if c >= 0 else np.int32(-1)
