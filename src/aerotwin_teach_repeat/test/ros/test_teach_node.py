# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The teaching node between ROS topics: scans in, a route graph on disk out."""

import time

import numpy as np
import pytest

from support.services import ONCE, answer_of

rclpy = pytest.importorskip("rclpy")
pytestmark = pytest.mark.ros

TIMEOUT_S = 60.0
STEP_M = 0.4
N_SCANS = 4


def room(x):
    """Return points of floor and walls of a room of 12 x 10 x 3 m, seen from x on its axis."""
    u, w = np.meshgrid(np.arange(-6.0, 6.0, 0.15), np.arange(-5.0, 5.0, 0.15))
    floor = np.column_stack([u.ravel(), w.ravel(), 0.0 * u.ravel()])
    a, h = np.meshgrid(np.arange(-6.0, 6.0, 0.15), np.arange(0.0, 3.0, 0.15))
    sides = [np.column_stack([a.ravel(), np.full(a.size, y), h.ravel()]) for y in (-5.0, 5.0)]
    ends = [np.column_stack([np.full(a.size, e), a.ravel() * 5 / 6, h.ravel()]) for e in (-6, 6)]
    return np.concatenate([floor, *sides, *ends]) - [x, 0.0, 0.0]


def test_a_drive_becomes_a_route_graph_on_request_to_finish(tmp_path):
    from geometry_msgs.msg import TransformStamped
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import PointCloud2
    from std_srvs.srv import Trigger
    from tf2_msgs.msg import TFMessage

    from aerotwin_core.ros.conversions import cloud_from_points, message_from_transform
    from aerotwin_core.ros.qos import LATCHED, reliable
    from aerotwin_teach_repeat.ros.teach_node import TeachNode
    from aerotwin_teach_repeat.route_graph import RouteGraph

    rclpy.init(args=["--ros-args", "-p", f"route_graph:={tmp_path / 'graph'}"])
    node, peer = TeachNode(), rclpy.create_node("peer")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(peer)
    scans = peer.create_publisher(PointCloud2, "lidar/points", reliable(10))
    static = peer.create_publisher(TFMessage, "/tf_static", LATCHED)
    finish = peer.create_client(Trigger, "teach/finish")
    edge = TransformStamped(child_frame_id="lidar", transform=message_from_transform(np.eye(4)))
    edge.header.frame_id = "base_link"

    def spin(is_done):
        end = time.monotonic() + TIMEOUT_S
        while not is_done():
            assert time.monotonic() < end, "nothing came in time"
            executor.spin_once(timeout_sec=0.1)

    try:
        static.publish(TFMessage(transforms=[edge]))
        spin(lambda: scans.get_subscription_count() > 0)
        for k in range(N_SCANS):
            scans.publish(cloud_from_points(room(STEP_M * k), (k + 1) * 400_000_000, "lidar"))
            spin(lambda k=k: node._intake.counters["n_scans"] == k + 1)
        answers = [
            answer_of(finish, Trigger.Request(), lambda: executor.spin_once(0.1), ask_again_s=ONCE)
            for _ in range(2)
        ]
    finally:
        executor.shutdown()
        node.destroy_node()
        peer.destroy_node()
        rclpy.try_shutdown()
    assert answers[0].success and answers[0].message.startswith(f"{N_SCANS} vertices, 1.2 m")
    assert not answers[1].success and "finished already" in answers[1].message
    poses = RouteGraph.load(tmp_path / "graph").poses_map()
    np.testing.assert_allclose(poses[:, 0, 3], STEP_M * np.arange(N_SCANS), atol=0.02)
