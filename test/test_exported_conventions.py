# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A known point of a rendered world, projected through the files of each exported format.

It must lie where the exported image shows it: this proves the direction of every transform and the
pixel-centre convention of every settings file (docs/reference/conventions_of_formats.md). Lenses
are applied by OpenCV, not by this workspace.
"""

import json

import cv2
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import BrownCamera, PinholeCamera
from aerotwin_core.frames import make_transform
from aerotwin_datasets import export_bag, read_recording
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import Rasteriser
from support.dataset_samples import START_NS, mounting, parallel_mounting, state, write_recording

FRAME_NS = 48_000_000
"""A multiple of the IMU's period: the truth has the stamps of the images."""
FRAMES = (0, 4)
BROWN = BrownCamera(
    width=320, height=240, fx=230.0, fy=240.0, cx=151.25, cy=123.5, k1=-0.08, k2=0.02, p1=1e-3
)
PINHOLE = PinholeCamera(width=320, height=240, fx=230.0, fy=230.0, cx=151.25, cy=123.5)
PIXEL = 0.1
"""Error of a corner found in a rendered image; half a pixel would be another convention."""


def T_map_base(k):
    p, R, _, _ = state(k * FRAME_NS * 1e-9)
    return make_transform(R.as_matrix(), p)


TARGETS_MAP = (T_map_base(2) @ np.array([[4.0, 0.5, -0.4, 1], [4.5, -0.6, 0.5, 1]]).T).T[:, :3]


def sheet(middle, half_m, texture):
    """Return a square across the body's x axis at the middle of the flight."""
    y, z = half_m * T_map_base(2)[:3, 1], half_m * T_map_base(2)[:3, 2]
    return TexturedMesh(
        vertices_map=np.array([middle + y + z, middle - y + z, middle - y - z, middle + y - z]),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32),
        texture=np.repeat(texture[..., None], 3, axis=2),
    )


def crossing():
    """Return a picture of two bright and two dark squares that meet in its middle, softly."""
    edge = np.tanh((np.arange(64) - 31.5) / 3.0)
    return np.round(128 + 100 * np.outer(edge, edge)).astype(np.uint8)


def world():
    """Return two crossings before a dark wall."""
    behind = (T_map_base(2) @ [9.0, 0.0, 0.0, 1.0])[:3]
    wall = sheet(behind, 9.0, np.full((1, 1), 20, np.uint8))
    return [wall, *(sheet(target, 0.4, crossing()) for target in TARGETS_MAP)]


def export(tmp_path, form, lens, mount):
    renderer = Rasteriser(world())

    def picture(k, side, _):
        return renderer.render_mono(lens, T_map_base(k) @ mount(side)).image

    bag = write_recording(
        tmp_path / "bag", lens=lens, mount=mount, encodings=("mono8", "mono8"),
        frame_ns=FRAME_NS, picture=picture,
    )  # fmt: skip
    export_bag(form, read_recording(bag), tmp_path / form)
    return tmp_path / form


@pytest.fixture(scope="module")
def euroc(tmp_path_factory):
    return export(tmp_path_factory.mktemp("conventions"), "euroc", BROWN, mounting)


@pytest.fixture(scope="module")
def settings(euroc):
    return euroc / "settings"


def assert_shown(path, pixels):
    """Check that the crossings of an image lie at the pixels, (0, 0) the centre of the first."""
    image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    assert image is not None, path
    near = np.round(pixels).astype(np.float32)[:, None]
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 100, 1e-4)
    found = cv2.cornerSubPix(image, near.copy(), (5, 5), (-1, -1), stop)[:, 0]
    np.testing.assert_allclose(found, pixels, atol=PIXEL)


def project(points_optical, K, D):
    """Return pixels by OpenCV."""
    return cv2.projectPoints(points_optical, np.zeros(3), np.zeros(3), K, np.array(D))[0][:, 0]


def matrix(fx, fy, cx, cy):
    return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])


def apply(T, points):
    return points @ T[:3, :3].T + T[:3, 3]


def in_imu(euroc, k):
    """Return the targets in the IMU's frame, by the exported truth: T_map_imu."""
    path = euroc / "mav0" / "state_groundtruth_estimate0" / "data.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    (row,) = (row for row in rows if int(row[0]) == START_NS + k * FRAME_NS)
    p, (w, x, y, z) = np.array(row[1:4], float), np.array(row[4:8], float)
    T_map_imu = make_transform(Rotation.from_quat([x, y, z, w]).as_matrix(), p)
    return apply(np.linalg.inv(T_map_imu), TARGETS_MAP)


