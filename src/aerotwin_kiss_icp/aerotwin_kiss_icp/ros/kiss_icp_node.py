# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `kiss_icp`: lidar scans in, slam/odom for every scan, slam/map and TF out."""

import sys
import time
from collections import deque

import numpy as np
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import invert_transform
from aerotwin_core.ros.conversions import (
    arrays_from_cloud,
    cloud_from_points,
    message_from_transform,
    ns_from_stamp,
    pose_message,
    stamp_from_ns,
)
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_core.ros.qos import CLOUD_DEPTH, LATCHED, reliable
from aerotwin_core.ros.static_tree import StaticTree
from aerotwin_kiss_icp.odometry import KissIcpOdometry, ScanPose
from aerotwin_kiss_icp.ros.node_parameters import KissIcpNodeParameters

MAX_PENDING = 50  # scans kept until tf_static is there
STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
IDLE_PERIOD_S = 0.5


class KissIcpNode(Node):
    """Wires topics to a `KissIcpOdometry`."""

    def __init__(self) -> None:
        super().__init__("kiss_icp")
        self._settings = declare_parameters(self, KissIcpNodeParameters)
        self._tree = StaticTree()
        self._pending: deque[PointCloud2] = deque()
        self._odometry = KissIcpOdometry(self._settings)
        self._T_base_lidar: np.ndarray | None = None
        self._n_unmapped = 0
        self._last_scan_time = 0.0
        self._wire()
        self.get_logger().info(f"kiss_icp with {self._settings}")

    def _wire(self) -> None:
        qos = {"qos_overriding_options": QoSOverridingOptions.with_default_policies()}
        scans = reliable(CLOUD_DEPTH)
        self._publish_odom = self.create_publisher(Odometry, "slam/odom", scans, **qos).publish
        self._publish_map = self.create_publisher(PointCloud2, "slam/map", LATCHED, **qos).publish
        self._publish_tf = self.create_publisher(TFMessage, "/tf", reliable(100)).publish
        self.create_subscription(PointCloud2, "lidar/points", self._on_scan, scans, **qos)
        self.create_subscription(TFMessage, "/tf_static", self._on_static, STATIC)
        self.create_timer(IDLE_PERIOD_S, self._on_idle)

    def _on_static(self, message: TFMessage) -> None:
        self._tree.add(message)
        self._process()

    def _on_scan(self, message: PointCloud2) -> None:
        self._pending.append(message)
        self._process()
        if len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self._skip("tf_static of the lidar is missing")

    def _process(self) -> None:
        while self._pending:
            frame_id = self._pending[0].header.frame_id
            T_base_lidar = self._tree.find(self._settings.base_frame, frame_id)
            if T_base_lidar is None:
                return
            self._T_base_lidar = T_base_lidar
            self._register(self._pending.popleft())

    def _register(self, message: PointCloud2) -> None:
        stamp_ns, before_ns = ns_from_stamp(message.header.stamp), self._odometry.stamp_ns
        if before_ns is not None and stamp_ns < before_ns:
            self.get_logger().warning("time went back: odometry starts again at the origin")
            self._odometry = KissIcpOdometry(self._settings)
        try:
            columns = arrays_from_cloud(message)
            points = np.column_stack([columns[axis] for axis in "xyz"])
            times = columns.get("time", np.zeros(len(points)))
            scan = self._odometry.add(stamp_ns, points, times)
        except (ValueError, KeyError) as error:
            self._skip(str(error))
            return
        self._publish(scan)
        self._n_unmapped += 1
        self._last_scan_time = time.monotonic()
        if self._n_unmapped >= self._settings.map_every_scans:
            self._send_map()

    def _publish(self, scan: ScanPose) -> None:
        """Publish what a scan says of the body; odom is the body where the lidar's odom is."""
        p, T_lidar_base = self._settings, invert_transform(self._T_base_lidar)
        T_odom_base = self._T_base_lidar @ scan.T_odom_lidar @ T_lidar_base
        R_base_lidar = self._T_base_lidar[:3, :3]
        angular = R_base_lidar @ scan.twist_in_lidar[3:]
        lever = self._T_base_lidar[:3, 3]
        linear = R_base_lidar @ scan.twist_in_lidar[:3] - np.cross(angular, lever)
        message = Odometry(child_frame_id=p.base_frame)
        message.header.stamp, message.header.frame_id = stamp_from_ns(scan.stamp_ns), p.odom_frame
        message.pose.pose = pose_message(T_odom_base)
        variances = [p.position_std_m**2] * 3 + [p.attitude_std_rad**2] * 3
        message.pose.covariance = np.diag(variances).ravel().tolist()
        twist = message.twist.twist
        twist.linear.x, twist.linear.y, twist.linear.z = linear.tolist()
        twist.angular.x, twist.angular.y, twist.angular.z = angular.tolist()
        message.twist.covariance = message.pose.covariance
        self._publish_odom(message)
        if p.publish_tf:
            edge = TransformStamped(header=message.header, child_frame_id=p.base_frame)
            edge.transform = message_from_transform(T_odom_base)
            self._publish_tf(TFMessage(transforms=[edge]))

    def _skip(self, reason: str) -> None:
        self.get_logger().warning(f"scan skipped: {reason}", throttle_duration_sec=5.0)

    def _on_idle(self) -> None:
        if self._n_unmapped and time.monotonic() - self._last_scan_time > IDLE_PERIOD_S:
            self._send_map()

    def _send_map(self) -> None:
        self._n_unmapped = 0
        points = self._odometry.map_points()
        T = self._T_base_lidar
        assert T is not None
        in_odom = points @ T[:3, :3].T + T[:3, 3]
        stamp_ns = self._odometry.stamp_ns or 0
        self._publish_map(cloud_from_points(in_odom, stamp_ns, self._settings.odom_frame))


def main() -> int:
    """Run the node."""
    return run_node(KissIcpNode)


if __name__ == "__main__":
    sys.exit(main())
