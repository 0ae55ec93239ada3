# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rosbags.typesys import Stores, get_typestore

SCRIPT = Path(__file__).parents[3] / ".ci/generate_tf2_msgs.py"
TFMESSAGE = "tf2_msgs/msg/TFMessage"
# What other programs computed for the same message: an independent implementation.
UPSTREAM_HASH = get_typestore(Stores.ROS2_JAZZY).hash_rihs01(TFMESSAGE)
PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass

pytestmark = pytest.mark.ros


@pytest.fixture
def node():
    rclpy = pytest.importorskip("rclpy")
    context = rclpy.Context()
    context.init()
    node = rclpy.create_node("tf2_msgs_probe", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield node
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()


def two_edges():
    from geometry_msgs.msg import TransformStamped
    from tf2_msgs.msg import TFMessage

    edges = []
    for parent, child, x in (("map", "odom", -1.5), ("odom", "base_link", 2.25)):
        edge = TransformStamped(child_frame_id=child)
        edge.header.frame_id = parent
        edge.header.stamp.sec, edge.header.stamp.nanosec = 12, 345_678_901
        edge.transform.translation.x = x
        edge.transform.rotation.z, edge.transform.rotation.w = 0.6, 0.8
        edges.append(edge)
    return TFMessage(transforms=edges)


def test_the_script_names_the_upstream_hash():
    assert f'"{UPSTREAM_HASH}"' in SCRIPT.read_text("utf-8")


def test_running_the_script_again_changes_nothing():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in (
        "tf2_msgs is up to date",
        "tf2_msgs comes with this environment",
    )


def test_a_message_comes_back_from_its_bytes():
    from rclpy.serialization import deserialize_message, serialize_message

    message = two_edges()
    assert deserialize_message(serialize_message(message), type(message)) == message


def test_the_bytes_are_those_of_an_independent_serialiser():
    from rclpy.serialization import serialize_message

    typestore = get_typestore(Stores.ROS2_JAZZY)
    read = typestore.deserialize_cdr(serialize_message(two_edges()), TFMESSAGE)
    assert [edge.child_frame_id for edge in read.transforms] == ["odom", "base_link"]
    assert [edge.transform.translation.x for edge in read.transforms] == [-1.5, 2.25]
    assert read.transforms[1].header.stamp.nanosec == 345_678_901


def test_a_transform_arrives_over_a_topic_that_carries_the_upstream_hash(node):
    message = two_edges()
    received = []
    node.create_subscription(type(message), "/tf", received.append, 10)
    publisher = node.create_publisher(type(message), "/tf", 10)
    deadline = time.monotonic() + PATIENCE_S
    while publisher.get_subscription_count() == 0 and time.monotonic() < deadline:
        node.executor.spin_once(timeout_sec=0.05)
    publisher.publish(message)
    while not received and time.monotonic() < deadline:
        node.executor.spin_once(timeout_sec=0.05)
    assert received == [message]
    (endpoint,) = node.get_publishers_info_by_topic("/tf")
    assert f"RIHS0{endpoint.topic_type_hash.version}_{endpoint.topic_type_hash.value.hex()}" == (
        UPSTREAM_HASH
    )


def test_tools_find_the_package_through_the_index():
    index = pytest.importorskip("ament_index_python")
    assert "tf2_msgs" in index.get_packages_with_prefixes()
    definition = Path(index.get_package_share_directory("tf2_msgs"), "msg/TFMessage.msg")
    assert "geometry_msgs/TransformStamped[] transforms" in definition.read_text("utf-8")
