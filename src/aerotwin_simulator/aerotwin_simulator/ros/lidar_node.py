# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `lidar`: truth/odom in, lidar/points out; for simulators that have no lidar of their own."""

import sys
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.messages import serialize, transform_message
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.lockstep import OVERRIDABLE, InputWatch, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMU_DEPTH, LATCHED, reliable
from aerotwin_simulator.lidar import lidar_transform, make_lidar
from aerotwin_simulator.ros.lidar_parameters import LidarNodeParameters
from aerotwin_worlds import WorldQueries, load_world

OK, WARN = 0, 1
LONGEST_GAP_NS = 1_000_000_000
"""Truth that stays away for longer begins a new turn."""
UNIT_TOLERANCE = 1e-3
"""Of the length of a quaternion: float32 in the sender."""


class LidarNode(Node):
    """Wires topics to a `BodyLidar`."""

    def __init__(self) -> None:
        super().__init__("lidar")
        parameters = declare_parameters(self, LidarNodeParameters)
        flight = parameters.flight
        self._lidar = make_lidar(flight, WorldQueries(load_world(parameters.world)))
        self._lidar.warm_up()
        self._last_ns: int | None = None
        self._n_clouds, self._n_refused = 0, 0
        self._wire(serialize(transform_message([lidar_transform(flight)])))
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
        self.create_subscription(Odometry, "truth/odom", self._on_truth, reliable(IMU_DEPTH), **qos)

    def _on_truth(self, message: Odometry) -> None:
        """Take one pose; publish the turn that is over with it."""
        self._watch.feed()
        stamp_ns = ns_from_stamp(message.header.stamp)
        p, q = _pose(message)
        if not is_pose(p, q) or stamp_ns == self._last_ns:
            self._n_refused += 1
            return
        if self._last_ns is not None and not 0 < stamp_ns - self._last_ns <= LONGEST_GAP_NS:
            self._lidar.forget()
        self._last_ns = stamp_ns
        for _, cdr in self._lidar.take(stamp_ns, p, q):
            self._publish(cdr)
            self._n_clouds += 1

    def _report(self) -> tuple[int, str, dict[str, str]]:
        values = {"n_clouds": str(self._n_clouds), "n_refused": str(self._n_refused)}
        level = WARN if self._n_refused else OK
        return level, f"{self._n_clouds} clouds, {self._n_refused} truths refused", values


def is_pose(p: np.ndarray, q: np.ndarray) -> bool:
    """Return whether a position is finite and a quaternion a rotation."""
    return bool(np.isfinite(p).all() and abs(np.linalg.norm(q) - 1.0) < UNIT_TOLERANCE)


def _pose(message: Odometry) -> tuple[np.ndarray, np.ndarray]:
    place, turn = message.pose.pose.position, message.pose.pose.orientation
    return np.array([place.x, place.y, place.z]), np.array([turn.x, turn.y, turn.z, turn.w])


def main() -> int:
    """Run the node."""
    return run_node(LidarNode)


if __name__ == "__main__":
    sys.exit(main())
