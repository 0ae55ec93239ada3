# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lidar scans with the mounting of the lidar on the body, from lidar/points and /tf_static."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import ns_from_stamp, points_from_cloud
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.qos import CLOUD_DEPTH, reliable
from aerotwin_core.ros.static_tree import StaticTree

MAX_PENDING = 50
"""Scans kept until tf_static is there."""
_STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True, kw_only=True, eq=False)
class MountedScan:
    """A scan as measured, with the stamp of its beginning [ns]."""

    stamp_ns: int
    points_lidar: np.ndarray  # (n, 3), the finite ones, each at its own time [m]
    times_s: np.ndarray  # (n,) since the stamp; zeros where the cloud has no field `time`
    T_base_lidar: FloatArray


class MountedScans:
    """Subscribes for a node and calls `on_scan` with every `MountedScan`, in the order of arrival.

    `counters` has the numbers of delivered (`n_scans`) and of skipped scans (`n_scans_skipped`).
    """

    def __init__(self, node: Node, base_frame: str, on_scan: Callable[[MountedScan], None]) -> None:
        self._node, self._base_frame, self._on_scan = node, base_frame, on_scan
        self._tree = StaticTree()
        self._pending: deque[PointCloud2] = deque()
        self.counters = {"n_scans": 0, "n_scans_skipped": 0}
        node.create_subscription(
            PointCloud2, "lidar/points", self._on_cloud, reliable(CLOUD_DEPTH),
            qos_overriding_options=OVERRIDABLE,
        )  # fmt: skip
        node.create_subscription(TFMessage, "/tf_static", self._on_static, _STATIC)

    def skip(self, reason: str) -> None:
        """Count an unusable scan, and log why."""
        self.counters["n_scans_skipped"] += 1
        self._node.get_logger().warning(f"scan skipped: {reason}", throttle_duration_sec=5.0)

    def _on_static(self, message: TFMessage) -> None:
        self._tree.add(message)
        self._process()

    def _on_cloud(self, message: PointCloud2) -> None:
        self._pending.append(message)
        self._process()
        if len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self.skip("tf_static of the lidar is missing")

    def _process(self) -> None:
        while self._pending:
            T = self._tree.find(self._base_frame, self._pending[0].header.frame_id)
            if T is None:
                return
            self._on_point_cloud(self._pending.popleft(), T)

    def _on_point_cloud(self, message: PointCloud2, T_base_lidar: FloatArray) -> None:
        try:
            points, times, _ = points_from_cloud(message)
        except ValueError as error:
            self.skip(str(error))
            return
        self.counters["n_scans"] += 1
        self._on_scan(
            MountedScan(
                stamp_ns=ns_from_stamp(message.header.stamp), points_lidar=points, times_s=times,
                T_base_lidar=T_base_lidar,
            )
        )  # fmt: skip
