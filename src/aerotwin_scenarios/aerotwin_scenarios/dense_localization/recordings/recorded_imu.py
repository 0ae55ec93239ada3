# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU samples of a bag, for the filter that fuses them with the images of the bag."""

from typing import Any

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.messages import stamp_ns
from aerotwin_dense_localization.localization import InertialFilter, reading_of
from aerotwin_run_evaluation.bag.camera import BODY
from aerotwin_scenarios.dense_localization.recordings.bag_recording import first_message
from aerotwin_scenarios.dense_localization.recordings.recording import CameraRecording

IMU = "sensor_msgs/msg/Imu"


class RecordedImu:
    """Feeds samples to a filter in order, as far as an image needs them.

    `token` is the topic, with or without leading slash.

    `T_base_imu`, `T_base_cam` (4, 4): poses of IMU and camera on the body, from /tf_static.
    `n_refused`: unusable samples; `refusal` is the reason of the last.

    Raises `UserError` if the bag has no samples on the topic, or these poses are unknown.
    """

    def __init__(self, recording: CameraRecording, token: str) -> None:
        bag, self.T_base_cam = _carried(recording, token)
        self._where = f"--imu {token}"
        topic = _topic(bag, token)
        self._frame = str(first_message(bag, topic).header.frame_id)
        T_base_imu = bag.fixed_transform(BODY, self._frame)
        if T_base_imu is None:
            raise UserError(
                f"{self._where}: /tf_static of {bag.path} does not say how {self._frame!r}, its "
                f"frame, sits on {BODY}; record it there"
            )
        self.T_base_imu = T_base_imu
        self.n_refused, self.refusal = 0, ""
        self._messages = (message for _, _, message in bag.messages([topic]))
        self._first_ns: int | None = None
        self._newest_ns = -1

    def lead(self, inertial: InertialFilter, image_ns: int) -> None:
        """Feed a filter all samples up to the first one that is not before an image [ns].

        Raises `UserError` if none is usable, or all are before the first requested image.
        """
        is_first = self._first_ns is None
        while self._newest_ns < image_ns:
            message = next(self._messages, None)
            if message is None:
                break
            self._give(inertial, message)
        if self._first_ns is None:
            raise UserError(f"{self._where}: none of its samples can be used: {self.refusal}")
        if is_first and self._newest_ns < image_ns:
            raise UserError(
                f"{self._where}: its samples end at {self._newest_ns * 1e-9:.3f} s, before the "
                f"first image at {image_ns * 1e-9:.3f} s; both must be of one clock"
            )

    def refuse_later(self, image_ns: int) -> None:
        """Raise `UserError` if the samples begin after the last image [ns]."""
        if self._first_ns is not None and self._first_ns > image_ns:
            raise UserError(
                f"{self._where}: its samples begin at {self._first_ns * 1e-9:.3f} s, after the "
                f"last image at {image_ns * 1e-9:.3f} s; both must be of one clock"
            )

    def _give(self, inertial: InertialFilter, message: Any) -> None:
        try:
            if message.header.frame_id != self._frame:
                raise ValueError(f"its frame is {message.header.frame_id!r}, not {self._frame!r}")
            inertial.add(stamp_ns(message), *reading_of(message))
        except ValueError as error:
            self.n_refused += 1
            self.refusal = str(error)
            return
        self._newest_ns = stamp_ns(message)
        self._first_ns = self._newest_ns if self._first_ns is None else self._first_ns


def _carried(recording: CameraRecording, token: str) -> tuple[BagReader, FloatArray]:
    """Return the bag, and the pose of the camera on the body that carries the IMU."""
    if recording.bag is None:
        raise UserError(
            f"--imu {token}: is a topic of a bag, and {recording.name} is a KITTI folder, which "
            "holds no samples of an IMU; leave it out"
        )
    if recording.T_base_cam is None:
        raise UserError(
            f"--imu {token}: /tf_static of {recording.name} does not say how the camera sits on "
            f"{BODY}, which carries the IMU as well; give --mounting"
        )
    return recording.bag, recording.T_base_cam


def _topic(bag: BagReader, token: str) -> str:
    held = [name for name, kind in bag.topics.items() if kind == IMU and bag.counts.get(name)]
    topic = token if token in held else f"/{token}"
    if topic not in held:
        raise UserError(
            f"--imu {token}: no {IMU} on it; {bag.path} holds {', '.join(sorted(held)) or 'none'}"
        )
    return topic
