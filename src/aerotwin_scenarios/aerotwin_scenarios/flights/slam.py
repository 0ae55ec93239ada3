# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The SLAM of a scenario: it sees the images in the loop, and is judged after the flight."""

from collections.abc import Callable, Mapping

import numpy as np

from aerotwin_core.camera_messages import array_from_image
from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform, quaternion_from_rotation
from aerotwin_core.luma import grey_of
from aerotwin_core.messages import deserialize
from aerotwin_core.messages import stamp_ns as header_stamp_ns
from aerotwin_core.trajectory import Trajectory
from aerotwin_simulator import SimulatorParameters
from aerotwin_simulator import topics as t
from aerotwin_simulator.vehicle_cameras import stereo_eyes, stereo_preset
from aerotwin_stereo_odometry import StereoOdometry
from aerotwin_stereo_odometry.pair_calibration import Pair, PairCalibration, StereoPairing
from aerotwin_trajectory_evaluation import evaluate_trajectory


class OdometryInTheLoop(t.MessageSink):
    """The workspace's stereo odometry on the images of a vehicle, as fast as they come.

    A sink of the simulation: poses depend on the messages alone. `vehicle` is "" or its name.
    """

    def __init__(self, parameters: SimulatorParameters, vehicle: str = "") -> None:
        left = stereo_eyes(parameters, stereo_preset(parameters.camera), vehicle)[0]
        self._T_body_optical = left.T_body_optical
        self._calibration = PairCalibration(images_are_rectified=False)
        self._pairing = StereoPairing()
        self._odometry: StereoOdometry | None = None
        self._frames: list[int] = []
        self._poses: dict[int, np.ndarray] = {}
        self._truth: dict[int, list[float]] = {}
        place = t.below(vehicle)
        self._handlers: dict[str, Callable[[int, object], None]] = {
            place(t.TRUTH_ODOM).name: self._on_truth,
            place(t.LEFT_INFO).name: lambda _, info: self._on_info("left", info),
            place(t.RIGHT_INFO).name: lambda _, info: self._on_info("right", info),
            place(t.LEFT_IMAGE).name: lambda ns, image: self._on_image("left", ns, image),
            place(t.RIGHT_IMAGE).name: lambda ns, image: self._on_image("right", ns, image),
        }

    def add(self, topic: t.Topic) -> None:
        """Prepare nothing."""

    def publish_cdr(self, topic: t.Topic, stamp_ns: int, cdr: bytes) -> None:
        """Use a message of the topics that are heard."""
        if (handler := self._handlers.get(topic.name)) is not None:
            handler(stamp_ns, deserialize(cdr, topic.msgtype))

    def metrics(self) -> dict[str, float | None]:
        """Return the scores of the path up to now; None for all but coverage without one."""
        turns = {ns: quaternion_from_rotation(T[:3, :3]) for ns, T in self._poses.items()}
        estimate = _trajectory({ns: [*T[:3, 3], *turns[ns]] for ns, T in self._poses.items()})
        truth = _trajectory(self._truth)
        frames = np.array(self._frames, np.int64)
        found = dict.fromkeys(("slam_ape_m", "slam_rpe_m", "slam_time_offset_s"), None)
        try:
            judged = evaluate_trajectory(truth, estimate, frame_stamps_ns=frames)
        except UserError:  # too few poses
            return {**found, "slam_coverage": 0.0}
        offset_s = judged.calibration.time_offset_s
        scores = judged.metrics()
        return {
            "slam_ape_m": scores["ape"]["trans_m"]["rmse"],
            "slam_rpe_m": (scores["rpe"]["metre"]["trans_m"] or {}).get("rmse"),
            "slam_time_offset_s": None if offset_s is None else abs(offset_s),
            "slam_coverage": judged.coverage,
        }

    def _on_truth(self, stamp_ns: int, message: object) -> None:
        pose = message.pose.pose  # type: ignore[attr-defined]
        p, q = pose.position, pose.orientation
        self._truth[stamp_ns] = [p.x, p.y, p.z, q.x, q.y, q.z, q.w]

    def _on_info(self, side: str, info: object) -> None:
        self._calibration.add(side, info)

    def _on_image(self, side: str, stamp_ns: int, image: object) -> None:
        pair = self._pairing.add(side, header_stamp_ns(image), image)
        if pair is not None:
            self._track(pair)

    def _track(self, pair: Pair) -> None:
        self._frames.append(pair.stamp_ns)
        rig = self._calibration.rig
        if rig is None:
            return
        T_body_rectified = self._T_body_optical @ self._calibration.T_optical_rectified
        if self._odometry is None:
            self._odometry = StereoOdometry(rig, T_odom_optical_first=T_body_rectified)
        raw = (grey_of(array_from_image(image)) for image in (pair.left, pair.right))
        frame = self._odometry.track(pair.stamp_ns, *self._calibration.rectified(*raw))
        if frame.is_tracked:
            self._poses[pair.stamp_ns] = frame.T_odom_optical @ invert_transform(T_body_rectified)


def _trajectory(rows: Mapping[int, list[float]]) -> Trajectory:
    """Return poses by stamps [ns], whose rows are position and quaternion (x, y, z, w)."""
    values = np.array([*rows.values()], float).reshape(-1, 7)
    return Trajectory(np.array([*rows], np.int64), values[:, :3], values[:, 3:])
