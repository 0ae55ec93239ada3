# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Features, and the poses that they give before a painted wall."""

import numpy as np
import pytest
from scipy.spatial import KDTree

from aerotwin_core.frames import invert_transform, transform_points
from evidence.dense_study.baselines import Detector, FeatureMap, Reference
from evidence.dense_study.baselines.camera_pose import camera_pose
from evidence.dense_study.baselines.feature_map import MIN_INLIERS, _between, _near
from support.painted_wall import CAMERA, Wall, pose, waves

WALL = Wall()
THERE = pose([0.02, -0.03, 0.05], [0.4, 0.05, 0.3])
PLACED_M = {"orb": 0.02, "sift": 0.01}
"""From 3 m with pixels of 15 mm."""
ROUNDING = 1e-6
PIXEL = 0.005
ALIKE_PX = {"orb": 0.5, "sift": 0.1}
"""ORB rounds the sizes of its levels, and has no places between their pixels."""
FAR = np.array([500.0, -300.0, 20.0])
"""From the origin of the map [m]."""


def grey(T, paint=waves):
    seen = Wall(paint=paint).seen(CAMERA, T)[0]
    return np.clip(seen, 0, 255).round().astype(np.uint8)


@pytest.fixture(scope="module")
def references():
    frames = [WALL.keyframe(pose([0, 0, 0], [0.3 * k, 0, 0])) for k in range(4)]
    return [
        Reference(grey=f.image, depth=f.depth, camera=CAMERA, T_map_optical=f.T_map_optical)
        for f in frames
    ]


def off_m(found, T):
    return float(np.linalg.norm(found.T_map_cam[:3, 3] - T[:3, 3]))


@pytest.mark.parametrize("detector", ["orb", "sift"])
def test_features_find_a_camera_from_where_the_map_was_made(references, detector):
    features = FeatureMap(references, detector)
    expected = THERE @ pose([0.05, 0.0, -0.05], [0.2, -0.2, 0.1])
    image = features.features(grey(THERE))
    found = features.localize(image, CAMERA, expected)
    assert off_m(found, THERE) < PLACED_M[detector]
    assert found.n_matches >= found.n_inliers >= MIN_INLIERS
    again = features.localize(image, CAMERA, expected)
    assert again.T_map_cam.tobytes() == found.T_map_cam.tobytes()
    turned_away = THERE @ pose([0.0, np.pi, 0.0], [0.0, 0.0, 0.0])
    assert features.localize(image, CAMERA, turned_away).T_map_cam is None
    blank = features.features(np.full((240, 320), 90, np.uint8))
    assert len(blank) == 0
    assert features.localize(blank, CAMERA, expected).T_map_cam is None


def test_another_wall_gives_no_pose(references):
    features = FeatureMap(references, "sift")
    other = grey(THERE, paint=lambda x, y: waves(1.3 * y + 7.0, 1.1 * x - 5.0))
    found = features.localize(features.features(other), CAMERA, THERE)
    assert found.T_map_cam is None and found.n_inliers < MIN_INLIERS


def test_what_is_not_requested_has_no_features():
    is_requested = np.zeros((240, 320), bool)
    is_requested[:, 160:] = True
    for name in ("orb", "sift"):
        found = Detector(name, 500).find(grey(THERE), is_requested)
        assert found.pixels[:, 0].min() > 155.0
        assert found.scales.max() > 2.0  # coarse levels are wanted as well


@pytest.mark.parametrize("name", ["orb", "sift"])
def test_features_of_a_mirrored_image_are_mirrored_at_every_scale(name):
    image, detector = grey(THERE), Detector(name, 3000)
    ours, theirs = detector.find(image), detector.find(np.ascontiguousarray(image[:, ::-1]))
    mirrored = theirs.pixels * [-1.0, 1.0] + [image.shape[1] - 1.0, 0.0]
    weight = 10.0  # what differs in scale is no pair
    tree = KDTree(np.column_stack([mirrored, weight * np.log(theirs.scales)]))
    away, nearest = tree.query(np.column_stack([ours.pixels, weight * np.log(ours.scales)]))
    shift, is_pair = (ours.pixels - mirrored[nearest])[:, 0], away < ours.scales
    assert abs(np.median(shift[is_pair])) < ALIKE_PX[name]  # 0.5 without SIFT's precise pyramid
    is_coarse = is_pair & (ours.scales > 2.0)
    assert is_coarse.sum() > 20
    assert abs(np.mean((shift / ours.scales)[is_coarse])) < 0.2  # 0.5 to 1 as OpenCV gives ORB's


