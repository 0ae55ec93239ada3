# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluators as a user starts them: a SLAM from its own launch file, and one judged live."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.errors import UserError
from aerotwin_launch import expand_launch_file
from aerotwin_run_evaluation.bag.slam_launch import write_slam_launch

REPLAY = Path(__file__).parents[3] / "launch" / "evaluate_bag.launch.yaml"
LIMIT_S = 180.0  # of a loaded machine; no test waits for it to pass
AEROTWIN = [sys.executable, "-m", "aerotwin_core.cli"]
N_SCANS = 20
STEP_NS = 100_000_000
LEVEL, ZERO = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
ROUNDING = 1e-6
SCAN_ERROR_M = 0.1  # of 3.9 m; points 1 cm off, voxels of 1 m
# Takes the height of its first point for its way along x; publishes what nobody else calls so.
SLAM = """
import sys
import rclpy
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import PointCloud2
from aerotwin_core.point_clouds import point_cloud_arrays
from aerotwin_core.ros.qos import reliable

rclpy.init(args=sys.argv)
node = rclpy.create_node("my_slam")
publisher = node.create_publisher(PoseStamped, "/my/pose", 50)

def answer(message):
    pose = PoseStamped(header=message.header)
    pose.pose.position.x = FACTOR * float(point_cloud_arrays(message)["z"][0])
    pose.pose.orientation.w = 1.0
    publisher.publish(pose)

assert node.get_parameter("use_sim_time").value, "it does not follow the bag's time"
node.create_subscription(PointCloud2, "/velodyne_points", answer, reliable(20))
try:
    rclpy.spin(node)
except KeyboardInterrupt:
    pass
"""
LAUNCH = """
launch:
  - arg: {name: factor, description: "scale of what it answers"}
  - executable:
      cmd: "%s slam_$(var factor).py --ros-args -p use_sim_time:=true"
      output: screen
"""


@pytest.fixture
def lidar_bag(tmp_path):
    """A lidar alone: scan k has a point at the height that the true path has along x."""
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/velodyne_points", "sensor_msgs/msg/PointCloud2")
        writer.add_topic("/ground_truth/odom", "nav_msgs/msg/Odometry")
        for k in range(N_SCANS):
            stamp, x = k * STEP_NS, 0.5 * k
            truth = messages.odometry_message(stamp, "map", "base", (x, 0, 0), LEVEL, ZERO, ZERO)
            scan = messages.point_cloud_message(stamp, "lidar", [[1.0, 2.0, x], [0.0, 0.0, 0.0]])
            writer.write("/ground_truth/odom", stamp, messages.serialize(truth))
            writer.write("/velodyne_points", stamp, messages.serialize(scan))
    (tmp_path / "slam_1.01.py").write_text(SLAM.replace("FACTOR", "1.01"))
    (tmp_path / "my.launch.yaml").write_text(LAUNCH % sys.executable)
    return tmp_path / "bag"


