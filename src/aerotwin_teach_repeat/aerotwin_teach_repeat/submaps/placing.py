# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the vertices of a path that hold submaps."""

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_teach_repeat.route_graph import relative_pose, rotation_angle
from aerotwin_teach_repeat.submaps.protocol import SubmapProtocol


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
        T_last_k = relative_pose(poses_map[last], poses_map[k])
        distance = np.linalg.norm(T_last_k[:3, 3])
        if distance > protocol.distance_m or rotation_angle(T_last_k[:3, :3]) > limit:
            last = k
        holders[k] = last
    return holders
