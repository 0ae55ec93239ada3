# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of SLAMs, read as they read them: what a point in front of the cameras becomes."""

import dataclasses
import json

import cv2
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import FisheyeCamera, PinholeCamera
from aerotwin_datasets.calibration import CalibratedCamera, DatasetCalibration
from aerotwin_datasets.recording import ImuNoise
from aerotwin_datasets.settings import write_settings
from support.dataset_samples import LENS, T_BASE_IMU, mounting

RATE_HZ = 250.0
NOISE = ImuNoise(
    gyroscope_noise_density=1e-3,
    gyroscope_random_walk=2e-5,
    accelerometer_noise_density=3e-2,
    accelerometer_random_walk=4e-4,
)
POINT_BASE = np.array([4.0, 0.3, -0.2, 1.0])
POINT_IMU = np.linalg.inv(T_BASE_IMU) @ POINT_BASE
OPENED: list[cv2.FileStorage] = []
"""A node lives as long as its file."""
FLOAT = 1e-6
"""Of single precision, of numbers below 10."""
FISHEYE = FisheyeCamera(
    width=64, height=48, fx=20.0, fy=20.0, cx=31.5, cy=23.5, k1=0.01, k2=-0.002, k3=0.0, k4=1e-4
)
KEYS_OF_STELLA = {
    "Camera": {
        "name", "setup", "model", "fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3", "fps",
        "cols", "rows", "color_order", "focal_x_baseline", "depth_threshold",
    },
    "StereoRectifier": {"model", "K_left", "D_left", "R_left", "K_right", "D_right", "R_right"},
    "Preprocessing": {"min_size", "depthmap_factor", "mask_rectangles"},
    "Feature": {"name", "scale_factor", "num_levels", "ini_fast_threshold", "min_fast_threshold"},
    "Initializer": {"min_num_triangulated_pts", "num_ransac_iterations", "min_num_valid_pts"},
    "Mapping": {"baseline_dist_thr", "redundant_obs_ratio_thr", "num_temporal_keyframes"},
}  # fmt: skip
"""Keys that stella_vslam (b0e60d67) asks for, in the sections written here: camera/base.cc,
camera/perspective.cc, util/stereo_rectifier.cc, system.cc, feature/orb_params.cc,
module/initializer.cc, mapping_module.cc."""
PINHOLE = PinholeCamera(width=64, height=48, fx=60.0, fy=60.0, cx=31.5, cy=23.5)


def camera(side, lens, readout_s=0.0):
    return CalibratedCamera(
        name=f"cam{side}", lens=lens, T_body_optical=np.linalg.inv(T_BASE_IMU) @ mounting(side),
        rate_hz=20.0, is_colour=False, readout_s=readout_s,
    )  # fmt: skip


def calibration(lens=LENS, n=2, noise=NOISE, readout_s=0.0):
    return DatasetCalibration(
        cameras=tuple(camera(side, lens, readout_s) for side in range(n)),
        imu_rate_hz=RATE_HZ if noise else 0.0,
        noise=noise,
        gravity_m_s2=9.81,
    )


def in_camera(side):
    return np.linalg.inv(mounting(side)) @ POINT_BASE


def opencv(path):
    storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_READ)
    assert storage.isOpened()
    OPENED.append(storage)
    return storage


def real(storage, *names):
    nodes = [storage.getNode(name) for name in names]
    assert all(node.isReal() for node in nodes), names  # as ORB-SLAM3 asks for them
    return [node.real() for node in nodes]


@pytest.fixture
def place(tmp_path):
    assert write_settings(tmp_path, calibration()) == []
    return tmp_path / "settings"


