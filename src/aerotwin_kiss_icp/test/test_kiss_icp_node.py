# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The node between ROS topics: scans in, odometry of the body out."""

import time

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytestmark = pytest.mark.ros

TIMEOUT_S = 60.0
N_SCANS = 12
# The lidar is upside down and ahead of the body.
T_BASE_LIDAR = np.array(
    [[1.0, 0.0, 0.0, 0.4], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, -0.1], [0.0, 0.0, 0.0, 1.0]]
)
FIELDS = ("x", "y", "z", "time")


def cloud(stamp_ns, points, times):
    from sensor_msgs.msg import PointCloud2, PointField

    from aerotwin_core.ros.conversions import fill, stamp_from_ns

    data = np.column_stack([points, times]).astype(np.float32)
    fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate(FIELDS)
    ]
    message = PointCloud2(
        height=1, width=len(data), point_step=16, row_step=16 * len(data), is_dense=True,
        fields=fields, data=fill(data),
    )  # fmt: skip
    message.header.stamp, message.header.frame_id = stamp_from_ns(stamp_ns), "lidar"
    return message


@pytest.fixture
def feed():
    """Yield a function that sends scans to the node and returns what it published."""
    from geometry_msgs.msg import TransformStamped
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import PointCloud2
    from tf2_msgs.msg import TFMessage

    from aerotwin_core.ros.conversions import message_from_transform
    from aerotwin_core.ros.qos import LATCHED, reliable
    from aerotwin_kiss_icp.ros.kiss_icp_node import KissIcpNode

    rclpy.init(args=["--ros-args", "-p", "voxel_m:=0.5", "-p", "map_every_scans:=5"])
    node, peer = KissIcpNode(), rclpy.create_node("peer")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(peer)
    got = {"odom": [], "map": [], "tf": []}
    for kind, name, topic, qos in (
        (Odometry, "odom", "slam/odom", reliable(100)),
        (PointCloud2, "map", "slam/map", LATCHED),
        (TFMessage, "tf", "/tf", reliable(100)),
    ):
        peer.create_subscription(kind, topic, got[name].append, qos)
    scans = peer.create_publisher(PointCloud2, "lidar/points", reliable(10))
    static = peer.create_publisher(TFMessage, "/tf_static", LATCHED)
    edge = TransformStamped(child_frame_id="lidar", transform=message_from_transform(T_BASE_LIDAR))
    edge.header.frame_id = "base_link"

    def spin(is_done):
        end = time.monotonic() + TIMEOUT_S
        while not is_done():
            assert time.monotonic() < end, "nothing came in time"
            executor.spin_once(timeout_sec=0.1)

    def run(messages):
        static.publish(TFMessage(transforms=[edge]))
        spin(lambda: scans.get_subscription_count() > 0)
        for k, message in enumerate(messages, 1):
            scans.publish(message)
            spin(lambda k=k: len(got["odom"]) == len(got["tf"]) == k)
        spin(lambda: len(got["map"]) >= len(messages) // 5)
        return got

    yield run
    executor.shutdown()
    node.destroy_node()
    peer.destroy_node()
    rclpy.try_shutdown()


def test_every_scan_is_answered_with_the_pose_of_the_body_at_its_stamp(feed, drive):
    from aerotwin_core.ros.conversions import ns_from_stamp, transform_from_pose_message
    from aerotwin_kiss_icp import KissIcpOdometry, KissIcpParameters

    drive = drive[-N_SCANS:]
    got = feed([cloud(*scan) for scan in drive])
    odometry = KissIcpOdometry(KissIcpParameters(voxel_m=0.5))
    assert [ns_from_stamp(m.header.stamp) for m in got["odom"]] == [stamp for stamp, *_ in drive]
    for message, (stamp, points, times) in zip(got["odom"], drive):
        single = points.astype(np.float32), times.astype(np.float32)
        T_lidar = odometry.add(stamp, *single).T_odom_lidar
        found = transform_from_pose_message(message.pose.pose)
        np.testing.assert_allclose(found @ T_BASE_LIDAR, T_BASE_LIDAR @ T_lidar, atol=1e-6)
        assert (message.header.frame_id, message.child_frame_id) == ("odom", "base_link")
        assert message.pose.covariance[0] == pytest.approx(0.09)
    assert len(got["tf"]) == N_SCANS
    assert got["map"][-1].width > 500


def test_an_upside_down_lidar_turns_the_other_way_than_its_body(feed, drive):
    """The lidar drives a circle to its left: so the body, upright, turns to its right."""
    last = feed([cloud(*scan) for scan in drive[-N_SCANS:]])["odom"][-1].twist.twist
    assert last.linear.x > 0.5
    assert last.angular.z < -0.05


def test_a_scan_without_points_is_skipped_and_time_may_go_back(feed, drive):
    stamp, points, times = drive[0]
    messages = [cloud(5 * 10**9, points, times), cloud(stamp, points, times)]
    assert len(feed(messages)["odom"]) == 2
