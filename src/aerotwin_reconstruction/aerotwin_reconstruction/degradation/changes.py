# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The single changes that a degradation is made of; each seeded, on points in map [m]."""

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree
from scipy.special import ndtr

from aerotwin_reconstruction.degradation.displacement import DisplacementField

_CELLS_PER_HOLE = 6
_MAX_CELLS = 50_000_000
_COVER_CELL_M = 0.5
_NEIGHBOURS = 24
_LOW_RADIUS_M = 1.0
_GROUND_M = 0.15
_CAR_SHIFT_M = (0.5, 4.0)
_CAR_TURN = np.deg2rad(15.0)


def in_holes(points: np.ndarray, share: float, size_m: float, *, seed: int) -> np.ndarray:
    """Return which points (n, 3) lie in holes, (n,) bool.

    Holes are the highest parts of smoothed white noise over the ground plan, cut so that they cover
    exactly the requested share of the raster cells that hold points.
    """
    if share <= 0.0 or not len(points):
        return np.zeros(len(points), bool)
    cell, shape, size = _raster(points, size_m / _CELLS_PER_HOLE)
    noise = np.random.default_rng([seed, 711]).normal(size=shape).astype(np.float32)
    # Smoothed over sigma, noise correlates over 2 sigma: blobs about as wide as requested.
    height = gaussian_filter(noise, size_m / 4.0 / size).ravel()
    is_covered = np.zeros(height.size, bool)
    is_covered[cell] = True
    return height[cell] > np.quantile(height[is_covered], 1.0 - share)


def is_covered(points: np.ndarray, clearance_m: float) -> np.ndarray:
    """Return which points (n, 3) have others this far above them in their half metre, (n,) bool."""
    cell, shape, _ = _raster(points, _COVER_CELL_M)
    top = np.full(shape[0] * shape[1], -np.inf)
    np.maximum.at(top, cell, points[:, 2])
    return top[cell] >= points[:, 2] + clearance_m


def _raster(points: np.ndarray, size: float) -> tuple[np.ndarray, tuple[int, int], float]:
    """Return the cell of each point, the raster's shape, and the size of a cell [m].

    Cells grow where the ground plan is too large for memory.
    """
    low = points[:, :2].min(axis=0)
    extent = points[:, :2].max(axis=0) - low
    size = max(size, float(np.sqrt(extent.prod() / _MAX_CELLS)), float(extent.max()) / _MAX_CELLS)
    columns, rows = (int(v) + 1 for v in extent / size)
    column, row = ((points[:, :2] - low) / size).astype(np.int64).T
    return row * columns + column, (rows, columns), size


def ground_of(points: np.ndarray) -> np.ndarray:
    """Return which points (n, 3) look like ground, (n,) bool.

    Those at most 0.15 m above the lowest of their square metre and its eight neighbours; surfaces
    without ground below, such as the roofs of a reconstruction from the air, count as well.
    """
    cell, (rows, columns), _ = _raster(points, _LOW_RADIUS_M)
    low = np.full(rows * columns, np.inf)
    np.minimum.at(low, cell, points[:, 2])
    padded = np.pad(low.reshape(rows, columns), 1, constant_values=np.inf)
    around = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return points[:, 2] <= np.min(around, axis=0).ravel()[cell] + _GROUND_M


def rise(
    points: np.ndarray, rise_m: tuple[float, float], correlation_m: float, *, seed: int
) -> np.ndarray:
    """Return the rise of the ground at points (n, 3): uniform between both limits, (n,) [m]."""
    field = DisplacementField(1.0, correlation_m, seed + 1_000_003, vertical_ratio=1.0)
    share = ndtr(field(points)[:, 2] / field.axis_rms_m[2])
    return rise_m[0] + (rise_m[1] - rise_m[0]) * share


def smoothed(points: np.ndarray, radius_m: float) -> np.ndarray:
    """Return points (n, 3) as the means of their nearest (24 at most) within a radius [m]."""
    tree = cKDTree(points)
    out = np.empty_like(points)
    for start in range(0, len(points), 1 << 16):
        part = slice(start, start + (1 << 16))
        distance, near = tree.query(
            points[part],
            k=range(1, min(_NEIGHBOURS, len(points)) + 1),
            distance_upper_bound=radius_m,
        )
        is_near = np.isfinite(distance)
        places = points[np.where(is_near, near, 0)]
        out[part] = (places * is_near[..., None]).sum(axis=1) / is_near.sum(axis=1, keepdims=True)
    return out


def changed_cars(centres: np.ndarray, share: float, *, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which cars are gone, (k,) bool, and how the others moved in the map, (k, 4, 4).

    `centres` (k, 3) are the middles of the cars [m], `share` is that of cars that change: half of
    them are gone, the others move by 0.5 m to 4 m and turn by up to 15 degrees.
    """
    rng = np.random.default_rng([seed, 719])
    k = len(centres)
    changed = rng.permutation(k)[: round(share * k)]
    is_gone = np.zeros(k, bool)
    is_gone[changed[: len(changed) // 2]] = True
    motions = np.tile(np.eye(4), (k, 1, 1))
    for car in changed[len(changed) // 2 :]:
        towards, turn = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-_CAR_TURN, _CAR_TURN)
        shift = rng.uniform(*_CAR_SHIFT_M) * np.array([np.cos(towards), np.sin(towards), 0.0])
        motions[car, :2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        middle = centres[car]
        motions[car, :3, 3] = middle - motions[car, :3, :3] @ middle + shift
    return is_gone, motions