def test_only_known_detectors_are_taken():
    with pytest.raises(ValueError, match="detector must be one of orb, sift, got 'surf'"):
        FeatureMap([], "surf")


def seen_points(n, n_wrong, *, noise, seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform([-2, -1.5, 2.5], [2, 1.5, 5.0], (n, 3)) + FAR
    T = pose([0.1, -0.2, 0.3], FAR + np.array([0.2, -0.1, 0.3]))
    local = transform_points(invert_transform(T), points)
    rays = local[:, :2] / local[:, 2:] + rng.normal(0.0, noise, (n, 2))
    rays[:n_wrong] = rng.uniform(-0.8, 0.8, (n_wrong, 2))
    return T, points, rays


def test_a_pose_is_exact_where_points_are_and_outliers_are_reported():
    T, points, rays = seen_points(60, 40, noise=0.0, seed=1)
    found, agrees = camera_pose(points, rays, np.full(60, PIXEL), 12)
    np.testing.assert_allclose(found, T, atol=ROUNDING)
    assert agrees[40:].all() and agrees[:40].sum() <= 2


def test_the_error_of_a_pose_is_what_its_points_allow():
    trials, n, off = 60, 80, []
    for seed in range(trials):
        T, points, rays = seen_points(n, 0, noise=PIXEL, seed=seed)
        found, _ = camera_pose(points, rays, np.full(n, PIXEL), 12)
        local = transform_points(invert_transform(T), points)
        # Cramer and Rao: the information of the points, by numbers.
        J = np.concatenate([jacobian(p[None]) for p in local])
        bound = np.trace(np.linalg.inv(J.T @ J / PIXEL**2)[:3, :3])
        delta = (invert_transform(T) @ found)[:3, 3]
        off.append(delta @ delta / bound)
    assert np.mean(off) == pytest.approx(1.0, abs=0.45)  # 95 % gate; 5 sigma of 60 trials


def jacobian(p, step=1e-6):
    """Return the derivative (2, 6) of the ray to a point (1, 3) by the camera's motion."""
    columns = []
    for k in range(6):
        d = np.zeros(6)
        d[k] = step
        a, b = (transform_points(invert_transform(pose(s * d[3:], s * d[:3])), p) for s in (1, -1))
        columns.append((a[0, :2] / a[0, 2] - b[0, :2] / b[0, 2]) / (2 * step))
    return np.column_stack(columns)


def test_points_that_are_trusted_less_pull_less():
    T, points, rays = seen_points(80, 0, noise=0.0, seed=3)
    rng, sigmas = np.random.default_rng(4), np.full(80, PIXEL)
    sigmas[:40] = 20.0 * PIXEL
    rays[:40] += rng.normal(0.0, 20.0 * PIXEL, (40, 2))
    found, _ = camera_pose(points, rays, sigmas, 12)
    even, _ = camera_pose(points, rays, np.full(80, np.median(sigmas)), 12)
    assert np.linalg.norm((found - T)[:3, 3]) < 0.2 * np.linalg.norm((even - T)[:3, 3])


def test_too_few_points_or_none_that_agree_make_no_pose():
    _, points, rays = seen_points(11, 0, noise=0.0, seed=5)
    found, agrees = camera_pose(points, rays, np.full(11, PIXEL), 12)
    assert found is None and not agrees.any()
    _, points, rays = seen_points(60, 60, noise=0.0, seed=6)
    assert camera_pose(points, rays, np.full(60, 0.2 * PIXEL), 12)[0] is None


def test_depth_between_pixels_is_even_and_not_taken_at_edges():
    v, u = np.mgrid[0:6, 0:8].astype(float)
    depth = 10.0 + 0.02 * u - 0.03 * v
    depth[4, 5], depth[:, 7] = np.nan, 20.0
    places = np.array([[1.25, 2.5], [3.0, 3.0], [4.5, 3.5], [6.5, 1.0], [-0.1, 2.0], [7.5, 2.0]])
    found = _between(depth, places)
    np.testing.assert_allclose(found[:2], [10.0 + 0.025 - 0.075, 10.0 + 0.06 - 0.09])
    assert np.isnan(found[2:]).all()


def test_what_lies_a_reach_beside_the_view_is_near():
    edge = (CAMERA.width - 1 - CAMERA.cx) / CAMERA.fx
    z = 2.0
    points = np.array([[edge * z + b, 0.0, z] for b in (-0.1, 0.9, 1.1)] + [[0.0, 0.0, -1.0]])
    assert _near(CAMERA, points).tolist() == [0, 1]
