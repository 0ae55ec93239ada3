# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `trajectory_evaluation`: running errors on /diagnostics, and a growing report."""

import argparse
import json
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import PointCloud2

from aerotwin_core.cli import say, say_fatal, write_text_atomically
from aerotwin_core.errors import EXIT_FAILURE, ParameterError, UserError
from aerotwin_core.gate import Condition, exit_code_of_gates, parse_condition
from aerotwin_core.output_lock import hold_output
from aerotwin_core.parameters import parameter, to_mapping
from aerotwin_core.point_clouds import finite_points
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import create_wall_timer, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMU_DEPTH
from aerotwin_core.ros.sources import pose_sources
from aerotwin_trajectory_evaluation.declared_metrics import ALIASES
from aerotwin_trajectory_evaluation.live import LiveEvaluation, StampedPose
from aerotwin_trajectory_evaluation.live_report import write_live_report
from aerotwin_trajectory_evaluation.protocol import load_trajectory_protocol

_TYPES = ("auto", "odometry", "pose", "pose_with_covariance", "transform", "tf")
_WATCH_PERIOD_S = 0.2


@dataclass(frozen=True, kw_only=True)
class TrajectoryEvaluationParameters:
    """Inputs, scoring and output folder of the node."""

    truth_type: str = parameter(
        "auto",
        text="type of truth/odom (remap the topic itself); auto = what is published there",
        choices=_TYPES[:-1],
    )
    estimate_type: str = parameter(
        "auto", text="of slam/odom; tf = the transform estimate_frames on /tf", choices=_TYPES
    )
    estimate_frames: str = parameter(
        "map.base_link", text="PARENT.CHILD of that transform: one edge of the tree"
    )
    protocol: str = parameter("", text="protocol file or preset; empty = the defaults")
    max_gap_s: float = parameter(
        0.1,
        text="longest gap of the truth that is interpolated for the running figures",
        unit="s",
        minimum=1e-3,
    )
    output: str = parameter("", text="folder of the report; empty = runs_dir/<time>-live")
    runs_dir: str = parameter("runs", text="folder in which that one is made")
    report_period_s: float = parameter(
        10.0, text="between two reports; 0 = only one, at the end", unit="s wall", minimum=0.0
    )
    end_after_s: float = parameter(
        0.0,
        text="end when no truth has come for so long, after the first; 0 = when stopped",
        unit="s wall",
        minimum=0.0,
    )
    fail_if: str = parameter(
        "",
        text='conditions that make the exit code 3, as "ape_rmse_m > 0.1; coverage < 0.9"',
    )


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """Return the conditions of the parameter fail_if.

    Raises ParameterError if one is not *name, comparison, number*.
    """
    try:
        return tuple(parse_condition(part) for part in text.split(";") if part.strip())
    except argparse.ArgumentTypeError as error:
        raise ParameterError(f"fail_if: {error}") from None


