# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Odometry results and diagnostics as messages."""

import time
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import message_from_transform, pose_message, stamp_from_ns
from aerotwin_stereo_odometry.odometry import StereoOdometryFrame


def odometry_message(
    stamp_ns: int,
    frames: tuple[str, str],
    T_a_b: FloatArray,
    covariance: FloatArray,
    twist: FloatArray,
    twist_covariance: FloatArray,
) -> Odometry:
    """Return pose (4, 4) and twist (6,) of a body; `frames` are the fixed one and the body's."""
    message = Odometry(child_frame_id=frames[1])
    message.header.stamp, message.header.frame_id = stamp_from_ns(stamp_ns), frames[0]
    message.pose.pose = pose_message(T_a_b)
    message.pose.covariance = covariance.ravel().tolist()
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = twist.tolist()
    message.twist.covariance = twist_covariance.ravel().tolist()
    return message


def edge_message(stamp_ns: int, T_a_b: FloatArray, frames: tuple[str, str]) -> TFMessage:
    """Return the transform between `frames` (a, b)."""
    edge = TransformStamped(child_frame_id=frames[1], transform=message_from_transform(T_a_b))
    edge.header.stamp, edge.header.frame_id = stamp_from_ns(stamp_ns), frames[0]
    return TFMessage(transforms=[edge])


@dataclass
class Counters:
    """Counts since the start."""

    # n_frames and n_lost: pairs processed, and those of them that were lost
    n_frames: int = 0
    n_lost: int = 0
    n_skipped: int = 0  # pairs without odometry: frames unknown, images unusable
    n_restarts: int = 0  # restarts because time went back
    n_single_images: int = 0  # images without their other side


class Stopwatch:
    """Wall and processor time since it was made [ms]."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Return both times by name."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return {"wall_ms": round(1e3 * wall, 2), "cpu_ms": round(1e3 * cpu, 2)}


def diagnostics_message(
    frame: StereoOdometryFrame, node_name: str, counters: Counters, cost_ms: dict[str, float]
) -> DiagnosticArray:
    """Return one status, OK while tracking and WARN when lost, with its values."""
    values = {
        "is_tracked": frame.is_tracked,
        "n_features": frame.n_features,
        "n_inliers": frame.n_inliers,
        **cost_ms,
        **vars(counters),
    }
    status = DiagnosticStatus(
        level=DiagnosticStatus.OK if frame.is_tracked else DiagnosticStatus.WARN,
        name=f"{node_name}: tracking",
        message="tracking" if frame.is_tracked else "lost: the pose is an extrapolation",
        hardware_id="stereo",
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )
    message = DiagnosticArray(status=[status])
    message.header.stamp = stamp_from_ns(frame.stamp_ns)
    return message
