# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from localization_cases import circle_pose, errors, moved, scan, surface_points
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform
from aerotwin_teach_repeat.localization import LocalizationProtocol, ScanMatcher
from aerotwin_teach_repeat.localization.grid_kernels import nearest_in_grid, thin
from aerotwin_teach_repeat.localization.point_grid import PointGrid

SINGLE = 1e-5  # rounding of coordinates of some tens of metres in single precision
SETTLED_M, SETTLED_DEG = 0.002, 0.02  # the last step is below 1 mm and 0.01 deg; the error is less
DENSE = LocalizationProtocol(voxel_m=0.05, max_points=20_000, range_m=1e6)


@pytest.fixture(scope="module")
def surfaces():
    return surface_points()


@pytest.fixture(scope="module")
def matcher(surfaces):
    return ScanMatcher(*surfaces)


@pytest.mark.parametrize("cell_m", [0.3, 1.0, 2.5])
def test_neighbours_are_those_of_a_tree(cell_m):
    rng = np.random.default_rng(0)
    points = rng.uniform(-4.0, 4.0, (3000, 3)).astype(np.float32)
    places = rng.uniform(-5.0, 5.0, (400, 3))
    grid = PointGrid(points, cell_m=cell_m)
    distance, _ = cKDTree(points.astype(float)).query(places)
    for place, true in zip(places, distance, strict=True):
        best, squared = nearest_in_grid(*place, 1.0, -1, *grid.arrays)
        assert (best >= 0) == (true < 1.0)
        if best >= 0:
            assert np.sqrt(squared) == pytest.approx(true, abs=SINGLE)


def test_thinning_keeps_the_first_point_of_each_voxel_and_no_nan():
    rng = np.random.default_rng(1)
    points = rng.uniform(-3.0, 3.0, (5000, 3)).astype(np.float32)
    points[17] = np.nan
    retained = thin(points, 0.5, 1.0, 2.5)
    distance = np.linalg.norm(points, axis=1)
    seen, expected = set(), []
    for k in np.flatnonzero((distance >= 1.0) & (distance <= 2.5)):
        voxel = tuple(np.floor(points[k] / np.float32(0.5)).astype(int))
        if voxel not in seen:
            seen.add(voxel)
            expected.append(k)
    assert retained.tolist() == expected


def test_normals_are_those_of_a_tilted_plane_and_a_line_has_none():
    rng = np.random.default_rng(2)
    R = Rotation.from_euler("xyz", [0.3, -0.4, 0.9]).as_matrix()
    plane = np.column_stack([rng.uniform(-3.0, 3.0, (2000, 2)), np.zeros(2000)]) @ R.T
    ring = np.column_stack([np.linspace(0.0, 3.0, 100), np.full(100, 8.0), np.zeros(100)])
    ring += rng.normal(0.0, 0.01, ring.shape)
    normals, weights = PointGrid(np.vstack([plane, ring])).fitted_normals(0.75, 0.5)
    across = np.abs(normals[:2000] @ R[:, 2])
    assert across.min() > 1.0 - 1e-6  # single precision of places near a plane
    assert (weights[:2000] > 0.99).all()
    assert np.mean(weights[2000:] == 0.0) > 0.9  # noise makes some neighbourhoods of a line flat


def test_a_wall_that_is_seen_too_near_moves_the_scan_back():
    y, z = (g.ravel() for g in np.meshgrid(np.arange(-5.0, 5.0, 0.2), np.arange(-2.0, 2.0, 0.2)))
    wall = np.column_stack([np.full(len(y), 5.0), y, z])
    matcher = ScanMatcher(wall, np.tile([1.0, 0.0, 0.0], (len(wall), 1)))
    sure = np.diag(np.array([1e-6, 1e4, 1e4, 1e6, 1e6, 1e6]))
    match = matcher.match(wall - [0.2, 0.0, 0.0], np.eye(4), sure)
    assert match.accepted
    assert match.T_target_source[:3, 3] == pytest.approx([0.2, 0.0, 0.0], abs=1e-3)


