# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Submaps cut on demand from one cloud."""

from collections.abc import Mapping, Sequence

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_teach_repeat.route_graph import DamagedSubmapError, Submap
from aerotwin_teach_repeat.submaps.grid_cloud import GridCloud
from aerotwin_teach_repeat.submaps.protocol import SubmapProtocol
from aerotwin_teach_repeat.submaps.visibility import visible_from


class CroppedSubmaps:
    """The submaps of vertices, cut from one cloud: a `SubmapSource` without copies.

    `poses_map` maps the id of each vertex that holds a submap to its T_map_vertex (4, 4).
    """

    def __init__(
        self, cloud: GridCloud, poses_map: Mapping[int, FloatArray], protocol: SubmapProtocol
    ) -> None:
        self.cloud, self.protocol = cloud, protocol
        self._poses = dict(poses_map)

    @property
    def ids(self) -> frozenset[int]:
        """Ids of the vertices that have a submap."""
        return frozenset(self._poses)

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
    protocol: SubmapProtocol | None = None,
    *,
    ids: Sequence[int] | None = None,
) -> CroppedSubmaps:
    """Return the submaps of a cloud around poses, each cut on demand.

    Parameters
    ----------
    points_map : (n, 3) array
        Finite [m].
    normals_map : (n, 3) array, optional
        Unit normals of any sign; fitted by default.
    poses_map : (k, 4, 4) array
        T_map_vertex of the vertices that hold a submap.
    ids : sequence of int, optional
        Ids of those vertices; 0, 1, … by default.

    Notes
    -----
    The cloud is thinned, its normals fitted and its points sorted once; a submap then only walks
    over its own columns.
    """
    protocol = SubmapProtocol() if protocol is None else protocol
    poses = np.asarray(poses_map, dtype=np.float64)
    cloud = GridCloud.of(points_map, normals_map, near_map=poses[:, :3, 3], protocol=protocol)
    names = range(len(poses)) if ids is None else ids
    return CroppedSubmaps(cloud, dict(zip(map(int, names), poses, strict=True)), protocol)
