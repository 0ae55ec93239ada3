# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that sample textures at eight pixels at a time."""

from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_rendering.rasteriser.lanes import (
    any_of,
    first_of,
    floor,
    greatest,
    lane_njit,
    least,
    select,
    spread,
    to_floats,
    to_integers,
    to_longs,
)
from aerotwin_rendering.rasteriser.memory import (
    gather_floats,
    gather_integers,
    gather_longs,
    places_in,
    read_float,
    read_integer,
    read_long,
)

ZERO, HALF = np.float32(0.0), np.float32(0.5)
PADDING = 3  # texels are read four bytes at a time


class Textures(NamedTuple):
    """Memory addresses of the levels of all textures, and the texture of each mesh.

    Textures are not copied, one array each: a table of addresses instead of one joined array, whose
    copy would take seconds and twice the memory when a tile is added to a world. ``address`` (n,
    levels) int64 is that of a level's first texel, and `PADDING` bytes follow the last one;
    ``width`` and ``height`` (n, levels) and ``n_levels`` (n,) are int32. ``half_log2_size`` (n,)
    float32 is half the binary logarithm of the number of texels of level 0; ``of_mesh`` and
    ``repeats`` (m,) are int32.
    """

    address: np.ndarray
    width: np.ndarray
    height: np.ndarray
    n_levels: np.ndarray
    half_log2_size: np.ndarray
    of_mesh: np.ndarray
    repeats: np.ndarray


class Tables(NamedTuple):
    """Addresses of the tables that a block of pixels reads.

    Members of tuples that are arrays are counted references: that takes longer than the block.
    """

    mesh_of_cluster: np.int64
    of_mesh: np.int64
    repeats: np.int64
    n_levels: np.int64
    half_log2_size: np.int64
    address: np.int64
    width: np.int64
    height: np.int64
    most_levels: np.int64


@njit(nogil=True, cache=True)
def addresses_of(mesh_of_cluster, textures: Textures):
    """Return the addresses of the tables."""
    return Tables(
        np.int64(mesh_of_cluster.ctypes.data),
        np.int64(textures.of_mesh.ctypes.data),
        np.int64(textures.repeats.ctypes.data),
        np.int64(textures.n_levels.ctypes.data),
        np.int64(textures.half_log2_size.ctypes.data),
        np.int64(textures.address.ctypes.data),
        np.int64(textures.width.ctypes.data),
        np.int64(textures.height.ctypes.data),
        np.int64(textures.width.shape[1]),
    )


@lane_njit(forceinline=True)
def look_up(table, index):
    """Return the numbers of a table of int32 at eight places, which mostly are one place."""
    first = first_of(index)
    if any_of(index != spread(first)):
        return gather_integers(places_in(table, index, 4))
    return spread(read_integer(table + 4 * first))


@lane_njit(forceinline=True)
def look_up_floats(table, index):
    """As `look_up`, of float32."""
    first = first_of(index)
    if any_of(index != spread(first)):
        return gather_floats(places_in(table, index, 4))
    return spread(read_float(table + 4 * first))


@lane_njit(forceinline=True)
def _look_up_longs(table, index):
    """As `look_up`, of int64."""
    first = first_of(index)
    if any_of(index != spread(first)):
        return gather_longs(places_in(table, index, 8))
    return spread(read_long(table + 8 * first))


@lane_njit(forceinline=True)
def _taps(position, size, is_repeated):
    """Return the two texels around positions along a side [texels], and the second ones' weights.

    The side of a texture that is not repeated ends in the middle of its last texels; there the
    second texel is the last one, too, and has no weight.
    """
    one = spread(np.int32(1))
    last = size - one
    x = least(greatest(position, spread(ZERO)), to_floats(last))
    first = to_integers(x)
    share, second = x - to_floats(first), least(first + one, last)
    if any_of(is_repeated):
        whole = to_integers(floor(position))
        share = select(is_repeated, position - to_floats(whole), share)
        first = select(is_repeated, whole % size, first)
        second = select(is_repeated, (whole + one) % size, second)
    return first, second, share


@lane_njit(forceinline=True)
def _mix(a0, a1, b0, b1, fx, fy):
    a = a0 + fx * (a1 - a0)
    b = b0 + fx * (b1 - b0)
    return a + fy * (b - a)


@lane_njit(forceinline=True)
def _byte_of(tokens, shift):
    """Return a byte of numbers as float32."""
    return to_floats((tokens >> spread(np.int32(shift))) & spread(np.int32(255)))


@lane_njit(forceinline=True)
def _place(tables: Tables, index, is_repeated, u, v):
    """Return what `grey_of` and `colour_of` need of levels ``index`` at texture coordinates.

    These are the addresses of the levels, the offsets of the two rows and columns of texels around
    u, v, in texels, and the weights of the second ones.
    """
    width, height = look_up(tables.width, index), look_up(tables.height, index)
    half = spread(HALF)
    c0, c1, fx = _taps(u * to_floats(width) - half, width, is_repeated)
    r0, r1, fy = _taps(v * to_floats(height) - half, height, is_repeated)
    width = to_longs(width)
    upper, lower = to_longs(r0) * width, to_longs(r1) * width
    address = _look_up_longs(tables.address, index)
    return address, upper, lower, to_longs(c0), to_longs(c1), fx, fy


@lane_njit(forceinline=True)
def grey_of(tables: Tables, index, is_repeated, u, v):
    """Return grey values of levels: between the four texels around u, v."""
    address, upper, lower, c0, c1, fx, fy = _place(tables, index, is_repeated, u, v)
    upper, lower = address + upper, address + lower
    a0, b0 = gather_integers(upper + c0), gather_integers(lower + c0)
    if any_of(is_repeated):
        a1, b1 = _byte_of(gather_integers(upper + c1), 0), _byte_of(gather_integers(lower + c1), 0)
    else:  # behind the last texel the next byte has no weight
        a1, b1 = _byte_of(a0, 8), _byte_of(b0, 8)
    return _mix(_byte_of(a0, 0), a1, _byte_of(b0, 0), b1, fx, fy)


@lane_njit(forceinline=True)
def colour_of(tables: Tables, index, is_repeated, u, v):
    """Return red, green and blue of levels: between the four texels around u, v."""
    address, upper, lower, c0, c1, fx, fy = _place(tables, index, is_repeated, u, v)
    n = spread(np.int64(3))
    upper, lower, c0, c1 = address + n * upper, address + n * lower, n * c0, n * c1
    a0, a1 = gather_integers(upper + c0), gather_integers(upper + c1)
    b0, b1 = gather_integers(lower + c0), gather_integers(lower + c1)
    red = _mix(_byte_of(a0, 0), _byte_of(a1, 0), _byte_of(b0, 0), _byte_of(b1, 0), fx, fy)
    green = _mix(_byte_of(a0, 8), _byte_of(a1, 8), _byte_of(b0, 8), _byte_of(b1, 8), fx, fy)
    blue = _mix(_byte_of(a0, 16), _byte_of(a1, 16), _byte_of(b0, 16), _byte_of(b1, 16), fx, fy)
    return red, green, blue
