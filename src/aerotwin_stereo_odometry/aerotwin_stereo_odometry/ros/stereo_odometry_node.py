# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `stereo_odometry`: stereo images in, slam/odom for every pair, slam/map and TF out."""

import sys
import time
from collections import deque
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.parameters import parameter
from aerotwin_core.ros.conversions import (
    array_from_image,
    cloud_from_points,
    ns_from_stamp,
)
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMAGE_DEPTH, LATCHED, reliable
from aerotwin_core.ros.sources import image_sources
from aerotwin_core.ros.static_tree import StaticTree
from aerotwin_stereo_odometry.odometry import (
    BodyOdometry,
    StereoOdometry,
    StereoOdometryFrame,
    body_odometry,
)
from aerotwin_stereo_odometry.pair_calibration import Pair, PairCalibration, StereoPairing
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters
from aerotwin_stereo_odometry.ros.outputs import (
    Counters,
    Stopwatch,
    diagnostics_message,
    edge_message,
    odometry_message,
)
from aerotwin_stereo_odometry.warm_up import warm_up

MAX_PENDING = 50  # pairs kept until camera_info and tf_static are there
IDLE_PERIOD_S = 0.5


@dataclass(frozen=True, kw_only=True)
class StereoOdometryNodeParameters(StereoOdometryParameters):
    """The odometry's parameters and the node's."""

    odom_frame: str = parameter("odom", text="Frame of poses and map.")
    base_frame: str = parameter("base_link", text="Body frame, parent of the cameras.")
    images_are_rectified: bool = parameter(
        False,
        text="Images are those of P already (image_rect remapped onto image_raw): D is not used.",
    )
    publish_tf: bool = parameter(True, text="Publish odom -> base_link on /tf.")
    map_every_keyframes: int = parameter(
        20, text="Keyframes between two maps; when images pause, the map follows.", minimum=1
    )


