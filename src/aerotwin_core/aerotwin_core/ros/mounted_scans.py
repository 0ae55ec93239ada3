# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans with the mounting of their sensor on the body, from its topic and /tf_static."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import PointCloud2

from aerotwin_core.frames import FloatArray
from aerotwin_core.point_clouds import scan_points
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.qos import CLOUD_DEPTH
from aerotwin_core.ros.static_tree import StaticTree

MAX_PENDING = 50
"""Scans kept until tf_static is there."""
LIDAR_POINTS = TopicSource(topic="lidar/points", kind=PointCloud2)


@dataclass(frozen=True, kw_only=True, eq=False)
class MountedScan:
    """A scan as measured, with the stamp of its beginning [ns]."""

    stamp_ns: int
    points_lidar: np.ndarray  # (n, 3), the finite ones, each at its own time [m]
    times_s: np.ndarray  # (n,) since the stamp; zeros where the driver publishes none
    T_base_lidar: FloatArray


class MountedScans:
    """Subscribes for a node and calls `on_scan` with every `MountedScan`, in the order of arrival.

    `sources` give PointCloud2 messages, themselves or by their conversion.
    `counters` has the numbers of delivered (`n_scans`) and of skipped scans (`n_scans_skipped`).
    """

    def __init__(
        self,
        node: ConfiguredNode,
        base_frame: str,
        on_scan: Callable[[MountedScan], None],
        sources: Sequence[TopicSource] = (LIDAR_POINTS,),
    ) -> None:
        self._node, self._base_frame, self._on_scan = node, base_frame, on_scan
        self._tree = StaticTree()
        self._pending: deque[PointCloud2] = deque()
        self.counters = {"n_scans": 0, "n_scans_skipped": 0}
        node.intakes.add(sources, self._on_cloud, depth=CLOUD_DEPTH)
        self._tree.subscribe(node, self._process)

    def skip(self, reason: str) -> None:
        """Count an unusable scan, and log why."""
        self.counters["n_scans_skipped"] += 1
        self._node.get_logger().warning(f"scan skipped: {reason}", throttle_duration_sec=5.0)

    def _on_cloud(self, message: PointCloud2) -> None:
        self._pending.append(message)
        self._process()
        if len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self.skip(f"tf_static of {message.header.frame_id} is missing")

    def _process(self) -> None:
        while self._pending:
            T = self._tree.find(self._base_frame, self._pending[0].header.frame_id)
            if T is None:
                return
            self._on_point_cloud(self._pending.popleft(), T)

    def _on_point_cloud(self, message: PointCloud2, T_base_lidar: FloatArray) -> None:
        try:
            found = scan_points(message)
        except ValueError as error:
            self.skip(str(error))
            return
        if self.counters["n_scans"] == 0:
            self._node.get_logger().info(f"first scan: {len(found.points)} points, {found.timing}")
        self.counters["n_scans"] += 1
        self._on_scan(
            MountedScan(
                stamp_ns=ns_from_stamp(message.header.stamp),
                points_lidar=found.points,
                times_s=found.times_s,
                T_base_lidar=T_base_lidar,
            )
        )
