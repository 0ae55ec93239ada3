# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of a sensor's frame as poses of base_link, and how to notice that they were not.

Many SLAMs write poses of the camera's optical frame or of the IMU. Mountings come from the sensors
of a bag or of a calibration file.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.metadata import is_storage_file, nested
from aerotwin_core.bag.transforms import TransformTree
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.frames import invert_transform, make_transform, transform_from_pose
from aerotwin_core.parameters import read_yaml
from aerotwin_core.rigid_motion import cross_matrix, rotation_svd
from aerotwin_core.rms import rms
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import align_umeyama
from aerotwin_trajectory_evaluation.association import pair
from aerotwin_trajectory_evaluation.files import TrajectoryFile
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol

BASE = "base_link"
_TRANSFORMS = "tf2_msgs/msg/TFMessage"
_RECORD = "sensors"
_LEAST_TURN_DEG = 20.0
"""Smaller constant turns may be a tilted start or a mounting that was estimated."""
_SPREAD_SHARE = 0.25
"""Of the turn, in which the attitudes may scatter around it."""
_NEAR_DEG = 15.0
"""A named frame is recognised within this: sensors are mounted with a pitch of a few degrees."""
_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
_KNOWN = {
    "poses of a camera's optical frame (x right, y down, z ahead)": _OPTICAL,
    "poses of base_link that were converted as if they were a camera's": _OPTICAL.T,
    "poses of a frame with forward, right, down axes": np.diag([1.0, -1.0, -1.0]),
    "poses of a frame that looks backwards": np.diag([-1.0, -1.0, 1.0]),
}


def mounting_of(frame: str, source: str | Path, vehicle: str = "") -> np.ndarray:
    """Return T_base_frame (4, 4) of a frame that a bag or calibration file describes.

    Of a bag its static transforms, else its record `sensors`; there `vehicle` is one of a fleet. A
    file is the `config.yaml` of a run, or Kalibr's `camchain.yaml`: there the base is the IMU, and
    frames are `cam0`, `cam1`, ...

    Raises `UserError`, listing the known frames.
    """
    path = Path(str(source).partition(":")[0] if not Path(source).exists() else source)
    base = f"{vehicle}/{BASE}" if vehicle else BASE
    if path.is_dir() or is_storage_file(path):
        known = _of_bag(BagReader(path), frame, vehicle, base)
    elif path.suffix in (".yaml", ".yml"):
        content = read_yaml(path)
        known = _of_record(content.get(_RECORD, {})) | _of_chain(content)
    else:
        raise UserError(
            f"{source}: describes no sensors; give a bag, the config.yaml of a run, or Kalibr's "
            "camchain.yaml with --sensors"
        )
    if frame == base:
        return np.eye(4)
    if frame not in known:
        raise UserError(
            f"--poses-of {frame}: no frame that {path} mounts on {base}; it knows "
            f"{listed(sorted({base, *known}))}"
        )
    return known[frame]


def _of_bag(bag: BagReader, frame: str, vehicle: str, base: str) -> dict[str, np.ndarray]:
    topics = [t for t, kind in bag.topics.items() if kind == _TRANSFORMS and t.endswith("static")]
    tree = TransformTree(bag.messages(topics))
    found = {name: tree.fixed_transform(base, name) for name in tree.frames}
    mounted = {name: T for name, T in found.items() if T is not None}
    record = f"{vehicle}/{_RECORD}" if vehicle else _RECORD
    return mounted if frame in mounted else _of_record(nested(bag.metadata(record))) | mounted


def _of_record(sensors: Any) -> dict[str, np.ndarray]:
    """Return the mountings by `frame_id` of entries with a `T_base_*`, at any depth."""
    if not isinstance(sensors, dict):
        return {}
    found: dict[str, np.ndarray] = {}
    for name, value in sensors.items():
        if name.startswith("T_base_") and "frame_id" in sensors and isinstance(value, dict):
            try:
                T = transform_from_pose(value["translation_m"], value["rotation_xyzw"])
            except (KeyError, TypeError, ValueError) as error:
                raise UserError(f"{_RECORD}: {name} is no pose: {error}") from None
            found[str(sensors["frame_id"])] = T
        else:
            found |= _of_record(value)
    return found