class StereoOdometryNode(ConfiguredNode):
    """Wires topics to a `StereoOdometry`."""

    def __init__(self) -> None:
        super().__init__("stereo_odometry")
        self._settings = declare_parameters(self, StereoOdometryNodeParameters)
        self._pairing, self._tree = StereoPairing(), StaticTree()
        self._pending: deque[Pair] = deque()
        self._calibration = PairCalibration(
            images_are_rectified=self._settings.images_are_rectified
        )
        self._odometry: StereoOdometry | None = None
        self._body: BodyOdometry | None = None
        self._counters = Counters()
        self._n_unmapped_keyframes = 0
        self._last_pair_time = 0.0
        warm_up()  # before anyone sees the subscriptions: the first flight would wait for it
        self._wire()
        self.get_logger().info(f"stereo_odometry with {self._settings}")

    def _wire(self) -> None:
        qos = {"qos_overriding_options": QoSOverridingOptions.with_default_policies()}
        images = reliable(IMAGE_DEPTH)
        self._publish_odom = self.create_publisher(Odometry, "slam/odom", images, **qos).publish
        self._publish_map = self.create_publisher(PointCloud2, "slam/map", LATCHED, **qos).publish
        self._publish_tf = self.create_publisher(TFMessage, "/tf", reliable(100)).publish
        self._publish_diagnostics = self.create_publisher(
            DiagnosticArray, "/diagnostics", reliable(CLOUD_DEPTH)
        ).publish
        for side in ("left", "right"):
            info, image = f"stereo/{side}/camera_info", f"stereo/{side}/image_raw"
            self.intakes.add(
                TopicSource(topic=info, kind=CameraInfo),
                lambda m, side=side: self._on_info(side, m),
                depth=IMAGE_DEPTH,
            )
            self.intakes.add(
                image_sources(image),
                lambda m, side=side: self._on_image(side, m),
                depth=IMAGE_DEPTH,
            )
        self._tree.subscribe(self, self._process)
        self.create_timer(IDLE_PERIOD_S, self._on_idle)

    def _on_info(self, side: str, message: CameraInfo) -> None:
        refusal = self._calibration.add(side, message)
        if refusal is not None:
            self.get_logger().error(f"camera_info of stereo/{side} is refused: {refusal}")
        self._process()

    def _on_image(self, side: str, message: Image) -> None:
        pair = self._pairing.add(side, ns_from_stamp(message.header.stamp), message)
        if pair is None:
            return
        self._pending.append(pair)
        self._process()
        while len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self._skip("camera_info or tf_static of the camera is missing")

    def _process(self) -> None:
        for side, refusal in self._calibration.refusals.items():
            while self._pending:
                self._pending.popleft()
                self._skip(f"camera_info of stereo/{side}: {refusal}")
        while self._pending and self._calibration.rig is not None:
            pair = self._pending[0]
            T_body_optical = self._tree.find(self._settings.base_frame, pair.left.header.frame_id)
            if T_body_optical is None:
                return
            self._pending.popleft()
            self._track(pair, T_body_optical @ self._calibration.T_optical_rectified)

    def _track(self, pair: Pair, T_body_optical) -> None:
        watch = Stopwatch()
        self._restart_if_time_went_back(pair.stamp_ns, T_body_optical)
        try:
            raw = array_from_image(pair.left), array_from_image(pair.right)
            frame = self._odometry.track(pair.stamp_ns, *self._calibration.rectified(*raw))
        except ValueError as error:
            self._skip(str(error))
            return
        self._body = body_odometry(frame, T_body_optical, self._body)
        self._publish(frame, watch)
        self._map_when_due(frame)

    def _restart_if_time_went_back(self, stamp_ns: int, T_body_optical) -> None:
        if self._odometry is not None and (self._body is None or stamp_ns >= self._body.stamp_ns):
            return
        if self._odometry is not None:
            self._counters.n_restarts += 1
            self.get_logger().warning("time went back: odometry starts again at the origin")
        else:
            how = "are rectified here" if self._calibration.is_rectifying else "come rectified"
            self.get_logger().info(f"images {how}: {self._calibration.rig}")
        self._odometry = StereoOdometry(
            self._calibration.rig, self._settings, T_odom_optical_first=T_body_optical
        )
        self._body = None

    def _publish(self, frame: StereoOdometryFrame, watch: Stopwatch) -> None:
        body, frames = self._body, (self._settings.odom_frame, self._settings.base_frame)
        twist = (body.twist_in_body, body.twist_covariance)
        self._publish_odom(
            odometry_message(body.stamp_ns, frames, body.T_odom_body, body.pose_covariance, *twist)
        )
        if self._settings.publish_tf:
            self._publish_tf(edge_message(body.stamp_ns, body.T_odom_body, frames))
        self._counters.n_frames += 1
        self._counters.n_lost += not frame.is_tracked
        self._counters.n_single_images = self._pairing.n_single
        name = self.get_fully_qualified_name()
        self._publish_diagnostics(diagnostics_message(frame, name, self._counters, watch.read()))

    def _map_when_due(self, frame: StereoOdometryFrame) -> None:
        self._n_unmapped_keyframes += frame.is_keyframe
        self._last_pair_time = time.monotonic()
        if self._n_unmapped_keyframes >= self._settings.map_every_keyframes:
            self._send_map()

    def _skip(self, reason: str) -> None:
        self._counters.n_skipped += 1
        self.get_logger().warning(f"stereo pair skipped: {reason}", throttle_duration_sec=5.0)

    def _on_idle(self) -> None:
        if self._n_unmapped_keyframes and time.monotonic() - self._last_pair_time > IDLE_PERIOD_S:
            self._send_map()

    def _send_map(self) -> None:
        self._n_unmapped_keyframes = 0
        points, intensity = self._odometry.map_points()
        stamp_ns, frame_id = self._body.stamp_ns, self._settings.odom_frame
        self._publish_map(cloud_from_points(points, stamp_ns, frame_id, intensity))


def main() -> int:
    """Run the node."""
    return run_node(StereoOdometryNode)


if __name__ == "__main__":
    sys.exit(main())
