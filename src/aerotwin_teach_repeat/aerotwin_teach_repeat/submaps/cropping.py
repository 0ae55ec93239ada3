# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Submaps: which vertices hold one, and its points, cut on demand from one cloud."""

from collections.abc import Mapping, Sequence

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_teach_repeat.route_graph import DamagedSubmapError, Submap, distance_and_angle
from aerotwin_teach_repeat.submaps.grid_cloud import GridCloud, SubmapProtocol


class CroppedSubmaps:
    """The submaps of vertices, cut from one cloud: a `SubmapSource` without copies.

    `poses_map` maps the id of each vertex that holds a submap to its T_map_vertex (4, 4).
    """

    def __init__(
        self, cloud: GridCloud, poses_map: Mapping[int, FloatArray], protocol: SubmapProtocol
    ) -> None:
        self.cloud, self.protocol = cloud, protocol
        self._poses = dict(poses_map)
        self.ids = frozenset(self._poses)

    def load(self, vertex_id: int) -> Submap:
        """Return one submap; `DamagedSubmapError` where the cloud has no point."""
        points, normals = self.cloud.crop(self._poses[vertex_id], self.protocol)
        if self.protocol.only_visible:
            is_visible = visible_from(points, normals, self.protocol)
            points, normals = points[is_visible], normals[is_visible]
        if len(points) == 0:
            x, y, z = self._poses[vertex_id][:3, 3]
            raise DamagedSubmapError(
                f"submap {vertex_id}: the cloud has no point around ({x:.1f}, {y:.1f}, {z:.1f}) m; "
                "lead the route through the cloud"
            )
        return Submap(vertex_id=vertex_id, points=points, normals=normals)


def crop_submaps(
    points_map: np.ndarray,
    normals_map: np.ndarray | None,
    poses_map: FloatArray,
    protocol: SubmapProtocol,
    *,
    ids: Sequence[int] | None = None,
) -> CroppedSubmaps:
    """Return the submaps of a cloud (n, 3) around poses (k, 4, 4) in map, each cut on demand [m].

    `normals_map` (n, 3) are unit normals of any sign, fitted if None; `ids` are those of the
    vertices at the poses, 0, 1, … by default. The cloud is thinned, its normals fitted and its
    points sorted once; a submap then only walks over its own columns.
    """
    poses = np.asarray(poses_map, dtype=np.float64)
    cloud = GridCloud.of(points_map, normals_map, near_map=poses[:, :3, 3], protocol=protocol)
    names = range(len(poses)) if ids is None else ids
    return CroppedSubmaps(cloud, dict(zip(map(int, names), poses, strict=True)), protocol)


def submap_holders(poses_map: FloatArray, protocol: SubmapProtocol) -> np.ndarray:
    """Return for each pose (n, 4, 4) the index (n,) of the pose whose submap is in use there.

    The first pose holds one; then each that is farther than `distance_m` from the last holder, or
    rotated by more than `angle_deg` against it. The angle is that of the rotation about its axis: a
    norm of Euler angles, as in published code, jumps by 360 degrees for a slight roll.
    """
    holders = np.zeros(len(poses_map), dtype=np.int64)
    limit = np.radians(protocol.angle_deg)
    last = 0
    for k in range(1, len(poses_map)):
        distance, angle = distance_and_angle(poses_map[last], poses_map[k])
        if distance > protocol.distance_m or angle > limit:
            last = k
        holders[k] = last
    return holders


def visible_from(points: np.ndarray, normals: np.ndarray, protocol: SubmapProtocol) -> np.ndarray:
    """Return which points of a submap a lidar above its vertex could see, (m,) bool.

    Every point occludes what lies behind a disc of a voxel's size across its normal. Objects
    thinner than that (twigs, wires) occlude too much, holes of the cloud occlude nothing. `points`
    and `normals` (m, 3) float32 are in the vertex's frame [m].
    """
    from aerotwin_teach_repeat.submaps.kernels import find_visible_discs, splat_discs

    n_round = int(np.ceil(360.0 / protocol.visibility_bin_deg))
    bin_rad = 2.0 * np.pi / n_round
    depth = np.full((int(np.ceil(np.pi / bin_rad)), n_round), np.inf)
    points = np.ascontiguousarray(points, dtype=np.float32)
    normals = np.ascontiguousarray(normals, dtype=np.float32)
    eye = (protocol.lidar_height_m, protocol.voxel_m / 2.0, bin_rad)
    splat_discs(points, normals, *eye, depth)
    is_visible = np.empty(len(points), dtype=np.bool_)
    find_visible_discs(points, normals, *eye, depth, is_visible)
    across = np.hypot(points[:, 0], points[:, 1])
    elevation = np.degrees(np.arctan2(points[:, 2] - protocol.lidar_height_m, across))
    is_in_view = elevation >= protocol.lidar_lower_deg
    return is_visible & is_in_view & (elevation <= protocol.lidar_upper_deg)