def test_a_corner_turned_by_five_degrees_is_turned_back(matcher, surfaces):
    T = make_transform(np.eye(3), [0.0, 9.0, 0.0])
    points = surfaces[0][np.linalg.norm(surfaces[0] - T[:3, 3], axis=1) < 20.0] - T[:3, 3]
    match = matcher.match(points, moved(T, [0.3, -0.2, 0.1], 5.0))
    shift, turn = errors(match.T_target_source, T)
    assert match.accepted, match.reason
    assert shift < SETTLED_M and turn < SETTLED_DEG


@pytest.mark.parametrize("seed", range(6))
def test_scans_find_back_from_a_third_of_a_metre_and_four_degrees(matcher, seed):
    rng = np.random.default_rng(seed)
    T = circle_pose(rng.uniform(0.0, 2.0 * np.pi))
    way = rng.normal(size=3) * [1.0, 1.0, 0.1]
    start = moved(T, 0.3 * way / np.linalg.norm(way), 4.0 * rng.choice([-1.0, 1.0]))
    match = matcher.match(scan(T, seed=seed)[0], start)
    shift, turn = errors(match.T_target_source, T)
    assert match.accepted, match.reason
    # 1 cm of noise in some hundred points across each direction, and walls that are sampled.
    assert shift < 0.01 and turn < 0.1
    assert match.matched_ratio > 0.9 and match.close_ratio > 0.9


def test_the_covariance_is_that_of_many_draws(surfaces):
    T = circle_pose(0.4)
    exact = surfaces[0][np.linalg.norm(surfaces[0] - T[:3, 3], axis=1) < 12.0][::7]
    exact = (exact - T[:3, 3]) @ T[:3, :3]
    protocol = replace(DENSE, covariance_factor=1.0, residual_m=0.02, refined_robust_m=0.2)
    matcher, rng, n = ScanMatcher(*surfaces, protocol), np.random.default_rng(5), 60
    nees = []
    for _ in range(n):
        match = matcher.match(exact + rng.normal(0.0, 0.02, exact.shape), T)
        turn = Rotation.from_matrix(match.T_target_source[:3, :3] @ T[:3, :3].T).as_rotvec()
        error = np.append(match.T_target_source[:3, 3] - T[:3, 3], turn)
        nees.append(error @ np.linalg.solve(match.covariance, error))
    # Mean of n chi-square numbers of six: deviation sqrt(12 / n) = 0.45; edges add pairs that are
    # not on their own surface.
    assert np.mean(nees) == pytest.approx(6.0, abs=5.0 * np.sqrt(12.0 / n))


def corridor():
    """Return points and normals of a floor and two walls that run along x without an end."""
    x, u = (g.ravel() for g in np.meshgrid(np.arange(-40.0, 40.0, 0.2), np.arange(-2.0, 2.0, 0.2)))
    floor = np.column_stack([x, u, np.zeros(len(x))])
    walls = [np.column_stack([x, np.full(len(x), y), u + 2.0]) for y in (-2.0, 2.0)]
    normals = np.repeat([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], len(x), axis=0)
    return np.vstack([floor, *walls]), normals


def test_along_a_corridor_nothing_is_known_and_said_so():
    points, normals = corridor()
    matcher = ScanMatcher(points, normals)
    seen = points[np.abs(points[:, 0]) < 15.0]
    match = matcher.match(seen, moved(np.eye(4), [0.3, 0.1, 0.0], 1.0))
    assert not match.accepted
    assert match.reason == "the surface leaves open: a shift along (+1.0 x); give a prior"
    assert match.covariance[0, 0] > 1.0


def test_along_a_corridor_the_prior_holds_and_across_it_the_walls_do():
    points, normals = corridor()
    matcher = ScanMatcher(points, normals)
    prior = np.diag([0.1, 0.1, 0.1, 0.02, 0.02, 0.02]) ** 2
    match = matcher.match(
        points[np.abs(points[:, 0]) < 15.0],
        moved(np.eye(4), [0.3, 0.1, 0.0], 1.0),
        np.linalg.inv(prior),
    )
    assert match.accepted, match.reason
    assert [d.text for d in match.open_directions] == ["a shift along (+1.0 x)"]
    assert match.T_target_source[0, 3] == pytest.approx(0.3, abs=0.01)
    assert match.T_target_source[1, 3] == pytest.approx(0.0, abs=SETTLED_M)
    deviations = np.sqrt(np.diag(match.covariance))
    assert deviations[0] == pytest.approx(0.1, rel=0.1)
    assert deviations[1] < 0.01


