# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Set-points of other nodes: Twist, TwistStamped and PoseStamped as targets of an autopilot."""

from typing import Any

import numpy as np

from aerotwin_core.foreign_text import shown
from aerotwin_core.frames import rotation_from_quaternion, yaw_from_rotation
from aerotwin_px4_bridge.setpoint_stream import PoseTarget, VelocityTarget

MAP_FRAMES = ("map", "odom")
BODY_FRAMES = ("", "base_link", "base_footprint")
_UNIT_TOLERANCE = 0.01


def target_from_twist(twist: Any) -> VelocityTarget:
    """Return the target of a geometry_msgs/Twist: forward, left, up; yaw rate.

    Raises ValueError if a value is not finite, as the others here.
    """
    linear, yaw_rate = twist.linear, twist.angular.z
    velocity = np.array([linear.x, linear.y, linear.z])
    if not np.isfinite([*velocity, yaw_rate]).all():
        raise ValueError(f"linear and angular.z must be finite, got {velocity}, {yaw_rate}")
    return VelocityTarget(velocity=velocity, yaw_rate=yaw_rate, is_body=True)


def target_from_twist_stamped(message: Any) -> VelocityTarget:
    """Return the target of a TwistStamped: its frame says whether its axes are those of map.

    A frame of a fleet's vehicle counts without the vehicle's name. Raises ValueError for another
    frame.
    """
    frame = _frame(message)
    if frame not in (*MAP_FRAMES, *BODY_FRAMES):
        raise ValueError(
            f"header.frame_id must be one of {', '.join(MAP_FRAMES)}, base_link or empty (body), "
            f"got {shown(frame)}"
        )
    target = target_from_twist(message.twist)
    return VelocityTarget(
        velocity=target.velocity, yaw_rate=target.yaw_rate, is_body=frame in BODY_FRAMES
    )


def target_from_pose(message: Any) -> PoseTarget:
    """Return the target of a PoseStamped in map; a quaternion of zeros leaves the yaw as it is.

    Raises ValueError for another frame, or a quaternion that is none.
    """
    frame = _frame(message)
    if frame not in ("", "map"):
        raise ValueError(f"header.frame_id must be map, got {shown(frame)}")
    p, q = message.pose.position, message.pose.orientation
    quaternion = np.array([q.x, q.y, q.z, q.w])
    p_map = np.array([p.x, p.y, p.z])
    if not np.isfinite(p_map).all():
        raise ValueError(f"pose.position must be finite, got {p_map.tolist()}")
    if not quaternion.any():
        return PoseTarget(p_map=p_map)
    if not abs(np.linalg.norm(quaternion) - 1.0) < _UNIT_TOLERANCE:
        raise ValueError(f"pose.orientation must be a unit quaternion, got {quaternion.tolist()}")
    return PoseTarget(p_map=p_map, yaw=yaw_from_rotation(rotation_from_quaternion(quaternion)))


def _frame(message: Any) -> str:
    return str(message.header.frame_id).rpartition("/")[2]
