# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Calibration of Basalt: noise in continuous time, T_imu_cam takes the camera's to the IMU's.

`pinhole-radtan8` is known by the forks of Basalt that read lenses of OpenCV's model.
"""

import json
from pathlib import Path
from typing import Any

from aerotwin_core.frames import pose_from_transform
from aerotwin_datasets.calibration import CalibratedCamera, DatasetCalibration
from aerotwin_datasets.settings.text import require_noise

_RADTAN = ("k1", "k2", "p1", "p2", "k3")


def write_basalt(place: Path, calibration: DatasetCalibration) -> None:
    """Write `calibration.json`.

    Raises `UserError` without an IMU.
    """
    noise = require_noise(calibration)
    content = {
        "T_imu_cam": [_pose(camera) for camera in calibration.cameras],
        "intrinsics": [_lens(camera) for camera in calibration.cameras],
        "resolution": [[camera.lens.width, camera.lens.height] for camera in calibration.cameras],
        "vignette": [],
        "calib_accel_bias": [0.0] * 9,
        "calib_gyro_bias": [0.0] * 12,
        "imu_update_rate": calibration.imu_rate_hz,
        "accel_noise_std": [noise.accelerometer_noise_density] * 3,
        "gyro_noise_std": [noise.gyroscope_noise_density] * 3,
        "accel_bias_std": [noise.accelerometer_random_walk] * 3,
        "gyro_bias_std": [noise.gyroscope_random_walk] * 3,
        "cam_time_offset_ns": 0,
    }
    text = json.dumps({"value0": content}, indent=4)
    (place / "calibration.json").write_text(f"{text}\n", encoding="utf-8")


def _pose(camera: CalibratedCamera) -> dict[str, float]:
    p, q = pose_from_transform(camera.T_body_optical)
    values = [*p.tolist(), *q.tolist()]
    return dict(zip(("px", "py", "pz", "qx", "qy", "qz", "qw"), values, strict=True))


def _lens(camera: CalibratedCamera) -> dict[str, Any]:
    values = dict(zip(("fx", "fy", "cx", "cy"), camera.intrinsics, strict=True))
    if camera.is_pinhole:
        return {"camera_type": "pinhole", "intrinsics": values}
    if camera.is_fisheye:
        values |= {f"k{k}": value for k, value in enumerate(camera.coefficients, start=1)}
        return {"camera_type": "kb4", "intrinsics": values}
    values |= dict.fromkeys((*_RADTAN, "k4", "k5", "k6", "rpmax"), 0.0)
    values |= dict(zip(_RADTAN, camera.coefficients, strict=False))
    return {"camera_type": "pinhole-radtan8", "intrinsics": values}
