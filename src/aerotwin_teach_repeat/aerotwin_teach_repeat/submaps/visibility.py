# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Visibility of a submap's points from a lidar at its vertex: a depth buffer, no mesh."""

import numpy as np

from aerotwin_teach_repeat.submaps.protocol import SubmapProtocol


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