def test_orb_slam3_finds_camera_pair_and_imu(place):
    storage = opencv(place / "orb_slam3" / "stereo_inertial.yaml")
    assert real(storage, *(f"Camera1.{name}" for name in ("fx", "fy", "cx", "cy", "k1", "p1"))) == [
        30.0, 31.0, 15.25, 11.5, -0.05, 1e-3,
    ]  # fmt: skip
    assert real(storage, "IMU.NoiseGyro", "IMU.NoiseAcc", "IMU.GyroWalk", "IMU.AccWalk") == [
        1e-3, 3e-2, 2e-5, 4e-4,
    ]  # fmt: skip
    assert real(storage, "IMU.Frequency", "Stereo.ThDepth", "Viewer.ViewpointF") == [250, 40, 500]
    for name in ("Camera.width", "Camera.height", "Camera.fps", "ORBextractor.nFeatures"):
        assert storage.getNode(name).isInt(), name
    T_b_c1 = storage.getNode("IMU.T_b_c1").mat()
    assert T_b_c1.dtype == np.float32
    np.testing.assert_allclose(T_b_c1 @ in_camera(0), POINT_IMU, atol=FLOAT)
    T_c1_c2 = storage.getNode("Stereo.T_c1_c2").mat()
    np.testing.assert_allclose(T_c1_c2 @ in_camera(1), in_camera(0), atol=FLOAT)
    assert T_c1_c2[0, 3] == pytest.approx(0.11, abs=FLOAT)


def test_orb_slam2_rectifies_to_equal_rows_and_the_disparity_of_bf(place):
    storage = opencv(place / "orb_slam2" / "stereo.yaml")
    pixels, depth = [], 0.0
    for side, name in enumerate(("LEFT", "RIGHT")):
        R, P = (storage.getNode(f"{name}.{each}").mat() for each in "RP")
        point = R @ in_camera(side)[:3]
        # A rectified image is that of P's first three columns from the camera's own centre.
        pixel = P[:, :3] @ point
        pixels.append(pixel[:2] / pixel[2])
        depth = point[2]
        np.testing.assert_array_equal(storage.getNode(f"{name}.K").mat(), LENS.matrix)
    (bf,) = real(storage, "Camera.bf")
    assert pixels[0][1] == pytest.approx(pixels[1][1], abs=1e-9)
    assert pixels[0][0] - pixels[1][0] == pytest.approx(bf / depth, abs=1e-9)
    assert real(storage, "Camera.fx")[0] == storage.getNode("LEFT.P").mat()[0, 0]


def test_stella_vslam_has_the_same_rectification(place):
    storage = opencv(place / "orb_slam2" / "stereo.yaml")
    found = yaml.safe_load((place / "stella_vslam" / "stereo.yaml").read_text())
    R = np.reshape(found["StereoRectifier"]["R_right"], (3, 3))
    np.testing.assert_allclose(R, storage.getNode("RIGHT.R").mat(), atol=1e-15)
    assert found["Camera"]["focal_x_baseline"] == real(storage, "Camera.bf")[0]
    assert found["Camera"]["k1"] == 0.0
    assert found["Initializer"] == {"min_num_triangulated_pts": 100}  # module/initializer.cc
    assert found["StereoRectifier"]["D_left"] == [-0.05, 0.01, 1e-3, 0.0, 0.0]
    alone = yaml.safe_load((place / "stella_vslam" / "mono.yaml").read_text())["Camera"]
    assert (alone["setup"], alone["k1"], alone["cols"]) == ("monocular", -0.05, 32)


def test_stella_vslam_asks_for_every_key(place):
    """It takes a default for what it does not find: a misspelt name goes unnoticed."""
    for name in ("mono", "stereo"):
        found = yaml.safe_load((place / "stella_vslam" / f"{name}.yaml").read_text())
        assert found.keys() <= KEYS_OF_STELLA.keys(), name
        for section, values in found.items():
            assert values.keys() <= KEYS_OF_STELLA[section], section
    assert found.keys() == KEYS_OF_STELLA.keys()


