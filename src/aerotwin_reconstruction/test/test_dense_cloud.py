# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stereo between pictures that stand anywhere, what they agree on, and fusion, against truth."""

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import make_transform
from aerotwin_core.parameters import load_parameters
from aerotwin_reconstruction.dense import DenseParameters, fuse
from aerotwin_reconstruction.dense.cloud import contrast
from aerotwin_reconstruction.dense.fusion import VisiblePoints, fitted_normals
from aerotwin_reconstruction.dense.kernels import agreed_depths, confirm, inverse_depths
from aerotwin_reconstruction.dense.stereo import match_pair, rectifying_rotation
from aerotwin_reconstruction.survey.flight import camera_rotation

SINGLE = 1e-6  # float32 depths, as a share
STEREO_PX = 0.3  # what semi-global matching leaves of a pixel on good texture
K = np.array([[150.0, 0.0, 79.5], [0.0, 150.0, 59.5], [0.0, 0.0, 1.0]])
SHAPE = (120, 160)


def plane_depths(T_map_optical):
    """Depth of the plane z = 0 at every pixel, by intersecting rays."""
    v, u = np.mgrid[: SHAPE[0], : SHAPE[1]]
    rays = np.stack([u, v, np.ones_like(u)], axis=-1) @ np.linalg.inv(K).T
    return -T_map_optical[2, 3] / (rays @ T_map_optical[:3, :3].T)[..., 2]


def plane_picture(T_map_optical, texture, texel_m):
    """What a camera sees of a textured plane z = 0: nearest texels of a smooth texture."""
    v, u = np.mgrid[: SHAPE[0], : SHAPE[1]]
    rays = np.stack([u, v, np.ones_like(u)], axis=-1) @ np.linalg.inv(K).T
    away = rays @ T_map_optical[:3, :3].T * plane_depths(T_map_optical)[..., None]
    place = (T_map_optical[:2, 3] + away[..., :2]) / texel_m + len(texture) / 2.0
    i, j = np.rint(place).astype(int).transpose(2, 0, 1)
    return texture[j, i]


def smooth_noise(n, seed):
    noise = cv2.GaussianBlur(np.random.default_rng(seed).normal(size=(n, n)), (0, 0), 4.0)
    return np.clip(128.0 + 400.0 * noise, 0, 255).astype(np.uint8)


def test_the_turned_axes_lie_along_the_baseline_and_are_a_rotation():
    R_a, R_b = camera_rotation(0.2, 1.4), camera_rotation(0.1, 1.5)
    baseline = np.array([3.0, 1.0, 0.5])
    R = rectifying_rotation(R_a, R_b, baseline)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R[:, 0], baseline / np.linalg.norm(baseline), atol=1e-12)
    assert R[:, 2] @ R_a[:, 2] > 0.9


@pytest.mark.parametrize("heading", [0.0, 2.0, 4.0])
def test_stereo_of_two_pictures_finds_the_depth_of_a_plane(heading):
    texture = smooth_noise(2400, 1)
    T = [
        make_transform(camera_rotation(0.3, 1.45), np.array([0.0, 0.0, 20.0])),
        make_transform(
            camera_rotation(0.35, 1.5),
            np.array([4.0 * np.cos(heading), 4.0 * np.sin(heading), 20.5]),
        ),
    ]
    images = tuple(plane_picture(pose, texture, 0.02) for pose in T)
    pair = match_pair(images, tuple(T), K, (17.0, 23.0), block_px=5)
    assert pair is not None
    inverse = np.empty(SHAPE, np.float32)
    inverse_depths(
        pair.disparity, pair.R_rect_optical, pair.K, pair.lowest, pair.baseline_m,
        np.linalg.inv(K), inverse,
    )  # fmt: skip
    known = inverse > 0.0
    off_px = (inverse - 1.0 / plane_depths(T[0]))[known] * 150.0 * pair.baseline_m
    assert known.mean() > 0.5  # the neighbour does not see all
    assert np.median(np.abs(off_px)) < STEREO_PX and abs(np.median(off_px)) < 0.5 * STEREO_PX


def test_inverse_depths_are_disparity_over_focal_length_and_baseline():
    disparity = np.full(SHAPE, 160, np.int16)
    disparity[:, :40] = -16
    found = np.empty(SHAPE, np.float32)
    inverse_depths(disparity, np.eye(3), K, 5.0, 2.0, np.linalg.inv(K), found)
    # 10 px and the lowest 5: 15 / (150 * 2)
    np.testing.assert_allclose(found[5:-5, 45:-5], 0.05, rtol=SINGLE)
    assert (found[:, :38] == 0.0).all()


def test_a_depth_counts_where_neighbours_agree_and_their_mean_is_by_sharpness():
    inverse = np.zeros((3, 1, 3), np.float32)
    inverse[:, 0, 0] = 0.0100, 0.0102, 0.05  # two agree
    inverse[:, 0, 1] = 0.01, 0.02, 0.03  # none do
    inverse[0, 0, 2] = 0.01  # only one knows
    depth = np.empty((1, 3), np.float32)
    agreed_depths(inverse, np.array([1000.0, 2000.0, 1000.0]), 1.0, 2, depth)
    # weights 1 : 4
    np.testing.assert_allclose(depth, [[5.0 / (0.0100 + 4 * 0.0102), 0.0, 0.0]], rtol=SINGLE)


