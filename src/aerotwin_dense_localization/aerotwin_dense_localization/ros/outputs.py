# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Results as messages; pure functions."""

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped, Vector3
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.ros.conversions import message_from_transform, pose_message, stamp_from_ns
from aerotwin_dense_localization.localization import BodyEstimate, ImageLocalization, Status
from aerotwin_dense_localization.mapping import StereoKeyframe

PREVIEW_STEP_PX = 8  # of a key-frame every n-th pixel of a row and of a column is shown
_LEVELS = {Status.RELOCALIZED: DiagnosticStatus.WARN, Status.LOST: DiagnosticStatus.ERROR}


def odometry_message(
    stamp_ns: int, found: BodyEstimate, of_map: FloatArray, frames: tuple[str, str]
) -> Odometry:
    """Return pose and twist in `frames` (map, base); an unknown twist is all zero.

    `of_map` (6, 6) is the uncertainty of the map itself, added to the covariance of the pose.
    """
    message = Odometry(child_frame_id=frames[1])
    message.header.stamp, message.header.frame_id = stamp_from_ns(stamp_ns), frames[0]
    message.pose.pose = pose_message(found.T_map_base)
    message.pose.covariance = (found.covariance + of_map).ravel().tolist()
    x, y, z, *omega = found.twist.tolist()
    message.twist.twist.linear = Vector3(x=x, y=y, z=z)
    message.twist.twist.angular = Vector3(x=omega[0], y=omega[1], z=omega[2])
    message.twist.covariance = found.twist_covariance.ravel().tolist()
    return message


def edge_message(stamp_ns: int, T_a_b: FloatArray, frames: tuple[str, str]) -> TFMessage:
    """Return the transform between `frames` (a, b)."""
    edge = TransformStamped(child_frame_id=frames[1], transform=message_from_transform(T_a_b))
    edge.header.stamp, edge.header.frame_id = stamp_from_ns(stamp_ns), frames[0]
    return TFMessage(transforms=[edge])


def status_message(stamp_ns: int, found: ImageLocalization, node_name: str) -> DiagnosticArray:
    """Return how an image was localised: `tracked`, or `lost: why`, with its values."""
    values = {
        "status": str(found.status),
        "reason": found.reason,
        "correlation": f"{found.correlation:.3f}",
        "overlap": f"{found.overlap:.3f}",
    }
    status = DiagnosticStatus(
        level=_LEVELS.get(found.status, DiagnosticStatus.OK),
        name=node_name,
        message=f"{found.status}: {found.reason}" if found.reason else str(found.status),
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    message = DiagnosticArray(status=[status])
    message.header.stamp = stamp_from_ns(stamp_ns)
    return message


def preview_points(keyframe: StereoKeyframe) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) [m] in the map and grey values (n,) of some pixels of a key-frame."""
    some = np.s_[PREVIEW_STEP_PX // 2 :: PREVIEW_STEP_PX]
    depth = keyframe.depth[some, some]
    rows, columns = np.nonzero(np.isfinite(depth))
    pixels = np.column_stack([columns, rows]) * PREVIEW_STEP_PX + PREVIEW_STEP_PX // 2
    points = keyframe.camera.unproject(pixels, depth[rows, columns])
    grey = keyframe.grey[pixels[:, 1], pixels[:, 0]]
    return transform_points(keyframe.T_map_optical, points).astype(np.float32), grey