def test_kalibr_and_openvins_have_the_extrinsics_in_opposite_directions(place):
    chain = yaml.safe_load((place / "kalibr" / "camchain.yaml").read_text())
    for side in (0, 1):
        T = np.array(chain[f"cam{side}"]["T_cam_imu"])
        np.testing.assert_allclose(T @ POINT_IMU, in_camera(side), atol=1e-12)
    T = np.array(chain["cam1"]["T_cn_cnm1"])
    np.testing.assert_allclose(T @ in_camera(0), in_camera(1), atol=1e-12)
    storage = opencv(place / "openvins" / "kalibr_imucam_chain.yaml")
    rows = storage.getNode("cam1").getNode("T_imu_cam")
    T = np.array([[rows.at(i).at(k).real() for k in range(4)] for i in range(4)])
    np.testing.assert_allclose(T @ in_camera(1), POINT_IMU, atol=1e-12)
    imu = yaml.safe_load((place / "kalibr" / "imu.yaml").read_text())
    assert imu["accelerometer_random_walk"] == 4e-4
    imu = opencv(place / "openvins" / "kalibr_imu_chain.yaml").getNode("imu0")
    assert imu.getNode("gyroscope_noise_density").real() == 1e-3
    estimator = opencv(place / "openvins" / "estimator_config.yaml")
    assert estimator.getNode("gravity_mag").real() == 9.81
    assert estimator.getNode("max_cameras").isInt()
    text = (place / "openvins" / "estimator_config.yaml").read_text()
    assert "\ncalib_cam_extrinsics: false\n" in text


def test_vins_fusion_has_the_noise_of_one_sample(place):
    storage = opencv(place / "vins_fusion" / "config.yaml")
    names = ("gyr_n", "acc_n", "gyr_w", "acc_w")
    np.testing.assert_allclose(
        real(storage, *names), np.array([1e-3, 3e-2, 2e-5, 4e-4]) * np.sqrt(RATE_HZ), rtol=1e-12
    )
    T = storage.getNode("body_T_cam1").mat()
    np.testing.assert_allclose(T @ in_camera(1), POINT_IMU, atol=1e-12)
    lens = opencv(place / "vins_fusion" / storage.getNode("cam0_calib").string())
    assert lens.getNode("projection_parameters").getNode("cy").real() == 11.5
    assert lens.getNode("distortion_parameters").getNode("k2").real() == 0.01


def test_basalt_has_poses_of_the_cameras_in_the_imu(place):
    found = json.loads((place / "basalt" / "calibration.json").read_text())["value0"]
    pose = found["T_imu_cam"][1]
    R = Rotation.from_quat([pose[f"q{axis}"] for axis in "xyzw"]).as_matrix()
    at = R @ in_camera(1)[:3] + [pose[f"p{axis}"] for axis in "xyz"]
    np.testing.assert_allclose(at, POINT_IMU[:3], atol=1e-12)
    assert found["accel_noise_std"] == [3e-2] * 3
    assert found["intrinsics"][0]["camera_type"] == "pinhole-radtan8"


@pytest.mark.parametrize(
    ("lens", "first", "mode"),
    [
        (PINHOLE, "Pinhole 60.0 60.0 31.5 23.5 0.0", "none"),
        (LENS, "RadTan 30.0 31.0 15.25 11.5 -0.05 0.01 0.001 0.0", "crop"),
        (FISHEYE, "KannalaBrandt 20.0 20.0 31.5 23.5 0.01 -0.002 0.0 0.0001", "crop"),
    ],
)
def test_dso_has_the_lens_in_pixels(tmp_path, lens, first, mode):
    write_settings(tmp_path, calibration(lens), "cam0/data", [50_000_000, 100_000_001])
    lines = (tmp_path / "settings" / "dso" / "camera.txt").read_text().splitlines()
    assert lines[:3] == [first, f"{lens.width} {lens.height}", mode]
    assert all(int(number) % 16 == 0 for number in lines[3].split())
    times = (tmp_path / "settings" / "dso" / "times.txt").read_text()
    assert times == "000000 0.050000000\n000001 0.100000001\n"
    assert (tmp_path / "settings" / "dso" / "images").readlink().as_posix() == "../../cam0/data"
    assert (
        tmp_path / "settings" / "times.txt"
    ).read_text() == f"{50_000_000:019d}\n{100_000_001:019d}\n"


