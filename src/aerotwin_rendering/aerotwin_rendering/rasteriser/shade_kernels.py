# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that turn a visibility buffer into images, depths and ids."""

import math
from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_rendering.rasteriser.clusters import Clusters
from aerotwin_rendering.rasteriser.cull_kernels import Visible
from aerotwin_rendering.rasteriser.fill_kernels import Scratch, clear_band, fill_band
from aerotwin_rendering.rasteriser.lens import Lens
from aerotwin_rendering.rasteriser.memory import read_byte, read_token

HORIZON_GREY = 208.0
ZENITH_GREY = 238.0
NADIR_GREY = 120.0
ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
WHITE = np.float32(255.0)
# Inverse depth is linear in the image on every plane. A relative bend above this is an edge of a
# shape.
EDGE = np.float32(0.01)


class Textures(NamedTuple):
    """Memory addresses of the levels of all textures, and the texture of each mesh.

    Textures are not copied, one array each: a table of addresses instead of one joined array, whose
    copy would take seconds and twice the memory when a tile is added to a world. ``address`` (n,
    levels) uint64 is that of a level's first texel; ``width`` and ``height`` (n, levels) and
    ``n_levels`` (n,) are int32. ``half_log2_size`` (n,) float32 is half the binary logarithm of the
    number of texels of level 0; ``of_mesh`` and ``repeats`` (m,) are int32 and bool.
    """

    address: np.ndarray
    width: np.ndarray
    height: np.ndarray
    n_levels: np.ndarray
    half_log2_size: np.ndarray
    of_mesh: np.ndarray
    repeats: np.ndarray


class Output(NamedTuple):
    """The arrays of a frame; those not requested have no elements."""

    image: np.ndarray
    depth: np.ndarray
    ids: np.ndarray


@njit(nogil=True, cache=True)
def _taps(repeats, width, height, u, v):
    """Return the two columns and rows of texels around u, v and the weights of the second ones.

    Single precision and unsigned indices (no test for negative ones): 1.7 times as fast.
    """
    x, y = u * np.float32(width) - HALF, v * np.float32(height) - HALF
    if repeats:
        c0, r0 = np.int32(math.floor(x)), np.int32(math.floor(y))
        fx, fy = x - np.float32(c0), y - np.float32(r0)
        c1, r1 = (c0 + 1) % width, (r0 + 1) % height
        c0, r0 = c0 % width, r0 % height
    else:
        x = min(max(x, ZERO), np.float32(width - 1))
        y = min(max(y, ZERO), np.float32(height - 1))
        c0, r0 = np.int32(x), np.int32(y)
        fx, fy = x - np.float32(c0), y - np.float32(r0)
        c1, r1 = min(c0 + 1, width - 1), min(r0 + 1, height - 1)
    upper, lower = np.uint64(r0) * np.uint64(width), np.uint64(r1) * np.uint64(width)
    return np.uint64(c0), np.uint64(c1), upper, lower, fx, fy


@njit(nogil=True, cache=True)
def _mix(a0, a1, b0, b1, fx, fy):
    a = np.float32(a0) + fx * (np.float32(a1) - np.float32(a0))
    b = np.float32(b0) + fx * (np.float32(b1) - np.float32(b0))
    return a + fy * (b - a)