def test_points_need_confirmation_and_no_picture_that_sees_through():
    T = np.stack([np.eye(4)] * 3)
    depth = np.full(SHAPE, 10.0, np.float32)
    others = np.stack([depth, depth * 1.005, depth])
    out = np.empty(SHAPE, np.uint8)

    def share(others, needed):
        confirm(depth, np.linalg.inv(K), T, others, K, 0.01, needed, 1, out)
        return out.mean()

    assert share(others, 3) == 1.0
    seen_through = others * np.array([1.0, 2.0, 2.0], np.float32)[:, None, None]
    assert share(seen_through, 1) == 0.0
    behind = others * np.array([1.0, 0.5, 0.5], np.float32)[:, None, None]
    assert share(behind, 1) == 1.0 and share(behind, 2) == 0.0
    confirm(depth, np.linalg.inv(K), T, others, K, 0.01, 1, 4, out)
    assert out.sum() == (SHAPE[0] // 4) * (SHAPE[1] // 4)


def test_confirmation_looks_where_the_point_is_in_the_other_picture():
    a = make_transform(camera_rotation(0.0, 1.5), np.array([0.0, 0.0, 20.0]))
    b = make_transform(camera_rotation(0.1, 1.3), np.array([2.0, 1.0, 22.0]))
    depth = plane_depths(a).astype(np.float32)
    others = plane_depths(b).astype(np.float32)[None]
    out = np.empty(SHAPE, np.uint8)
    T_b_a = (np.linalg.inv(b) @ a)[None]
    confirm(depth, np.linalg.inv(K), T_b_a, others, K, 0.01, 1, 1, out)
    assert out.mean() > 0.5
    confirm(depth, np.linalg.inv(K), np.linalg.inv(T_b_a), others, K, 0.01, 1, 1, out)
    assert out.mean() < 0.1


def test_cells_become_means_with_normals_towards_the_pictures():
    rng = np.random.default_rng(5)
    xy = rng.uniform(0.0, 2.0, (8000, 2))
    points = np.column_stack([xy, np.full(8000, 1.05)]).astype(np.float32)
    stray = np.array([[5.0, 5.0, 5.0]], np.float32)
    part = VisiblePoints(
        points=np.concatenate([points, stray]),
        colours=np.full((8001, 3), 77, np.uint8),
        towards=np.array([1.0, 1.0, 20.0], np.float32),
    )
    cloud = fuse([part], voxel_m=0.1, min_points=3, normal_neighbours=8)
    assert len(cloud) == 400 and (cloud.colours == 77).all()
    np.testing.assert_allclose(cloud.points[:, 2], 1.05, atol=1e-6)
    np.testing.assert_allclose(cloud.normals, np.tile([0, 0, 1], (400, 1)), atol=1e-4)
    cell = np.floor(cloud.points[:, :2] / 0.1)
    i = np.flatnonzero((np.floor(xy.astype(np.float32) / np.float32(0.1)) == cell[7]).all(axis=1))
    np.testing.assert_allclose(cloud.points[7], points[i].mean(axis=0, dtype=float), atol=1e-6)
    with pytest.raises(ValueError, match="holds 9999"):
        fuse([part], voxel_m=0.1, min_points=9999, normal_neighbours=8)


def test_what_floats_over_a_surface_is_left_out_and_what_stands_alone_stays():
    rng = np.random.default_rng(8)
    floor = np.column_stack([rng.uniform(0, 2, (8000, 2)), np.full(8000, 0.05)])  # 20 in a cell
    floating = np.array([[1.0, 1.0, 0.45], [0.32, 1.51, 0.38], [1.11, 0.43, -0.35]])
    y, z = np.meshgrid(np.arange(0.05, 2.0, 0.1), np.arange(0.05, 2.0, 0.1))
    wall = np.column_stack([np.full(y.size, 6.05), y.ravel(), z.ravel()])  # 1 in a cell
    points = np.concatenate([floor, floating, wall]).astype(np.float32)
    part = VisiblePoints(
        points=points,
        colours=np.zeros((len(points), 3), np.uint8),
        towards=np.array([1.0, 1.0, 20.0], np.float32),
    )
    options = {"voxel_m": 0.1, "min_points": 1, "normal_neighbours": 8}
    assert len(fuse([part], **options)) == 400 + len(floating) + len(wall)
    cloud = fuse([part], **options, min_share=0.15)
    assert len(cloud) == 400 + len(wall)
    np.testing.assert_allclose(np.unique(cloud.points[cloud.points[:, 0] < 3, 2].round(6)), [0.05])


def test_normals_turn_with_the_points():
    rng = np.random.default_rng(6)
    flat = np.column_stack([rng.uniform(-1, 1, (300, 2)), np.zeros(300)])
    R = Rotation.from_rotvec([0.4, -0.7, 0.2]).as_matrix()
    up = np.tile(R[:, 2], (300, 1))
    np.testing.assert_allclose(fitted_normals(flat @ R.T, up, n_neighbours=10), up, atol=1e-5)


def test_contrast_is_the_standard_deviation_of_a_block():
    grey = np.random.default_rng(7).integers(0, 256, (20, 30), dtype=np.uint8)
    found = contrast(grey, 5)
    assert found[10, 12] == pytest.approx(grey[8:13, 10:15].std(), rel=1e-9)
    assert (contrast(np.full((9, 9), 152, np.uint8), 5) == 0.0).all()


def test_choices_that_contradict_each_other_are_refused():
    for wrong in ({"block_px": 4}, {"min_baseline_ratio": 0.3}, {"n_agreeing": 9}):
        with pytest.raises(ParameterError):
            load_parameters(DenseParameters, wrong, where="test")
