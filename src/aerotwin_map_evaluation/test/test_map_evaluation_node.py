# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip("rclpy")

import rclpy  # noqa: E402
from rclpy.qos import qos_profile_sensor_data  # noqa: E402

from aerotwin_core.ros.conversions import cloud_from_points  # noqa: E402
from aerotwin_core.ros.qos import LATCHED, reliable  # noqa: E402


def rough(n=3000, seed=1000):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-10, 10, (2, n))
    return np.column_stack([x, y, 1.5 * np.sin(0.6 * x) + 1.2 * np.cos(0.5 * y)])


@pytest.mark.parametrize("qos", [LATCHED, reliable(1), qos_profile_sensor_data])
def test_the_node_scores_a_map_of_any_publisher_on_diagnostics(qos):
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
    from sensor_msgs.msg import PointCloud2

    from aerotwin_map_evaluation.ros.map_evaluation_node import MapEvaluationNode

    rclpy.init(args=["--ros-args", "-p", "period_s:=0.1"])
    try:
        node, peer = MapEvaluationNode(), rclpy.create_node("peer")
        received = []
        peer.create_subscription(DiagnosticArray, "/diagnostics", received.append, 10)
        publishers = [
            peer.create_publisher(PointCloud2, topic, profile)
            for topic, profile in (("/map/voxel_cloud", LATCHED), ("slam/map", qos))
        ]
        publishers[0].publish(cloud_from_points(rough(), 0, "map"))
        executor = rclpy.executors.SingleThreadedExecutor()
        for each in (node, peer):
            executor.add_node(each)
        message = cloud_from_points(rough() + 0.1, 7_000_000_000, "map")
        peer.create_timer(0.1, lambda: publishers[1].publish(message))
        for _ in range(400):
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


def values_of(array):
    (status,) = array.status
    return status, {item.key: item.value for item in status.values}


def test_frames_that_differ_and_what_is_no_number_are_reported():
    from diagnostic_msgs.msg import DiagnosticStatus

    from aerotwin_map_evaluation import MapProtocol
    from aerotwin_map_evaluation.ros.map_evaluation_node import diagnostics, received_cloud

    reference = received_cloud(cloud_from_points(rough(), 0, "map"))
    holed = rough() + 0.1
    holed[:5] = np.nan
    message = cloud_from_points(holed, 0, "odom")
    status, values = values_of(diagnostics(message, reference, MapProtocol()))
    assert status.level == DiagnosticStatus.WARN
    assert "5 of 3000 points of the map are NaN" in status.message
    assert "frame 'odom', the reference in 'map'" in status.message
    assert (values["n_invalid"], values["share"]) == ("5", "1.0")
    status, values = values_of(diagnostics(message, reference, MapProtocol(align="none")))
    assert "not judged" in status.message and "share" not in values


def test_the_reference_may_be_a_file(tmp_path):
    from aerotwin_map_evaluation.ros import map_evaluation_node as node

    np.save(tmp_path / "mm.npy", 1000.0 * rough())
    found = node.reference_of_file(
        node.MapEvaluationParameters(reference=str(tmp_path / "mm.npy"), reference_unit="mm")
    )
    np.testing.assert_allclose(found.points, rough())
    assert found.frame_id == "map"
