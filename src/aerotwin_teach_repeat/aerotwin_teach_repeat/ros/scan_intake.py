# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans in the base frame and what the wheels say, from lidar/points, odom and /tf_static."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.ros.conversions import (
    arrays_from_cloud,
    ns_from_stamp,
    transform_from_pose_message,
)
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMU_DEPTH, reliable
from aerotwin_core.ros.static_tree import StaticTree

MAX_PENDING = 50
"""Scans kept until tf_static is there."""
KEPT_ODOMETRY = 200
STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True, kw_only=True)
class BaseScan:
    """A scan as measured, in the base frame, and the wheels at its stamp.

    Attributes
    ----------
    stamp_ns : int
        When it began [ns].
    points_base : (n, 3) array
        Places, each at its own time [m].
    times_s : (n,) array
        Since the stamp [s]; zeros where the cloud has no field `time`.
    T_odom_base : (4, 4) array or None
        Pose by the wheels nearest to the stamp; None without odometry.
    wheel_twist : tuple or None
        Speed and turn rate by the wheels [m/s, rad/s].
    """

    stamp_ns: int
    points_base: np.ndarray
    times_s: np.ndarray
    T_odom_base: FloatArray | None
    wheel_twist: tuple[float, float] | None


class ScanIntake:
    """Subscribes for a node and calls back with every scan, in the order of arrival.

    Parameters
    ----------
    node : Node
        Whose subscriptions they are.
    base_frame : str
        Frame that the points are brought to.
    on_scan : callable
        Called with a `BaseScan`.
    """

    def __init__(self, node: Node, base_frame: str, on_scan: Callable[[BaseScan], None]) -> None:
        self._node, self._base_frame, self._on_scan = node, base_frame, on_scan
        self._tree = StaticTree()
        self._pending: deque[PointCloud2] = deque()
        self._odometry: deque[tuple[int, Odometry]] = deque(maxlen=KEPT_ODOMETRY)
        self.counters = {"n_scans": 0, "n_scans_skipped": 0}
        qos = {"qos_overriding_options": OVERRIDABLE}
        node.create_subscription(
            PointCloud2, "lidar/points", self._on_cloud, reliable(CLOUD_DEPTH), **qos
        )
        node.create_subscription(Odometry, "odom", self._on_odom, reliable(IMU_DEPTH), **qos)
        node.create_subscription(TFMessage, "/tf_static", self._on_static, STATIC)

    @property
    def wheel_twist(self) -> tuple[float, float] | None:
        """What the wheels said last: speed and turn rate."""
        return _twist(self._odometry[-1][1]) if self._odometry else None

    def _on_odom(self, message: Odometry) -> None:
        self._odometry.append((ns_from_stamp(message.header.stamp), message))

    def _on_static(self, message: TFMessage) -> None:
        self._tree.add(message)
        self._process()

    def _on_cloud(self, message: PointCloud2) -> None:
        self._pending.append(message)
        self._process()
        if len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self._skip("tf_static of the lidar is missing")

    def _process(self) -> None:
        while self._pending:
            T = self._tree.find(self._base_frame, self._pending[0].header.frame_id)
            if T is None:
                return
            self._take(self._pending.popleft(), T)

    def _take(self, message: PointCloud2, T_base_lidar: FloatArray) -> None:
        try:
            columns = arrays_from_cloud(message)
            points = np.column_stack([columns[axis] for axis in "xyz"])
        except (ValueError, KeyError) as error:
            self._skip(str(error))
            return
        stamp_ns = ns_from_stamp(message.header.stamp)
        times = np.asarray(columns.get("time", np.zeros(len(points))), dtype=np.float64)
        is_finite = np.isfinite(points).all(axis=1) & np.isfinite(times)
        odom = self._nearest(stamp_ns)
        self.counters["n_scans"] += 1
        self._on_scan(
            BaseScan(
                stamp_ns=stamp_ns,
                points_base=transform_points(T_base_lidar, points[is_finite]),
                times_s=times[is_finite],
                T_odom_base=None if odom is None else transform_from_pose_message(odom.pose.pose),
                wheel_twist=None if odom is None else _twist(odom),
            )
        )

    def _nearest(self, stamp_ns: int) -> Odometry | None:
        """Return the odometry nearest to a stamp."""
        if not self._odometry:
            return None
        return min(self._odometry, key=lambda item: abs(item[0] - stamp_ns))[1]

    def _skip(self, reason: str) -> None:
        self.counters["n_scans_skipped"] += 1
        self._node.get_logger().warning(f"scan skipped: {reason}", throttle_duration_sec=5.0)


def _twist(message: Odometry) -> tuple[float, float]:
    return message.twist.twist.linear.x, message.twist.twist.angular.z
