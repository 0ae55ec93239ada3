# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `cameras`: truth/odom in; images, depth and camera_info out, for simulators without them."""

import sys
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import make_transform
from aerotwin_core.messages import header, serialize, transform_message
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import OVERRIDABLE, InputWatch, publish_diagnostics
from aerotwin_core.ros.message_classes import message_class
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMAGE_DEPTH, IMU_DEPTH, LATCHED, reliable
from aerotwin_sensor_models.ros.truth import Truth, interpolate, truth_from_odometry
from aerotwin_simulator import topics
from aerotwin_simulator.mounting import eye_transforms
from aerotwin_simulator.ros.node_parameters import CameraNodeParameters
from aerotwin_simulator.vehicle_cameras import make_vehicle_cameras
from aerotwin_worlds import load_world
from aerotwin_worlds.world_follower import Renderer, WorldFollower

OK, WARN = 0, 1
LONGEST_GAP_NS = 1_000_000_000
"""After a longer gap in the truth, or a step back, frames restart."""


class TruthMotion:
    """Poses of the body between the last two truths: a `Motion`; at first both are the same."""

    def __init__(self, odometry: Any) -> None:
        self._before = self._after = truth_from_odometry(odometry)

    @property
    def start_ns(self) -> int:
        """The instant of the truth before the last [ns]."""
        return self._before.stamp_ns

    @property
    def end_ns(self) -> int:
        """The instant of the last truth [ns]."""
        return self._after.stamp_ns

    def on_truth(self, odometry: Any) -> None:
        """Append the next truth; raises ValueError if it is invalid or a repetition."""
        truth = truth_from_odometry(odometry)
        if truth.stamp_ns == self.end_ns:
            raise ValueError(f"truth/odom of {truth.stamp_ns} ns came twice")
        self._before, self._after = self._after, truth

    def pose(self, stamp_ns: int) -> np.ndarray:
        """Return T_map_body (4, 4) at an instant between the last two truths."""
        truth: Truth = interpolate(self._before, self._after, stamp_ns)
        return make_transform(truth.R_map_body, truth.p_map_body)


class CameraNode(ConfiguredNode):
    """Connects topics to `BodyCamera`s; `step/ack` has the stamps of the first one's frames."""

    def __init__(self) -> None:
        super().__init__("cameras")
        parameters = declare_parameters(self, CameraNodeParameters)
        world = load_world(parameters.world)
        renderer = Renderer(world)
        self._follower = WorldFollower(world, [renderer])
        self._cameras = make_vehicle_cameras(parameters.flight, renderer)
        for camera in self._cameras:
            camera.warm_up()
        self._motion: TruthMotion | None = None
        self._n_frames, self._n_refused = 0, 0
        self._wire()
        self._watch = InputWatch(
            self, "truth/odom", parameters.input_timeout_s, "is its publisher still alive?"
        )
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"cameras with {parameters}")

    def _wire(self) -> None:
        qos = {"qos_overriding_options": OVERRIDABLE}
        deep = reliable(IMU_DEPTH)
        self._publish = {
            topic: self.create_publisher(
                message_class(topic.msgtype), topic.name, reliable(IMAGE_DEPTH), **qos
            ).publish
            for camera in self._cameras
            for topic in camera.topics
        }
        self._acknowledge = self.create_publisher(Header, topics.STEP_ACK.name, deep, **qos).publish
        eyes = [eye for camera in self._cameras for eye in camera.eyes]
        self._static = self.create_publisher(TFMessage, "/tf_static", LATCHED, **qos)
        self._static.publish(serialize(transform_message(eye_transforms(eyes))))
        truth = TopicSource(topic="truth/odom", kind=Odometry)
        self.intakes.add(truth, self._on_truth, depth=IMU_DEPTH)

    def _on_truth(self, message: Odometry) -> None:
        """Add one truth; publish the frames that it completes."""
        self._watch.mark_received()
        try:
            motion = self._moved(message)
        except ValueError as error:
            self._n_refused += 1
            self.get_logger().warning(str(error), throttle_duration_sec=5.0)
            return
        if self._follower.is_due(motion.end_ns):
            self._follower.follow(motion.pose(motion.end_ns)[:3, 3])
        for camera in self._cameras:
            for stamp_ns, pictures in camera.frames(motion):
                self._send(stamp_ns, pictures, is_first=camera is self._cameras[0])

    def _moved(self, message: Odometry) -> TruthMotion:
        """Return the motion up to a truth; after a gap it begins there."""
        if self._motion is not None:
            self._motion.on_truth(message)
            if 0 < self._motion.end_ns - self._motion.start_ns <= LONGEST_GAP_NS:
                return self._motion
        motion = self._motion = TruthMotion(message)
        for camera in self._cameras:
            camera.restart(max(motion.end_ns - 1, 0))
        self._follower.restart(motion.end_ns, motion.pose(motion.end_ns)[:3, 3])
        return motion

    def _send(
        self, stamp_ns: int, pictures: list[tuple[topics.Topic, bytes]], *, is_first: bool
    ) -> None:
        for topic, cdr in pictures:
            self._publish[topic](cdr)
        if is_first:
            self._acknowledge(serialize(header(stamp_ns, "")))
        self._n_frames += 1

    def _report(self) -> tuple[int, str, dict[str, str]]:
        values = {"n_frames": str(self._n_frames), "n_refused": str(self._n_refused)}
        level = WARN if self._n_refused else OK
        return level, f"{self._n_frames} frames, {self._n_refused} truths refused", values


def main() -> int:
    """Run the node."""
    return run_node(CameraNode)


if __name__ == "__main__":
    sys.exit(main())