@pytest.mark.ros
@pytest.mark.slow
def test_a_slam_is_started_from_its_launch_file_and_judged(lidar_bag, tmp_path):
    pytest.importorskip("rclpy")
    tokens = ["--slam", "my.launch.yaml", "factor:=1.01", "--estimate", "/my/pose"]
    done = subprocess.run(
        [*AEROTWIN, "evaluate", "bag", "bag", *tokens, "-o", "out", "--json", "out.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "truth     /ground_truth/odom" in done.stdout
    sections = json.loads((tmp_path / "out.json").read_text())["sections"]
    assert sections["replay"]["n_answered"] == N_SCANS
    assert sections["replay"]["is_lockstep"]
    trajectory = sections["trajectory"]
    assert trajectory["coverage"] == 1.0
    longest_m = 0.5 * (N_SCANS - 1)
    worst_m = trajectory["ape_unaligned"]["trans_m"]["max"]
    assert worst_m == pytest.approx(0.01 * longest_m, abs=ROUNDING)
    assert sections["resources"]["rss_bytes_max"] > 0


DESCRIPTION = """
name: mine
paths: [{name: program, environment: MY_PYTHON}]
command: ["{program}", "{output}/../../slam_1.01.py", "--ros-args", "-p", "use_sim_time:=true"]
environment: ["FOLDER={output}"]
inputs: topics
trajectory: {topic: /my/pose, poses_of: base}
"""


@pytest.mark.ros
@pytest.mark.slow
def test_a_described_slam_that_hears_topics_is_started_and_judged(lidar_bag, tmp_path):
    pytest.importorskip("rclpy")
    (tmp_path / "mine.yaml").write_text(DESCRIPTION)
    script = tmp_path / "slam_1.01.py"
    script.write_text("import os; open(os.environ['FOLDER'] + '/ran', 'w')\n" + script.read_text())
    done = subprocess.run(
        [*AEROTWIN, "evaluate", "bag", "bag", "--slam", "mine.yaml", "-o", "out"],
        cwd=tmp_path,
        env={**os.environ, "MY_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out" / "slam" / "ran").is_file()
    sections = json.loads((tmp_path / "out" / "metrics.json").read_text())["sections"]
    assert sections["replay"]["n_answered"] == N_SCANS
    worst_m = sections["trajectory"]["ape_unaligned"]["trans_m"]["max"]
    assert worst_m == pytest.approx(0.01 * 0.5 * (N_SCANS - 1), abs=ROUNDING)
    assert sections["resources"]["rss_bytes_max"] > 0


def room(rng):
    """Points of the walls, the floor and three pillars of a room of 24 x 14 x 5 m."""
    x, y, z = rng.uniform([-12.0, -7.0, 0.0], [12.0, 7.0, 5.0], (9000, 3)).T
    walls = np.array_split(np.column_stack([x, y, z]), 5)
    for points, axis, value in zip(walls, (0, 0, 1, 1, 2), (-12, 12, -7, 7, 0), strict=True):
        points[:, axis] = value
    turn, height = rng.uniform(0, 2 * np.pi, 1500), rng.uniform(0, 5, 1500)
    at = np.array([[4.0, 3.0], [-5.0, -2.0], [0.0, 5.0]])[rng.integers(0, 3, 1500)]
    pillars = np.column_stack([at[:, 0] + np.cos(turn) / 2, at[:, 1] + np.sin(turn) / 2, height])
    return np.vstack([*walls, pillars])


@pytest.mark.ros
@pytest.mark.slow
def test_a_lidar_alone_without_mounting_suits_kiss_icp(tmp_path):
    pytest.importorskip("rclpy")
    pytest.importorskip("kiss_icp")
    rng = np.random.default_rng(1000)
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/os_cloud_node/points", "sensor_msgs/msg/PointCloud2")
        writer.add_topic("/leica/pose", "geometry_msgs/msg/PoseStamped")
        for k in range(N_SCANS):
            stamp, p = k * STEP_NS, np.array([0.2 * k - 2.0, 0.05 * k, 1.5])
            scan = room(rng) - p + rng.normal(0.0, 0.01, (10500, 3))
            cloud = messages.point_cloud_message(stamp, "os_lidar", scan)
            truth = messages.pose_stamped_message(stamp, "world", p, LEVEL)
            writer.write("/os_cloud_node/points", stamp, messages.serialize(cloud))
            writer.write("/leica/pose", stamp, messages.serialize(truth))
    done = subprocess.run(
        [*AEROTWIN, "evaluate", "bag", "bag", "-o", "out", "--json", "out.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "plays     /os_cloud_node/points as /lidar/points" in done.stdout
    sections = json.loads((tmp_path / "out.json").read_text())["sections"]
    assert sections["replay"]["n_answered"] == N_SCANS
    assert sections["trajectory"]["ape_unaligned"]["trans_m"]["max"] < SCAN_ERROR_M


def test_a_launch_file_is_wrapped_with_its_arguments(tmp_path):
    (tmp_path / "my.launch.yaml").write_text(LAUNCH % sys.executable)
    started = write_slam_launch(tmp_path, tmp_path / "my.launch.yaml", {"factor": "2"}, {})
    (process,) = expand_launch_file(started.file, {}, {}).processes
    assert process.command[1:] == ("slam_2.py", "--ros-args", "-p", "use_sim_time:=true")
    assert re.search(started.process, " ".join(process.command))
    assert not re.search(started.process, f"{sys.executable} another.py")


def test_nodes_of_an_included_slam_follow_the_time_of_the_bag(tmp_path, prefix_of):
    slam = tmp_path / "slam.launch.yaml"
    slam.write_text("launch:\n  - node: {pkg: my_slam, exec: my_slam}\n")
    prefix = prefix_of(
        [
            ("my_slam", "my_slam"),
            ("aerotwin_run_evaluation", "replay"),
            ("aerotwin_core", "aerotwin"),
        ]
    )
    arguments = {"bag": "bag", "slam": "external", "slam_file": str(slam)}
    plan = expand_launch_file(REPLAY, arguments, {"AMENT_PREFIX_PATH": str(prefix)})
    replay, other = (" ".join(process.command) for process in plan.processes)
    assert "use_sim_time" not in replay
    assert "-p use_sim_time:=True" in other


def test_launch_files_of_python_need_ros_launch_and_others_must_exist(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "slam.launch.py").touch()
    with pytest.raises(UserError, match=r"slam\.launch\.py is run by ROS's own launch only"):
        write_slam_launch(tmp_path, tmp_path / "slam.launch.py", {}, {})
    with pytest.raises(UserError, match="--slam: no launch file"):
        write_slam_launch(tmp_path, tmp_path / "nowhere.launch.yaml", {}, {})
    (tmp_path / "ros2").touch(mode=0o755)
    started = write_slam_launch(tmp_path, tmp_path / "slam.launch.py", {"a": "1"}, {})
    (process,) = expand_launch_file(started.file, {}, {"PATH": str(tmp_path)}).processes
    target = str((tmp_path / "slam.launch.py").resolve())
    assert process.command[1:] == ("launch", target, "use_sim_time:=true", "a:=1")


@pytest.mark.ros
@pytest.mark.slow
def test_the_live_evaluator_ends_with_its_truth_and_leaves_a_report(tmp_path):
    rclpy = pytest.importorskip("rclpy")
    from diagnostic_msgs.msg import DiagnosticArray
    from nav_msgs.msg import Odometry

    tokens = ["end_after_s:=1.0", "output:=out", "use_sim_time:=false", "estimate:=my/odom"]
    process = subprocess.Popen(
        [*AEROTWIN, "launch", "aerotwin_bringup", "evaluate_live.launch.yaml", *tokens],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    rclpy.init()
    try:
        node = rclpy.create_node("flight")
        truth = node.create_publisher(Odometry, "truth/odom", 10)
        estimate = node.create_publisher(Odometry, "my/odom", 10)
        heard = []
        node.create_subscription(
            DiagnosticArray, "/diagnostics", lambda array: heard.extend(array.status), 10
        )
        message = Odometry()
        message.pose.pose.orientation.w = 1.0
        # A publisher may know of the node before the node knows of it, so that the first messages
        # reach nobody: those that must arrive are counted from the node's first answer with a pair.
        k, sure_from, end = 0, None, time.monotonic() + LIMIT_S
        while sure_from is None or k - sure_from < N_SCANS:
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < end
            rclpy.spin_once(node, timeout_sec=0.05)
            if sure_from is None and any(_n_pairs(status) > 0 for status in heard):
                sure_from = k
            if truth.get_subscription_count() and estimate.get_subscription_count():
                k += 1
                stamp_s, stamp_ns = divmod(k * STEP_NS, 10**9)
                message.header.stamp.sec, message.header.stamp.nanosec = stamp_s, stamp_ns
                message.pose.pose.position.x = 0.1 * k
                truth.publish(message)
                estimate.publish(message)
        output, _ = process.communicate(timeout=LIMIT_S)
        node.destroy_node()
    finally:
        process.kill()
        rclpy.try_shutdown()
    assert process.returncode == 0, output
    assert "Traceback" not in output
    assert {status.name for status in heard} == {"trajectory_evaluation"}
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["sections"]["trajectory"]["n_pairs"] >= N_SCANS
    assert (tmp_path / "out" / "report.html").is_file()


def _n_pairs(status):
    values = {pair.key: pair.value for pair in status.values}
    return int(values["n_pairs"])
