# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps in the plane, matching, odometry and localisation by radar in a block of houses."""

import numpy as np
import pytest
from localization_cases import circle_pose, errors, moved, surface_points
from radar_cases import P_BASE_RADAR, SHIFT_S, TURN_S, peaks
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform
from aerotwin_teach_repeat.localization.odometry import T_begin_end, deskewed
from aerotwin_teach_repeat.radar import (
    BeamView,
    PlanarMatcher,
    RadarOdometry,
    RadarOdometryParameters,
    RadarProtocol,
    RadarSenses,
)
from aerotwin_teach_repeat.radar.odometry import without_doppler
from aerotwin_teach_repeat.radar.planar import (
    RADAR_MATCHING,
    flat_pose,
    line_normals,
    marginal_information,
)
from aerotwin_teach_repeat.route_graph import MemorySubmaps, RouteGraph, Submap, Vertex

SINGLE = 1e-5
PLACED_M, PLACED_DEG = 0.04, 0.25
"""About 250 points with noise of 5 cm, a tenth of them ghosts, on walls sampled every 25 cm."""
TWIST = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.125])  # once round the circle of 8 m
PARAMETERS = RadarOdometryParameters(doppler_shift_s=SHIFT_S)
VIEW = BeamView(height_m=1.0)


def pose(x, y, yaw_deg):
    return make_transform(Rotation.from_euler("z", yaw_deg, degrees=True).as_matrix(), [x, y, 0.0])


@pytest.fixture(scope="module")
def flat_houses():
    return VIEW.flat_map(*surface_points())


@pytest.fixture(scope="module")
def matcher(flat_houses):
    return PlanarMatcher(*flat_houses, RADAR_MATCHING, VIEW.out_of_plane_covariance)


# -- what the beam meets ------------------------------------------------------------------------


def test_of_a_map_the_walls_at_the_height_of_the_beam_are_left():
    """A wall along y at x = 5, ground, and a wall that ends below the beam."""
    y, z = (g.ravel() for g in np.meshgrid(np.arange(-3, 3, 0.1), np.arange(0.05, 4, 0.1)))
    wall = np.column_stack([np.full(len(y), 5.0), y, z])
    low = np.column_stack([np.full(len(y), -5.0), y, 0.1 * z])
    ground = np.column_stack([y, z, np.zeros(len(y))])
    points = np.vstack([wall, low, ground])
    normals = np.repeat([[1.0, 0, 0], [-1.0, 0, 0], [0, 0, 1.0]], len(y), axis=0)
    flat, n, weights = BeamView(height_m=1.0, cell_m=0.2).flat_map(points, normals)
    assert (flat[:, 2] == 0.0).all() and (n[:, 2] == 0.0).all()
    np.testing.assert_allclose(flat[:, 0], 5.0)
    assert len(flat) == 30 and flat[:, 1].min() < -2.8 and flat[:, 1].max() > 2.7
    np.testing.assert_allclose(np.abs(n[:, 0]), 1.0)
    np.testing.assert_allclose(weights, 1.0)


def test_the_beam_opens_with_the_distance():
    """0.3 m and 20 m x tan 0.9 degrees = 0.314 m above and below 1 m."""
    z = np.arange(0.0, 3.0, 0.01)
    points = np.column_stack([np.full(len(z), 20.0), 0.3 * np.arange(len(z)), z])
    points[:, 1] = np.linspace(-0.09, 0.09, len(z))
    normals = np.tile([1.0, 0.0, 0.0], (len(z), 1))
    view = BeamView(height_m=1.0, margin_m=0.3, cell_m=1e-3)
    seen = view.flat_map(points, normals)[0][:, 1]
    heights = np.interp([seen.min(), seen.max()], points[:, 1], z)
    np.testing.assert_allclose(heights, [1.0 - 0.614, 1.0 + 0.614], atol=0.02)


def test_normals_of_a_cell_are_averaged_as_axes():
    """Opposite signs agree; at right angles nothing is left of the weight."""
    points = np.full((2, 3), [3.05, 0.05, 1.0])
    for other, weight in (([-1.0, 0.0, 0.0], 1.0), ([0.0, 1.0, 0.0], 0.0)):
        normals = np.array([[1.0, 0.0, 0.0], other])
        _, n, weights = BeamView().flat_map(points, normals)
        assert weights == pytest.approx([weight], abs=SINGLE)
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0)


def test_normals_of_lines_stand_across_them_and_corners_are_less_sure():
    s = np.arange(0.0, 4.0, 0.1)
    ray = np.column_stack([s, 0.5 * s, 0.0 * s])
    normals, weights = line_normals(ray, 1.0)
    np.testing.assert_allclose(np.abs(normals @ [1.0, 0.5, 0.0]), 0.0, atol=SINGLE)
    np.testing.assert_allclose(weights, 1.0, atol=SINGLE)
    corner = np.vstack([ray, np.column_stack([-0.5 * s, s, 0.0 * s])])
    _, weights = line_normals(corner, 1.0)
    assert weights[0] < 0.5 < weights[20]
    assert line_normals(np.array([[0.0, 0, 0], [9.0, 0, 0]]), 1.0)[1].tolist() == [0.0, 0.0]


