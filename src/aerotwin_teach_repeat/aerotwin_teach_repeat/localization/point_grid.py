# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Map points with their normals, in a hash grid for neighbour search."""

import numpy as np

from aerotwin_core.threads import run_ranges
from aerotwin_teach_repeat.localization import grid_kernels as kernels

MIN_NEIGHBOURS = 6
"""Points with fewer neighbours have no normal."""


class PointGrid:
    """A point cloud (m, 3) in cells of an edge, in any frame [m].

    `normals` (m, 3) are unit, sign arbitrary, none by default; `weights` (m,) their confidence, 0
    to 1, by default 1, or 0 where a normal is zero. `ValueError` if shapes disagree, a number is
    not finite, or the cloud is too wide for the cells.
    """

    def __init__(
        self,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        *,
        cell_m: float = 1.0,
    ) -> None:
        self.points = _checked(points, "points")
        n = len(self.points)
        limit = float(kernels.HALF_RANGE - 64) * cell_m
        if n and float(np.abs(self.points).max()) >= limit:
            raise ValueError(f"points must lie within {limit:g} m of the origin; move them there")
        normals = np.zeros((n, 3)) if normals is None else normals
        self.normals = _checked(normals, "normals")
        if weights is None:
            weights = (self.normals != 0.0).any(axis=1)
        self.weights = np.ascontiguousarray(weights, dtype=np.float32)
        if self.normals.shape != self.points.shape or self.weights.shape != (n,):
            raise ValueError(
                f"normals must have shape ({n}, 3) and weights ({n},), got {self.normals.shape} "
                f"and {self.weights.shape}"
            )
        keys, spans, rows, self._order = kernels.build_grid(
            self.points, self.normals, self.weights, 1.0 / cell_m
        )
        self.arrays = keys, spans, rows, 1.0 / cell_m  # in the kernels' layout

    def __len__(self) -> int:
        return len(self.points)

    def fitted_normals(
        self, radius_m: float, min_flatness: float, requested: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return normals (m, 3) and weights (m,) fitted to the points within a radius of each.

        Neighbourhoods below `min_flatness` have no normal (`kernels.fit_normals`). Points outside
        `requested` (m,) retain their normals; all are fitted by default.
        """
        normals, weights = self.normals.copy(), self.weights.copy()
        rows = np.arange(len(self)) if requested is None else np.flatnonzero(requested[self._order])
        run_ranges(
            kernels.fit_normals,
            len(rows),
            rows,
            radius_m,
            MIN_NEIGHBOURS,
            min_flatness,
            *self.arrays,
            self._order,
            normals,
            weights,
        )
        return normals, weights


def _checked(array: np.ndarray, name: str) -> np.ndarray:
    array = np.ascontiguousarray(array, dtype=np.float32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; drop those points first")
    return array
