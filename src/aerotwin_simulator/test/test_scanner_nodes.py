# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lidar and radar as nodes: truth in, large clouds out, none lost with the DDS profile."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_rendering import WorldQueries
from aerotwin_simulator.scanners import make_radar
from aerotwin_worlds import load_world

ROOT = Path(__file__).resolve().parents[3]
N_TURNS = 20
LIMIT_S = 60.0
N_IN_FLIGHT = 2
QUIET_S = 2.0  # of the wall: a flight that does not wait is over by then
WORLD = """
name: coarse
generator: cliff
parameters: {seed: 1, spacing_m: 1.0, texel_m: 0.5}
origin: {latitude_deg: 47.4, longitude_deg: 8.5, altitude_m: 400.0}
start: {x_m: -25.0, y_m: -10.0}
attribution: Made in a test
licence: Apache-2.0
"""
# A process of its own: the profile is read once, before the first participant of a process.
PARTNER = textwrap.dedent(
    """
    import json, sys, time
    import numpy as np
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import PointCloud2
    from tf2_msgs.msg import TFMessage
    from aerotwin_core.messages import odometry_message, serialize
    from aerotwin_core.point_clouds import point_cloud_arrays
    from aerotwin_core.ros.conversions import ns_from_stamp
    from aerotwin_core.ros.qos import CLOUD_DEPTH, LATCHED, reliable

    n_turns, limit_s = int(sys.argv[1]), float(sys.argv[2])
    rclpy.init()
    node = rclpy.create_node("partner")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    found, mounting = [], []

    def take(cloud):
        arrays = point_cloud_arrays(cloud)
        x, time = arrays["x"], arrays["time"]
        found.append([ns_from_stamp(cloud.header.stamp), int(cloud.height), int(cloud.width),
                      int(np.isfinite(x).sum()), float(time.max()), cloud.header.frame_id])

    node.create_subscription(PointCloud2, "lidar/points", take, reliable(CLOUD_DEPTH))
    node.create_subscription(TFMessage, "/tf_static", mounting.append, LATCHED)
    truth = node.create_publisher(Odometry, "truth/odom", reliable(200))
    end = time.monotonic() + limit_s
    while time.monotonic() < end and not (mounting and truth.get_subscription_count()):
        executor.spin_once(timeout_sec=0.05)
    for k in range(10 * n_turns + 1):
        p = [-20.0 + 0.02 * k, -12.0, 6.0]
        message = odometry_message(k * 10_000_000, "map", "base_link_truth", p,
                                   [0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0], [0.0] * 3)
        truth.publish(serialize(message))
        tick = time.monotonic() + 0.01
        while (rest := tick - time.monotonic()) > 0.0:
            executor.spin_once(timeout_sec=rest)
    while time.monotonic() < end and len(found) < n_turns:
        executor.spin_once(timeout_sec=0.1)
    edge = mounting[0].transforms[0]
    print(json.dumps({"clouds": found, "frames": [edge.header.frame_id, edge.child_frame_id],
                      "z_m": edge.transform.translation.z}))
    rclpy.shutdown()
    """
)


@pytest.fixture
def environment():
    from aerotwin_core.network import choose_network

    found = dict(os.environ)
    choose_network(found)
    return found


def node_command(tmp_path, sensor="lidar", **settings):
    world = tmp_path / "coarse.yaml"
    world.write_text(WORLD)
    provided = {"world": str(world), **{f"{sensor}.{k}": value for k, value in settings.items()}}
    pairs = [token for name, value in provided.items() for token in ("-p", f"{name}:={value}")]
    return [sys.executable, "-m", f"aerotwin_simulator.ros.{sensor}_node", "--ros-args", *pairs]


