# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of ORB-SLAM2 and of ORB-SLAM3 from version 1.0 on.

Tbc and IMU.T_b_c1 take coordinates of the camera to the IMU's, Stereo.T_c1_c2 those of the second
camera to the first's.
"""

from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform
from aerotwin_datasets.calibration import DEPTH_PER_METRE, CalibratedCamera, DatasetCalibration
from aerotwin_datasets.settings.text import HEAD, Value, entries, entry, matrix, write_lines
from aerotwin_datasets.stereo_rectification import rectified_pair

_NAMES = ("fx", "fy", "cx", "cy")
_FEATURES: dict[str, Value] = {
    "nFeatures": 1200, "scaleFactor": 1.2, "nLevels": 8, "iniThFAST": 20, "minThFAST": 7,
}  # fmt: skip
_VIEWER: dict[str, Value] = {
    "KeyFrameSize": 0.05, "KeyFrameLineWidth": 1.0, "GraphLineWidth": 0.9, "PointSize": 2.0,
    "CameraSize": 0.08, "CameraLineWidth": 3.0, "ViewpointX": 0.0, "ViewpointY": -0.7,
    "ViewpointZ": -1.8, "ViewpointF": 500.0, "imageViewScale": 1.0,
}  # fmt: skip
FAR_BASELINES = 40.0
"""Points beyond this many baselines are far ones."""
RGBD_BASELINE_M = 0.08
"""Depth counts as disparity at this baseline; chosen, as the 40 / fx of its authors' TUM1.yaml."""


def write_orb_slam2(place: Path, calibration: DatasetCalibration) -> None:
    """Write `mono.yaml` and, of two cameras, `stereo.yaml` with their rectification.

    Raises `UserError` for a fisheye lens.
    """
    if any(camera.is_fisheye for camera in calibration.cameras):
        raise UserError("it knows no fisheye lens")
    first = calibration.cameras[0]
    write_lines(place / "mono.yaml", [HEAD, *_orb2(first, first.lens.matrix, first.coefficients)])
    if calibration.has_depth:
        bf = first.intrinsics[0] * RGBD_BASELINE_M
        lines = _orb2(first, first.lens.matrix, first.coefficients, bf)
        write_lines(place / "rgbd.yaml", [HEAD, *lines, entry("DepthMapFactor", DEPTH_PER_METRE)])
    pair = rectified_pair(*calibration.cameras[:2]) if len(calibration.cameras) > 1 else None
    if pair is not None:
        (_, P1), (_, P2) = pair
        lines = _orb2(first, P1[:, :3], [0.0] * 4, -float(P2[0, 3]))
        for side, camera, (R, P) in zip(("LEFT", "RIGHT"), calibration.cameras, pair, strict=False):
            D = np.array([[*camera.coefficients, 0.0][:5]])
            lines += entries({"height": camera.lens.height, "width": camera.lens.width}, f"{side}.")
            for name, values in (("D", D), ("K", camera.lens.matrix), ("R", R), ("P", P)):
                lines += matrix(f"{side}.{name}", values)
        write_lines(place / "stereo.yaml", [HEAD, *lines])


def _orb2(
    camera: CalibratedCamera, K: np.ndarray, coefficients: list[float], bf: float | None = None
) -> list[str]:
    values: dict[str, Value] = dict(
        zip(_NAMES, (float(v) for v in (K[0, 0], K[1, 1], K[0, 2], K[1, 2])), strict=True)
    )
    values |= dict(zip(("k1", "k2", "p1", "p2", "k3"), coefficients, strict=False))
    values |= {"width": camera.lens.width, "height": camera.lens.height, "fps": camera.rate_hz}
    values["RGB"] = 1
    if bf is not None:
        values["bf"] = bf
    lines = entries(values, "Camera.")
    lines += [entry("ThDepth", FAR_BASELINES)] if bf is not None else []
    return [*lines, *entries(_FEATURES, "ORBextractor."), *entries(_VIEWER, "Viewer.")]


def write_orb_slam3(place: Path, calibration: DatasetCalibration) -> None:
    """Write `mono.yaml`, of two cameras `stereo.yaml`, of an IMU both with `_inertial`."""
    cameras = calibration.cameras
    inertial = _inertial(calibration)
    kinds = {"mono": _orb3(cameras[:1])}
    if len(cameras) > 1:
        kinds["stereo"] = _orb3(cameras[:2])
    if calibration.has_depth:
        depth = {
            "RGBD.DepthMapFactor": DEPTH_PER_METRE,
            "Stereo.ThDepth": FAR_BASELINES,
            "Stereo.b": RGBD_BASELINE_M,
        }
        kinds["rgbd"] = [*_orb3(cameras[:1]), *entries(depth)]
    for name, lines in kinds.items():
        write_lines(place / f"{name}.yaml", [HEAD, *lines])
        if inertial:
            write_lines(place / f"{name}_inertial.yaml", [HEAD, *lines, *inertial])


def _orb3(cameras: tuple[CalibratedCamera, ...]) -> list[str]:
    first = cameras[0]
    kind = "KannalaBrandt8" if first.is_fisheye else "PinHole"
    lines = [entry("File.version", "1.0"), entry("Camera.type", kind)]
    for k, camera in enumerate(cameras, start=1):
        names = [f"k{n}" for n in range(1, 5)]
        names = names if camera.is_fisheye else ["k1", "k2", "p1", "p2", "k3"]
        values: dict[str, Value] = dict(zip(_NAMES, camera.intrinsics, strict=True))
        values |= dict(zip(names, camera.coefficients, strict=False))
        if camera.is_fisheye and len(cameras) > 1:
            values |= {"overlappingBegin": 0, "overlappingEnd": camera.lens.width - 1}
        lines += entries(values, f"Camera{k}.")
    size: dict[str, Value] = {"width": first.lens.width, "height": first.lens.height}
    lines += entries(size | {"fps": round(first.rate_hz), "RGB": 1}, "Camera.")
    if len(cameras) > 1:
        T_c1_c2 = invert_transform(first.T_body_optical) @ cameras[1].T_body_optical
        lines += [entry("Stereo.ThDepth", FAR_BASELINES), *matrix("Stereo.T_c1_c2", T_c1_c2, "f")]
    return [*lines, *entries(_FEATURES, "ORBextractor."), *entries(_VIEWER, "Viewer.")]


def _inertial(calibration: DatasetCalibration) -> list[str]:
    noise = calibration.noise
    if noise is None:
        return []
    values: dict[str, Value] = {
        "NoiseGyro": noise.gyroscope_noise_density,
        "NoiseAcc": noise.accelerometer_noise_density,
        "GyroWalk": noise.gyroscope_random_walk,
        "AccWalk": noise.accelerometer_random_walk,
        "Frequency": calibration.imu_rate_hz,
    }
    T = calibration.cameras[0].T_body_optical
    return [*matrix("IMU.T_b_c1", T, "f"), *entries(values, "IMU.")]
