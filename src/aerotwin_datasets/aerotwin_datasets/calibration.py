# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The calibration of a data set as files state it: lenses, mountings, noise and rates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from aerotwin_core.camera import CameraModel
from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform
from aerotwin_datasets.recording import CameraStream, ImuNoise, Recording

MODELS = {"plumb_bob": "radial-tangential", "equidistant": "equidistant"}
"""Distortion: the name in CameraInfo, and in the files of EuRoC."""
DEPTH_PER_METRE = 5000.0
"""Values per metre of depth images of TUM RGB-D."""


@dataclass(frozen=True, kw_only=True)
class CalibratedCamera:
    """A camera of a data set.

    `T_body_optical` takes coordinates of the optical frame (x right, y down, z ahead) to the body.
    Pixel centres are at whole numbers. `readout_s` is that of a rolling shutter.
    """

    name: str
    lens: CameraModel
    T_body_optical: np.ndarray
    rate_hz: float
    is_colour: bool
    readout_s: float = 0.0

    @property
    def intrinsics(self) -> list[float]:
        """Focal lengths and centre: fx, fy, cx, cy [px].

        Raises `UserError` if the pixels are sheared, for which no format has a place.
        """
        K = self.lens.matrix
        if K[0, 1] != 0.0:
            raise UserError(f"camera {self.name}: its pixels are sheared; no format can state it")
        return [float(v) for v in (K[0, 0], K[1, 1], K[0, 2], K[1, 2])]

    @property
    def coefficients(self) -> list[float]:
        """k1 k2 p1 p2 (and k3 if it is not 0) of `plumb_bob`; k1 to k4 of `equidistant`."""
        found = [float(value) for value in self.lens.distortion]
        is_short = self.lens.distortion_model == "plumb_bob" and not any(found[4:])
        return found[:4] if is_short else found

    @property
    def is_fisheye(self) -> bool:
        """Whether the lens is `equidistant`."""
        return self.lens.distortion_model == "equidistant"

    @property
    def is_pinhole(self) -> bool:
        """Whether the lens does not distort."""
        return not self.is_fisheye and not any(self.lens.distortion)


@dataclass(frozen=True, kw_only=True)
class DatasetCalibration:
    """What the settings of a SLAM are written from; the body is the IMU, or without one the base.

    `imu_rate_hz` and `noise` are 0 and None without an IMU; `has_depth` is whether the first camera
    has images of depth, in the steps of TUM RGB-D.
    `topics` are those of a bag by the names of the data set (cam0, imu0); `clouds` those of lidars,
    with the field that has the times of their points or "".
    """

    cameras: tuple[CalibratedCamera, ...]
    imu_rate_hz: float
    noise: ImuNoise | None
    gravity_m_s2: float
    has_depth: bool = False
    topics: dict[str, str] = field(default_factory=dict)
    clouds: dict[str, str] = field(default_factory=dict)

    @property
    def baseline_m(self) -> float:
        """Distance of the first two cameras [m], 0 of one."""
        if len(self.cameras) < 2:
            return 0.0
        first, second = (camera.T_body_optical[:3, 3] for camera in self.cameras[:2])
        return float(np.linalg.norm(second - first))


def calibrated(
    camera: CameraStream, name: str, T_body_base: np.ndarray, rate_hz: float
) -> CalibratedCamera:
    """Return a camera of a recording as one of a data set."""
    return CalibratedCamera(
        name=name,
        lens=camera.camera,
        T_body_optical=T_body_base @ camera.T_base_optical,
        rate_hz=rate_hz,
        is_colour=camera.encoding.startswith(("rgb", "bgr", "8UC3")),
        readout_s=camera.readout_s,
    )


def calibration_of(
    recording: Recording, cameras: Sequence[CameraStream], rate_hz: Callable[[str], float]
) -> DatasetCalibration:
    """Return the calibration of the IMU and of cameras, which become cam0, cam1, ...

    `rate_hz` returns the rate of a topic.
    """
    T_body_base, imu = invert_transform(body_of(recording)), recording.imu
    named = {f"cam{k}": camera for k, camera in enumerate(cameras)}
    return DatasetCalibration(
        cameras=tuple(
            calibrated(camera, name, T_body_base, rate_hz(camera.topic))
            for name, camera in named.items()
        ),
        imu_rate_hz=rate_hz(imu.topic) if imu else 0.0,
        noise=imu.noise if imu else None,
        gravity_m_s2=recording.gravity_m_s2,
        topics={name: camera.raw_topic for name, camera in named.items()}
        | ({"imu0": imu.topic} if imu else {}),
        clouds=recording.clouds,
    )


def body_of(recording: Recording) -> np.ndarray:
    """Return T_base_body: of the IMU, or the identity without one."""
    return np.eye(4) if recording.imu is None else recording.imu.T_base_imu