# -- matching -----------------------------------------------------------------------------------


def test_what_a_matrix_says_of_the_plane_is_that_of_the_covariance():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    covariance = A @ A.T + np.eye(6)
    expected = np.linalg.inv(covariance[np.ix_([0, 1, 5], [0, 1, 5])])
    np.testing.assert_allclose(marginal_information(np.linalg.inv(covariance)), expected)
    assert not marginal_information(np.zeros((6, 6))).any()


@pytest.mark.parametrize("seed", range(3))
def test_a_turn_finds_its_place_in_the_plane_from_a_tilted_start(matcher, seed):
    rng = np.random.default_rng(seed)
    T = moved(circle_pose(rng.uniform(0.0, 6.0)), [*rng.uniform(-1.0, 1.0, 2), 0.0], 30.0)
    points, _ = peaks(T, seed=seed)
    start = moved(T, [0.3, -0.2, 0.4], 4.0)
    start[:3, :3] = start[:3, :3] @ Rotation.from_euler("x", 5, degrees=True).as_matrix()
    match = matcher.match(points, start)
    assert match.accepted, match.reason
    shift, turn = errors(match.T_target_source, T)
    assert shift < PLACED_M and turn < PLACED_DEG
    flat = flat_pose(match.T_target_source)
    np.testing.assert_allclose(match.T_target_source, flat, atol=1e-15)


def test_covariance_is_that_of_many_turns_in_the_plane_and_given_out_of_it(matcher):
    """Of 40 turns; pairs count four times less than independent ones, so it is on the safe side."""
    T = pose(7.0, 1.0, 100.0)
    found = [matcher.match(peaks(T, seed=k)[0], T) for k in range(40)]
    spread = np.array([match.T_target_source[:2, 3] for match in found]).std(axis=0)
    said = np.sqrt(np.diag(np.mean([match.covariance for match in found], axis=0)))
    assert (spread < said[:2]).all() and (said[:2] < 5.0 * spread).all()
    np.testing.assert_allclose(said[2:5], [0.1, 0.05, 0.05])


def test_a_prior_holds_what_a_single_wall_leaves_open():
    y = np.arange(-30.0, 30.0, 0.2)
    wall = np.column_stack([np.full(len(y), 6.0), y, 0.0 * y])
    normals = np.tile([1.0, 0.0, 0.0], (len(y), 1))
    alone = PlanarMatcher(wall, normals, np.ones(len(y)), RADAR_MATCHING, np.zeros((3, 3)))
    seen = wall[np.abs(wall[:, 1]) < 20.0] - [0.2, 0.0, 0.0]
    tight = np.diag([1e-2, 1e-2, 1e-2, 1e-3, 1e-3, 1e-3])
    match = alone.match(seen, np.eye(4), np.linalg.inv(tight))
    assert match.accepted, match.reason
    assert match.T_target_source[0, 3] == pytest.approx(0.2, abs=0.01)
    assert match.T_target_source[1, 3] == pytest.approx(0.0, abs=1e-3)
    assert match.covariance[1, 1] == pytest.approx(1e-2, rel=0.1) and match.covariance[0, 0] < 1e-3


# -- motion -------------------------------------------------------------------------------------


def test_the_doppler_shift_is_put_back():
    """The base turns about its origin: a radar 0.2 m to the right of it moves faster."""
    moving, _ = peaks(circle_pose(1.0), TWIST, noise_m=0.0, ghosts=0.0)
    at_rest = without_doppler(moving, TWIST, P_BASE_RADAR, SHIFT_S) - P_BASE_RADAR
    seen = moving - P_BASE_RADAR
    ranges, angles = np.linalg.norm(seen, axis=1), np.arctan2(seen[:, 1], seen[:, 0])
    closing = (1.0 + 0.2 * 0.125) * np.cos(angles) + 0.3 * 0.125 * np.sin(angles)
    np.testing.assert_allclose(
        np.linalg.norm(at_rest, axis=1), ranges + SHIFT_S * closing, atol=SINGLE
    )
    assert closing.max() > 1.0 and closing.min() < -1.0
    still = without_doppler(moving, np.zeros(6), P_BASE_RADAR, SHIFT_S)
    np.testing.assert_array_equal(still, moving)


