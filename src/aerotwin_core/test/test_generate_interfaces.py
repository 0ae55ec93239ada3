# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from support.services import answer_of

CI = Path(__file__).parents[3] / ".ci"
SCRIPT, DEFINITIONS = CI / "generate_interfaces.py", CI / "interfaces"
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


def definitions(package):
    """Return text and hash of each interface by its path."""
    parts = (DEFINITIONS / f"{package}.txt").read_text("utf-8").split("\n== ")[1:]
    split = [part.partition("\n") for part in parts]
    return {title.split()[0]: (title.split()[1], text) for title, _, text in split}


def test_the_definitions_name_the_upstream_hash():
    assert definitions("tf2_msgs")["msg/TFMessage.msg"][0] == UPSTREAM_HASH


def test_hashes_of_messages_are_those_of_an_independent_implementation():
    typestore = get_typestore(Stores.ROS2_JAZZY)
    messages = {
        f"simulation_interfaces/{path.removesuffix('.msg')}": found
        for path, found in definitions("simulation_interfaces").items()
        if path.endswith(".msg")
    }
    types = {}
    for name, (_, text) in messages.items():
        types.update(get_types_from_msg(text, name))
    typestore.register(types)
    assert len(messages) == 15
    for name, (type_hash, _) in messages.items():
        assert typestore.hash_rihs01(name) == type_hash, name


def test_all_interfaces_of_the_standard_are_defined():
    paths = list(definitions("simulation_interfaces"))
    n = {kind: sum(path.startswith(kind) for path in paths) for kind in ("msg", "srv", "action")}
    assert n == {"msg": 15, "srv": 22, "action": 1}


def test_running_the_script_again_changes_nothing():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line, package in zip(lines, ("simulation_interfaces", "tf2_msgs"), strict=True):
        assert line in (f"{package} is up to date", f"{package} comes with this environment")


def test_a_service_answers_with_the_generated_types(node):
    from simulation_interfaces.srv import GetEntities

    service = node.create_service(GetEntities, "get_entities", lambda request, reply: reply)
    client = node.create_client(GetEntities, "get_entities")
    answer = answer_of(
        client, GetEntities.Request(), lambda: node.executor.spin_once(timeout_sec=0.05)
    )
    assert answer == GetEntities.Response()
    node.destroy_service(service)


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