@pytest.mark.ros
def test_every_cloud_of_64_rings_arrives_at_real_time(tmp_path, environment):
    preset = tmp_path / "image.yaml"
    preset.write_text("source: a test\nparameters: {n_rings: 64, is_organised: true}\n")
    node = subprocess.Popen(
        node_command(tmp_path, preset=str(preset), z_m=0.3), env=environment, stderr=subprocess.PIPE
    )
    try:
        partner = [sys.executable, "-c", PARTNER, str(N_TURNS), str(LIMIT_S)]
        answer = subprocess.run(
            partner, env=environment, capture_output=True, text=True, timeout=2 * LIMIT_S
        )
        assert answer.returncode == 0, answer.stderr
    finally:
        node.send_signal(signal.SIGINT)
        _, errors = node.communicate(timeout=LIMIT_S)
    assert node.returncode == 0, errors.decode()
    said = json.loads(answer.stdout)
    assert said["frames"] == ["base_link", "lidar"]
    assert said["z_m"] == 0.3
    assert [cloud[0] for cloud in said["clouds"]] == [k * 100_000_000 for k in range(N_TURNS)]
    for _, height, width, n_returns, last_s, frame in said["clouds"]:
        assert (height, width, frame) == (64, 1024, "lidar")
        assert n_returns > 10_000
        assert 0.0999 <= last_s < 0.1


