# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rectified stereo pairs with their poses, from images, camera_info, odometry and /tf_static."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CameraInfo, Image

from aerotwin_core.camera import StereoRig
from aerotwin_core.camera_messages import picture_from_image
from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.qos import IMAGE_DEPTH, IMU_DEPTH
from aerotwin_core.ros.sources import image_sources, pose_sources
from aerotwin_dense_localization.ros.mounting import Mounting
from aerotwin_dense_localization.ros.node_parameters import MountedCameraParameters
from aerotwin_dense_localization.ros.pose_buffer import PoseBuffer, pose_of
from aerotwin_stereo_odometry.pair_calibration import Pair, PairCalibration, StereoPairing

MAX_PENDING = 10
"""Pairs queued until camera_info, mounting and pose are known: 6 MB each at 1280x800 in colour."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedPair:
    """A rectified pair with its pose."""

    stamp_ns: int
    # left and right: grey or RGB
    left: np.ndarray  # (h, w) or (h, w, 3) uint8
    right: np.ndarray  # (h, w) or (h, w, 3) uint8
    rig: StereoRig
    T_map_optical: FloatArray  # (4, 4) pose of the ideal left camera


class StereoIntake:
    """Subscribes to a stereo rig and odometry; delivers requested pairs with their pose.

    `is_requested`: returns whether a pair is requested, by its stamp [ns]. `on_pair`: called with a
    `PlacedPair`. `on_done`: called with the stamp [ns] of every received pair, when the node is
    ready for the next. `counters`: `n_pairs` delivered; `n_pairs_skipped` requested but not
    delivered; `n_odom_refused` poses that are invalid or in another frame than the first.
    `map_frame`: frame of the poses.
    """

    def __init__(
        self,
        node: ConfiguredNode,
        parameters: MountedCameraParameters,
        *,
        is_requested: Callable[[int], bool],
        on_pair: Callable[[PlacedPair], None],
        on_done: Callable[[int], None],
    ) -> None:
        self._node, self._is_requested = node, is_requested
        self._on_pair, self._on_done = on_pair, on_done
        self._pairing, self._pending = StereoPairing(), deque[Pair]()
        self._calibration = PairCalibration(images_are_rectified=parameters.images_are_rectified)
        self._poses = PoseBuffer(parameters.max_odom_gap_s)
        self._mounting = Mounting(
            node, parameters.base_frame, parameters.mounting, on_change=self._process
        )
        self.counters = {"n_pairs": 0, "n_pairs_skipped": 0, "n_odom_refused": 0}
        self.map_frame = ""
        self._wire()

    def _wire(self) -> None:
        add = self._node.intakes.add
        add([*pose_sources("slam/odom").values()], self._on_odom, depth=IMU_DEPTH)
        for side in ("left", "right"):
            info = TopicSource(topic=f"stereo/{side}/camera_info", kind=CameraInfo)
            for sources, act in (
                (info, self._on_info),
                (image_sources(f"stereo/{side}/image_raw"), self._on_image),
            ):
                add(
                    sources,
                    lambda message, side=side, act=act: act(side, message),
                    depth=IMAGE_DEPTH,
                )

    def skip(self, reason: str) -> None:
        """Count an unusable pair and log the reason."""
        self.counters["n_pairs_skipped"] += 1
        self._node.get_logger().warning(f"stereo pair skipped: {reason}", throttle_duration_sec=5.0)

    def _on_info(self, side: str, message: CameraInfo) -> None:
        refusal = self._calibration.add(side, message)
        if refusal is not None:
            self._node.get_logger().error(f"camera_info of stereo/{side} is refused: {refusal}")
        self._process()

    def _on_odom(self, message: Odometry) -> None:
        self.map_frame = self.map_frame or message.header.frame_id
        try:
            T_map_base = pose_of(message, self.map_frame)
        except ValueError as error:
            self.counters["n_odom_refused"] += 1
            self._node.get_logger().warning(
                f"slam/odom refused: {error}", throttle_duration_sec=5.0
            )
            return
        self._poses.add(ns_from_stamp(message.header.stamp), T_map_base)
        self._process()

    def _on_image(self, side: str, message: Image) -> None:
        pair = self._pairing.add(side, ns_from_stamp(message.header.stamp), message)
        if pair is None:
            return
        if self._is_requested(pair.stamp_ns):
            self._pending.append(pair)
        while len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self.skip(self._lack(pair) or "odometry has not come so far")
        self._process()
        self._on_done(pair.stamp_ns)

    def _lack(self, pair: Pair) -> str:
        """Return what is still unknown of the cameras of a pair."""
        for side, refusal in self._calibration.refusals.items():
            return f"camera_info of stereo/{side}: {refusal}"
        if self._calibration.rig is None:
            return "camera_info of both sides has not come"
        frame_id = pair.left.header.frame_id
        return "" if self._mounting.find(frame_id) is not None else f"no /tf_static of {frame_id!r}"

    def _process(self) -> None:
        """Deliver the pairs that odometry has passed."""
        while self._pending and not self._lack(self._pending[0]):
            if not self._poses.has_passed(self._pending[0].stamp_ns):
                return
            pair = self._pending.popleft()
            if self._is_requested(pair.stamp_ns):
                self._place(pair)

    def _place(self, pair: Pair) -> None:
        T_map_base = self._poses.at(pair.stamp_ns)
        if T_map_base is None:
            self.skip("no odometry on both sides of it, or too far apart")
            return
        try:
            sides: list[Any] = [picture_from_image(image) for image in (pair.left, pair.right)]
            left, right = self._calibration.rectified(*sides)
        except ValueError as error:
            self.skip(str(error))
            return
        T_base_optical = self._mounting.find(pair.left.header.frame_id)
        rig = self._calibration.rig
        assert T_base_optical is not None and rig is not None
        T_map_optical = T_map_base @ T_base_optical @ self._calibration.T_optical_rectified
        self.counters["n_pairs"] += 1
        self._on_pair(
            PlacedPair(
                stamp_ns=pair.stamp_ns, left=left, right=right, rig=rig, T_map_optical=T_map_optical
            )
        )