@njit(nogil=True, cache=True)
def _grey(address, width, height, repeats, u, v):
    c0, c1, upper, lower, fx, fy = _taps(repeats, width, height, u, v)
    upper, lower = address + upper, address + lower
    return _mix(
        read_byte(upper + c0), read_byte(upper + c1), read_byte(lower + c0),
        read_byte(lower + c1), fx, fy,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _colour(address, width, height, repeats, u, v):
    c0, c1, upper, lower, fx, fy = _taps(repeats, width, height, u, v)
    n = np.uint64(3)
    a0, a1 = read_token(address + n * (upper + c0)), read_token(address + n * (upper + c1))
    b0, b1 = read_token(address + n * (lower + c0)), read_token(address + n * (lower + c1))
    mask, one, two = np.uint32(255), np.uint32(8), np.uint32(16)
    red = _mix(a0 & mask, a1 & mask, b0 & mask, b1 & mask, fx, fy)
    green = _mix(
        (a0 >> one) & mask, (a1 >> one) & mask, (b0 >> one) & mask, (b1 >> one) & mask, fx, fy
    )
    blue = _mix(
        (a0 >> two) & mask, (a1 >> two) & mask, (b0 >> two) & mask, (b1 >> two) & mask, fx, fy
    )
    return red, green, blue


@njit(nogil=True, cache=True)
def _half_log2(bits):
    """Half the binary logarithm of a positive float, passed as integer; error at most 0.005.

    Exponent and mantissa m of the float; log2(1 + m) = m + 0.34 m (1 - m) + rest.
    """
    mantissa = np.float32(bits & np.int32(0x7FFFFF)) * np.float32(1.0 / 0x800000)
    curve = mantissa + np.float32(0.34) * mantissa * (ONE - mantissa)
    return HALF * (np.float32((bits >> np.int32(23)) - np.int32(127)) + curve)


@njit(nogil=True, cache=True)
def _sky(dx, dy, pose):
    """Grey of the background: a smooth function of the ray's elevation in the map."""
    up = pose[2] * dx + pose[5] * dy + pose[8]
    sine = up / math.sqrt(dx * dx + dy * dy + 1.0)
    if sine >= 0.0:
        return np.uint8(HORIZON_GREY + (ZENITH_GREY - HORIZON_GREY) * sine + 0.5)
    return np.uint8(HORIZON_GREY + (HORIZON_GREY - NADIR_GREY) * sine + 0.5)


@njit(nogil=True, cache=True)
def _byte(value, light):
    return np.uint8(min(value * light + HALF, WHITE))


@njit(nogil=True, cache=True, error_model="numpy")
def _shade_row(
    v, r, pose, lens: Lens, scratch: Scratch, mesh_of_cluster, textures: Textures, bias, image
):
    """Convert the visible surfaces of image row v, band row r, to grey values or colours."""
    # Members of tuples are counted references: outside the loop.
    rays_x, rays_y, half_log2_area = lens.x, lens.y, lens.half_log2_area
    cluster, surface, bits = scratch.cluster, scratch.surface, scratch.surface_bits
    address, widths, heights = textures.address, textures.width, textures.height
    n_levels, half_log2_size = textures.n_levels, textures.half_log2_size
    of_mesh, repeats_of_mesh = textures.of_mesh, textures.repeats
    row_step, column_step = int(rays_x.shape[0] > 1), int(rays_y.shape[1] > 1)
    area_row, area_step = (v, 1) if len(half_log2_area) > 1 else (0, 0)
    n_channels = image.shape[2]
    first = r * image.shape[1]
    for u in range(image.shape[1]):
        c = cluster[first + u]
        if c < 0:
            dx, dy = rays_x[v * row_step, u], rays_y[v, u * column_step]
            # Without a ray there is no light.
            sky = np.uint8(0) if dx != dx else _sky(dx, dy, pose)
            for channel in range(n_channels):
                image[r, u, channel] = sky
            continue
        mesh = mesh_of_cluster[c]
        k, repeats = of_mesh[mesh], repeats_of_mesh[mesh]
        s, t = surface[first + u, 0], surface[first + u, 1]
        light = surface[first + u, 3]
        # Half the logarithm of the area in texels: geometric mean of the footprint's two axes.
        level = _half_log2(bits[first + u, 2]) + half_log2_size[k]
        level += half_log2_area[area_row, u * area_step] + bias
        level = min(max(level, ZERO), np.float32(n_levels[k] - 1))
        i = np.int32(level)
        j = min(i + 1, n_levels[k] - 1)
        share = level - np.float32(i)
        if n_channels == 1:
            grey = _grey(address[k, i], widths[k, i], heights[k, i], repeats, s, t)
            if share > ZERO:
                other = _grey(address[k, j], widths[k, j], heights[k, j], repeats, s, t)
                grey += share * (other - grey)
            image[r, u, 0] = _byte(grey, light)
        else:
            red, green, blue = _colour(address[k, i], widths[k, i], heights[k, i], repeats, s, t)
            if share > ZERO:
                other = _colour(address[k, j], widths[k, j], heights[k, j], repeats, s, t)
                red += share * (other[0] - red)
                green += share * (other[1] - green)
                blue += share * (other[2] - blue)
            image[r, u, 0] = _byte(red, light)
            image[r, u, 1] = _byte(green, light)
            image[r, u, 2] = _byte(blue, light)


@njit(nogil=True, cache=True)
def _bends(a, b, c):
    """Return 1 where inverse depth bends at b by more than `EDGE`, or else 0."""
    nearest = a if a > c else c
    nearest = b if b > nearest else nearest
    return np.int32(abs(a - (b + b) + c) > EDGE * nearest)


@njit(nogil=True, cache=True)
def _soften_row(r, n_rows, shaded, nearest, out):
    """Copy band row r of an image and blend its pixels across the edges of shapes.

    One sample tells that an edge passes between two pixels, not where. A pixel's area beside it
    belongs by 0 to 1/2 to the other side, evenly distributed if this pixel holds the edge, and not
    at all if the other one does: an eighth, the mean, has the least expected square error.
    """
    width, n_channels = shaded.shape[1], shaded.shape[2]
    first = r * width
    up, down = max(r - 1, 0), min(r + 1, n_rows - 1)
    is_inner = np.int32(up < r < down)
    for u in range(width):
        left, right = max(u - 1, 0), min(u + 1, width - 1)
        here = nearest[first + u]
        across = _bends(nearest[first + left], here, nearest[first + right])
        across *= np.int32(left < u < right)
        along = is_inner * _bends(nearest[up * width + u], here, nearest[down * width + u])
        for k in range(n_channels):
            value = np.int32(shaded[r, u, k])
            sides = np.int32(shaded[r, left, k]) + np.int32(shaded[r, right, k]) - 2 * value
            ends = np.int32(shaded[up, u, k]) + np.int32(shaded[down, u, k]) - 2 * value
            out[u, k] = np.uint8((8 * value + across * sides + along * ends + 4) >> 3)


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
    shaded = scratch.grey if image.shape[2] == 1 else scratch.colour
    nearest, rays_x = scratch.nearest, lens.x
    for v in range(top, bottom):
        _shade_row(v, v - top, pose, lens, scratch, mesh_of_cluster, textures, bias, shaded)
    for v in range(row0, row1):
        _soften_row(v - top, bottom - top, shaded, nearest, image[v])
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
