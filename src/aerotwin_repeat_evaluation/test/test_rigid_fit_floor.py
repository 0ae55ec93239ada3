# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_repeat_evaluation import NoDisplacement, RigidFitFloor, rigid_fit_floor, true_poses
from aerotwin_repeat_evaluation.floor import rigid_fit
from support.deviation_cases import Affine, Bowl, Waves, loop, poses_of

ROUNDING = 1e-9
ROUTE = poses_of(loop())[::10]


def one_sided(seed=1, n_groups=14):
    """Return a place of few groups of buildings, all outside of the loop, (n, 3) [m]."""
    rng = np.random.default_rng(seed)
    angle, away = rng.uniform(0.0, 2.0 * np.pi, n_groups), rng.uniform(10.0, 38.0, n_groups)
    middle = np.column_stack([49.0 * np.sin(angle), -35.0 * np.cos(angle)])
    middle *= 1.0 + (away / np.linalg.norm(middle, axis=1))[:, None]
    walls = np.repeat(middle, 200, axis=0) + rng.uniform(-6.0, 6.0, (200 * n_groups, 2))
    return np.column_stack([walls, rng.uniform(0.0, 9.0, len(walls))])


def test_a_rigid_motion_of_the_whole_map_costs_nothing():
    turn = np.deg2rad(7.0)
    c, s = np.cos(turn), np.sin(turn)
    for displacement in (NoDisplacement(), Affine(((c, -s), (s, c)), (30.0, -4.0))):
        floor = rigid_fit_floor(displacement, ROUTE, points_true=one_sided())
        np.testing.assert_allclose(floor.lateral_m, 0.0, atol=ROUNDING)
        np.testing.assert_allclose(floor.yaw_rad, 0.0, atol=ROUNDING)


def test_the_rigid_fit_is_that_of_scipy():
    rng = np.random.default_rng(2)
    points = rng.normal(0.0, 9.0, (60, 3))
    images = points @ Rotation.from_euler("xyz", [0.1, -0.2, 0.7]).as_matrix().T + [1.0, 2.0, 3.0]
    images += rng.normal(0.0, 0.2, images.shape)
    R, shift = rigid_fit(points, images)
    expected, _ = Rotation.align_vectors(images - images.mean(0), points - points.mean(0))
    np.testing.assert_allclose(R, expected.as_matrix(), atol=1e-7)
    np.testing.assert_allclose(shift, images.mean(0) - R @ points.mean(0))


def test_a_wrong_scale_costs_its_share_of_the_distance_to_the_middle_of_what_is_seen():
    """Closed form: the fit of a scaled place is right at its centroid, and off by e r elsewhere."""
    e, place = 0.003, one_sided()
    scaled = Affine((1.0 + e) * np.eye(3))
    floor = rigid_fit_floor(scaled, ROUTE, points_true=place)
    for k, pose in enumerate(ROUTE):
        image = place[:, :2] * (1.0 + e)
        near = place[np.linalg.norm(image - pose[:2, 3], axis=1) <= 40.0]
        true = pose[:2, 3] / (1.0 + e)
        stands = (pose[:2, 3] - near[:, :2].mean(axis=0) * (1.0 + e)) + near[:, :2].mean(axis=0)
        assert floor.lateral_m[k] == pytest.approx((stands - true) @ pose[:2, 1], abs=ROUNDING)
    disc = rigid_fit_floor(scaled, ROUTE)
    np.testing.assert_allclose(disc.lateral_m, 0.0, atol=ROUNDING)  # even on all sides: no cost


def test_a_small_shear_turns_half_of_itself_and_costs_nothing_where_all_sides_are_seen():
    k = 0.003
    floor = rigid_fit_floor(Affine(((1.0, k), (0.0, 1.0))), ROUTE)
    np.testing.assert_allclose(floor.lateral_m, 0.0, atol=1e-4)
    # The rotation of a pure shear is -k/2; a route along x is turned by 0, one along y by -k.
    along_x = np.abs(ROUTE[:, 0, 0]) > 0.995
    assert np.abs(floor.yaw_rad[along_x]).max() == pytest.approx(k / 2, rel=0.25)


@pytest.mark.parametrize(
    ("warp", "rmse_cm", "max_cm"),
    [
        # Known floors of a 300 m loop with 30 cm warps: RMSE and largest, centimetres.
        pytest.param(Affine(((1.003, 0.0), (0.0, 1.003))), (4, 4), (11, 11), id="scale of 0.3 %"),
        pytest.param(Affine(((1.0, 0.003), (0.0, 1.0))), (2, 2), (5, 5), id="shear"),
        pytest.param(Bowl(0.30, 50.0), (3, 6), (8, 24), id="bowl"),
        pytest.param(Waves(0.30, 100.0), (12, 12), None, id="sinusoid of 100 m"),
        pytest.param(Waves(0.30, 200.0), (5, 5), (19, 19), id="sinusoid of 200 m"),
        pytest.param(Waves(0.30, 400.0), (2, 2), (10, 10), id="sinusoid of 400 m"),
    ],
)
def test_the_floors_of_warps_are_those_known(warp, rmse_cm, max_cm):
    """Of what stood beside that loop only few things are known: one place gives all its floors."""
    other_place = 1.6  # factor between places of such a kind, see the spread over their seeds
    floor = rigid_fit_floor(warp, ROUTE, points_true=one_sided())
    assert rmse_cm[0] / other_place < floor.rmse_m * 100.0 < rmse_cm[1] * other_place
    if max_cm is not None:
        assert max_cm[0] / other_place < floor.max_m * 100.0 < max_cm[1] * other_place


def test_the_floor_is_what_a_robot_with_that_fit_would_miss():
    """Put the robot where the oracle's fit says that it is on the vertex; measure the miss."""
    warp = Waves(0.30, 100.0)
    place = one_sided(3)
    image = place + warp(place)
    floor = rigid_fit_floor(warp, ROUTE, points_true=place)
    k = 17
    near = np.linalg.norm(image[:, :2] - ROUTE[k, :2, 3], axis=1) <= 40.0
    rotation, _ = Rotation.align_vectors(
        image[near] - image[near].mean(0), place[near] - place[near].mean(0)
    )
    stands = rotation.inv().apply(ROUTE[k, :3, 3] - image[near].mean(0)) + place[near].mean(0)
    station = true_poses(warp, ROUTE[k : k + 1])[0]
    miss = stands - station[:3, 3]
    assert floor.lateral_m[k] == pytest.approx(miss @ station[:3, 1], abs=1e-6)
    assert floor.longitudinal_m[k] == pytest.approx(miss @ station[:3, 0], abs=1e-6)


def test_where_nothing_is_seen_there_is_no_floor():
    floor = rigid_fit_floor(Waves(0.3, 100.0), ROUTE, points_true=np.full((5, 3), 1e4))
    assert np.isnan(floor.lateral_m).all()
    figures = RigidFitFloor(
        lateral_m=np.array([0.03, -0.04, np.nan]), longitudinal_m=np.zeros(3), yaw_rad=np.zeros(3)
    )
    assert figures.rmse_m == pytest.approx(np.sqrt(12.5) * 1e-2)
    assert figures.max_m == pytest.approx(0.04)
