# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip("rclpy")

import rclpy  # noqa: E402

from aerotwin_core.ros.conversions import cloud_from_points  # noqa: E402
from aerotwin_core.ros.qos import LATCHED  # noqa: E402


def rough(n=3000, seed=1000):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-10, 10, (2, n))
    return np.column_stack([x, y, 1.5 * np.sin(0.6 * x) + 1.2 * np.cos(0.5 * y)])


def test_the_node_scores_a_map_on_diagnostics():
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from sensor_msgs.msg import PointCloud2

    from aerotwin_map_evaluation.ros.map_evaluation_node import MapEvaluationNode

    rclpy.init(args=["--ros-args", "-p", "period_s:=0.1"])
    try:
        node, peer = MapEvaluationNode(), rclpy.create_node("peer")
        received = []
        peer.create_subscription(DiagnosticArray, "/diagnostics", received.append, 10)
        publishers = [
            peer.create_publisher(PointCloud2, topic, LATCHED)
            for topic in ("/map/voxel_cloud", "slam/map")
        ]
        publishers[0].publish(cloud_from_points(rough(), 0, "map"))
        publishers[1].publish(cloud_from_points(rough() + 0.1, 7_000_000_000, "map"))
        executor = rclpy.executors.SingleThreadedExecutor()
        for each in (node, peer):
            executor.add_node(each)
        for _ in range(200):
            executor.spin_once(timeout_sec=0.1)
            if received:
                break
        (status,) = received[0].status
        values = {item.key: item.value for item in status.values}
        assert received[0].header.stamp.sec == 7
        assert status.level == DiagnosticStatus.OK, status.message
        assert float(values["share"]) == 1.0
        assert float(values["up_m"]) == pytest.approx(-0.1, abs=0.02)
        executor.shutdown()
        for each in (node, peer):
            each.destroy_node()
    finally:
        rclpy.try_shutdown()