def test_a_sure_prior_holds_the_scan_where_it_is(matcher):
    T = circle_pose(1.0)
    start = moved(T, [0.2, 0.0, 0.0], 0.0)
    match = matcher.match(scan(T)[0], start, 1e9 * np.eye(6))
    assert errors(match.T_target_source, start)[0] < 1e-3


def test_the_step_between_prior_and_points_is_weighed(surfaces):
    # One wall and a prior, both of deviation d across it: the answer is halfway.
    wall, normals = surfaces[0], surfaces[1]
    is_wall = (np.abs(wall[:, 0] - 2.5) < 1e-9) & (normals[:, 0] == 1.0)
    wall = wall[is_wall]
    protocol = replace(DENSE, covariance_factor=1.0, refined_robust_m=1e3, initial_robust_m=1e3)
    matcher = ScanMatcher(wall, normals[is_wall], protocol)
    L = np.diag([len(wall) / protocol.residual_m**2, *[1e12] * 5])
    match = matcher.match(wall - [0.1, 0.0, 0.0], np.eye(4), L)
    assert match.T_target_source[0, 3] == pytest.approx(0.05, abs=1e-4)


def test_a_scan_of_another_place_is_refused_with_its_share(matcher):
    rng = np.random.default_rng(8)
    noise = rng.uniform(-20.0, 20.0, (4000, 3)) + np.array([0.0, 0.0, 12.0])
    match = matcher.match(noise, circle_pose(0.0))
    assert not match.accepted
    assert "points lie on the map" in match.reason and "are needed" in match.reason


def test_too_large_a_step_from_the_prior_is_refused(surfaces):
    matcher = ScanMatcher(*surfaces, LocalizationProtocol(max_shift_m=0.1))
    T = circle_pose(0.0)
    match = matcher.match(scan(T)[0], moved(T, [0.3, 0.0, 0.0], 0.0))
    assert not match.accepted
    assert "from the prior, at most 0.1 m" in match.reason


def test_steps_that_stay_small_are_enough_and_large_ones_are_not(surfaces):
    T = circle_pose(1.0)
    points, start = scan(T)[0], moved(T, [0.2, 0.1, 0.0], 2.0)
    restless = replace(LocalizationProtocol(), least_shift_m=0.0, refined_steps=20)
    match = ScanMatcher(*surfaces, restless).match(points, start)
    assert match.converged and match.accepted, match.reason
    assert errors(match.T_target_source, T)[0] < 0.01
    short = replace(restless, initial_steps=0, refined_steps=1)
    match = ScanMatcher(*surfaces, short).match(points, start)
    assert not match.converged and "still moving after 1 steps" in match.reason


def test_nothing_to_match_is_a_failure_not_an_error(matcher):
    match = matcher.match(np.full((50, 3), np.nan), np.eye(4))
    assert not match.accepted and match.matched_ratio == 0.0
    assert match.reason.startswith("only 0 of 0 points lie on the map")


def test_wrong_shapes_and_nan_are_refused(matcher):
    with pytest.raises(ValueError, match="points must have shape"):
        matcher.match(np.zeros((3, 2)), np.eye(4))
    with pytest.raises(ValueError, match="T_target_source must be finite"):
        matcher.match(np.zeros((3, 3)), np.full((4, 4), np.nan))
    with pytest.raises(ValueError, match="points must be finite"):
        ScanMatcher(np.full((3, 3), np.nan))


def test_small_gicp_finds_the_same_pose(matcher, surfaces):
    small_gicp = pytest.importorskip("small_gicp")
    T = circle_pose(2.2)
    points, _ = scan(T, seed=4)
    start = moved(T, [0.15, -0.1, 0.02], 2.0)
    ours = matcher.match(points, start)
    theirs = small_gicp.align(
        surfaces[0],
        points.astype(np.float64),
        init_T_target_source=start,
        registration_type="PLANE_ICP",
        downsampling_resolution=0.3,
        max_correspondence_distance=1.0,
    )
    shift, turn = errors(ours.T_target_source, theirs.T_target_source)
    # Both err by millimetres; they draw other points of the scan and other normals.
    assert shift < 0.02 and turn < 0.1