def assert_all_shown(euroc, to_pixels, sides=(0, 1)):
    """Check `to_pixels(side, points_imu)` against the images of the data set."""
    for side in sides:
        for k in FRAMES:
            name = f"{START_NS + k * FRAME_NS:019d}.png"
            pixels = to_pixels(side, in_imu(euroc, k))
            assert_shown(euroc / "mav0" / f"cam{side}" / "data" / name, pixels)


def opencv(path):
    storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_READ)
    assert storage.isOpened()
    return storage


def reals(node, *names):
    return [node.getNode(name).real() for name in names]


def test_euroc_T_BS_takes_the_camera_to_the_imu(euroc):
    def to_pixels(side, points_imu):
        found = yaml.safe_load((euroc / "mav0" / f"cam{side}" / "sensor.yaml").read_text())
        T_imu_cam = np.reshape(found["T_BS"]["data"], (4, 4))
        points = apply(np.linalg.inv(T_imu_cam), points_imu)
        return project(points, matrix(*found["intrinsics"]), found["distortion_coefficients"])

    assert_all_shown(euroc, to_pixels)


def test_kalibr_T_cam_imu_takes_the_imu_to_the_camera(euroc, settings):
    chain = yaml.safe_load((settings / "kalibr" / "camchain.yaml").read_text())

    def to_pixels(side, points_imu):
        found = chain[f"cam{side}"]
        points = apply(np.array(found["T_cam_imu"]), points_imu)
        return project(points, matrix(*found["intrinsics"]), found["distortion_coeffs"])

    assert_all_shown(euroc, to_pixels)

    def by_the_first(side, points_imu):
        points = apply(np.array(chain["cam0"]["T_cam_imu"]), points_imu)
        found = chain["cam1"]
        points = apply(np.array(found["T_cn_cnm1"]), points)
        return project(points, matrix(*found["intrinsics"]), found["distortion_coeffs"])

    assert_all_shown(euroc, by_the_first, sides=(1,))


def test_openvins_T_imu_cam_takes_the_camera_to_the_imu(euroc, settings):
    text = (settings / "openvins" / "kalibr_imucam_chain.yaml").read_text()
    chain = yaml.safe_load(text.partition("\n")[2])

    def to_pixels(side, points_imu):
        found = chain[f"cam{side}"]
        points = apply(np.linalg.inv(np.array(found["T_imu_cam"])), points_imu)
        return project(points, matrix(*found["intrinsics"]), found["distortion_coeffs"])

    assert_all_shown(euroc, to_pixels)


def test_orb_slam3_T_b_c1_takes_the_first_camera_to_the_imu(euroc, settings):
    storage = opencv(settings / "orb_slam3" / "stereo_inertial.yaml")
    T_b_c1, T_c1_c2 = (storage.getNode(name).mat() for name in ("IMU.T_b_c1", "Stereo.T_c1_c2"))

    def to_pixels(side, points_imu):
        names = (f"Camera{side + 1}.{each}" for each in ("fx", "fy", "cx", "cy"))
        lens = [f"Camera{side + 1}.{each}" for each in ("k1", "k2", "p1", "p2")]
        T_b_c = T_b_c1 if side == 0 else T_b_c1 @ T_c1_c2
        points = apply(np.linalg.inv(T_b_c.astype(np.float64)), points_imu)
        return project(points, matrix(*reals(storage, *names)), reals(storage, *lens))

    assert_all_shown(euroc, to_pixels)


def test_orb_slam2_rectification_shows_the_disparity_of_bf(euroc, settings):
    storage = opencv(settings / "orb_slam2" / "stereo.yaml")
    (bf,) = reals(storage, "Camera.bf")
    for k in FRAMES:
        rectified = []
        for side, name in enumerate(("LEFT", "RIGHT")):
            K, D, R, P = (storage.getNode(f"{name}.{each}").mat() for each in "KDRP")
            maps = cv2.initUndistortRectifyMap(K, D, R, P[:, :3], (320, 240), cv2.CV_32FC1)
            image = euroc / "mav0" / f"cam{side}" / "data" / f"{START_NS + k * FRAME_NS:019d}.png"
            straight = cv2.remap(cv2.imread(str(image), cv2.IMREAD_GRAYSCALE), *maps,
                                 cv2.INTER_LINEAR)  # fmt: skip
            T_cam_map = np.linalg.inv(T_map_base(k) @ mounting(side))
            points = apply(T_cam_map, TARGETS_MAP) @ R.T
            pixels = points @ P[:, :3].T
            pixels = pixels[:, :2] / pixels[:, 2:]
            assert cv2.imwrite(str(euroc / "straight.png"), straight)
            assert_shown(euroc / "straight.png", pixels)
            rectified.append((pixels, points[:, 2]))
        (left, z), (right, _) = rectified
        np.testing.assert_allclose(left[:, 0] - right[:, 0], bf / z, atol=1e-6)
        np.testing.assert_allclose(left[:, 1], right[:, 1], atol=1e-6)


