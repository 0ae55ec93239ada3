# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reference of a map evaluation: a surface, voxels of it, or a cloud."""

from functools import cached_property

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_map_evaluation.neighbours import nearest, nearest_cubes
from aerotwin_map_evaluation.observed import SURFACE_TOLERANCE_M, InView, visible_samples
from aerotwin_map_evaluation.planes import N_AROUND, Planes
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.surface import SurfaceReference
from aerotwin_registration import voxel_downsample
from aerotwin_registration.point_tree import PointTree
from aerotwin_voxel_cloud import voxelise

# Coordinates of a lattice written as float32 are off by this share of their size.
_LATTICE_ROUNDING = 1.2e-7
# A lattice whose edge is not this many times larger cannot be told from rounding.
_CLEAR = 50.0
# Voxels of a surface touch each other; a cloud rounded to millimetres lies on a lattice too.
_TOUCHING_SHARE = 0.5
_FEWEST_LATTICE_POINTS = 8
_CHUNK = 1 << 18


class MapReference:
    """The reference of one evaluation: `points` (m, 3) [m], and the true surface where it is known.

    The points are centres of voxels of edge `edge_m` [m], or a cloud where that is None.
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
        *,
        edge_m: float | None = None,
    ) -> "MapReference":
        """Return the reference of a surface, of points (m, 3), or of both.

        The protocol's `voxel_m` is used for a surface without points. `edge_m` is the edge of the
        voxels whose centres the points are, where their file has it; default: detected.

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
        return cls(surface, points, lattice_edge(points) if edge_m is None else edge_m)

    @cached_property
    def tree(self) -> PointTree:
        """Search tree of the points."""
        return PointTree(self.points)

    @cached_property
    def planes(self) -> Planes | None:
        """Planes through the points of a cloud; None for voxels, or with too few points."""
        if self.edge_m is not None or len(self.points) <= N_AROUND:
            return None
        return Planes(self.tree)

    @property
    def what(self) -> str:
        """Description of the points."""
        return "reference points" if self.edge_m is None else "voxel centres"

    def distances(
        self, points: np.ndarray, kind: str = "points", *, limit_m: float = np.inf
    ) -> np.ndarray:
        """Return the distance (n,) [m] of each point to the nearest of a kind; inf beyond a limit.

        `kind` is one of points, boxes, planes, surface.

        Raises
        ------
        UserError
            If the reference has no voxels, no planes, or no surface.
        """
        if kind == "points":
            return nearest(self.tree, points, limit_m=limit_m)
        if kind == "boxes":
            if self.edge_m is None:
                raise UserError(
                    "distance: boxes needs voxels, and the reference is a cloud whose points lie "
                    "on no lattice; use points"
                )
            return nearest_cubes(self.tree, points, edge_m=self.edge_m, limit_m=limit_m)
        if kind == "planes":
            if self.planes is None:
                raise UserError(
                    "distance: planes needs a cloud of 9 points or more that lie on no lattice; "
                    "use points or boxes"
                )
            found = self.planes.distances(points)
            return np.where(found <= limit_m, found, np.inf)
        if self.surface is None:
            raise UserError(
                "distance: surface needs triangles, and the reference is a cloud; use points, or "
                "give the mesh with --surface"
            )
        found = self.surface.distances(points)
        found[found > limit_m] = np.inf
        return found

    def seen_from(
        self, T_map_sensor: np.ndarray, in_view: InView, protocol: MapProtocol
    ) -> np.ndarray:
        """Return the samples (n, 3) of the reference that a sensor saw from true poses (k, 4, 4).

        `in_view` returns which points in the sensor's axes are in its view. The protocol sets the
        spacing of a surface's samples (`floor_spacing_m`), the size of a cloud's occluding cubes
        (`voxel_m`) and `observed_range_m`. Points in the cube that is hit count as seen.
        """
        if self.surface is not None:
            samples, occluder = self.surface.samples(protocol.floor_spacing_m), self.surface
            tolerance_m = SURFACE_TOLERANCE_M
        else:
            edge = self.edge_m or protocol.voxel_m
            samples, occluder = self.points, cubes(voxel_downsample(self.points, edge), edge)
            tolerance_m = 2.0 * edge
        return visible_samples(
            occluder,
            samples,
            T_map_sensor,
            in_view,
            max_range_m=protocol.observed_range_m,
            tolerance_m=tolerance_m,
        )


