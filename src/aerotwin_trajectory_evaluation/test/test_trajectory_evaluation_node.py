# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The live evaluator between ROS topics."""

import json
import time

import numpy as np
import pytest

pytestmark = pytest.mark.ros
rclpy = pytest.importorskip("rclpy")

TIMEOUT_S = 60.0  # of a loaded machine; no test waits for it to pass
N_POSES = 60
STEP_NS = 50_000_000
OFFSET_M = 0.3  # what the estimate is off after half of the way
ROUNDING = 1e-6  # numbers on /diagnostics have six digits


class Peer:
    """Publishes a straight flight and what an odometry makes of it, and listens."""

    def __init__(self, kind, qos=10):
        from diagnostic_msgs.msg import DiagnosticArray

        self.node = rclpy.create_node("peer")
        self.truth = self.node.create_publisher(kind, "truth/odom", qos)
        self.slam = self.node.create_publisher(kind, "slam/odom", qos)
        self.received = []
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self.received.append, 10)
        self.kind, self.n_flown = kind, 0

    def message(self, stamp_ns, x, y=0.0):
        message = self.kind()
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
        pose = getattr(message.pose, "pose", message.pose)
        pose.position.x, pose.position.y, pose.orientation.w = float(x), float(y), 1.0
        return message

    def fly_on(self):
        """Publish the next pair; tell whether the last one was."""
        k, self.n_flown = self.n_flown, self.n_flown + 1
        if k >= N_POSES:
            return True
        off = OFFSET_M if k >= N_POSES // 2 else 0.0
        self.truth.publish(self.message(k * STEP_NS, 0.1 * k))
        self.slam.publish(self.message(k * STEP_NS, 0.1 * k, off))
        return False

    def values(self):
        return {item.key: item.value for item in self.received[-1].status[0].values}


def spin(nodes, is_done):
    executor = rclpy.executors.SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    end = time.monotonic() + TIMEOUT_S
    while not is_done():
        assert time.monotonic() < end, "nothing came in time"
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()


@pytest.fixture
def ros(request, tmp_path):
    """Start ROS with the node's parameters: output, and those that the test is given."""
    tokens = {"output": str(tmp_path / "live"), "report_period_s": "0.5"}
    tokens |= getattr(request, "param", {})
    arguments = [token for k, v in tokens.items() for token in ("-p", f"{k}:={v}")]
    rclpy.init(args=["--ros-args", *arguments])
    yield tmp_path / "live"
    rclpy.try_shutdown()


def run_a_flight(kind, folder, qos=10):
    from aerotwin_trajectory_evaluation.ros.trajectory_evaluation_node import (
        TrajectoryEvaluationNode,
    )

    node, peer = TrajectoryEvaluationNode(), Peer(kind, qos)
    both = (node, peer.node)
    spin(both, lambda: peer.truth.get_subscription_count() and peer.slam.get_subscription_count())
    spin(both, peer.fly_on)
    spin(both, lambda: peer.received and peer.values()["n_pairs"] == str(N_POSES))
    spin(both, lambda: (folder / "report.html").is_file())
    values = peer.values()
    for each in both:
        each.destroy_node()
    return node, values


@pytest.mark.parametrize("ros", [{"fail_if": "ape_rmse_m > 5.0; coverage < 0.9"}], indirect=True)
def test_running_errors_stand_on_diagnostics_and_the_report_grows(ros):
    from nav_msgs.msg import Odometry

    node, values = run_a_flight(Odometry, ros)
    expected = OFFSET_M * np.sqrt(0.5)  # half of the poses are off
    assert float(values["ape_m"]) == pytest.approx(expected, abs=ROUNDING)
    assert float(values["error_m"]) == pytest.approx(OFFSET_M, abs=ROUNDING)
    assert float(values["ape_aligned_m"]) < expected
    assert float(values["coverage"]) == 1.0
    assert node.finish() == 0
    metrics = json.loads((ros / "metrics.json").read_text())
    assert metrics["warnings"] == []
    assert metrics["sections"]["trajectory"]["n_pairs"] == N_POSES
    assert (ros / "config.yaml").is_file()


@pytest.mark.parametrize(
    "ros",
    [{"truth_type": "pose", "estimate_type": "pose", "fail_if": "ape_unaligned_rmse_m > 0.1"}],
    indirect=True,
)
def test_poses_of_best_effort_publishers_are_heard_and_a_condition_fails_the_node(ros, capfd):
    from geometry_msgs.msg import PoseStamped
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    qos = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
    node, _ = run_a_flight(PoseStamped, ros, qos)
    assert node.finish() == 3
    assert "ape_unaligned_rmse_m > 0.1: it is 0.21" in capfd.readouterr().err


def test_a_node_that_heard_nothing_fails_and_says_so(ros, capfd):
    from aerotwin_trajectory_evaluation.ros.trajectory_evaluation_node import (
        TrajectoryEvaluationNode,
    )

    node = TrajectoryEvaluationNode()
    node.destroy_node()
    assert node.finish() == 1
    assert "0 true and 0 estimated poses came" in capfd.readouterr().err


def test_a_condition_that_is_none_is_refused_before_the_flight():
    from aerotwin_core.errors import ParameterError
    from aerotwin_trajectory_evaluation.ros.trajectory_evaluation_node import parse_conditions

    assert [str(c) for c in parse_conditions("ape_rmse_m > 0.1; coverage<0.9;")] == [
        "ape_rmse_m > 0.1",
        "coverage < 0.9",
    ]
    with pytest.raises(ParameterError, match="fail_if: expected NAME > NUMBER"):
        parse_conditions("the error is too large")