def test_vins_fusion_body_T_cam_takes_the_camera_to_the_imu(euroc, settings):
    storage = opencv(settings / "vins_fusion" / "config.yaml")

    def to_pixels(side, points_imu):
        lens = opencv(settings / "vins_fusion" / storage.getNode(f"cam{side}_calib").string())
        K = matrix(*reals(lens.getNode("projection_parameters"), "fx", "fy", "cx", "cy"))
        D = reals(lens.getNode("distortion_parameters"), "k1", "k2", "p1", "p2")
        T_imu_cam = storage.getNode(f"body_T_cam{side}").mat()
        return project(apply(np.linalg.inv(T_imu_cam), points_imu), K, D)

    assert_all_shown(euroc, to_pixels)


def test_basalt_T_imu_cam_takes_the_camera_to_the_imu(euroc, settings):
    found = json.loads((settings / "basalt" / "calibration.json").read_text())["value0"]

    def to_pixels(side, points_imu):
        pose, lens = found["T_imu_cam"][side], found["intrinsics"][side]["intrinsics"]
        R = Rotation.from_quat([pose[name] for name in ("qx", "qy", "qz", "qw")]).as_matrix()
        T_imu_cam = make_transform(R, [pose[name] for name in ("px", "py", "pz")])
        K = matrix(*(lens[name] for name in ("fx", "fy", "cx", "cy")))
        D = [lens[name] for name in ("k1", "k2", "p1", "p2", "k3")]
        return project(apply(np.linalg.inv(T_imu_cam), points_imu), K, D)

    assert_all_shown(euroc, to_pixels)


def test_dso_has_the_centre_in_pixels(euroc, settings):
    model, *numbers = (settings / "dso" / "camera.txt").read_text().splitlines()[0].split()
    fx, fy, cx, cy, *D = map(float, numbers)
    # DSO takes a centre below 1 as a share of the size, and only then moves it by half a pixel.
    assert model == "RadTan"
    assert min(cx, cy) > 1.0

    def to_pixels(_, points_imu):
        found = yaml.safe_load((euroc / "mav0" / "cam0" / "sensor.yaml").read_text())
        T_imu_cam = np.reshape(found["T_BS"]["data"], (4, 4))
        return project(apply(np.linalg.inv(T_imu_cam), points_imu), matrix(fx, fy, cx, cy), D)

    assert_all_shown(euroc, to_pixels, sides=(0,))


def test_tum_rgbd_truth_takes_the_camera_to_the_map(tmp_path):
    folder = export(tmp_path, "tum-rgbd", BROWN, mounting)
    camera = opencv(folder / "settings" / "orb_slam2" / "mono.yaml")
    K = matrix(*reals(camera, "Camera.fx", "Camera.fy", "Camera.cx", "Camera.cy"))
    D = reals(camera, "Camera.k1", "Camera.k2", "Camera.p1", "Camera.p2")
    lines = (folder / "groundtruth.txt").read_text().splitlines()[1:]
    poses = {line.split()[0]: np.array(line.split()[1:], float) for line in lines}
    for k in FRAMES:
        stamp = START_NS + k * FRAME_NS
        name = f"{stamp // 10**9}.{stamp % 10**9:09d}"
        T = make_transform(Rotation.from_quat(poses[name][3:]).as_matrix(), poses[name][:3])
        points = apply(np.linalg.inv(T), TARGETS_MAP)
        assert_shown(folder / "rgb" / f"{name}.png", project(points, K, D))


def test_kitti_poses_take_the_left_camera_to_its_first_pose(tmp_path):
    folder = export(tmp_path, "kitti", PINHOLE, parallel_mounting)
    P = [np.array(line.split()[1:], float).reshape(3, 4)
         for line in (folder / "calib.txt").read_text().splitlines()]  # fmt: skip
    poses = np.loadtxt(folder / "poses.txt").reshape(-1, 3, 4)
    first = np.linalg.inv(T_map_base(0) @ parallel_mounting(0))
    for k in FRAMES:
        T_first_left = np.vstack([poses[k], [0.0, 0.0, 0.0, 1.0]])
        points = apply(np.linalg.inv(T_first_left), apply(first, TARGETS_MAP))
        for side in (0, 1):
            pixels = np.column_stack([points, np.ones(len(points))]) @ P[side].T
            shown = folder / f"image_{side}" / f"{k:06d}.png"
            assert_shown(shown, pixels[:, :2] / pixels[:, 2:])
