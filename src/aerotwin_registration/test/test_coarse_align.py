# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Coarse alignment of generated yards and a real lounge, with rivals, with nothing to find."""

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_registration import ICP_PRESETS, CoarseProtocol, align, coarse_align
from aerotwin_registration.coarse import kernels
from aerotwin_registration.coarse.field import make_field
from aerotwin_registration.coarse.verdict import CoarseRegistration, sliding_along
from aerotwin_registration.observability import OpenDirection

BASIN_M, BASIN_DEG = 0.5, 2.0
"""What a following ICP with a radius of 1 m needs."""
SAME_END_M, SAME_RMSE = 0.15, 1.002
"""Point-to-point ICP has minima up to 0.12 m apart on voxels of 1 m (seeds 1000 to 1011, a stopping
rule of 1e-9): two ends of one basin lie so near, and neither is the worse fit."""
FIELD_STEP = 1.0 / 255.0  # the field has 8 bits
ROUNDING = 1e-9


def yard(seed, n_boxes=14, half=40.0):
    """Return the surface of boxes on rolling ground, evenly sampled [m]."""
    rng = np.random.default_rng(seed)
    xy = rng.uniform(-half, half, (16000, 2))
    parts = [np.column_stack([xy, 0.5 * np.sin(0.1 * xy[:, 0]) + 0.3 * np.cos(0.13 * xy[:, 1])])]
    for _ in range(n_boxes):
        place, size = rng.uniform(-half, half, 2), rng.uniform(3.0, 12.0, 3)
        parts.append(box(place, size, rng.uniform(0, np.pi), rng))
    return np.concatenate(parts)


def box(place, size, yaw, rng, n=1500):
    """Return points on the four walls and the roof of a box."""
    u = rng.uniform(-0.5, 0.5, (n, 3))
    face = rng.integers(0, 5, n)
    u[face == 0, 0], u[face == 1, 0], u[face == 2, 1], u[face == 3, 1] = -0.5, 0.5, -0.5, 0.5
    u[face == 4, 2] = 0.5
    u[:, 2] += 0.5
    return Rotation.from_euler("z", yaw).apply(u * size) + np.append(place, 0.0)


def voxel_centres(points, edge=1.0):
    return (np.unique(np.floor(points / edge), axis=0) + 0.5) * edge


def seen_part(points, rng, reach=28.0, noise=0.1, stray=0.05):
    """Return what a SLAM saw around some place: noisy, with outliers."""
    part = points[np.hypot(*(points[:, :2] - rng.uniform(-12, 12, 2)).T) < reach]
    part = part[rng.uniform(size=len(part)) < 0.5] + rng.normal(0, noise, (1, 3))
    part = part + rng.normal(0, noise, part.shape)
    low, high = part.min(axis=0), part.max(axis=0)
    return np.concatenate([part, rng.uniform(low, high, (int(stray * len(part)), 3))])


def pose(rng, reach=20.0, lift=4.0):
    """Return a pose of any yaw and an offset up to a reach."""
    yaw, direction = rng.uniform(-np.pi, np.pi, 2)
    distance = reach * np.sqrt(rng.uniform())
    p = [distance * np.cos(direction), distance * np.sin(direction), rng.uniform(-lift, lift)]
    return make_transform(Rotation.from_euler("z", yaw).as_matrix(), p)


def difference(a, b, points):
    centre = points.mean(axis=0, keepdims=True)
    shift = np.linalg.norm(transform_points(a, centre) - transform_points(b, centre))
    turn = Rotation.from_matrix(a[:3, :3] @ b[:3, :3].T).magnitude()
    return shift, np.degrees(turn)


def assert_in_the_basin(T, T_true, points):
    shift, turn = difference(T, T_true, points)
    assert shift < BASIN_M
    assert turn < BASIN_DEG


