# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A cloud as a surface: its points, search tree and normals, each computed once."""

from copy import copy
from functools import cached_property

import numpy as np

from aerotwin_core.threads import run_ranges
from aerotwin_core.voxels import voxel_downsample
from aerotwin_registration.point_tree import PointTree

N_SAMPLES = 3000  # sampled points for a statistic of the whole cloud
N_NEIGHBOURS_JUDGED = 20
"""With fewer, the normals along the rings of a lidar are too noisy to reject an alignment."""


class AlignmentTarget:
    """A cloud prepared for alignment; reuse it to align many clouds to one target.

    Parameters
    ----------
    points : (n, 3) array
        Any frame [m], finite.
    voxel_m : float
        Down-sampling to the mean of each voxel; 0 = none [m].
    n_neighbours : int
        Neighbours for fitting a normal, including the point itself.

    Attributes
    ----------
    origin : (3,) array
        Centre of the input points: far from zero, coordinates hold fewer digits than the result.
    tree : PointTree
        Of the down-sampled points.
    normals, roughness_m : (m, 3), (m,) arrays
        As returned by `normals_at`; `roughness_m` is NaN where not computed yet.

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
        n_neighbours: int = 10,
        name: str = "points",
    ) -> None:
        points = finite_points(points, name)
        self.origin = points.mean(axis=0) if len(points) else np.zeros(3)
        points = points - self.origin
        points = voxel_downsample(points, voxel_m) if voxel_m > 0.0 else points
        self.tree = PointTree(points)
        self.n_neighbours = n_neighbours
        self.normals, self.roughness_m = _no_normals(len(points))

    def __len__(self) -> int:
        return len(self.tree.points)

    @property
    def points(self) -> np.ndarray:
        """The down-sampled points (m, 3), relative to `origin`, along a Z-curve [m]."""
        return self.tree.points

    def normals_at(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return unit normals (n, 3) of arbitrary sign and roughness (n,) at indices of `points`.

        Roughness is the RMS distance of a point's neighbours to their plane [m]. Each is fitted
        once.
        """
        self.fit(places)
        return self.normals[places], self.roughness_m[places]

    def fit(self, places: np.ndarray) -> None:
        """Fill missing `normals` and `roughness_m` at indices (n,) of `points`."""
        from aerotwin_registration.icp.kernels import surface_normals

        is_missing = np.zeros(len(self), dtype=np.bool_)
        is_missing[places[np.isnan(self.roughness_m[places])]] = True
        missing = np.flatnonzero(is_missing)
        if len(missing) == 0:
            return
        neighbours = self.tree.nearest(self.points[missing], min(self.n_neighbours, len(self)))[1]
        run_ranges(
            surface_normals,
            len(missing),
            self.points,
            missing,
            neighbours,
            self.normals,
            self.roughness_m,
        )

    @cached_property
    def spacing_m(self) -> float:
        """Median distance of a point to its nearest neighbour [m], of a sample of the points."""
        if len(self) < 2:
            return 0.0
        return float(np.median(self.tree.nearest(self.points[self.sample(N_SAMPLES)], 2)[0][:, 1]))

    def sample(self, n: int) -> np.ndarray:
        """Return up to n indices of `points`, evenly along the curve and so evenly in space."""
        return np.unique(np.linspace(0, len(self) - 1, min(n, len(self))).astype(np.int64))

    @cached_property
    def smooth(self) -> "AlignmentTarget":
        """The same points with normals fitted to as many neighbours as the diagnosis needs."""
        smooth = copy(self)
        smooth.n_neighbours = max(self.n_neighbours, N_NEIGHBOURS_JUDGED)
        smooth.normals, smooth.roughness_m = _no_normals(len(self))
        return smooth

    def part(self, places: np.ndarray) -> "AlignmentTarget":
        """Return the surface at some indices: fewer points, with the normals of the whole."""
        part = copy(self)
        part.tree = PointTree(self.points[places])
        part.normals, part.roughness_m = self.normals_at(places[part.tree.order])
        return part


def finite_points(points: np.ndarray, name: str) -> np.ndarray:
    """Return points (n, 3) in double precision; raises ValueError for other shapes or NaN."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), got {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity; drop those points first")
    return points


def _no_normals(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((n, 3)), np.full(n, np.nan)
