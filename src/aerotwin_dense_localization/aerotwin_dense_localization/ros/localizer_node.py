# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `localizer`: images of one camera in; its body's pose in a dense map and map -> odom out.

With an IMU, the pose is fused with it, and the body's twist is published too.
"""

import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, quaternion_from_yaw, transform_from_pose
from aerotwin_core.ros.conversions import ns_from_stamp, stamp_from_ns, transform_from_pose_message
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.lockstep import OVERRIDABLE, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMAGE_DEPTH, IMU_DEPTH, reliable
from aerotwin_core.ros.sources import pose_sources
from aerotwin_core.tum import read_tum
from aerotwin_dense_localization.localization import (
    BodyEstimate,
    ImageLocalization,
    InertialFilter,
    Status,
    VirtualViews,
    virtual_poses,
)
from aerotwin_dense_localization.mapping import DenseMap, load_map
from aerotwin_dense_localization.ros.body_localizer import BodyLocalizer
from aerotwin_dense_localization.ros.camera_intake import CameraIntake, Picture
from aerotwin_dense_localization.ros.imu_intake import ImuIntake
from aerotwin_dense_localization.ros.node_parameters import NO_FILE, LocalizerNodeParameters
from aerotwin_dense_localization.ros.outputs import status_message
from aerotwin_dense_localization.ros.pose_buffer import PoseBuffer, pose_of
from aerotwin_stereo_odometry.ros.outputs import edge_message, odometry_message

OK, WARN, ERROR = 0, 1, 2
STATUS = QoSProfile(depth=IMAGE_DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class LocalizerNode(ConfiguredNode):
    """Connects topics to a `BodyLocalizer`; no pose is published for a lost image."""

    def __init__(self) -> None:
        super().__init__("localizer")
        self._settings = p = declare_parameters(self, LocalizerNodeParameters)
        self._map, _ = load_map(Path(p.map))
        self._path = None if p.path == NO_FILE else read_tum(p.path).transforms()
        self._odometry = PoseBuffer(p.max_odom_gap_s)
        self._inertial = InertialFilter(p.inertial) if p.imu else None
        self._views: VirtualViews | None = None
        self._localizer: BodyLocalizer | None = None
        self._start = level_pose(p.start)
        self._last_ns, self._last = 0, "no image yet"
        self._counts: Counter[str] = Counter()
        self._wall_s = 0.0
        self._wire()
        self._imu = None
        if self._inertial is not None:
            self._imu = ImuIntake(self, p.base_frame, self._inertial)
        self._camera = CameraIntake(
            self, p, p.n_waiting_images, self._on_picture, self._acknowledge_stamp
        )
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"map of {len(self._map)} splats, with {p}")

    def destroy_node(self) -> None:
        """Stop the background rendering thread with the node."""
        if self._views is not None:
            self._views.close()
        super().destroy_node()

    def _wire(self) -> None:
        qos = {"qos_overriding_options": OVERRIDABLE}
        self._publish_odom = self.create_publisher(
            Odometry, "localization/odom", reliable(IMAGE_DEPTH), **qos
        ).publish
        self._publish_status = self.create_publisher(
            DiagnosticArray, "localization/status", STATUS, **qos
        ).publish
        self._publish_tf = self.create_publisher(TFMessage, "/tf", reliable(100)).publish
        self._acknowledge = self.create_publisher(
            Header, "step/ack", reliable(IMU_DEPTH), **qos
        ).publish
        self.intakes.add(
            [*pose_sources("odom").values()], self._on_odom, depth=IMU_DEPTH, is_optional=True
        )
        pose = TopicSource(topic="initialpose", kind=PoseWithCovarianceStamped)
        self.intakes.add(pose, self._on_initial_pose, depth=1, is_optional=True)

    def _on_picture(self, picture: Picture) -> None:
        begin_s = time.perf_counter()
        localizer = self._prepared(picture)
        if picture.stamp_ns < self._last_ns:
            self.get_logger().warning("time went back: localisation begins anew")
            localizer.restart(self._start)
        self._last_ns = picture.stamp_ns
        if self._imu is not None:
            self._imu.pop_waiting()
        self._publish(picture.stamp_ns, *localizer.localize(picture.stamp_ns, picture.grey))
        self._wall_s += time.perf_counter() - begin_s

    def _prepared(self, picture: Picture) -> BodyLocalizer:
        if self._localizer is None:
            poses = virtual_keyframes(self._map, self._path, picture.camera, self._settings)
            self._views = VirtualViews(self._map, picture.camera, poses, self._settings)
            self._localizer = BodyLocalizer(
                self._views,
                picture.T_base_optical,
                self._odometry,
                self._start,
                self._inertial,
            )
            self.get_logger().info(f"{len(poses)} virtual key-frames of {picture.camera}")
        return self._localizer

    def _publish(self, stamp_ns: int, found: ImageLocalization, body: BodyEstimate | None) -> None:
        self._counts[found.status] += 1
        self._last = f"{found.status}: {found.reason}" if found.reason else str(found.status)
        if body is not None:
            self._publish_body(stamp_ns, body)
        name = self.get_fully_qualified_name().lstrip("/")
        self._publish_status(status_message(stamp_ns, found, name))
        if self._inertial is not None and self._inertial.reason:
            self.get_logger().warning(
                f"not fused with the IMU: {self._inertial.reason}", throttle_duration_sec=5.0
            )

    def _publish_body(self, stamp_ns: int, body: BodyEstimate) -> None:
        p = self._settings
        of_map = np.diag(np.repeat([p.map_sigma_m, np.radians(p.map_sigma_deg)], 3) ** 2)
        frames = (p.map_frame, p.base_frame)
        twist = (body.twist, body.twist_covariance)
        self._publish_odom(
            odometry_message(stamp_ns, frames, body.T_map_base, body.covariance + of_map, *twist)
        )
        if p.tf == "base":
            self._publish_tf(edge_message(stamp_ns, body.T_map_base, frames))
        self._publish_correction()

    def _publish_correction(self) -> None:
        correction = None if self._localizer is None else self._localizer.new_map_odom()
        p = self._settings
        if correction is not None and p.tf == "odom":
            frames = (p.map_frame, p.odom_frame)
            self._publish_tf(edge_message(*correction, frames))

    def _on_odom(self, message: Odometry) -> None:
        try:
            T_odom_base = pose_of(message, self._settings.odom_frame)
        except ValueError as error:
            self._counts["n_odom_refused"] += 1
            self.get_logger().warning(f"odom refused: {error}", throttle_duration_sec=5.0)
            return
        self._odometry.add(ns_from_stamp(message.header.stamp), T_odom_base)
        self._publish_correction()

    def _on_initial_pose(self, message: PoseWithCovarianceStamped) -> None:
        frame, p = message.header.frame_id, self._settings
        try:
            if frame not in ("", p.map_frame):
                raise ValueError(f"its frame must be {p.map_frame!r}, got {frame!r}")
            start = transform_from_pose_message(message.pose.pose)
            if not np.isfinite(start).all():
                raise ValueError("it must be finite")
        except ValueError as error:
            self.get_logger().warning(f"initialpose refused: {error}")
            return
        self._start = start
        if self._localizer is not None:
            self._localizer.restart(start)
        self.get_logger().info(f"begins anew at {start[:3, 3].round(2).tolist()} m")

    def _acknowledge_stamp(self, stamp_ns: int) -> None:
        self._acknowledge(Header(stamp=stamp_from_ns(stamp_ns)))

    def _report(self) -> tuple[int, str, dict[str, str]]:
        n_images = self._camera.counters["n_images"]
        values = {name: str(n) for name, n in self._camera.counters.items()}
        values |= {f"n_{status}": str(self._counts[status]) for status in Status}
        values["n_odom_refused"] = str(self._counts["n_odom_refused"])
        if self._imu is not None and self._inertial is not None:
            values |= {name: str(n) for name, n in self._imu.counters.items()}
            values["inertial"] = self._inertial.reason or "fused"
        values["image_ms"] = f"{1e3 * self._wall_s / max(n_images, 1):.1f}"
        if self._camera.last_skip:
            return WARN, f"image skipped: {self._camera.last_skip}", values
        return ERROR if self._last.startswith(Status.LOST) else OK, self._last, values


def level_pose(start: tuple[float, ...]) -> FloatArray | None:
    """Return the transform of x, y, z [m] and yaw [deg]; None for an empty tuple."""
    if not start:
        return None
    return transform_from_pose(start[:3], quaternion_from_yaw(float(np.radians(start[3]))))


def virtual_keyframes(
    dense_map: DenseMap,
    path: FloatArray | None,
    camera: PinholeCamera,
    p: LocalizerNodeParameters,
) -> FloatArray:
    """Return the poses (n, 4, 4) of virtual key-frames: along a path, or the map's own."""
    if path is None:
        return np.array([surface.T_map_surface for surface in dense_map.surfaces])
    return virtual_poses(
        path, camera, distance_m=p.standoff_m, overlap=p.overlap, setback_m=p.setback_m
    )


def main() -> int:
    """Run the node."""
    return run_node(LocalizerNode)


if __name__ == "__main__":
    sys.exit(main())
