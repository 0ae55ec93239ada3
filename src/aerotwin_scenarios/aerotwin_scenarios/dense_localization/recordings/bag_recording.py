# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cameras of a bag, rectified as their calibration says, and the poses that the bag holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.camera_messages import picture_from_image
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.luma import grey_of
from aerotwin_core.messages import stamp_ns
from aerotwin_run_evaluation.bag.camera import BODY, mounting
from aerotwin_run_evaluation.bag.roles import CAMERA_INFO, IMAGE, find_roles
from aerotwin_scenarios.dense_localization.recordings.recording import (
    LEFT,
    OPTICAL,
    RIGHT,
    TRUTH,
    CameraRecording,
    ExternalPoses,
    Reading,
    StereoPair,
)
from aerotwin_stereo_odometry.pair_calibration import PairCalibration, StereoPairing
from aerotwin_stereo_odometry.rectification import IdealCamera
from aerotwin_trajectory_evaluation.slam_poses import read_poses

ESTIMATES = ("/slam/odom", "/autopilot/odom")
"""Default topics of poses; the first one in the bag is used."""
_NAMES = {
    LEFT: ("/stereo/left/image_raw", "/stereo/left/camera_info"),
    RIGHT: ("/stereo/right/image_raw", "/stereo/right/camera_info"),
}
"""Image and calibration of each side under the names of this workspace."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seat:
    """Mounting of a camera of a bag: `frame` is that of its images, before rectification by R."""

    bag: BagReader
    frame: str
    T_optical_rectified: FloatArray
    reading: Reading

    @property
    def T_base_cam(self) -> FloatArray | None:
        provided = self.reading.T_base_cam
        T = mounting(self.bag, self.frame) if provided is None else provided
        return None if T is None else T @ self.T_optical_rectified

    @property
    def T_source_cam(self) -> FloatArray | None:
        """Where the camera sits on the body whose poses are given without a frame."""
        return self.T_optical_rectified if self.reading.poses_of == OPTICAL else self.T_base_cam

    def T_body_cam(self, child_frame: str, source: str) -> FloatArray:
        """Return where the camera sits on the frame whose poses a source tells."""
        if child_frame == self.frame:
            return self.T_optical_rectified
        if child_frame.startswith(BODY) and self.T_base_cam is not None:
            return self.T_base_cam
        T = self.bag.fixed_transform(child_frame, self.frame) if child_frame else None
        if T is not None:
            return T @ self.T_optical_rectified
        is_foreign = child_frame != "" and not child_frame.startswith(BODY)
        is_said = self.reading.poses_of == OPTICAL or self.reading.T_base_cam is not None
        if self.T_source_cam is None or (is_foreign and not is_said):
            raise UserError(
                f"{source}: its poses are of {child_frame or BODY}, and /tf_static does not say "
                f"how the camera ({self.frame or 'without a frame'}) sits on it; give --mounting, "
                "or --poses-of optical if they are those of the camera"
            )
        return self.T_source_cam

    def poses(self, token: str | None) -> ExternalPoses:
        source = self._source(token)
        found = read_poses(self.bag, source, duplicates="first")
        return ExternalPoses(
            trajectory=found.trajectory,
            T_body_cam=self.T_body_cam(found.child_frame, source),
            source=source,
            is_truth=token == TRUTH,
            frame=found.frame,
        )

    def _source(self, token: str | None) -> str:
        bag = self.bag
        truth = find_roles(bag.topics, bag.counts).truth
        listed = ", ".join(name for name in bag.trajectory_topics() if name != truth) or "none"
        if token is None:
            for topic in ESTIMATES:
                if bag.counts.get(topic, 0) > 1:
                    return topic
            raise UserError(
                f"{bag.path}: holds neither {' nor '.join(ESTIMATES)}; name a topic or a file with "
                f"poses (it holds {listed}), or take --poses odometry"
            )
        if token == TRUTH and truth is None:
            raise UserError(f"{bag.path}: holds no true poses; its poses are {listed}")
        absolute = token if token.startswith("/") or token not in _bare(bag) else f"/{token}"
        if absolute == truth:
            raise UserError(f"{token}: these are the true poses; say so by the word truth")
        return str(truth) if token == TRUTH else absolute


def _bare(bag: BagReader) -> set[str]:
    return {name.lstrip("/") for name in bag.topics}


def _topics_of(bag: BagReader, reading: Reading, side: str) -> tuple[str, str]:
    """Return the topics of images and calibration of a side, or of a topic given by its name."""
    roles = find_roles(bag.topics, bag.counts)
    found = {LEFT: (roles.left, roles.left_info), RIGHT: (roles.right, roles.right_info)}
    if side in _NAMES:
        guess, names = found[side], _NAMES[side]
        image, info = (reading.topics.get(n) or g or n for n, g in zip(names, guess, strict=True))
    else:
        image = f"/{side}" if side in _bare(bag) else side
        beside = f"{image.rpartition('/')[0]}/camera_info"
        info = reading.topics.get(_NAMES[LEFT][1], beside)
    for name, kind in ((image, IMAGE), (info, CAMERA_INFO)):
        if bag.topics.get(name) != kind or not bag.counts.get(name):
            held = [t for t, k in bag.topics.items() if k == kind and bag.counts.get(t)]
            raise UserError(
                f"{bag.path}: no {kind} on {name}; it holds {', '.join(sorted(held)) or 'none'} "
                "(say which with --topic NAME:=TOPIC)"
            )
    return image, info


def first_message(bag: BagReader, topic: str) -> Any:
    """Return the first message of a topic that is there; `UserError` if none can be read."""
    message = next((m for _, _, m in bag.messages([topic])), None)
    if message is None:
        raise UserError(f"{bag.path}: topic {topic}: no message of it can be read")
    return message


def _picture(bag: BagReader, topic: str, message: Any) -> np.ndarray:
    try:
        return picture_from_image(message)
    except ValueError as error:
        raise UserError(f"{bag.path}: topic {topic} at {stamp_ns(message)} ns: {error}") from None


def bag_pair(path: Path, reading: Reading) -> CameraRecording:
    """Return the pairs of a bag, rectified as their camera_info say."""
    bag = BagReader(path)
    calibration = PairCalibration(images_are_rectified=reading.is_rectified)
    images = {}
    for side in _NAMES:
        images[side], info = _topics_of(bag, reading, side)
        refusal = calibration.add(side, first_message(bag, info))
        if refusal is not None:
            raise UserError(f"{path}: topic {info}: {refusal}")
    rig = calibration.rig
    assert rig is not None
    sides = {topic: side for side, topic in images.items()}

    def pairs() -> Iterator[StereoPair]:
        waiting, last = StereoPairing(), -1
        for topic, _, message in bag.messages(list(sides)):
            pair = waiting.add(sides[topic], stamp_ns(message), message)
            if pair is None or pair.stamp_ns <= last:
                continue
            last = pair.stamp_ns
            pictures = (_picture(bag, images[s], m) for s, m in zip(_NAMES, pair[1:], strict=True))
            try:
                left, right = calibration.rectified(*pictures)
            except ValueError as error:
                raise UserError(f"{path}: pair at {last} ns: {error}") from None
            yield StereoPair(last, left, grey_of(right))

    seat = _Seat(
        bag=bag, frame=first_message(bag, images[LEFT]).header.frame_id.lstrip("/"),
        T_optical_rectified=calibration.T_optical_rectified, reading=reading,
    )  # fmt: skip
    n = min(bag.counts[topic] for topic in sides)
    return CameraRecording(
        name=str(path), camera=rig.camera, baseline_m=rig.baseline_m, T_base_cam=seat.T_base_cam,
        T_body_cam=seat.T_source_cam, n_pictures=reading.n_of(n),
        pictures=lambda: reading.taken(pairs()), poses=seat.poses, bag=bag,
    )  # fmt: skip


def bag_camera(path: Path, reading: Reading, side: str) -> CameraRecording:
    """Return the images of a side of a pair, or of a topic, without distortion."""
    bag = BagReader(path)
    topic, info_topic = _topics_of(bag, reading, side)
    info = first_message(bag, info_topic)
    try:
        ideal = IdealCamera.from_info(info, images_are_rectified=reading.is_rectified)
    except ValueError as error:
        raise UserError(f"{path}: topic {info_topic}: {error}") from None

    def images() -> Iterator[tuple[int, np.ndarray]]:
        for _, _, message in bag.messages([topic]):
            grey = grey_of(_picture(bag, topic, message))
            try:
                yield stamp_ns(message), ideal.rectification.apply(grey)
            except ValueError as error:
                raise UserError(f"{path}: {topic} at {stamp_ns(message)} ns: {error}") from None

    seat = _Seat(
        bag=bag, frame=first_message(bag, topic).header.frame_id.lstrip("/"),
        T_optical_rectified=ideal.T_optical_ideal, reading=reading,
    )  # fmt: skip
    return CameraRecording(
        name=f"{path} {topic}", camera=ideal.camera, T_base_cam=seat.T_base_cam,
        T_body_cam=seat.T_source_cam, n_pictures=reading.n_of(bag.counts[topic]), bag=bag,
        pictures=lambda: reading.taken(images()), poses=seat.poses,
    )  # fmt: skip
