# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_stereo_odometry.frame import prepare_image
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters
from aerotwin_stereo_odometry.semi_dense import disparity_bounds, semi_dense_depths
from aerotwin_stereo_odometry.stereo import refine_disparities, search_disparities
from aerotwin_stereo_odometry.surveyor import Surveyor

NORMAL, DISTANCE_M = np.array([-0.15, 0.1, 1.0]), 6.0
BIAS_PX = 0.03
N_SIGMA = 4.0


@pytest.fixture
def pair(wall):
    images = wall.pair(np.eye(4), np.random.default_rng(1))
    return [prepare_image(image, smoothing_px=0.8) for image in images]


def test_landmarks_lie_on_the_wall_within_their_disparity_error(wall, pair):
    surveyor = Surveyor(wall.rig, StereoOdometryParameters(image_noise_std=1.0))
    born, seen = surveyor.new_landmarks(0, np.eye(4), *pair, occupied_uv=np.empty((0, 2)))
    rays = wall.rig.camera.unproject(born.uv, np.ones(len(born)))
    truth = wall.rig.camera.fx * wall.rig.baseline_m / (DISTANCE_M / (rays @ NORMAL))
    error = seen.measured[:, 2] - truth
    assert len(born) > 40
    assert abs(np.median(error)) < BIAS_PX
    assert (np.abs(error) * seen.weights[:, 3] < N_SIGMA).mean() > 0.95
    # closed form: the point is where the ray of the pixel meets the depth fx b / d
    depth = wall.rig.camera.fx * wall.rig.baseline_m / seen.measured[:, 2]
    np.testing.assert_allclose(born.points, rays * depth[:, None], rtol=1e-12)


def test_a_repeated_pattern_gives_no_disparity():
    x = np.arange(320)
    stripes = np.tile(128 + 60 * np.sin(2 * np.pi * x / 8.0), (240, 1)).astype(np.float32)
    uv = np.array([[150.0, 100.0], [200.0, 120.0]])
    assert np.isnan(search_disparities(stripes, stripes, uv, size=11, bounds=(0, 40))).all()


def test_the_search_finds_a_whole_pixel_shift_and_keeps_to_its_bounds():
    rng = np.random.default_rng(0)
    left = rng.normal(128, 30, (240, 320)).astype(np.float32)
    right = np.roll(left, -9, axis=1)
    uv = np.array([[150.0, 100.0], [200.0, 120.0]])
    found = search_disparities(left, right, uv, size=11, bounds=(0, 40))
    np.testing.assert_array_equal(found, 9.0)
    crossed = search_disparities(left, right, uv, size=11, bounds=np.array([[0, 40], [5, 4]]))
    np.testing.assert_array_equal(np.isnan(crossed), [False, True])


def test_a_pair_seen_in_a_mirror_has_the_same_disparities(wall, pair):
    left, right = pair[0].smooth, pair[1].smooth
    y, x = np.mgrid[25:220:10, 60:290:12]
    uv = np.column_stack([x.ravel(), y.ravel()]).astype(float)
    options = {
        "size": 11, "min_correlation": 0.8, "noise_variance": 2.0, "smoothed_noise_variance": 0.4,
        "floor_px": 0.03,
    }  # fmt: skip
    guess = search_disparities(left, right, uv, size=11, bounds=(0, 40))
    here = refine_disparities(left, right, uv, guess, **options).disparity
    mirrored = [np.ascontiguousarray(image[:, ::-1]) for image in (right, left)]
    seen_from = np.column_stack([319.0 - (uv[:, 0] - here), uv[:, 1]])
    there = refine_disparities(*mirrored, seen_from, guess, **options).disparity
    both = np.isfinite(here) & np.isfinite(there)
    one_way_only = 1.5e-3  # px; by so much the two would differ without the mean of both ways
    assert both.sum() > 200
    assert np.std((here - there)[both]) < one_way_only / 3


def test_bounds_come_from_landmarks_around():
    uv = np.array([[100.0, 100.0], [600.0, 400.0]])
    landmarks = np.array([[90.0, 90.0], [120.0, 130.0]])
    bounds = disparity_bounds(uv, landmarks, np.array([5.0, 7.0]), (480, 752))
    np.testing.assert_array_equal(bounds, [[3, 9], [0, -1]])


def test_a_second_view_makes_semi_dense_depth_ten_times_better(wall, pair):
    T_world_view = np.eye(4)
    T_world_view[:3, :3] = Rotation.from_rotvec([0.02, -0.05, 1.2]).as_matrix()
    T_world_view[:3, 3] = [1.0, 0.2, 0.1]
    view = prepare_image(wall.pair(T_world_view, np.random.default_rng(2))[0], smoothing_px=0.8)
    rig = wall.rig
    camera = np.array([220.0, 220.0, rig.camera.cx, rig.camera.cy, rig.baseline_m])
    grid = np.stack(np.meshgrid(np.arange(20.0, 300, 40), np.arange(20.0, 220, 40)), -1)
    anchors = grid.reshape(-1, 2)
    depth = DISTANCE_M / (rig.camera.unproject(anchors, np.ones(len(anchors))) @ NORMAL)
    errors = []
    for neighbours in ([], [(view.smooth, np.linalg.inv(T_world_view))]):
        found = semi_dense_depths(
            pair[0].smooth, pair[1].smooth, neighbours, camera, anchors, depth, cell_px=8,
            noise_std=1.0, min_correlation=0.8,
        )  # fmt: skip
        truth = DISTANCE_M / (rig.camera.unproject(found.uv, np.ones(len(found.uv))) @ NORMAL)
        errors.append((found.depth - truth, found.std))
    assert len(errors[0][0]) == 0  # one view alone is not believed
    error, std = errors[1]
    assert len(error) > 200
    assert np.median(np.abs(error)) < 0.03  # m; stereo alone: 6^2 / (220 * 0.2) * 0.1 px = 0.08
    assert (np.abs(error) < N_SIGMA * std).mean() > 0.9