class TrajectoryEvaluationNode(ConfiguredNode):
    """Subscribes to true and estimated poses and scores them."""

    def __init__(self) -> None:
        super().__init__("trajectory_evaluation")
        self._settings = p = declare_parameters(self, TrajectoryEvaluationParameters)
        self._conditions = parse_conditions(p.fail_if)
        self._protocol = load_trajectory_protocol(p.protocol or None)
        self._live = LiveEvaluation(self._protocol, max_gap_s=p.max_gap_s)
        self._folder = _run_folder(p)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="report")
        self._report: Future[Any] | None = None
        self._last_truth_s: float | None = None
        self._subscribe(p.truth_type, pose_sources("truth/odom"), self._on_truth)
        estimates = pose_sources("slam/odom", frames=frames_of(p.estimate_frames))
        self._subscribe(p.estimate_type, estimates, self._on_estimate)
        maps = TopicSource(topic="slam/map", kind=PointCloud2)
        self.intakes.add(maps, self._on_map, depth=1, is_latched=True, is_optional=True)
        publish_diagnostics(self, self._live.status)
        if p.report_period_s > 0.0:
            create_wall_timer(self, p.report_period_s, self._on_report)
        if p.end_after_s > 0.0:
            create_wall_timer(self, _WATCH_PERIOD_S, self._on_watch)
        self.get_logger().info(f"the report grows in {self._folder}; {p}")

    def _subscribe(self, name: str, sources: dict[str, TopicSource], callback: Any) -> None:
        if name == "auto":
            chosen = [source for key, source in sources.items() if key != "tf"]
        else:
            chosen = [sources[name]]
        # Best effort meets every publisher, also those of bags; poses are small and not lost.
        self.intakes.add(chosen, callback, depth=IMU_DEPTH, prefers_best_effort=True)

    def _on_truth(self, message: Odometry) -> None:
        self._last_truth_s = time.monotonic()
        self._live.add_truth(stamped_pose(message))

    def _on_estimate(self, message: Odometry) -> None:
        pose = stamped_pose(message)
        age_s = (self.get_clock().now().nanoseconds - pose.stamp_ns) * 1e-9
        self._live.add_estimate(pose, variance_m2=message.pose.covariance[0], latency_s=age_s)

    def _on_map(self, message: PointCloud2) -> None:
        points, _ = finite_points(message)
        self._live.set_map(points)

    def _on_report(self) -> None:
        if self._report is not None and not self._report.done():
            return
        if self._report is not None and self._report.exception() is not None:
            self.get_logger().error(f"the report was not written: {self._report.exception()}")
        self._report = self._writer.submit(self._write, is_over=False)

    def _on_watch(self) -> None:
        limit_s = self._settings.end_after_s
        if self._last_truth_s is not None and time.monotonic() - self._last_truth_s > limit_s:
            raise ExternalShutdownException

    def _write(self, *, is_over: bool) -> bool:
        return write_live_report(
            self._folder,
            self._live.snapshot(),
            protocol=self._protocol,
            configuration={"parameters": to_mapping(self._settings)},
            is_over=is_over,
        )

    def finish(self) -> int:
        """Write the last report and return the exit code: 3 by a condition, 1 if nothing came."""
        self._writer.shutdown()
        is_judged = self._write(is_over=True)
        say(f"report: {self._folder / 'report.html'}")
        metrics = json.loads((self._folder / "metrics.json").read_text(encoding="utf-8"))
        if not is_judged:
            say_fatal(UserError("; ".join(metrics["warnings"])))
            return EXIT_FAILURE
        return exit_code_of_gates(self._conditions, metrics["sections"]["trajectory"], ALIASES)


def frames_of(text: str) -> tuple[str, str]:
    """Return parent and child of "PARENT.CHILD".

    Raises `ParameterError` if it is not two names.
    """
    parent, _, child = text.partition(".")
    if not parent or not child or "." in child:
        raise ParameterError(f"estimate_frames: expected PARENT.CHILD, found '{text}'")
    return parent, child


def stamped_pose(message: Odometry) -> StampedPose:
    """Return the pose of a message."""
    p, q = message.pose.pose.position, message.pose.pose.orientation
    return StampedPose(ns_from_stamp(message.header.stamp), (p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def _run_folder(parameters: TrajectoryEvaluationParameters) -> Path:
    """Create the folder on start, so that a write error is reported before the flight."""
    name = parameters.output or f"{parameters.runs_dir}/{datetime.now():%Y%m%d-%H%M%S}-live"
    folder = Path(name)
    hold_output(folder)
    text = yaml.safe_dump({"parameters": to_mapping(parameters)}, sort_keys=False)
    write_text_atomically(folder / "config.yaml", text)
    return folder


def main() -> int:
    """Run the node, and score the received poses when it is stopped."""
    nodes: list[TrajectoryEvaluationNode] = []

    def make_node() -> TrajectoryEvaluationNode:
        nodes.append(TrajectoryEvaluationNode())
        return nodes[-1]

    code = run_node(make_node)
    if code or not nodes:
        return code
    try:
        return nodes[0].finish()
    except UserError as error:  # a full disk, or a condition on a number that is not there
        say_fatal(error)
        return EXIT_FAILURE


if __name__ == "__main__":
    sys.exit(main())