def test_a_moving_turn_without_its_motion_lies_on_the_houses(matcher):
    T = circle_pose(2.0)
    points, times = peaks(T, TWIST, noise_m=0.0, ghosts=0.0)
    still = deskewed(without_doppler(points, TWIST, P_BASE_RADAR, SHIFT_S), times, TWIST)
    freed, raw = matcher.match(still, T), matcher.match(points, T)
    assert errors(freed.T_target_source, T)[0] < 0.01
    assert freed.rmse_m < 0.02 < raw.rmse_m or errors(raw.T_target_source, T)[0] > 0.05


def test_odometry_follows_a_drive_better_than_its_wheels():
    """Wheels that slip by 5 and 15 percent, a quarter of the circle of 8 m."""
    odometry, n = RadarOdometry(PARAMETERS, P_BASE_RADAR), 50
    T_0, T_wheels = circle_pose(0.0), np.eye(4)
    wheels = np.array([TWIST[0] / 0.95, TWIST[5] / 0.85])
    for k in range(n):
        T = circle_pose(TWIST[5] * TURN_S * k)
        frame = odometry.add(*peaks(T, TWIST, seed=k), round(1e9 * TURN_S * k), wheels)
        assert frame.accepted, frame.reason
        if k:
            slipping = np.array([wheels[0], 0, 0, 0, 0, wheels[1]])
            T_wheels = T_wheels @ T_begin_end(slipping, TURN_S)
    shift, turn = errors(T_0 @ frame.T_odom_base, T)
    lost, turned = errors(T_0 @ T_wheels, T)
    assert shift < 0.3 * lost and turn < 0.3 * turned and shift < 0.25
    assert frame.T_odom_base[2, 3] == 0.0
    points, normals = odometry.surroundings(20.0)
    assert len(points) == len(normals) > 100 and (normals[:, 2] == 0.0).all()
    odometry.restart()
    assert odometry.add(*peaks(circle_pose(4.0)), 10**12, np.zeros(2)).accepted


# -- on a route ---------------------------------------------------------------------------------


def graph():
    """Return a third of the circle, with a submap at every fifth vertex; the ground climbs."""
    points, normals = surface_points()
    lift = make_transform(Rotation.from_euler("y", -3, degrees=True).as_matrix(), [0.0, 0.0, 2.0])
    poses = [lift @ circle_pose(2.0 * k / 30) for k in range(30)]
    vertices, submaps = [], []
    for k, T in enumerate(poses):
        holder = k - k % 5
        there = np.linalg.inv(poses[holder]) @ T
        vertices.append(
            Vertex(id=k, stamp_ns=k, T_map_vertex=T, submap_id=holder, T_submap_vertex=there)
        )
        if k == holder:
            T_base_houses = np.linalg.inv(T) @ lift
            near = points @ T_base_houses[:3, :3].T + T_base_houses[:3, 3]
            submaps.append(
                Submap(vertex_id=k, points=near, normals=normals @ T_base_houses[:3, :3].T)
            )
    return RouteGraph(vertices, [], MemorySubmaps(submaps)), lift


def test_a_route_is_followed_and_found_on_tilted_ground():
    taught, lift = graph()
    found = RadarSenses(taught, taught.ids, RadarProtocol(view=VIEW)).localizer
    T_odom = np.eye(4)
    for k in range(0, 30, 3):
        T = circle_pose(2.0 * k / 30)
        result = found.localize(peaks(T, seed=k)[0], k, T_odom)
        assert result.accepted, result.reason
        shift, turn = errors(result.T_map_base, lift @ T)
        assert shift < PLACED_M and turn < PLACED_DEG
        T_odom = T_odom @ np.linalg.inv(T) @ circle_pose(2.0 * (k + 3) / 30)
    T = moved(circle_pose(1.2), [0.4, -0.3, 0.0], 120.0)
    result = found.relocalize(peaks(T)[0])
    assert result.accepted, result.reason
    assert errors(result.T_map_base, lift @ T)[0] < PLACED_M


@pytest.mark.parametrize("seed", range(3))
def test_start_errors_of_half_a_metre_and_ten_degrees_are_corrected(seed):
    taught, lift = graph()
    rng = np.random.default_rng(seed)
    found = RadarSenses(taught, taught.ids, RadarProtocol(view=VIEW)).localizer
    way = rng.normal(size=2)
    T = circle_pose(2.0 * 12 / 30)
    offset = [*(0.5 * way / np.linalg.norm(way)), 0.0]
    found.reset(12, moved(np.eye(4), offset, 10.0 * rng.choice([-1.0, 1.0])))
    result = found.localize(peaks(T, seed=seed)[0], 0, np.eye(4))
    assert result.accepted, result.reason
    assert errors(result.T_map_base, lift @ T)[0] < PLACED_M


def test_a_turn_of_another_place_is_refused():
    taught, _ = graph()
    found = RadarSenses(taught, taught.ids, RadarProtocol(view=VIEW)).localizer
    found.reset(12)
    result = found.localize(peaks(circle_pose(4.5))[0], 0, np.eye(4))
    assert not result.accepted and result.reason