def cubes(centres: np.ndarray, edge_m: float) -> SurfaceReference:
    """Return the faces of axis-aligned cubes around centres (n, 3)."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4],
                      [1, 5, 7, 3]])  # fmt: skip
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    vertices = (centres[:, None, :] + corners * edge_m).reshape(-1, 3)
    first = 8 * np.arange(len(centres))[:, None, None]
    return SurfaceReference(vertices, (first + triangles).reshape(-1, 3))


def lattice_edge(points: np.ndarray) -> float | None:
    """Return the edge [m] of the voxels whose centres are points (n, 3); None if they are not.

    Examples
    --------
    >>> grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    >>> round(lattice_edge(0.25 * grid + 0.1), 9)
    0.25
    """
    if len(points) < _FEWEST_LATTICE_POINTS:
        return None
    lower, upper = points.min(axis=0), points.max(axis=0)
    # Coordinates that float32 holds may have been rounded to it before a shift or without one.
    sizes = [float((upper - lower).max())]
    if np.array_equal(points, points.astype(np.float32)):
        sizes.append(float(np.abs(points).max()))
    for size in sizes:
        edge = _edge_by(points, lower, upper, _LATTICE_ROUNDING * max(size, 1.0))
        if edge is not None:
            return edge
    return None


def _edge_by(
    points: np.ndarray, lower: np.ndarray, upper: np.ndarray, tolerance: float
) -> float | None:
    """Return the edge of the lattice that points lie on to a tolerance [m]; None without one."""
    gaps = []
    for axis in range(3):
        steps = np.diff(_distinct(points[:: max(1, len(points) // 100_000), axis]))
        gaps.append(np.min(steps, initial=np.inf, where=steps > 2.0 * tolerance))
    edge, longest = float(min(gaps)), float((upper - lower).max())
    if not _CLEAR * tolerance < edge < np.inf:
        return None
    # The edge of one step is as rough as a coordinate; that of the whole extent is not.
    edge = longest / round(longest / edge)
    return edge if _is_lattice(points, lower, edge, 4.0 * tolerance / edge) else None


def _distinct(values: np.ndarray) -> np.ndarray:
    """Return the sorted unique values (n,); where most are, sorting beats NumPy's hashes."""
    ordered = np.sort(values)
    return ordered[np.append(True, np.diff(ordered) > 0)]


def _is_lattice(points: np.ndarray, lower: np.ndarray, edge: float, tolerance: float) -> bool:
    """Return whether points lie on a lattice and most of them touch another along an axis."""
    for start in range(0, len(points), _CHUNK):
        index = (points[start : start + _CHUNK] - lower) / edge
        if np.abs(index - np.rint(index)).max() > tolerance + 1e-4:
            return False
    index = np.rint((points - lower) / edge).astype(np.int64)
    span = index.max(axis=0) + 2
    if np.prod(span.astype(np.float64)) > 2.0**62:
        return False
    steps = np.array([span[1] * span[2], span[2], 1])
    keys = _distinct(index @ steps)
    touches = np.zeros(len(keys), dtype=bool)
    for step in steps:
        at = np.minimum(np.searchsorted(keys, keys + step), len(keys) - 1)
        is_there = keys[at] == keys + step
        touches |= is_there
        touches[at[is_there]] = True
    return float(touches.mean()) >= _TOUCHING_SHARE


def checked_points(points: np.ndarray, name: str) -> np.ndarray:
    """Return points as a float64 array (n, 3); empty or not finite ones are a UserError."""
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
