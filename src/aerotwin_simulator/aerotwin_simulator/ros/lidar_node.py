# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `lidar`: truth/odom in, lidar/points out; for simulators that have no lidar of their own."""

import math
import sys
from typing import Any

from nav_msgs.msg import Odometry
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.messages import serialize, transform_message
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import OVERRIDABLE, InputWatch, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMU_DEPTH, LATCHED, reliable
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models.ros.truth import Truth, truth_from_odometry
from aerotwin_simulator.ros.node_parameters import LidarNodeParameters
from aerotwin_simulator.scanners import make_lidar
from aerotwin_simulator.world_follower import WorldFollower
from aerotwin_worlds import load_world

OK, WARN = 0, 1
LONGEST_GAP_NS = 1_000_000_000
"""After a longer gap in the truth a new turn begins."""


class LidarNode(ConfiguredNode):
    """Connects topics to a `BodyScanner`."""

    def __init__(self) -> None:
        super().__init__("lidar")
        parameters = declare_parameters(self, LidarNodeParameters)
        flight = parameters.flight
        world = load_world(parameters.world)
        queries = WorldQueries(world)
        self._follower = WorldFollower(world, [queries])
        self._lidar = make_lidar(flight, queries)
        self._lidar.warm_up()
        self._last_ns: int | None = None
        self._n_clouds, self._n_refused = 0, 0
        self._wire(serialize(transform_message([self._lidar.transform()])))
        self._watch = InputWatch(
            self, "truth/odom", parameters.input_timeout_s, "is its publisher still alive?"
        )
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"lidar with {parameters}")

    def _wire(self, mounting: bytes) -> None:
        qos: dict[str, Any] = {"qos_overriding_options": OVERRIDABLE}
        self._publish = self.create_publisher(
            PointCloud2, "lidar/points", reliable(CLOUD_DEPTH), **qos
        ).publish
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
            self._lidar.forget()
            self._follower.restart(stamp_ns, truth.p_map_body)
        self._last_ns = stamp_ns
        return True

    def _look(self, truth: Truth) -> None:
        if self._follower.is_due(truth.stamp_ns):
            self._follower.follow(truth.p_map_body)
        pose = truth.stamp_ns, truth.p_map_body, truth.q_map_body
        for *_, messages in self._lidar.turn_to_pose(*pose):
            for _, cdr in messages:
                self._publish(cdr)
            self._n_clouds += 1

    def _refuse(self, reason: str) -> None:
        self._n_refused += 1
        self.get_logger().warning(reason, throttle_duration_sec=5.0)

    def _report(self) -> tuple[int, str, dict[str, str]]:
        values = {"n_clouds": str(self._n_clouds), "n_refused": str(self._n_refused)}
        level = WARN if self._n_refused else OK
        return level, f"{self._n_clouds} clouds, {self._n_refused} truths refused", values


def main() -> int:
    """Run the node."""
    return run_node(LidarNode)


if __name__ == "__main__":
    sys.exit(main())
