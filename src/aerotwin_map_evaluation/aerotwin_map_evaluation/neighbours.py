# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Distances between large clouds: to points, to cubes around them, and points within a radius.

Queries are fastest along their own Z-curve, so a `PointTree` serves as searched and as query cloud;
results are in the order of the input points.
"""

from typing import TypeAlias

import numpy as np

from aerotwin_core.threads import run_ranges
from aerotwin_map_evaluation import kernels
from aerotwin_registration.point_tree import PointTree, curve_order

Queries: TypeAlias = np.ndarray | PointTree


def nearest(tree: PointTree, queries: Queries, *, limit_m: float = np.inf) -> np.ndarray:
    """Return the distance (q,) [m] of the nearest point to each query; beyond a limit infinity.

    Queries are an array (q, 3) or a PointTree, which needs no sorting.
    """
    points, order = _asked(queries)
    return _in_input_order(tree.nearest(points, 1, limit_m=limit_m)[0][:, 0], order)


def nearest_cubes(
    tree: PointTree, queries: Queries, *, edge_m: float, limit_m: float = np.inf
) -> np.ndarray:
    """Return the distance (q,) [m] to the nearest axis-aligned cube around a point; 0 inside.

    The nearest cube is not always that around the nearest point.
    """
    points, order = _asked(queries)
    distances = np.empty(len(points))
    run_ranges(
        kernels.nearest_cubes, len(points), *tree.arrays, points, edge_m / 2.0, limit_m, distances
    )
    return _in_input_order(distances, order)


def moments_within(tree: PointTree, queries: np.ndarray, radius_m: float) -> np.ndarray:
    """Return count, sums and sums of products (q, 10) of the points within a radius.

    Columns: n; x, y, z; xx, yy, zz, xy, xz, yz; of the offsets from each query (q, 3) [m].
    """
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    moments = np.empty((len(queries), 10))
    run_ranges(kernels.moments_within, len(queries), *tree.arrays, queries, radius_m, moments)
    return moments


def _asked(queries: Queries) -> tuple[np.ndarray, np.ndarray]:
    """Return the queries along a Z-curve, and the input index of each."""
    if isinstance(queries, PointTree):
        return queries.points, queries.order
    order = curve_order(queries)
    return np.ascontiguousarray(queries[order], dtype=np.float64), order


def _in_input_order(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    unsorted = np.empty_like(values)
    unsorted[order] = values
    return unsorted
