# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One flight of the node in this process: what it leaves behind, and to whom it speaks."""

import subprocess
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_core.bag import BagReader
from aerotwin_core.child_python import python_command
from aerotwin_sensor_models.reading_messages import imu_layout
from aerotwin_simulator import topics

pytestmark = pytest.mark.ros

CLOSES_BADLY = textwrap.dedent(
    """
    class ClosesBadly:
        def __init__(self, context):
            pass

        def step(self, sample):
            return [0.0] * 4

        def close(self):
            raise OSError("the file is gone")
    """
)


VERY_MANY_TOPICS = textwrap.dedent(
    """
    from aerotwin_simulator.ros import simulator_node
    from aerotwin_simulator.ros.process import main

    simulator_node.MOST_REMOVED = 0
    simulator_node.SimulatorNode.destroy_service = lambda _, service: print("removed", service)
    main()
    """
)


@pytest.fixture
def fly_node(tmp_path, flat_world, monkeypatch):
    """Fly with a node of the given parameters; return node and result."""
    import rclpy

    from aerotwin_simulator.ros.flight import fly
    from aerotwin_simulator.ros.simulator_node import SimulatorNode

    (tmp_path / "closes_badly.py").write_text(CLOSES_BADLY)
    monkeypatch.syspath_prepend(str(tmp_path))

    def run(parameters):
        values = {"camera.is_rendered": False, "duration_s": 0.5, **parameters}
        arguments = [x for name, value in values.items() for x in ("-p", f"{name}:={value}")]
        rclpy.init(args=["--ros-args", *arguments])
        node = SimulatorNode()
        node.n_recounts = 0
        recount = node.sink.recount

        def count():
            node.n_recounts += 1
            recount()

        node.sink.recount = count
        result = fly(node, flat_world, tmp_path)
        node.destroy_node()
        return node, result

    yield run
    rclpy.try_shutdown()


def test_a_controller_that_fails_to_close_leaves_a_whole_bag_and_is_reported(fly_node, tmp_path):
    mission = tmp_path / "mission.yaml"
    mission.write_text("waypoints: []\n")
    _, result = fly_node(
        {"controller.kind": "python:closes_badly:ClosesBadly", "mission.file": str(mission)}
    )
    assert result.is_success
    assert BagReader(Path(tmp_path) / "bag").counts["/imu/data_raw"] == 125
    unused, not_closed = result.warnings
    assert "mission.yaml was not used: controller python:closes_badly" in unused
    assert "ClosesBadly at t = 0.500 s: close failed: OSError: the file is gone" in not_closed


def test_listeners_are_counted_anew_when_the_start_is_over(fly_node):
    node, _ = fly_node({"controller.kind": "ros2"})
    assert node.n_recounts == 1


def test_another_clock_in_the_domain_is_warned_about(fly_node, monkeypatch):
    import rclpy
    from rosgraph_msgs.msg import Clock

    from aerotwin_simulator.ros import flight

    start = flight._start

    def start_beside_another(node, simulation):
        node.create_publisher(Clock, "/clock", 1)
        return start(node, simulation)

    assert not fly_node({"controller.kind": "ros2"})[1].warnings
    rclpy.try_shutdown()
    monkeypatch.setattr(flight, "_start", start_beside_another)
    (warning,) = fly_node({"controller.kind": "ros2", "record": "none"})[1].warnings
    assert "another node publishes /clock in ROS domain" in warning
    assert "ROS_DOMAIN_ID" in warning


def test_a_flight_builds_no_wait_set(fly_node, monkeypatch):
    from rclpy.executors import Executor

    waiting, wait = [], Executor._wait_for_ready_callbacks

    def note(executor, *arguments, **options):
        waiting.extend(executor.get_nodes())
        return wait(executor, *arguments, **options)

    monkeypatch.setattr(Executor, "_wait_for_ready_callbacks", note)
    node, result = fly_node({"controller.kind": "ros2", "speed": 100.0, "record": "none"})
    assert result.is_success
    assert node not in waiting


def test_very_many_topics_end_with_the_process(tmp_path):
    """Fast DDS would take minutes to remove them one by one."""
    values = {
        "world": "grassland",
        "controller.kind": "ros2",
        "camera.is_rendered": False,
        "duration_s": 0.5,
        "runs_dir": tmp_path,
    }
    arguments = [x for name, value in values.items() for x in ("-p", f"{name}:={value}")]
    command = python_command("-c", VERY_MANY_TOPICS, "--ros-args", *arguments)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60.0)
    assert ended.returncode == 0, ended.stderr
    assert "removed" not in ended.stdout
    (run,) = tmp_path.iterdir()
    assert BagReader(run / "bag").counts["/imu/data_raw"] == 125


def test_a_topic_that_is_declared_twice_has_one_publisher():
    from aerotwin_simulator.ros.sinks import RosSink

    made = []
    node = SimpleNamespace(create_publisher=lambda kind, name, *_, **__: made.append(name))
    sink = RosSink(node)
    for _ in range(2):
        sink.add(topics.EXTERNAL_ODOM)
    assert made == ["external_odom"]


def test_a_thinned_topic_is_sent_at_its_rate_in_wall_time():
    from aerotwin_simulator.ros.sinks import RosSink

    sent = []
    publisher = SimpleNamespace(get_subscription_count=lambda: 1, publish=sent.append)
    sink = RosSink(SimpleNamespace(create_publisher=lambda *_, **__: publisher))
    topic = topics.Topic("slow", "sensor_msgs/msg/Imu", 0.1)
    sink.add(topic)
    for is_thinned, n_sent in ((False, 50), (True, 1), (False, 50)):
        sent.clear()
        sink.set_thinned(is_thinned)
        for k in range(50):
            sink.publish_cdr(topic, k, b"imu")
        assert len(sent) == n_sent


def test_a_block_is_published_where_somebody_listens():
    from aerotwin_simulator.ros.sinks import RosSink

    sent = {name: [] for name in ("a/imu", "b/imu")}
    heard = {"b/imu"}

    def publisher(_, name, *__, **___):
        return SimpleNamespace(
            get_subscription_count=lambda: int(name in heard), publish=sent[name].append
        )

    sink = RosSink(SimpleNamespace(create_publisher=publisher))
    named = [topics.Topic(name, "sensor_msgs/msg/Imu", 250.0) for name in sent]
    for topic in named:
        sink.add(topic)
    layouts = [imu_layout("a_link", 0.1, 0.2), imu_layout("b_link", 0.1, 0.2)]
    publish = sink.block_outlet(named, layouts)
    values = np.arange(12.0).reshape(2, 6)
    publish(5, 5, values)
    assert sent == {"a/imu": [], "b/imu": []}  # nobody was counted yet
    sink.publish_cdr(named[0], 5, b"")
    publish(5, 5, values)
    assert sent == {"a/imu": [], "b/imu": [layouts[1].pack(5, values[1])]}
