# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""CameraInfo is right for OpenCV: a checkerboard world is calibrated and gives the lens back."""

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import BrownCamera, CameraModel, FisheyeCamera
from aerotwin_core.camera_messages import camera_info_message
from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, Rasteriser
from aerotwin_sensor_models import ImageSensor, load_preset

CALIBRATION_PX = 0.5
"""How near fx, fy, cx, cy and every pixel must come; seeds 1000-1003 were off by 0.08 and 0.40."""
COLUMNS, ROWS, SQUARE_M = 11, 8, 0.05
TEXELS = 32
N_VIEWS = 30
MARGIN_PX = 6.0
SEED = 1000
SUB_PIXEL = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-4)
ROUNDING_PX = 1e-6

BROWN = BrownCamera(
    width=752,
    height=480,
    fx=460.0,
    fy=455.0,
    cx=380.3,
    cy=236.8,
    k1=-0.28,
    k2=0.07,
    p1=0.002,
    p2=-0.003,
    k3=0.004,
)
FISHEYE = FisheyeCamera(
    width=800, height=600, fx=390.0, fy=388.0, cx=396.2, cy=303.1, k1=0.03, k2=-0.01, k3=0.002
)


@pytest.fixture(scope="module")
def rasteriser() -> Rasteriser:
    """The renderer of a board in the plane z = 0, its first inner corner at the origin."""
    squares = np.indices((ROWS + 1, COLUMNS + 1)).sum(axis=0) % 2
    sheet = np.pad(squares, 1, constant_values=1)  # a white rim
    grey = np.where(sheet, 230, 25).astype(np.uint8).repeat(TEXELS, 0).repeat(TEXELS, 1)
    left, right = -2.0 * SQUARE_M, (COLUMNS + 1) * SQUARE_M
    top, bottom = 2.0 * SQUARE_M, -(ROWS + 1) * SQUARE_M
    corners = [[left, bottom, 0.0], [right, bottom, 0.0], [right, top, 0.0], [left, top, 0.0]]
    board = TexturedMesh(
        vertices_map=np.array(corners),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=np.float32),
        texture=np.dstack([grey] * 3),
    )
    return Rasteriser([board])


def inner_corners() -> np.ndarray:
    """Where the inner corners are, row by row (n, 3) [m]."""
    row, column = np.indices((ROWS, COLUMNS))
    return np.column_stack([column.ravel(), -row.ravel(), np.zeros(ROWS * COLUMNS)]) * SQUARE_M


def poses(camera: CameraModel, seed: int) -> list[np.ndarray]:
    """T_optical_board of boards that lie whole in the image, all over it, turned up to 35 deg."""
    rng, found = np.random.default_rng(seed), []
    middle = inner_corners().mean(axis=0)
    while len(found) < N_VIEWS:
        aim = rng.uniform(0.05, 0.95, 2) * [camera.width, camera.height]
        ray = np.append(camera.rays_at([aim])[0], 1.0)
        facing = Rotation.align_vectors([ray], [[0.0, 0.0, 1.0]])[0]
        turn = Rotation.from_rotvec(rng.uniform(-1.0, 1.0, 3) * np.radians([35.0, 35.0, 20.0]))
        R = (facing * turn).as_matrix() @ np.diag([1.0, -1.0, -1.0])
        centre = ray / np.linalg.norm(ray) * rng.uniform(0.3, 0.8)
        T = make_transform(R, centre - R @ middle)
        pixels = camera.project(transform_points(T, inner_corners()))
        inside = (pixels > MARGIN_PX) & (
            pixels < [camera.width - MARGIN_PX, camera.height - MARGIN_PX]
        )
        if inside.all():
            found.append(T)
    return found


def detected(
    rasteriser: Rasteriser, camera: CameraModel, seed: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return board points (n, 3) and the corners (n, 2) that OpenCV finds in noisy pictures."""
    sensor = ImageSensor(camera, load_preset("camera_noise", "default"), seed=seed)
    boards, corners = [], []
    for k, T_optical_board in enumerate(poses(camera, seed)):
        view = CameraView(camera=camera, T_map_optical=invert_transform(T_optical_board))
        picture = rasteriser.render([view])[0].image
        picture = sensor.expose(picture, k, camera_index=0)
        is_found, pixels = cv2.findChessboardCornersSB(picture, (COLUMNS, ROWS))
        if is_found:
            pixels = cv2.cornerSubPix(picture, pixels, (6, 6), (-1, -1), SUB_PIXEL).reshape(-1, 2)
            truth = camera.project(transform_points(T_optical_board, inner_corners()))
            is_turned = np.linalg.norm(pixels[0] - truth[0]) > np.linalg.norm(pixels[-1] - truth[0])
            boards.append(inner_corners().astype(np.float32))
            corners.append(pixels[::-1] if is_turned else pixels)
    return boards, corners


def calibrated(camera: CameraModel, boards: list, corners: list) -> tuple[np.ndarray, np.ndarray]:
    """Return K and D that OpenCV finds with the model of the camera, from nothing else."""
    size = (camera.width, camera.height)
    if camera.distortion_model == "plumb_bob":
        _, K, D, _, _ = cv2.calibrateCamera(boards, corners, size, None, None)
        return K, D.ravel()
    flags = cv2.CALIB_RECOMPUTE_EXTRINSIC | cv2.CALIB_FIX_SKEW
    points = [[a[None].astype(np.float64) for a in arrays] for arrays in (boards, corners)]
    _, K, D, _, _ = cv2.fisheye.calibrate(*points, size, np.eye(3), np.zeros(4), flags=flags)
    return K, D.ravel()


def projected(model: str, rays: np.ndarray, K: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Return OpenCV's pixels (n, 2) of rays (n, 3)."""
    still = np.zeros(3)
    if model == "plumb_bob":
        return cv2.projectPoints(rays, still, still, K, D)[0][:, 0]
    return cv2.fisheye.projectPoints(rays[:, None], still, still, K, D)[0][:, 0]


@pytest.mark.parametrize("camera", [BROWN, FISHEYE], ids=["plumb_bob", "equidistant"])
def test_opencv_calibrates_what_camera_info_says(rasteriser, camera):
    boards, corners = detected(rasteriser, camera, SEED)
    assert len(boards) >= N_VIEWS - 4
    K, D = calibrated(camera, boards, corners)
    info = camera_info_message(0, "optical", camera)
    np.testing.assert_allclose(K, info.k.reshape(3, 3), atol=CALIBRATION_PX)
    v, u = np.mgrid[0 : camera.height : 8, 0 : camera.width : 8]
    pixels = np.column_stack([u.ravel(), v.ravel()]).astype(np.float64)
    rays = np.column_stack([camera.rays_at(pixels), np.ones(len(pixels))])
    rays, pixels = rays[np.isfinite(rays[:, 0])], pixels[np.isfinite(rays[:, 0])]
    reported = projected(info.distortion_model, rays, info.k.reshape(3, 3), info.d)
    np.testing.assert_allclose(reported, pixels, atol=ROUNDING_PX)
    found = projected(info.distortion_model, rays, K, D)
    assert np.linalg.norm(found - pixels, axis=1).max() < CALIBRATION_PX
