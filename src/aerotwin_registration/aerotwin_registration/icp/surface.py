# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A cloud as a surface: its points, their search tree and their normals, each made once."""

from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_registration.threads import run_ranges
from aerotwin_registration.voxels import voxel_downsample


class Surface:
    """A cloud prepared for alignment; keep it where many clouds are aligned to one target.

    Parameters
    ----------
    points : (n, 3) array
        Any frame [m], finite.
    voxel_m : float
        Down-sampling to the mean of each voxel; 0 = none [m].
    n_neighbours : int
        Neighbours, the point itself among them, that a normal is fitted to.

    Attributes
    ----------
    origin : (3,) array
        Centre of the given points: far from zero, coordinates hold fewer digits than the result.
    points : (m, 3) array
        The points that are left, relative to `origin` [m].

    Raises
    ------
    ValueError
        If the array has the wrong shape or holds NaN or infinity.
    """

    def __init__(
        self,
        points: np.ndarray,
        *,
        voxel_m: float = 0.0,
        n_neighbours: int = 20,
        name: str = "points",
    ) -> None:
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"{name} must have shape (n, 3), got {points.shape}")
        if not np.isfinite(points).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity; drop those points first")
        self.origin = points.mean(axis=0) if len(points) else np.zeros(3)
        points = points - self.origin
        self.points = voxel_downsample(points, voxel_m) if voxel_m > 0.0 else points
        self.n_neighbours = n_neighbours

    @cached_property
    def tree(self) -> cKDTree:
        """The search tree."""
        return cKDTree(self.points, balanced_tree=False)

    @property
    def normals(self) -> np.ndarray:
        """Unit normals (n, 3), sign arbitrary."""
        return self._fitted[0]

    @property
    def roughness_m(self) -> np.ndarray:
        """RMS distance of each point's neighbours to their plane (n,) [m]."""
        return self._fitted[1]

    @property
    def spacing_m(self) -> float:
        """Median distance of a point to its nearest neighbour [m]."""
        return self._fitted[2]

    @cached_property
    def _fitted(self) -> tuple[np.ndarray, np.ndarray, float]:
        from aerotwin_registration.icp.kernels import surface_normals

        n = len(self.points)
        k = min(self.n_neighbours, n)
        distance, index = self.tree.query(self.points, k=k, workers=-1)
        normals, roughness = np.empty((n, 3)), np.empty(n)
        neighbours = np.ascontiguousarray(index.reshape(n, k), dtype=np.int64)
        run_ranges(surface_normals, n, self.points, neighbours, normals, roughness)
        return normals, roughness, float(np.median(distance.reshape(n, k)[:, min(1, k - 1)]))
