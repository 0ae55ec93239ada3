# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A taught route repeated by nodes, started as a user starts it."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.messages import deserialize
from aerotwin_repeat_evaluation import lateral_errors
from aerotwin_teach_repeat.route_graph import RouteGraph
from support.launch_listening import LIMIT_S, listen_to_launch

ROOT = Path(__file__).resolve().parents[1]
CAMPUS = """
name: coarse_campus
generator: campus
parameters: {seed: 7, spacing_m: 2.0, texel_m: 0.5}
origin: {latitude_deg: 47.4, longitude_deg: 8.5, altitude_m: 488.0}
start: {x_m: 0.0, y_m: -33.0}
attribution: Made in a test
licence: Apache-2.0
"""
ROUTE = np.array([[0.8, -35.48], [8.8, -35.71], [12.8, -35.8]])
"""The beginning of that of the campus, from where the launch file starts."""
LEAST_WAY_M = 3.0
BESIDE_ROUTE_M = 0.1
"""Of both sensors, as docs/reference/teach_repeat.md says."""
SAMPLE_SPACING_M = 0.25
DRIFT_M = 0.3
"""Beside a straight way of 2 m: slip turns the robot, and a coarse cliff holds scans loosely."""


@pytest.fixture(scope="module")
def campus(tmp_path_factory):
    """A campus that is made in a moment: what a level beam of a radar meets are its walls."""
    path = tmp_path_factory.mktemp("world") / "campus.yaml"
    path.write_text(CAMPUS)
    return path


@pytest.fixture(scope="module")
def graph(campus, tmp_path_factory):
    """Return the folder of a route that was taught in samples of a world."""
    from aerotwin_scenarios.teach_work import read_points
    from aerotwin_teach_repeat.teaching import teach_route

    folder = tmp_path_factory.mktemp("teach") / "graph"
    points = read_points(str(campus), SAMPLE_SPACING_M, "m", False)
    near = np.linalg.norm(points[:, :2] - ROUTE[1], axis=1) < 60.0
    teach_route(points[near], ROUTE).save(folder)
    return folder


def position(message):
    """Return where the robot is (3,) [m]."""
    p = deserialize(message, "nav_msgs/msg/Odometry").pose.pose.position
    return np.array([p.x, p.y, p.z])


def has_come_far(truth):
    """Tell whether the robot is some way from where it was first heard of."""
    return bool(truth) and np.linalg.norm(position(truth[-1]) - position(truth[0])) > LEAST_WAY_M


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.parametrize("sensor", ["lidar", "radar"])
def test_the_launched_nodes_repeat_a_taught_route_and_show_their_topics(sensor, graph, campus):
    from diagnostic_msgs.msg import DiagnosticArray
    from geometry_msgs.msg import TwistStamped
    from nav_msgs.msg import Odometry
    from nav_msgs.msg import Path as PathMessage
    from tf2_msgs.msg import TFMessage
    from visualization_msgs.msg import MarkerArray

    types = {
        "truth/odom": Odometry, "cmd_vel": TwistStamped, "/tf": TFMessage, "route": PathMessage,
        "/diagnostics": DiagnosticArray, "route_graph": MarkerArray,
    }  # fmt: skip
    tokens = [f"route_graph:={graph}", f"world:={campus}", "seed:=3", "duration_s:=60.0"]
    tokens += [f"sensor:={sensor}"]
    heard = listen_to_launch(
        "teach_repeat.launch.yaml", tokens, types, latched=["route", "route_graph"],
        is_enough=lambda said: bool(has_come_far(said["truth/odom"]) and said["/diagnostics"]),
    )  # fmt: skip
    output, heard, returncode = heard.output, heard.messages, heard.returncode
    assert returncode == 128 + signal.SIGINT, output
    assert all(heard.values()), {name: len(found) for name, found in heard.items()}
    assert "starting -> repeating: found at" in output
    driven = np.array([position(message) for message in heard["truth/odom"]])
    taught = RouteGraph.load(graph)
    beside = lateral_errors(taught.poses_map(taught.runs[0])[:, :3, 3], driven)
    assert np.abs(beside.error_m).max() < BESIDE_ROUTE_M
    commands = [deserialize(m, "geometry_msgs/msg/TwistStamped") for m in heard["cmd_vel"]]
    assert max(m.twist.linear.x for m in commands) > 0.3
    edges = [e for m in heard["/tf"] for e in deserialize(m, "tf2_msgs/msg/TFMessage").transforms]
    corrections = [e for e in edges if e.child_frame_id == "odom"]
    assert corrections and corrections[-1].header.frame_id == "map"
    route = deserialize(heard["route"][-1], "nav_msgs/msg/Path")
    assert route.header.frame_id == "map" and len(route.poses) > 30
    shown = deserialize(heard["route_graph"][-1], "visualization_msgs/msg/MarkerArray").markers
    assert max(len(marker.points) for marker in shown) >= len(route.poses)
    reported = [
        status
        for m in heard["/diagnostics"]
        for status in deserialize(m, "diagnostic_msgs/msg/DiagnosticArray").status
        if status.name == "repeat"
    ]
    assert any("repeating: found at" in status.message for status in reported)
    assert any(v.key == "progress" for status in reported for v in status.values)


@pytest.mark.ros
@pytest.mark.slow
def test_a_route_is_taught_by_driving_it_with_a_lidar(coarse_world, tmp_path):
    from geometry_msgs.msg import TwistStamped
    from nav_msgs.msg import Odometry

    from aerotwin_core.messages import serialize, twist_stamped_message
    from aerotwin_teach_repeat.route_graph import RouteGraph

    tokens = [f"world:={coarse_world}", f"route_graph:={tmp_path / 'driven'}", "seed:=3"]
    ahead = serialize(twist_stamped_message(0, "base_link", (0.8, 0, 0), (0, 0, 0)))
    heard = listen_to_launch(
        "teach_lidar.launch.yaml", tokens, {"truth/odom": Odometry},
        command=("cmd_vel", TwistStamped, ahead),
        is_enough=lambda said: has_come_far(said["truth/odom"]),
    )  # fmt: skip
    assert heard.returncode == 128 + signal.SIGINT, heard.output
    assert "Traceback" not in heard.output, heard.output
    poses = RouteGraph.load(tmp_path / "driven").poses_map()
    driven = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).sum()
    assert LEAST_WAY_M / 2 < driven < 2 * LEAST_WAY_M
    assert np.abs(poses[:, 1, 3]).max() < DRIFT_M  # straight ahead of where it began


@pytest.mark.ros
def test_a_route_graph_that_does_not_exist_ends_the_node_with_one_line():
    command = [sys.executable, "-m", "aerotwin_teach_repeat.ros.repeat_node", "--ros-args"]
    done = subprocess.run(
        [*command, "-p", "route_graph:=nowhere"], capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 1
    assert "nowhere" in done.stderr and "Traceback" not in done.stderr