@pytest.mark.ros
def test_a_lidar_that_does_not_exist_ends_the_node_with_78(tmp_path, environment):
    done = subprocess.run(
        node_command(tmp_path, preset="radar"), env=environment, capture_output=True, text=True,
        timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 78
    assert "lidar has none named 'radar'; choose one of" in done.stderr


@pytest.mark.ros
def test_a_streamed_world_follows_after_time_steps_back(tmp_path, monkeypatch):
    import rclpy

    from aerotwin_core.messages import odometry_message
    from aerotwin_simulator.ros import scanner_node
    from aerotwin_simulator.ros.node_parameters import LidarNodeParameters

    asked: list[float] = []

    def update(p_map):
        asked.append(float(p_map[0]))
        return False

    def streamed(spec):
        return replace(load_world(spec), stream=SimpleNamespace(update=update))

    monkeypatch.setattr(scanner_node, "load_world", streamed)
    tokens = node_command(tmp_path)[3:]
    rclpy.init(args=tokens)
    node = scanner_node.ScannerNode("lidar", LidarNodeParameters)
    for x, stamp_ns in ((1.0, 20 * 10**9), (2.0, 10**9), (3.0, 11 * 10**8), (4.0, 12 * 10**8)):
        pose = [x, -12.0, 6.0], [0.0, 0.0, 0.0, 1.0]
        message = odometry_message(stamp_ns, "map", "base_link_truth", *pose, [0.0] * 3, [0.0] * 3)
        node._on_truth(message)
    node.destroy_node()
    rclpy.try_shutdown()
    assert asked[1:] == [1.0, 2.0, 4.0]


@pytest.mark.ros
def test_a_radar_publishes_the_turns_that_the_simulator_would(tmp_path):
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.serialization import deserialize_message
    from sensor_msgs.msg import Image, PointCloud2

    from aerotwin_core.messages import odometry_message, serialize
    from aerotwin_core.ros.qos import CLOUD_DEPTH, reliable
    from aerotwin_simulator.ros.node_parameters import NodeRadarSettings, RadarNodeParameters
    from aerotwin_simulator.ros.scanner_node import ScannerNode

    rclpy.init(args=node_command(tmp_path, "radar", preset="ideal", z_m=0.3)[3:])
    node, partner = ScannerNode("radar", RadarNodeParameters), rclpy.create_node("partner")
    executor, found = SingleThreadedExecutor(), {"radar/polar": [], "radar/points": []}
    executor.add_node(node)
    executor.add_node(partner)
    for topic, kind in (("radar/polar", Image), ("radar/points", PointCloud2)):
        partner.create_subscription(kind, topic, found[topic].append, reliable(CLOUD_DEPTH))
    truth = partner.create_publisher(Odometry, "truth/odom", reliable(200))
    poses = [(k * 10_000_000, [-20.0 + 0.02 * k, -12.0, 6.0]) for k in range(76)]
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end and not all(
        partner.count_publishers(topic) for topic in ("radar/polar", "radar/points", "truth/odom")
    ):
        executor.spin_once(timeout_sec=0.05)
    while time.monotonic() < end and not truth.get_subscription_count():
        executor.spin_once(timeout_sec=0.05)
    for stamp_ns, p in poses:
        truth.publish(serialize(odometry_message(
            stamp_ns, "map", "base_link_truth", p, [0, 0, 0, 1.0], [2.0, 0, 0], [0.0] * 3
        )))  # fmt: skip
        executor.spin_once(timeout_sec=0.0)
    while time.monotonic() < end and min(map(len, found.values())) < 3:
        executor.spin_once(timeout_sec=0.05)
    flight = RadarNodeParameters(radar=NodeRadarSettings(preset="ideal", z_m=0.3)).flight
    node.destroy_node()
    partner.destroy_node()
    rclpy.try_shutdown()
    radar = make_radar(flight, WorldQueries(load_world(str(tmp_path / "coarse.yaml"))))
    expected = [
        [cdr for _, cdr in messages]
        for stamp_ns, p in poses
        for *_, messages in radar.turn_to_pose(stamp_ns, np.array(p), np.array([0, 0, 0, 1.0]))
    ]
    assert len(expected) == 3
    assert found["radar/polar"] == [deserialize_message(turn[0], Image) for turn in expected]
    assert found["radar/points"] == [deserialize_message(turn[1], PointCloud2) for turn in expected]


@pytest.mark.ros
@pytest.mark.parametrize("name", ["radar/polar", "radar/points"])
def test_a_flight_waits_for_a_node_that_reads_either_topic_of_the_radar(
    name, controllers, tmp_path
):
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import Image, PointCloud2
    from std_msgs.msg import Header

    from aerotwin_core.ros.qos import reliable

    (tmp_path / "coarse.yaml").write_text(WORLD)
    settings = {
        "world": tmp_path / "coarse.yaml", "controller.kind": f"python:{controllers}:Climber",
        "camera.is_rendered": "false", "radar.preset": "ideal", "wait_for": "step/ack",
        "duration_s": 1.1, "frames_in_flight": N_IN_FLIGHT,
        "runs_dir": tmp_path, "wait_start_s": LIMIT_S, "wait_frame_s": LIMIT_S,
    }  # fmt: skip
    pairs = [token for k, value in settings.items() for token in ("-p", f"{k}:={value}")]
    program = "from aerotwin_simulator.ros.process import main; main()"
    rclpy.init()
    try:
        node, seen = rclpy.create_node("follower"), []
        answer = node.create_publisher(Header, "step/ack", reliable(10))

        def on_scan(scan):
            seen.append(scan.header)
            if len(seen) == 1 or len(seen) > N_IN_FLIGHT + 1:
                answer.publish(scan.header)

        kind = Image if name == "radar/polar" else PointCloud2
        node.create_subscription(kind, name, on_scan, reliable(10))
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        flight = subprocess.Popen(
            [sys.executable, "-c", program, "--ros-args", *pairs],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
        )  # fmt: skip

        def spin(limit_s, is_enough=lambda: False):
            end = time.monotonic() + limit_s
            while flight.poll() is None and not is_enough() and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.05)

        spin(2.0 * LIMIT_S, lambda: len(seen) > N_IN_FLIGHT)
        spin(QUIET_S)
        n_seen_unanswered, is_waiting = len(seen) - 1, flight.poll() is None
        for header in seen[1:]:
            answer.publish(header)
        spin(LIMIT_S)
        flight.kill()
        text = flight.communicate()[0]
        executor.shutdown()
    finally:
        rclpy.try_shutdown()
    assert flight.returncode == 0, text
    assert (n_seen_unanswered, is_waiting) == (N_IN_FLIGHT, True), text
    assert [header.stamp.nanosec for header in seen] == [k * 250_000_000 for k in range(4)]
