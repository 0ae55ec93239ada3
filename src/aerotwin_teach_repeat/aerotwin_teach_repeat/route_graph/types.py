# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Elements of a route graph: vertices, edges and submaps, checked on construction."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, invert_transform

ROTATION_ERROR = 1e-6
"""How far R^T R may be from identity: far above rounding, far below what moves a point by 1 mm."""
UNIT_ERROR = 1e-2
"""How far the length of a normal may be from one (float16 and int8 files of others)."""
EdgeKind = Literal["temporal", "spatial"]
KINDS: tuple[EdgeKind, ...] = ("temporal", "spatial")


class RouteGraphError(UserError):
    """A route graph is inconsistent or damaged, or has no such path."""


class DamagedSubmapError(RouteGraphError):
    """The file of one submap is missing or not as written; the rest of the graph is valid."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Vertex:
    """One pose of a taught path.

    Attributes
    ----------
    id : int
        Unique in its graph, not negative.
    stamp_ns : int
        When it was passed in the teach [ns].
    T_map_vertex : (4, 4) array
        Pose of the vehicle's base: x forward, z up, on the ground between the wheels.
    submap_id : int
        Id of the vertex that holds the submap in use here.
    T_submap_vertex : (4, 4) array
        Pose of this vertex in the frame of that vertex: inv(T_map_submap) T_map_vertex. Fisker's
        eq. 2.4 is the inverse of what its own convention says; this is the right one.
    """

    id: int
    stamp_ns: int
    T_map_vertex: FloatArray
    submap_id: int
    T_submap_vertex: FloatArray

    def __post_init__(self) -> None:
        if self.id < 0 or self.submap_id < 0:
            raise RouteGraphError(
                f"vertex {self.id}: ids must not be negative, got id {self.id} and submap_id "
                f"{self.submap_id}"
            )
        for name in ("T_map_vertex", "T_submap_vertex"):
            T = rigid(getattr(self, name), f"vertex {self.id}: {name}")
            object.__setattr__(self, name, T)

    @property
    def holds_submap(self) -> bool:
        """Whether it holds its own submap."""
        return self.submap_id == self.id


@dataclass(frozen=True, kw_only=True, eq=False)
class Edge:
    """A connection of two vertices, driven (temporal) or found by their positions (spatial).

    `T_from_to` (4, 4) is the pose of the second vertex in the frame of the first.
    """

    from_id: int
    to_id: int
    T_from_to: FloatArray
    kind: EdgeKind

    def __post_init__(self) -> None:
        where = f"edge {self.from_id} -> {self.to_id}"
        if self.kind not in KINDS:
            raise RouteGraphError(f"{where}: kind must be one of {KINDS}, got {self.kind!r}")
        if self.from_id == self.to_id:
            raise RouteGraphError(f"{where}: it must join two vertices; leave it out")
        object.__setattr__(self, "T_from_to", rigid(self.T_from_to, f"{where}: T_from_to"))

    @property
    def length_m(self) -> float:
        """Distance between its vertices [m]."""
        return float(np.linalg.norm(self.T_from_to[:3, 3]))


@dataclass(frozen=True, kw_only=True, eq=False)
class Submap:
    """The points (m, 3) around a vertex, in its frame, as float32 [m].

    `normals` (m, 3) float32 are unit normals of the surface at the points, sign arbitrary.
    `RouteGraphError` if shapes differ, there are no points, or values are not valid.
    """

    vertex_id: int
    points: np.ndarray
    normals: np.ndarray

    def __post_init__(self) -> None:
        where = f"submap {self.vertex_id}"
        points = np.ascontiguousarray(self.points, dtype=np.float32)
        normals = np.ascontiguousarray(self.normals, dtype=np.float32)
        if points.ndim != 2 or points.shape[1] != 3 or normals.shape != points.shape:
            raise RouteGraphError(
                f"{where}: points and normals must both be (m, 3), got {points.shape} and "
                f"{normals.shape}"
            )
        if len(points) == 0:
            raise RouteGraphError(f"{where}: it has no points; the cloud must reach the route")
        if not (np.isfinite(points).all() and np.isfinite(normals).all()):
            raise RouteGraphError(f"{where}: points and normals must be finite, got NaN")
        lengths = np.einsum("ij,ij->i", normals, normals)
        if np.abs(lengths - 1.0).max() > 2.0 * UNIT_ERROR:
            raise RouteGraphError(f"{where}: normals must have length 1")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "normals", normals)


class SubmapSource(Protocol):
    """Source of a graph's submaps: files, memory, or a cloud from which they are cut."""

    @property
    def ids(self) -> frozenset[int]:
        """Ids of the vertices that have a submap."""

    def load(self, vertex_id: int) -> Submap:
        """Return one submap; `DamagedSubmapError` if its data are damaged."""


class MemorySubmaps:
    """Submaps held in memory."""

    def __init__(self, submaps: Iterable[Submap]) -> None:
        self._submaps = {submap.vertex_id: submap for submap in submaps}
        self.ids = frozenset(self._submaps)

    def load(self, vertex_id: int) -> Submap:
        """Return a submap."""
        return self._submaps[vertex_id]


def rigid(T_a_b: np.ndarray, where: str) -> FloatArray:
    """Return a transform as (4, 4) float64; `RouteGraphError` if it is not finite and rigid."""
    T = np.asarray(T_a_b, dtype=np.float64)
    if T.shape != (4, 4):
        raise RouteGraphError(f"{where} must be a 4x4 transform, got shape {T.shape}")
    if not np.isfinite(T).all():
        raise RouteGraphError(f"{where} must be finite, got NaN or infinity")
    R = T[:3, :3]
    error = float(np.abs(R.T @ R - np.eye(3)).max())
    if error > ROTATION_ERROR or np.linalg.det(R) < 0.0 or (T[3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise RouteGraphError(
            f"{where} must be a rotation and a translation with last row 0 0 0 1; R^T R differs "
            f"from identity by {error:.2g}, det R = {np.linalg.det(R):.3g}, last row {T[3]}"
        )
    return T


def relative_pose(T_map_a: FloatArray, T_map_b: FloatArray) -> FloatArray:
    """Return T_a_b, the pose of b in the frame of a."""
    return invert_transform(T_map_a) @ T_map_b


def rotation_angle(R: np.ndarray) -> float:
    """Return the angle of a rotation matrix about its axis [rad], exact for small ones too."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.arctan2(np.linalg.norm(axis), np.trace(R) - 1.0))


def distance_and_angle(T_map_a: FloatArray, T_map_b: FloatArray) -> tuple[float, float]:
    """Return distance [m] and angle [rad] between two poses."""
    T = relative_pose(T_map_a, T_map_b)
    return float(np.linalg.norm(T[:3, 3])), rotation_angle(T[:3, :3])