def test_dso_gets_the_middle_of_a_pinhole_image_that_has_no_pyramid(tmp_path):
    lens = dataclasses.replace(PINHOLE, width=70, height=51)
    write_settings(tmp_path, calibration(lens))
    lines = (tmp_path / "settings" / "dso" / "camera.txt").read_text().splitlines()
    fx, fy, cx, cy, _ = map(float, lines[2].split())
    width, height = map(int, lines[3].split())
    assert (width, height) == (64, 48)
    # as Undistort::readFromFile of DSO takes them; the first pixel is (3, 1) of the whole image
    assert (fx * width, fy * height) == pytest.approx((60.0, 60.0))
    assert (cx * width - 0.5, cy * height - 0.5) == pytest.approx((31.5 - 3, 23.5 - 1))


def test_a_fisheye_pair_is_one_everywhere_it_is_known(tmp_path):
    (problem,) = write_settings(tmp_path, calibration(FISHEYE))
    assert problem == "no settings of orb_slam2: it knows no fisheye lens"
    place = tmp_path / "settings"
    storage = opencv(place / "orb_slam3" / "stereo.yaml")
    assert storage.getNode("Camera.type").string() == "KannalaBrandt8"
    assert real(storage, "Camera2.k1", "Camera2.k4") == [0.01, 1e-4]
    lens = opencv(place / "vins_fusion" / "cam1.yaml").getNode("projection_parameters")
    assert [lens.getNode(name).real() for name in ("mu", "v0", "k2", "k5")] == [
        20,
        23.5,
        0.01,
        1e-4,
    ]
    basalt = json.loads((place / "basalt" / "calibration.json").read_text())["value0"]
    assert basalt["intrinsics"][0]["camera_type"] == "kb4"
    stella = yaml.safe_load((place / "stella_vslam" / "stereo.yaml").read_text())
    assert stella["StereoRectifier"]["model"] == "fisheye"
    chain = yaml.safe_load((place / "kalibr" / "camchain.yaml").read_text())
    assert chain["cam0"]["distortion_model"] == "equidistant"


def test_without_imu_what_needs_one_is_named(tmp_path):
    problems = write_settings(tmp_path, calibration(PINHOLE, n=1, noise=None))
    assert problems == [
        f"no settings of {name}: it needs an IMU" for name in ("basalt", "openvins")
    ]
    names = {path.name for path in (tmp_path / "settings" / "orb_slam3").iterdir()}
    assert names == {"mono.yaml"}
    assert not (tmp_path / "settings" / "orb_slam2" / "stereo.yaml").exists()
    assert opencv(tmp_path / "settings" / "vins_fusion" / "config.yaml").getNode("imu").real() == 0


def test_a_fifth_coefficient_is_not_dropped(tmp_path):
    lens = dataclasses.replace(LENS, k3=1e-3)
    problems = write_settings(tmp_path, calibration(lens))
    assert {line.split(":")[0] for line in problems} == {
        f"no settings of {name}" for name in ("dso", "kalibr", "openvins", "vins_fusion")
    }
    storage = opencv(tmp_path / "settings" / "orb_slam3" / "mono.yaml")
    assert real(storage, "Camera1.k3") == [1e-3]


def test_a_rolling_shutter_is_a_delay_from_row_to_row(tmp_path):
    write_settings(tmp_path, calibration(readout_s=0.023))
    chain = yaml.safe_load((tmp_path / "settings" / "kalibr" / "camchain.yaml").read_text())
    assert chain["cam0"]["line_delay"] == pytest.approx(0.023 / (LENS.height - 1))
