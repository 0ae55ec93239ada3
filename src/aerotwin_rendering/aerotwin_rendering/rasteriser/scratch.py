# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Working memory of the threads that render."""

from typing import NamedTuple

import numpy as np

from aerotwin_rendering.rasteriser.clusters import CLUSTER_TRIANGLES, CLUSTER_VERTICES
from aerotwin_rendering.rasteriser.memory import SPARE

N_SURFACE, MOST_CHANNELS = 4, 3


class Scratch(NamedTuple):
    """Working memory of one thread.

    Of a cluster: ``point`` holds x, y, z of its vertices in camera axes, ``grid`` their two grid
    coordinates (each of these for all vertices before the next), ``bounds`` (4, n) first and last
    column, first and last row of the pixels that each triangle may cover, ``small`` and ``wide``
    lists of triangles by the number of these; ``hit_triangle``, ``hit_pixel``,
    ``hit_depth`` (inverse) and ``hit_edges`` (sum of the edge functions, determinant, second and
    third edge function) the hits of small triangles.

    Per pixel of the band, and `SPARE` more: ``nearest`` (inverse depth; ``nearest_bits`` is the
    same memory as integers, which are in the same order), ``cluster`` (-1: nothing), ``surface``
    (`N_SURFACE`, n): u, v, the texture area that a unit of the plane of the rays sees, and light;
    ``shaded`` (`MOST_CHANNELS`, n): the image before its edges are softened. ``softened`` is a row
    of the image, channel by channel.
    """

    point: np.ndarray
    grid: np.ndarray
    bounds: np.ndarray
    small: np.ndarray
    wide: np.ndarray
    hit_triangle: np.ndarray
    hit_pixel: np.ndarray
    hit_depth: np.ndarray
    hit_edges: np.ndarray
    nearest: np.ndarray
    nearest_bits: np.ndarray
    cluster: np.ndarray
    surface: np.ndarray
    shaded: np.ndarray
    softened: np.ndarray


def make_scratch(n_rows: int, width: int) -> Scratch:
    """Return working memory for bands of an image."""
    n = CLUSTER_TRIANGLES
    n_pixels = n_rows * width + SPARE + 1
    # Softening reads one element before the first.
    nearest = np.empty(1 + n_pixels, np.float32)[1:]
    shaded = np.empty(1 + MOST_CHANNELS * n_pixels, np.uint8)[1:]
    return Scratch(
        point=np.empty(3 * CLUSTER_VERTICES),
        grid=np.empty(2 * CLUSTER_VERTICES, np.float32),
        bounds=np.empty((4, n + SPARE), np.int32),
        small=np.empty(2 * n + 2, np.int32),
        wide=np.empty(n + 1, np.int32),
        hit_triangle=np.empty(2 * n + 2, np.int32),
        hit_pixel=np.empty(2 * n + 2, np.int32),
        hit_depth=np.empty(2 * n + 2, np.float32),
        hit_edges=np.empty((2 * n + 2, 4)),
        nearest=nearest,
        nearest_bits=nearest.view(np.int32),
        cluster=np.empty(n_pixels, np.int32),
        surface=np.empty((N_SURFACE, n_pixels), np.float32),
        shaded=shaded.reshape(MOST_CHANNELS, n_pixels),
        softened=np.empty((MOST_CHANNELS, width + SPARE), np.uint8),
    )
