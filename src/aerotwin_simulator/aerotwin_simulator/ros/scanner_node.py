# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A lidar or radar as a node: truth/odom in, its turns out; for simulators that have none."""

import math
from typing import Any

from nav_msgs.msg import Odometry
from sensor_msgs.msg import Image, PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.messages import serialize, transform_message
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import OVERRIDABLE, InputWatch, publish_diagnostics
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMAGE_DEPTH, IMU_DEPTH, LATCHED, reliable
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models.ros.truth import Truth, truth_from_odometry
from aerotwin_simulator.ros.node_parameters import ScannerNodeParameters
from aerotwin_simulator.scanners import make_scanners
from aerotwin_worlds import load_world
from aerotwin_worlds.world_follower import WorldFollower

OK, WARN = 0, 1
LONGEST_GAP_NS = 1_000_000_000
"""After a longer gap in the truth a new turn begins."""


class ScannerNode(ConfiguredNode):
    """Connects topics to a `BodyScanner`: "lidar" or "radar", as whose parameters it has."""

    def __init__(self, name: str, parameters_type: type[ScannerNodeParameters]) -> None:
        super().__init__(name)
        parameters = declare_parameters(self, parameters_type)
        world = load_world(parameters.world)
        queries = WorldQueries(world)
        self._follower = WorldFollower(world, [queries])
        self._scanner = make_scanners(parameters.flight, queries)[name]
        self._scanner.warm_up()
        self._last_ns: int | None = None
        self._n_turns, self._n_refused = 0, 0
        self._wire(serialize(transform_message([self._scanner.transform()])))
        self._watch = InputWatch(
            self, "truth/odom", parameters.input_timeout_s, "is its publisher still alive?"
        )
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"{name} with {parameters}")

    def _wire(self, mounting: bytes) -> None:
        qos: dict[str, Any] = {"qos_overriding_options": OVERRIDABLE}
        self._publish = {
            topic.name: self.create_publisher(
                PointCloud2 if topic.is_cloud else Image,
                topic.name,
                reliable(CLOUD_DEPTH if topic.is_cloud else IMAGE_DEPTH),
                **qos,
            ).publish
            for topic in self._scanner.topics
        }
        self._static = self.create_publisher(TFMessage, "/tf_static", LATCHED, **qos)
        self._static.publish(mounting)
        truth = TopicSource(topic="truth/odom", kind=Odometry)
        self.intakes.add(truth, self._on_truth, depth=IMU_DEPTH)

    def _on_truth(self, message: Odometry) -> None:
        """Add one pose; publish the turn that it completes."""
        self._watch.mark_received()
        try:
            truth = truth_from_odometry(message)
        except ValueError as error:
            self._refuse(str(error))
            return
        if self._is_new(truth):
            self._look(truth)

    def _is_new(self, truth: Truth) -> bool:
        """Return whether a truth is new; after a gap a new turn begins with it."""
        stamp_ns, last_ns = truth.stamp_ns, self._last_ns
        gap_ns = math.inf if last_ns is None else stamp_ns - last_ns
        if gap_ns == 0:
            self._refuse(f"truth/odom of {stamp_ns} ns came twice")
            return False
        if not 0 < gap_ns <= LONGEST_GAP_NS:
            self._scanner.forget()
            self._follower.restart(stamp_ns, truth.p_map_body)
        self._last_ns = stamp_ns
        return True

    def _look(self, truth: Truth) -> None:
        if self._follower.is_due(truth.stamp_ns):
            self._follower.follow(truth.p_map_body)
        pose = truth.stamp_ns, truth.p_map_body, truth.q_map_body
        for *_, messages in self._scanner.turn_to_pose(*pose):
            for topic, cdr in messages:
                self._publish[topic.name](cdr)
            self._n_turns += 1

    def _refuse(self, reason: str) -> None:
        self._n_refused += 1
        self.get_logger().warning(reason, throttle_duration_sec=5.0)

    def _report(self) -> tuple[int, str, dict[str, str]]:
        values = {"n_turns": str(self._n_turns), "n_refused": str(self._n_refused)}
        level = WARN if self._n_refused else OK
        return level, f"{self._n_turns} turns, {self._n_refused} truths refused", values