@pytest.mark.parametrize("seed", [1001, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_part_is_found_in_voxels_from_any_heading_and_icp_ends_at_the_same_place(seed):
    rng = np.random.default_rng(seed)
    place = yard(seed)
    T = pose(rng)
    source = transform_points(invert_transform(T), seen_part(place, rng))
    target = voxel_centres(place)
    found = coarse_align(source, target)
    assert found.converged, found.reason
    protocol = ICP_PRESETS["beam2024"]
    from_truth, from_found = (
        align(source, target, T_target_source_initial=start, protocol=protocol)
        for start in (T, found.T_target_source)
    )
    assert_in_the_basin(found.T_target_source, from_truth.T_target_source, source)
    assert from_found.rmse_m < SAME_RMSE * from_truth.rmse_m
    ends = from_truth.T_target_source, from_found.T_target_source
    assert difference(*ends, source)[0] < SAME_END_M


def test_a_tilt_of_some_degrees_is_found_too():
    rng = np.random.default_rng(1003)
    place = yard(1003)
    T = pose(rng) @ make_transform(
        Rotation.from_euler("xy", [4.0, -3.0], degrees=True).as_matrix(), np.zeros(3)
    )
    source = transform_points(invert_transform(T), seen_part(place, rng))
    found = coarse_align(source, place)
    assert found.converged, found.reason
    assert_in_the_basin(found.T_target_source, T, source)
    strict = coarse_align(source, place, protocol=CoarseProtocol(max_tilt_deg=2.0))
    assert not strict.converged
    assert "leans by 5.0 deg" in strict.reason  # acos(cos 4 cos 3)


def test_a_place_beyond_the_offset_is_never_an_answer():
    rng = np.random.default_rng(1014)
    place = yard(1014)
    T = make_transform(np.eye(3), [16.0, 0.0, 0.0])
    source = transform_points(invert_transform(T), seen_part(place, rng))
    found = coarse_align(source, place, max_offset_m=6.0)
    assert not found.converged


def test_the_offset_may_be_that_of_the_middle_where_the_origin_is_far():
    rng = np.random.default_rng(1004)
    far = np.array([3000.0, -2000.0, 50.0])
    place = yard(1004) + far
    part = seen_part(yard(1004), rng) + far
    middle = part.mean(axis=0)
    R = Rotation.from_euler("z", 130.0, degrees=True).as_matrix()
    T = make_transform(R, middle - R @ middle + [9.0, -12.0, 1.0])
    found = coarse_align(transform_points(invert_transform(T), part), place)
    assert found.converged, found.reason
    shift, turn = difference(found.T_target_source, T, transform_points(invert_transform(T), part))
    assert shift < BASIN_M
    assert turn < BASIN_DEG


def test_a_start_is_where_yaw_and_offset_are_counted_from():
    rng = np.random.default_rng(1005)
    place = yard(1005)
    T_start = make_transform(Rotation.from_euler("z", 2.0).as_matrix(), [500.0, 100.0, -30.0])
    T = pose(rng) @ T_start
    source = transform_points(invert_transform(T), seen_part(place, rng))
    found = coarse_align(source, place, T_target_source_initial=T_start)
    moved = coarse_align(transform_points(T_start, source), place)
    assert found.converged, found.reason
    assert_in_the_basin(found.T_target_source, T, source)
    np.testing.assert_allclose(found.T_target_source, moved.T_target_source @ T_start, atol=1e-6)


def test_a_place_that_looks_alike_from_two_sides_is_ambiguous_and_names_the_rival():
    rng = np.random.default_rng(1006)
    half = yard(1006, n_boxes=7)
    half = half[half[:, 1] > 0.0]
    turned = half * [-1.0, -1.0, 1.0]
    place = np.concatenate([half, turned])
    source = place[rng.uniform(size=len(place)) < 0.6]
    found = coarse_align(source, place)
    assert not found.converged
    assert "ambiguous" in found.reason
    yaw = np.degrees(
        Rotation.from_matrix(
            found.T_target_source_rival[:3, :3] @ found.T_target_source[:3, :3].T
        ).magnitude()
    )
    assert abs(yaw - 180.0) < BASIN_DEG
    assert f"{found.lead:.1%}" in found.reason


def test_another_place_is_not_taken_for_this_one():
    found = coarse_align(seen_part(yard(1007), np.random.default_rng(1)), yard(1008))
    assert not found.converged


def test_a_cloud_that_lies_mostly_elsewhere_is_refused():
    rng = np.random.default_rng(1009)
    place = yard(1009)
    part = place[(place[:, 0] < -5.0) & (place[:, 0] > -40.0)]
    rest = place[place[:, 0] > 5.0]
    found = coarse_align(part + rng.normal(0, 0.05, part.shape), rest, max_offset_m=5.0)
    assert not found.converged


def test_a_plane_is_never_placed():
    rng = np.random.default_rng(1010)
    xy = rng.uniform(-30, 30, (16000, 2))
    plane = np.column_stack([xy, rng.normal(0, 0.02, len(xy))])
    source = plane[::2]  # other points than the target's: a pattern of points is a place
    found = coarse_align(source[np.hypot(*source[:, :2].T) < 15.0], plane[1::2])
    assert not found.converged


def test_a_motion_that_small_steps_do_not_show_is_tried_over_metres():
    rng = np.random.default_rng(1015)
    points = rng.uniform(-10, 10, (500, 3))
    along = OpenDirection(translation=np.array([1.0, 0, 0]), rotation=np.zeros(3), information=0)
    about = OpenDirection(translation=np.zeros(3), rotation=np.array([0, 0, 1.0]), information=0)

    def moved(other):
        return np.sqrt(np.mean(np.sum((other - points) ** 2, axis=1)))

    assert sliding_along(points, (along,), 3.0, lambda p: moved(p) == pytest.approx(3.0))
    assert sliding_along(points, (along,), 3.0, lambda p: False) == ""
    # about z only the horizontal part of the arms moves: sqrt(2 / 3) of the radius
    turned = sliding_along(points, (along, about), 1.0, lambda p: moved(p) < 0.9)
    assert turned == "a turn about (+1.0 z)"


def test_clouds_out_of_reach_or_of_a_handful_of_points_are_reported():
    place = yard(1011)
    few = coarse_align(place[:20], place)
    assert not few.converged
    assert "too few" in few.reason
    for direction in np.eye(3):
        far = coarse_align(place, place + 500.0 * direction)
        assert not far.converged
        assert "--initial or --origin" in far.reason
        np.testing.assert_array_equal(far.T_target_source, np.eye(4))
    assert "no place within 20 m has a hit" in far.reason


def test_the_rival_is_reported_for_the_unmoved_source_too():
    T, T_rival = (make_transform(np.eye(3), [x, 0.0, 0.0]) for x in (1.0, 7.0))
    found = CoarseRegistration(
        T_target_source=T,
        scale=2.0,
        T_target_source_rival=T_rival,
        scale_rival=0.5,
        converged=False,
        reason="ambiguous",
        n_iterations=1,
        n_correspondences=1,
        fitness=1.0,
        rmse_m=0.0,
    ).after(make_transform(np.eye(3), [10.0, 0.0, 0.0]))
    assert found.T_target_source[0, 3] == pytest.approx(2.0 * 10.0 + 1.0)
    assert found.T_target_source_rival[0, 3] == pytest.approx(0.5 * 10.0 + 7.0)


def test_the_same_seed_gives_the_same_bits():
    rng = np.random.default_rng(1012)
    place = yard(1012)
    source = transform_points(invert_transform(pose(rng)), seen_part(place, rng))
    choices = {"seed": 3, "max_offset_m": 8.0, "protocol": CoarseProtocol(n_points=500)}
    first, again = (coarse_align(source, place, **choices) for _ in range(2))
    assert first.T_target_source.tobytes() == again.T_target_source.tobytes()
    assert first.reason == again.reason


def test_a_scale_is_found_where_one_is_asked_for():
    rng = np.random.default_rng(1013)
    place = yard(1013)
    T, scale = pose(rng, reach=4.0, lift=1.0), 1.6
    part = seen_part(place, rng, noise=0.05)
    source = transform_points(invert_transform(T), part) / scale
    protocol = CoarseProtocol(scale_low=1.55, scale_high=1.65, n_points=1200)
    found = coarse_align(source, place, max_offset_m=5.0, protocol=protocol)
    assert found.converged, found.reason
    assert found.scale == pytest.approx(scale, rel=0.01)
    S = found.S_target_source
    assert np.linalg.norm(transform_points(S, source) - part, axis=1).mean() < BASIN_M


@pytest.mark.slow  # the bound alone is tested below
def test_a_scale_is_found_among_two_decades_of_them():
    """A cloud that shrinks to a point lies wholly on the first wall: that is no answer."""
    rng = np.random.default_rng(1013)
    place = yard(1013)
    T, scale = pose(rng, reach=4.0, lift=1.0), 5.0
    part = seen_part(place, rng, noise=0.05)
    source = transform_points(invert_transform(T), part) / scale
    protocol = CoarseProtocol(scale_low=0.1, scale_high=10.0, n_points=400)
    found = coarse_align(source, place, max_offset_m=8.0, protocol=protocol)
    assert found.converged, found.reason
    assert found.scale == pytest.approx(scale, rel=0.01)
    S = found.S_target_source
    assert np.linalg.norm(transform_points(S, source) - part, axis=1).mean() < BASIN_M


def test_a_refined_scale_stays_between_those_beside_it():
    """One bright node: without a bound every cloud would shrink into it, past zero too."""
    field = np.zeros((9, 9, 9), np.uint8)
    field[4, 4, 4] = 255
    points = np.random.default_rng(9).uniform(-3.0, 3.0, (50, 3))
    poses = np.array([[4.0, 4.0, 4.0, 0.0, 0.1]])
    steps = np.array([0.0, 0.0, 0.0, 0.0, 0.3])
    kernels.climb(points, poses, steps, 6, field)
    assert poses[0, 4] == pytest.approx(0.1 * np.exp(-0.6), rel=1e-6)
    assert (poses[0, :4] == [4.0, 4.0, 4.0, 0.0]).all()


@pytest.mark.parametrize("bad", [np.zeros((5, 2)), np.full((500, 3), np.nan)])
def test_a_bad_array_is_refused(bad):
    with pytest.raises(ValueError, match="source must"):
        coarse_align(bad, yard(1))


def test_a_field_holds_the_nearness_of_the_nearest_point():
    rng = np.random.default_rng(5)
    points = rng.uniform(0.0, 8.0, (40, 3))
    field, origin, cell, sigma = np.zeros((12, 11, 10), np.uint8), np.zeros(3), 1.0, 0.8
    kernels.splat(points, origin, cell, sigma, field)
    z, y, x = np.indices(field.shape)
    nodes = cell * np.stack([x, y, z], axis=-1).reshape(-1, 3)
    distance = cKDTree(points).query(nodes)[0]
    expected = np.where(distance <= 2 * sigma, np.exp(-(distance**2) / (2 * sigma**2)), 0.0)
    np.testing.assert_allclose(field.ravel() / 255.0, expected, atol=FIELD_STEP)


def test_flat_ground_tells_less_than_a_wall():
    rng = np.random.default_rng(6)
    ground = np.column_stack([rng.uniform(-30, 30, (20000, 2)), np.zeros(20000)])
    wall = np.column_stack([np.zeros(900), rng.uniform(-10, 10, 900), rng.uniform(2, 8, 900)])
    field = make_field(np.concatenate([ground, wall]), 1.0, 0.7, 9.0, 0.05)
    at = np.rint(field.nodes(np.array([[12.0, 12.0, 0.0], [0.0, 0.0, 5.0]]))).astype(int)
    on_ground, on_wall = (field.values[z, y, x] for x, y, z in at)
    assert on_wall > 3 * on_ground


def test_correlation_equals_the_sum_over_every_shift():
    rng = np.random.default_rng(7)
    field = rng.integers(0, 255, (6, 7, 8)).astype(np.uint8)
    nodes = rng.integers(-3, 8, (30, 3)).astype(np.int32)
    sums = np.zeros((4, 5, 3), np.int32)
    kernels.correlate(nodes, field, sums)
    for dz, dy, dx in np.ndindex(sums.shape):
        moved = nodes + np.array([dx, dy, dz])
        inside = ((moved >= 0) & (moved < [8, 7, 6])).all(axis=1)
        x, y, z = moved[inside].T
        assert sums[dz, dy, dx] == field[z, y, x].astype(int).sum()


def test_a_score_is_the_mean_of_the_field_between_its_nodes():
    rng = np.random.default_rng(8)
    field = rng.integers(0, 255, (9, 10, 11)).astype(np.uint8)
    points = rng.uniform(-2.0, 2.0, (50, 3))
    place = np.array([5.0, 4.5, 4.0, 0.7, 1.2])
    moved = 1.2 * Rotation.from_euler("z", 0.7).apply(points) + place[:3]
    expected = map_coordinates(field.astype(float), moved[:, ::-1].T, order=1) / 255.0
    np.testing.assert_allclose(kernels.scores(points, place, field), expected, atol=ROUNDING)
    assert kernels.score(points, place, field) == pytest.approx(expected.mean(), abs=ROUNDING)


def test_half_of_a_real_lounge_is_found_in_the_other_half(shared_data):
    """Every second scan against the rest: point_clouds/README.md, poses good to some cm."""
    folder = shared_data("point_clouds/balm_hku_lounge")
    rows = np.loadtxt(folder / "poses_T_world_lidar.txt")
    scans = []
    for row in rows:
        R_t = row[2:].reshape(3, 4)
        scans.append(np.load(folder / f"scan_{int(row[0]):03d}.npy") @ R_t[:, :3].T + R_t[:, 3])
    T = pose(np.random.default_rng(1000))
    source = transform_points(invert_transform(T), np.concatenate(scans[::2]))
    found = coarse_align(source, np.concatenate(scans[1::2]))
    assert found.converged, found.reason
    assert_in_the_basin(found.T_target_source, T, source)
