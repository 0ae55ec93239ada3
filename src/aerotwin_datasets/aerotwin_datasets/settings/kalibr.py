# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Calibration in Kalibr's files, and settings of OpenVINS, which reads files like them.

Kalibr's T_cam_imu takes coordinates of the IMU to the camera's, T_imu_cam of OpenVINS the other
way; T_cn_cnm1 those of the camera before it. The line delay is that from row to row of a rolling
shutter.
"""

from pathlib import Path

import numpy as np

from aerotwin_core.frames import invert_transform
from aerotwin_datasets.calibration import CalibratedCamera, DatasetCalibration
from aerotwin_datasets.settings.text import (
    HEAD,
    Value,
    entries,
    entry,
    require_noise,
    require_short,
    write_lines,
)


def write_kalibr(place: Path, calibration: DatasetCalibration) -> None:
    """Write `camchain.yaml` and, of an IMU, `imu.yaml`.

    Raises `UserError` if a lens has a fifth coefficient.
    """
    lines: list[str] = []
    for k, camera in enumerate(calibration.cameras):
        lines += [f"{camera.name}:", *_camera(camera, calibration)]
        if calibration.noise is not None:
            lines += _rows("T_cam_imu", invert_transform(camera.T_body_optical))
        if k:
            before = calibration.cameras[k - 1].T_body_optical
            lines += _rows("T_cn_cnm1", invert_transform(camera.T_body_optical) @ before)
    write_lines(place / "camchain.yaml", lines)
    if calibration.noise is not None:
        write_lines(place / "imu.yaml", _imu(calibration))


def write_openvins(place: Path, calibration: DatasetCalibration) -> None:
    """Write the estimator's settings with the files that they name.

    Raises `UserError` without an IMU, or if a lens has a fifth coefficient.
    """
    require_noise(calibration)
    chain = [HEAD]
    for camera in calibration.cameras:
        others = [k for k, other in enumerate(calibration.cameras) if other is not camera]
        chain += [f"{camera.name}:", *_rows("T_imu_cam", camera.T_body_optical)]
        chain += [f"  cam_overlaps: {others}", *_camera(camera, calibration)]
    identity, zero = np.eye(3), np.zeros((3, 3))
    imu = [HEAD, "imu0:", *_rows("T_i_b", np.eye(4)), *(f"  {line}" for line in _imu(calibration))]
    imu += ['  model: "kalibr"', "  time_offset: 0.0"]
    for name, values in (("Tw", identity), ("R_IMUtoGYRO", identity), ("Ta", identity),
                         ("R_IMUtoACC", identity), ("Tg", zero)):  # fmt: skip
        imu += _rows(name, values)
    is_stereo = len(calibration.cameras) > 1
    rate_hz = calibration.cameras[0].rate_hz
    estimator: dict[str, Value | bool] = {
        "verbosity": "INFO", "use_fej": True, "use_imuavg": True,
        "use_rk4int": True, "integration": "rk4", "use_stereo": is_stereo,
        "max_cameras": len(calibration.cameras), "calib_cam_extrinsics": False,
        "calib_cam_intrinsics": False, "calib_cam_timeoffset": False,
        "calib_imu_intrinsics": False, "calib_imu_g_sensitivity": False, "max_clones": 11,
        "max_slam": 50, "max_slam_in_update": 25, "max_msckf_in_update": 40, "dt_slam_delay": 1.0,
        "gravity_mag": calibration.gravity_m_s2, "feat_rep_msckf": "GLOBAL_3D",
        "feat_rep_slam": "ANCHORED_MSCKF_INVERSE_DEPTH",
        "feat_rep_aruco": "ANCHORED_MSCKF_INVERSE_DEPTH", "try_zupt": False,
        "zupt_chi2_multipler": 0.0, "zupt_max_velocity": 0.1, "zupt_noise_multiplier": 10.0,
        "zupt_max_disparity": 0.5, "zupt_only_at_beginning": False, "init_window_time": 2.0,
        "init_imu_thresh": 1.5, "init_max_disparity": 10.0, "init_max_features": 75,
        "init_dyn_use": False, "init_dyn_mle_opt_calib": False, "init_dyn_mle_max_iter": 50,
        "init_dyn_mle_max_time": 0.05, "init_dyn_mle_max_threads": 6, "init_dyn_num_pose": 6,
        "init_dyn_min_deg": 10.0, "init_dyn_inflation_ori": 10.0, "init_dyn_inflation_vel": 100.0,
        "init_dyn_inflation_bg": 10.0, "init_dyn_inflation_ba": 100.0,
        "init_dyn_min_rec_cond": 1e-12, "init_dyn_bias_g": [0.0] * 3, "init_dyn_bias_a": [0.0] * 3,
        "record_timing_information": False, "record_timing_filepath": "timing.txt",
        "save_total_state": False, "filepath_est": "estimate.txt", "filepath_std": "std.txt",
        "filepath_gt": "truth.txt", "use_klt": True, "num_pts": 200, "fast_threshold": 20,
        "grid_x": 5, "grid_y": 5, "min_px_dist": 10, "knn_ratio": 0.7,
        "track_frequency": rate_hz + 1.0, "downsample_cameras": False, "num_opencv_threads": 4,
        "histogram_method": "HISTOGRAM", "use_aruco": False, "num_aruco": 1024,
        "downsize_aruco": True, "up_msckf_sigma_px": 1.0, "up_msckf_chi2_multipler": 1.0,
        "up_slam_sigma_px": 1.0, "up_slam_chi2_multipler": 1.0, "up_aruco_sigma_px": 1.0,
        "up_aruco_chi2_multipler": 1.0, "use_mask": False,
        "relative_config_imu": "kalibr_imu_chain.yaml",
        "relative_config_imucam": "kalibr_imucam_chain.yaml",
    }  # fmt: skip
    settings = [
        f"{name}: {str(value).lower()}" if isinstance(value, bool) else entry(name, value)
        for name, value in estimator.items()
    ]
    write_lines(place / "kalibr_imucam_chain.yaml", chain)
    write_lines(place / "kalibr_imu_chain.yaml", imu)
    write_lines(place / "estimator_config.yaml", [HEAD, *settings])


def _camera(camera: CalibratedCamera, calibration: DatasetCalibration) -> list[str]:
    lens = camera.lens
    lines = [
        "  camera_model: pinhole",
        f"  distortion_model: {'equidistant' if camera.is_fisheye else 'radtan'}",
        *entries(
            {"distortion_coeffs": require_short(camera), "intrinsics": camera.intrinsics}, "  "
        ),
        f"  resolution: [{lens.width}, {lens.height}]",
        f"  rostopic: {calibration.topics.get(camera.name, f'/{camera.name}/image_raw')}",
    ]
    if camera.readout_s:
        lines.append(entry("  line_delay", camera.readout_s / max(lens.height - 1, 1)))
    return lines


def _imu(calibration: DatasetCalibration) -> list[str]:
    noise = require_noise(calibration)
    values = {name: float(getattr(noise, name)) for name in noise.__dataclass_fields__}
    topic = calibration.topics.get("imu0", "/imu0")
    return [*entries(values), f"rostopic: {topic}", entry("update_rate", calibration.imu_rate_hz)]


def _rows(name: str, values: np.ndarray) -> list[str]:
    return [f"  {name}:", *(f"    - {entry('', row)[2:]}" for row in values.tolist())]
