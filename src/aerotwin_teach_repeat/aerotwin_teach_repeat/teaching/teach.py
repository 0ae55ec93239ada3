# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Virtual teach: from a path and a cloud to a route graph, without driving."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_teach_repeat.route_graph import (
    CrossingProtocol,
    Edge,
    RouteGraph,
    Vertex,
    find_crossings,
    relative_pose,
    with_edges,
)
from aerotwin_teach_repeat.route_graph.types import EdgeKind
from aerotwin_teach_repeat.submaps import SubmapProtocol, crop_submaps, submap_holders
from aerotwin_teach_repeat.teaching.driven import along_path
from aerotwin_teach_repeat.teaching.ground import GroundGrid, GroundParameters, poses_on_ground
from aerotwin_teach_repeat.teaching.path import PathParameters, smooth_waypoints

_CLOSED_M = 1e-6
"""Ends nearer than this are one position [m]."""


@dataclass(frozen=True, kw_only=True)
class TeachParameters:
    """Parameters of a virtual teach."""

    speed_m_s: float = parameter(
        1.0, text="Of the virtual drive, for the stamps.", unit="m/s", minimum=0.01, maximum=50.0
    )
    path: PathParameters = field(default_factory=PathParameters)
    ground: GroundParameters = field(default_factory=GroundParameters)
    submaps: SubmapProtocol = field(default_factory=SubmapProtocol)
    crossings: CrossingProtocol = field(default_factory=CrossingProtocol)


@dataclass(frozen=True, kw_only=True, eq=False)
class VirtualPath:
    """A path through a cloud; if closed, its last pose equals the first.

    `poses_map` (n, 4, 4) are T_map_base, evenly spaced; `s_m` (n,) is horizontal path length [m].
    """

    poses_map: FloatArray
    s_m: FloatArray
    is_closed: bool

    @property
    def length_m(self) -> float:
        """Horizontal length [m]."""
        return float(self.s_m[-1])


def teach_route(
    points_map: np.ndarray,
    waypoints_or_poses: np.ndarray,
    *,
    is_closed: bool = False,
    normals_map: np.ndarray | None = None,
    parameters: TeachParameters | None = None,
    about: Mapping[str, Any] | None = None,
) -> RouteGraph:
    """Return the route graph of a path through a cloud.

    Its submaps are cut on demand; `save` writes them all.

    Parameters
    ----------
    points_map : (n, 3) array
        The reconstruction, or samples of a world [m].
    waypoints_or_poses : (k, 2), (k, 3) or (k, 4, 4) array
        Way-points, a loop if `is_closed`, which are joined by a smooth path on the ground of the
        cloud; or T_map_base as driven, which are resampled evenly but otherwise unchanged.
    normals_map : (n, 3) array, optional
        Unit normals; fitted by default.
    about : mapping, optional
        JSON metadata of the graph.

    Raises
    ------
    UserError
        If the path turns too sharply, or leaves the ground of the cloud.
    """
    parameters = TeachParameters() if parameters is None else parameters
    path = virtual_path(points_map, waypoints_or_poses, is_closed=is_closed, parameters=parameters)
    return graph_of_path(
        path, points_map, normals_map=normals_map, parameters=parameters, about=about
    )


def virtual_path(
    points_map: np.ndarray,
    waypoints_or_poses: np.ndarray,
    *,
    is_closed: bool = False,
    parameters: TeachParameters | None = None,
) -> VirtualPath:
    """Return the poses that `teach_route` turns into vertices; parameters and errors as there."""
    parameters = TeachParameters() if parameters is None else parameters
    provided = np.asarray(waypoints_or_poses, dtype=np.float64)
    if provided.ndim == 3:
        poses, s_m = along_path(provided, parameters.path.spacing_m)
        is_closed = bool(np.abs(poses[0] - poses[-1]).max() < _CLOSED_M)
        return VirtualPath(poses_map=poses, s_m=s_m, is_closed=is_closed)
    path = smooth_waypoints(provided, is_closed=is_closed, parameters=parameters.path)
    ground = GroundGrid.of(points_map, path.points_m, parameters=parameters.ground)
    poses = poses_on_ground(path.points_m, path.heading, ground, parameters.ground)
    _refuse_gaps(poses, path.points_m, path.s_m)
    if is_closed:
        poses[-1] = poses[0]
    return VirtualPath(poses_map=poses, s_m=path.s_m, is_closed=is_closed)


def graph_of_path(
    path: VirtualPath,
    points_map: np.ndarray,
    *,
    normals_map: np.ndarray | None = None,
    parameters: TeachParameters | None = None,
    about: Mapping[str, Any] | None = None,
) -> RouteGraph:
    """Return the route graph of a path with known poses; parameters as `teach_route`.

    Odometry is perfect: temporal edges are the exact steps between the poses. A closed path and
    positions that it passes again get spatial edges.
    """
    parameters = TeachParameters() if parameters is None else parameters
    poses = path.poses_map
    holders = submap_holders(poses, parameters.submaps)
    ids = np.unique(holders)
    graph = RouteGraph(
        [
            Vertex(
                id=k,
                stamp_ns=round(path.s_m[k] / parameters.speed_m_s * 1e9),
                T_map_vertex=poses[k],
                submap_id=int(holders[k]),
                T_submap_vertex=relative_pose(poses[holders[k]], poses[k]),
            )
            for k in range(len(poses))
        ],
        _edges(path),
        crop_submaps(points_map, normals_map, poses[ids], parameters.submaps, ids=ids.tolist()),
        about={"teach": "virtual", "is_closed": path.is_closed, **(about or {})},
    )
    return with_edges(graph, find_crossings(graph, parameters.crossings))


def _edges(path: VirtualPath) -> list[Edge]:
    poses, last = path.poses_map, len(path.poses_map) - 1
    pairs: list[tuple[int, int, EdgeKind]] = [(k, k + 1, "temporal") for k in range(last)]
    if path.is_closed and last > 1:
        pairs.append((last, 0, "spatial"))
    return [
        Edge(from_id=a, to_id=b, T_from_to=relative_pose(poses[a], poses[b]), kind=kind)
        for a, b, kind in pairs
    ]


def _refuse_gaps(poses: FloatArray, path_m: FloatArray, s_m: FloatArray) -> None:
    is_off = np.asarray(~np.isfinite(poses).all(axis=(1, 2)))
    if not is_off.any():
        return
    first = int(np.argmax(is_off))
    x, y = path_m[first]
    raise UserError(
        f"the cloud shows no ground under {is_off.sum()} of {len(is_off)} places of the route, the "
        f"first {s_m[first]:.1f} m along it at ({x:.2f}, {y:.2f}) m; lead the route elsewhere, or "
        "fill larger holes (max_hole_m)"
    )
