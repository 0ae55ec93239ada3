# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of VINS-Fusion.

Its noise is that of one sample: densities and walks times the root of the rate. body_T_cam takes
coordinates of the camera to the IMU's.
"""

import math
from pathlib import Path

from aerotwin_datasets.calibration import CalibratedCamera, DatasetCalibration
from aerotwin_datasets.settings.text import (
    HEAD,
    Value,
    entries,
    matrix,
    require_short,
    write_lines,
)


def write_vins_fusion(place: Path, calibration: DatasetCalibration) -> None:
    """Write `config.yaml` of at most two cameras, with the IMU if there is one.

    Raises `UserError` if a lens has a fifth coefficient.
    """
    cameras, noise = calibration.cameras[:2], calibration.noise
    first = cameras[0].lens
    values: dict[str, Value] = {
        "imu": int(noise is not None),
        "num_of_cam": len(cameras),
        "imu_topic": calibration.topics.get("imu0", "/imu0"),
    }
    for k, camera in enumerate(cameras):
        topic = calibration.topics.get(camera.name, f"/{camera.name}/image_raw")
        values |= {f"image{k}_topic": topic, f"cam{k}_calib": f"{camera.name}.yaml"}
        write_lines(place / f"{camera.name}.yaml", _lens(camera))
    values |= {
        "output_path": ".", "image_width": first.width, "image_height": first.height,
        "estimate_extrinsic": 0, "multiple_thread": 1, "max_cnt": 150, "min_dist": 30, "freq": 10,
        "F_threshold": 1.0, "show_track": 0, "flow_back": 1, "max_solver_time": 0.04,
        "max_num_iterations": 8, "keyframe_parallax": 10.0,
    }  # fmt: skip
    if noise is not None:
        root = math.sqrt(calibration.imu_rate_hz)
        values |= {
            "acc_n": noise.accelerometer_noise_density * root,
            "gyr_n": noise.gyroscope_noise_density * root,
            "acc_w": noise.accelerometer_random_walk * root,
            "gyr_w": noise.gyroscope_random_walk * root,
            "g_norm": calibration.gravity_m_s2,
        }
    values |= {"estimate_td": 0, "td": 0.0, "load_previous_pose_graph": 0,
               "pose_graph_save_path": "pose_graph", "save_image": 0}  # fmt: skip
    lines = [HEAD, *entries(values)]
    for k, camera in enumerate(cameras):
        lines += matrix(f"body_T_cam{k}", camera.T_body_optical)
    write_lines(place / "config.yaml", lines)


def _lens(camera: CalibratedCamera) -> list[str]:
    lens, coefficients = camera.lens, require_short(camera)
    names = ("mu", "mv", "u0", "v0") if camera.is_fisheye else ("fx", "fy", "cx", "cy")
    projection: dict[str, Value] = dict(zip(names, camera.intrinsics, strict=True))
    kind = "KANNALA_BRANDT" if camera.is_fisheye else "PINHOLE"
    lines = [HEAD, "---", f"model_type: {kind}", f"camera_name: {camera.name}"]
    lines += entries({"image_width": lens.width, "image_height": lens.height})
    if camera.is_fisheye:  # its k2 is the first coefficient, that of the third power
        projection |= dict(zip(("k2", "k3", "k4", "k5"), coefficients, strict=True))
    else:
        distortion = dict(zip(("k1", "k2", "p1", "p2"), coefficients, strict=True))
        lines += ["distortion_parameters:", *entries(distortion, "   ")]
    return [*lines, "projection_parameters:", *entries(projection, "   ")]
