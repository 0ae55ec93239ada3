# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a map is measured against: a surface, voxels of it, or a cloud."""

from functools import cached_property

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_map_evaluation.point_tree import PointTree
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.surface import SurfaceReference
from aerotwin_voxel_cloud import voxelise

# Coordinates of a lattice written as float32 are off by this share of their size.
_LATTICE_ROUNDING = 1e-6
_FEWEST_LATTICE_POINTS = 8
_CHUNK = 1 << 18


class MapReference:
    """The reference of one evaluation.

    Parameters
    ----------
    surface : SurfaceReference or None
        The true surface, where it is known.
    points : (m, 3) array
        Voxel centres, or a cloud [m].
    edge_m : float or None
        Edge of the voxels; None where the points are a cloud.
    """

    def __init__(
        self, surface: SurfaceReference | None, points: np.ndarray, edge_m: float | None
    ) -> None:
        self.surface = surface
        self.points = points
        self.edge_m = edge_m

    @classmethod
    def of(
        cls,
        surface: SurfaceReference | None,
        points: np.ndarray | None,
        protocol: MapProtocol,
    ) -> "MapReference":
        """Return the reference of a surface, of given points, or of both.

        Raises
        ------
        UserError
            If there is neither, or the points are empty or not finite.
        """
        if points is None:
            if surface is None:
                raise UserError("a map needs a reference: a surface or a cloud")
            centres = voxelise(surface.vertices, surface.triangles, protocol.voxel_m).centres()
            return cls(surface, centres, protocol.voxel_m)
        points = checked_points(points, "the reference")
        return cls(surface, points, lattice_edge(points))

    @cached_property
    def tree(self) -> PointTree:
        """The points, prepared for search."""
        return PointTree(self.points)

    @property
    def what(self) -> str:
        """What the points are, in words."""
        return "reference points" if self.edge_m is None else "voxel centres"

    def distances(
        self, points: np.ndarray, kind: str = "points", *, limit_m: float = np.inf
    ) -> np.ndarray:
        """Return the distance (n,) [m] of each point to the nearest of a kind; inf beyond a limit.

        Parameters
        ----------
        points : (n, 3) array
        kind : {"points", "boxes", "surface"}

        Raises
        ------
        UserError
            If the reference has no voxels, or no surface.
        """
        if kind == "points":
            return self.tree.nearest(points, limit_m=limit_m)[0]
        if kind == "boxes":
            if self.edge_m is None:
                raise UserError(
                    "distance: boxes needs voxels, and the reference is a cloud whose points lie "
                    "on no lattice; use points"
                )
            return self.tree.nearest(points, half_m=self.edge_m / 2.0, limit_m=limit_m)[0]
        if self.surface is None:
            raise UserError(
                "distance: surface needs triangles, and the reference is a cloud; use points, or "
                "give the mesh with --surface"
            )
        found = self.surface.distances(points)
        found[found > limit_m] = np.inf
        return found


def lattice_edge(points: np.ndarray) -> float | None:
    """Return the edge [m] of the cubic lattice that points (n, 3) lie on; None when on none.

    Examples
    --------
    >>> grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    >>> round(lattice_edge(0.25 * grid + 0.1), 9)
    0.25
    """
    if len(points) < _FEWEST_LATTICE_POINTS:
        return None
    tolerance = _LATTICE_ROUNDING * max(float(np.abs(points).max()), 1.0)
    lower = points.min(axis=0)
    gaps = []
    for axis in range(3):
        steps = np.diff(np.unique(points[:: max(1, len(points) // 100_000), axis]))
        steps = steps[steps > 2.0 * tolerance]
        if len(steps):
            gaps.append(float(steps.min()))
    if not gaps:
        return None
    edge = min(gaps)
    # The edge of one step is as rough as a coordinate; that of the whole extent is not.
    longest = float((points.max(axis=0) - lower).max())
    edge = longest / round(longest / edge)
    for start in range(0, len(points), _CHUNK):
        index = (points[start : start + _CHUNK] - lower) / edge
        if np.abs(index - np.rint(index)).max() > 4.0 * tolerance / edge + 1e-4:
            return None
    return edge


def checked_points(points: np.ndarray, name: str) -> np.ndarray:
    """Return points as a float64 array (n, 3); an empty or not finite one is a UserError."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"the points of {name} must have shape (n, 3), got {points.shape}")
    if len(points) == 0:
        raise UserError(f"{name} is empty: it holds no point")
    if not np.isfinite(points).all():
        n_bad = int(np.count_nonzero(~np.isfinite(points).all(axis=1)))
        raise UserError(
            f"{n_bad} of {len(points)} points of {name} are NaN or infinite; remove them"
        )
    return points
