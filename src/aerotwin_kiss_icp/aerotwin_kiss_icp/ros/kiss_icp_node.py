# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `kiss_icp`: lidar scans in, slam/odom for every scan, slam/map and TF out."""

import sys
import time

import numpy as np
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import invert_transform
from aerotwin_core.ros.conversions import (
    cloud_from_points,
    message_from_transform,
    pose_message,
    stamp_from_ns,
)
from aerotwin_core.ros.mounted_scans import MountedScan, MountedScans
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import CLOUD_DEPTH, LATCHED, reliable
from aerotwin_kiss_icp.odometry import KissIcpOdometry, ScanPose
from aerotwin_kiss_icp.parameters import KissIcpNodeParameters

IDLE_PERIOD_S = 0.5


class KissIcpNode(ConfiguredNode):
    """Connects topics to a `KissIcpOdometry`."""

    def __init__(self) -> None:
        super().__init__("kiss_icp")
        self._settings = declare_parameters(self, KissIcpNodeParameters)
        self._odometry = KissIcpOdometry(self._settings)
        self._T_base_lidar: np.ndarray | None = None
        self._n_unmapped = 0
        self._last_scan_time = 0.0
        self._wire()
        self._scans = MountedScans(self, self._settings.base_frame, self._register)
        self.get_logger().info(f"kiss_icp with {self._settings}")

    def _wire(self) -> None:
        qos = {"qos_overriding_options": QoSOverridingOptions.with_default_policies()}
        scans = reliable(CLOUD_DEPTH)
        self._publish_odom = self.create_publisher(Odometry, "slam/odom", scans, **qos).publish
        self._publish_map = self.create_publisher(PointCloud2, "slam/map", LATCHED, **qos).publish
        self._publish_tf = self.create_publisher(TFMessage, "/tf", reliable(100)).publish
        self.create_timer(IDLE_PERIOD_S, self._on_idle)

    def _register(self, scan: MountedScan) -> None:
        self._T_base_lidar = scan.T_base_lidar
        before_ns = self._odometry.stamp_ns
        if before_ns is not None and scan.stamp_ns < before_ns:
            self.get_logger().warning("time went back: odometry starts again at the origin")
            self._odometry = KissIcpOdometry(self._settings)
        try:
            found = self._odometry.add(scan.stamp_ns, scan.points_lidar, scan.times_s)
        except ValueError as error:
            self._scans.skip(str(error))
            return
        self._publish(found)
        self._n_unmapped += 1
        self._last_scan_time = time.monotonic()
        if self._n_unmapped >= self._settings.map_every_scans:
            self._send_map()

    def _publish(self, scan: ScanPose) -> None:
        """Publish the body pose of a scan; odom is the body frame at the lidar's odom."""
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
