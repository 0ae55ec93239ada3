# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot as a node, started as a user starts it; and what holds it to the wall clock."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aerotwin_core.messages import deserialize, serialize, twist_stamped_message
from aerotwin_ground_dynamics import Command
from aerotwin_simulator.ground.driving import PacedRobot, robot_in_world
from aerotwin_simulator.ground.robot import GroundRobotParameters

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 120.0
WORLD = """
name: coarse
generator: cliff
parameters: {seed: 1, spacing_m: 1.0, texel_m: 0.5}
origin: {latitude_deg: 47.4, longitude_deg: 8.5, altitude_m: 400.0}
start: {x_m: -25.0, y_m: -10.0, yaw_deg: 90.0}
attribution: Made in a test
licence: Apache-2.0
"""
NODE = [sys.executable, "-m", "aerotwin_simulator.ros.ground_simulator_node", "--ros-args"]
TURN_LEFT = serialize(twist_stamped_message(0, "base_link", (0.5, 0, 0), (0, 0, 0.2)))


@pytest.fixture
def world_file(tmp_path):
    path = tmp_path / "coarse.yaml"
    path.write_text(WORLD)
    return path


class WallClock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_paced_robot_keeps_up_skips_what_is_too_late_and_stands_when_nobody_commands(world_file):
    clock = WallClock()
    simulation = robot_in_world(GroundRobotParameters(), str(world_file), None)
    robot = PacedRobot(simulation, speed=2.0, command_timeout_s=0.3, clock=clock)
    assert robot.n_steps_due() == 0
    clock.now += 0.0251
    assert robot.n_steps_due() == 5
    assert robot.n_steps_due() == 0
    clock.now += 1.0
    assert robot.n_steps_due() == 10
    assert robot.counters["n_steps_skipped"] == 190
    robot.give(Command(1.0, 0.0))
    speeds = []
    for _ in range(120):
        robot.step()
        speeds.append(robot.vehicle.twist.v_m_s)
    assert max(speeds) > 0.1
    assert speeds[-1] < 0.01
    assert robot.counters["n_timeouts"] == 1
    assert robot.counters["n_scans"] == 12


@pytest.mark.ros
def test_the_launched_robot_drives_as_cmd_vel_says_and_shows_its_topics(world_file):
    import rclpy
    from geometry_msgs.msg import TwistStamped
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import PointCloud2
    from tf2_msgs.msg import TFMessage

    from aerotwin_core.ros.qos import LATCHED, reliable

    types = {
        "truth/odom": Odometry, "odom": Odometry, "lidar/points": PointCloud2, "/clock": Clock,
        "/tf": TFMessage, "/tf_static": TFMessage,
    }  # fmt: skip
    command = [sys.executable, "-m", "aerotwin_core.cli", "launch"]
    launch = ROOT / "launch" / "ground_vehicle.launch.yaml"
    rclpy.init()
    process = subprocess.Popen(
        [*command, str(launch), f"world:={world_file}", "seed:=3", "duration_s:=2.5"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        node, heard = rclpy.create_node("test_ground_vehicle"), {name: [] for name in types}
        for name, kind in types.items():
            qos = LATCHED if name == "/tf_static" else reliable(200)
            node.create_subscription(kind, name, heard[name].append, qos, raw=True)
        steer = node.create_publisher(TwistStamped, "cmd_vel", reliable(10))
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        deadline = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.05)
            steer.publish(TURN_LEFT)
        output = process.communicate(timeout=LIMIT_S)[0]
        executor.shutdown()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 0, output
    assert all(heard.values()), {name: len(found) for name, found in heard.items()}
    first, last = (deserialize(heard["truth/odom"][k], "nav_msgs/msg/Odometry") for k in (0, -1))
    moved = last.pose.pose.position.y - first.pose.pose.position.y
    assert 0.1 < moved < 5.0  # it headed north
    assert (last.header.frame_id, last.child_frame_id) == ("map", "base_link_truth")
    wheels = deserialize(heard["odom"][-1], "nav_msgs/msg/Odometry")
    assert wheels.pose.pose.position.x > 0.1
    assert wheels.twist.twist.angular.z == pytest.approx(0.2, abs=0.02)
    cloud = deserialize(heard["lidar/points"][-1], "sensor_msgs/msg/PointCloud2")
    assert (cloud.header.frame_id, cloud.height, cloud.point_step) == ("lidar", 1, 24)
    assert cloud.width > 1000
    (edge,) = deserialize(heard["/tf_static"][0], "tf2_msgs/msg/TFMessage").transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("base_link", "lidar")
    assert edge.transform.translation.z == 1.0
    (edge,) = deserialize(heard["/tf"][-1], "tf2_msgs/msg/TFMessage").transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("odom", "base_link")


@pytest.mark.ros
def test_a_vehicle_that_does_not_exist_ends_the_node_with_78():
    words = [*NODE, "-p", "vehicle:=nowhere.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 78
    assert "nowhere.yaml: cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