def _of_chain(content: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return T_imu_cam of Kalibr's chain, which states the inverse."""
    found = {}
    for name, camera in content.items():
        if isinstance(camera, dict) and "T_cam_imu" in camera:
            T_cam_imu = np.array(camera["T_cam_imu"], dtype=np.float64)
            if T_cam_imu.shape != (4, 4) or not np.isfinite(T_cam_imu).all():
                raise UserError(f"{name}: T_cam_imu must be 4 x 4 numbers")
            found[name] = invert_transform(T_cam_imu)
    return found


def moved(trajectory: Trajectory, T_body_point: np.ndarray) -> Trajectory:
    """Return the poses of a frame that is fixed on the body: T_ref_body @ T_body_point."""
    R = trajectory.R_ref_body
    positions = trajectory.p_ref_body + R @ T_body_point[:3, 3]
    turn = Rotation.from_matrix(T_body_point[:3, :3])
    attitudes = (Rotation.from_quat(trajectory.q_ref_body) * turn).as_quat()
    written = trajectory.R_as_written
    return Trajectory(
        trajectory.stamps_ns,
        positions,
        attitudes,
        None if written is None else written @ T_body_point[:3, :3],
    )


def poses_of_base(
    reference: Trajectory,
    estimate: Trajectory,
    covariances: np.ndarray | None,
    T_base_frame: np.ndarray,
    choices: TrajectoryProtocol,
) -> tuple[Trajectory, np.ndarray | None]:
    """Return poses of a frame, and their covariances (n, 6, 6), as those of base_link.

    Where a scale is fitted (`sim3`), the lever arm in metres is first brought to the scale of the
    estimate: that of the frame's own path, fitted to the frame's true path.
    """
    T_frame_base = invert_transform(T_base_frame)
    if choices.align == "sim3":
        truth, guess, _ = pair(moved(reference, T_base_frame), estimate, choices)
        if len(truth) > 2:
            scale = align_umeyama(truth.p_ref_body, guess.p_ref_body, "sim3").scale
            T_frame_base = make_transform(T_frame_base[:3, :3], T_frame_base[:3, 3] / scale)
    if covariances is not None:
        J = np.tile(np.eye(6), (len(estimate), 1, 1))
        J[:, :3, 3:] = -cross_matrix(estimate.R_ref_body @ T_frame_base[:3, 3])
        covariances = J @ covariances @ np.swapaxes(J, 1, 2)
    return moved(estimate, T_frame_base), covariances


def file_of_base(
    reference: Trajectory,
    file: TrajectoryFile,
    T_base_frame: np.ndarray,
    choices: TrajectoryProtocol,
) -> TrajectoryFile:
    """Return a file of poses of a frame as one of base_link; see `poses_of_base`."""
    trajectory, covariances = poses_of_base(
        reference, file.trajectory, file.covariances, T_base_frame, choices
    )
    return replace(file, trajectory=trajectory, covariances=covariances)


@dataclass(frozen=True, kw_only=True)
class AttitudeOffset:
    """A turn R_body_estimate that all attitudes share: its angle, and their scatter about it."""

    R_body_estimate: np.ndarray
    angle_deg: float
    spread_deg: float

    @property
    def likely(self) -> str:
        """What the poses seem to be; empty if it is nothing known."""
        for name, R in _KNOWN.items():
            if _angles_deg(R.T @ self.R_body_estimate) < _NEAR_DEG:
                return name
        return ""

    @property
    def text(self) -> str:
        """Caution for a reader."""
        seems = f", and they look like {self.likely}" if self.likely else ""
        return (
            f"The attitudes are those of another frame of the body: all are turned by the same "
            f"{self.angle_deg:.0f} deg against the reference, to {self.spread_deg:.1f} deg{seems}."
        )


def find_attitude_offset(paired: Trajectory, estimate: Trajectory) -> AttitudeOffset | None:
    """Return the constant turn between paired attitudes after a fit of the positions.

    None if there is none, or paths and attitudes do not show it (a straight path, no attitudes).
    """
    fit = align_umeyama(paired.p_ref_body, estimate.p_ref_body, "sim3")
    if not fit.is_determined or np.ptp(estimate.q_ref_body, axis=0).max() == 0.0:
        return None
    R = fit.T_reference_estimate[:3, :3] @ estimate.R_ref_body
    turns = np.swapaxes(paired.R_ref_body, 1, 2) @ R
    U, _, Vt = rotation_svd(turns.sum(axis=0))
    mean = U @ Vt
    spread_deg = rms(_angles_deg(mean.T @ turns))
    angle_deg = float(_angles_deg(mean))
    if angle_deg < _LEAST_TURN_DEG or spread_deg > _SPREAD_SHARE * angle_deg:
        return None
    return AttitudeOffset(R_body_estimate=mean, angle_deg=angle_deg, spread_deg=spread_deg)


def _angles_deg(R: np.ndarray) -> np.ndarray:
    """Return the angles of rotations (..., 3, 3) [deg]."""
    return np.degrees(np.arccos(np.clip((np.trace(R, axis1=-2, axis2=-1) - 1.0) / 2.0, -1.0, 1.0)))
