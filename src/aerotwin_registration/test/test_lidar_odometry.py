# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Odometry of drives through a synthetic hall with known poses, and of a walk in a lounge."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_registration import (
    LidarOdometry,
    LidarOdometryParameters,
    accumulate,
    odometry_of_scans,
)

SCAN_NOISE_M = 0.01
DRIFT_M, DRIFT_DEG = 0.03, 0.15
"""Three times what 10 alignments of 4000 points with SCAN_NOISE_M leave over 5 m."""
LOUNGE_M, LOUNGE_DEG = 0.25, 0.3
"""small_gicp 1.0.1 in the same chain ends 0.20 m off the given poses, unaligned."""
PERIOD_NS = 100_000_000
FACTOR = 2.0  # 20 draws leave 16 % on a standard deviation; robust weights, the voxels' choice


def hall(seed=1000, n=40000):
    """Return points on floor, walls, pillars and boxes of a hall of 24 m x 16 m x 5 m."""
    rng = np.random.default_rng(seed)
    low, high = np.array([-12.0, -8.0, 0.0]), np.array([12.0, 8.0, 5.0])
    parts = [on_box(low, high, n // 2, rng)]
    for _ in range(9):
        place = rng.uniform(low[:2] + 1, high[:2] - 1)
        if np.abs(place[1]) < 2.0:  # the way is free
            place[1] = np.sign(place[1]) * 3.0
        size = rng.uniform([0.5, 0.5, 0.6], [2.5, 2.5, 4.0])
        corner = np.append(place, 0.0)
        parts.append(on_box(corner, corner + size, n // 18, rng))
    return np.concatenate(parts)


def on_box(low, high, n, rng):
    u, face = rng.uniform(size=(n, 3)), rng.integers(0, 6, n)
    u[np.arange(n), face % 3] = face // 3
    return low + u * (high - low)


def drive(n, step_m=0.5, turn_deg=4.0):
    """Return T_map_lidar along a gentle curve."""
    poses = []
    for k in range(n):
        yaw = np.radians(turn_deg) * np.sin(0.4 * k)
        R = Rotation.from_euler("ZYX", [yaw, 0.02 * np.sin(k), 0.02 * np.cos(k)]).as_matrix()
        poses.append(make_transform(R, [-6.0 + step_m * k, 0.3 * np.sin(0.5 * k), 1.5]))
    return poses


def scan(place, T, rng, n=4000):
    chosen = place[rng.choice(len(place), n, replace=False)]
    return transform_points(invert_transform(T), chosen) + rng.normal(0, SCAN_NOISE_M, (n, 3))


def assert_on_the_way(frame, T_first, T, within_m=DRIFT_M, within_deg=DRIFT_DEG):
    expected = invert_transform(T_first) @ T
    assert np.linalg.norm(frame.T_odom_lidar[:3, 3] - expected[:3, 3]) < within_m
    turn = Rotation.from_matrix(frame.T_odom_lidar[:3, :3] @ expected[:3, :3].T).magnitude()
    assert np.degrees(turn) < within_deg


def test_a_drive_is_followed():
    rng, place, poses = np.random.default_rng(1), hall(), drive(10)
    trajectory, frames = odometry_of_scans(
        [scan(place, T, rng) for T in poses], [k * PERIOD_NS for k in range(10)]
    )
    assert len(trajectory) == 10
    for frame, T in zip(frames, poses, strict=True):
        assert frame.converged, frame.reason
        assert_on_the_way(frame, poses[0], T)
    assert not any(frame.was_searched for frame in frames)
    assert frames[-1].covariance[0, 0] > frames[1].covariance[0, 0] > 0.0


def test_a_scan_of_another_place_is_lost_declared_and_kept_out_of_the_map():
    rng, place, poses = np.random.default_rng(2), hall(), drive(5)
    odometry = LidarOdometry(LidarOdometryParameters(search_m=3.0))
    for k in range(3):
        odometry.add(scan(place, poses[k], rng), k * PERIOD_NS)
    before = odometry.map_points()
    nonsense = rng.uniform(-6.0, 6.0, (4000, 3))
    lost = odometry.add(nonsense, 3 * PERIOD_NS)
    assert not lost.converged
    assert lost.reason
    assert lost.covariance[0, 0] > 100.0
    np.testing.assert_array_equal(odometry.map_points(), before)
    found = odometry.add(scan(place, poses[4], rng), 4 * PERIOD_NS)
    assert found.converged, found.reason
    assert_on_the_way(found, poses[0], poses[4])
    assert len(odometry.trajectory()) == 4
    assert len(odometry.frames) == 5


def test_a_turn_that_no_prediction_knows_is_searched_for():
    rng, place = np.random.default_rng(3), hall()
    poses = [*drive(2), drive(3)[2]]
    poses[2] = poses[2] @ make_transform(Rotation.from_euler("z", 2.4).as_matrix(), [1.5, 0.5, 0.0])
    odometry = LidarOdometry()
    for k, T in enumerate(poses):
        frame = odometry.add(scan(place, T, rng, n=8000), k * PERIOD_NS)
    assert frame.converged, frame.reason
    assert frame.was_searched
    assert_on_the_way(frame, poses[0], poses[2])


def test_motion_during_a_scan_is_taken_out():
    rng, place, n = np.random.default_rng(4), hall(), 4000
    begin = [make_transform(np.eye(3), [-6.0 + 0.6 * k, 0.0, 1.5]) for k in range(9)]
    odometry, still = LidarOdometry(), LidarOdometry()
    for k in range(8):
        share = np.sort(rng.uniform(0.0, 1.0, n)) if k else np.zeros(n)
        chosen = place[rng.choice(len(place), n, replace=False)]
        p = begin[k][:3, 3] + share[:, None] * (begin[k + 1][:3, 3] - begin[k][:3, 3])
        points = chosen - p + rng.normal(0, SCAN_NOISE_M, (n, 3))
        frame = odometry.add(points, k * PERIOD_NS, times_s=0.1 * share)
        blurred = still.add(points, k * PERIOD_NS)
    assert frame.converged, frame.reason
    assert_on_the_way(frame, begin[0], begin[7])
    error = np.linalg.norm(blurred.T_odom_lidar[:3, 3] - (begin[7] - begin[0])[:3, 3])
    assert error > 5 * DRIFT_M  # half a turn's motion at least


def test_the_covariance_of_a_moving_scan_is_that_of_noise_drawn_anew():
    """Oracle: the scatter of 20 answers in a hall whose one end is small: less is known along."""
    rng, n = np.random.default_rng(1000), 9000
    place, part = rng.uniform([-9.0, -2.0, -1.0], [9.0, 2.0, 1.5], (n, 3)), rng.integers(0, 12, n)
    place[part < 1, 0] = 9.0
    place[(part >= 1) & (part < 6), 1] = -2.0
    place[part >= 6, 2] = -1.0
    share, p_end = rng.uniform(size=(n, 1)), np.array([0.3, 0.1, 0.0])
    parameters = LidarOdometryParameters(covariance_factor=1.0, search_m=0.0)
    poses, stated = [], []
    for _ in range(20):
        odometry = LidarOdometry(parameters)
        odometry.add(place, 0)
        seen = place - share * p_end + rng.normal(0.0, SCAN_NOISE_M, place.shape)
        frame = odometry.add(seen, PERIOD_NS, times_s=0.1 * share[:, 0])
        assert frame.converged, frame.reason
        turn = Rotation.from_matrix(frame.T_odom_lidar[:3, :3]).as_rotvec()
        poses.append(np.append(frame.T_odom_lidar[:3, 3], turn))
        stated.append(np.sqrt(np.diag(frame.covariance)))
    scatter = np.std(poses, axis=0, ddof=1)
    np.testing.assert_allclose(np.log(np.mean(stated, axis=0) / scatter), 0.0, atol=np.log(FACTOR))
    assert scatter[0] > 2.0 * scatter[2]


def test_scans_put_together_are_the_place():
    rng, place, poses = np.random.default_rng(5), hall(), drive(3)
    scans = [scan(place, T, rng, n=500) for T in poses]
    cloud = accumulate(scans, poses)
    assert cloud.shape == (1500, 3)
    np.testing.assert_allclose(cloud[500:1000], transform_points(poses[1], scans[1]))
    assert len(accumulate(scans, poses, voxel_m=2.0)) < 1500
    with pytest.raises(ValueError, match="as many"):
        accumulate(scans, poses[:2])


def test_bad_scans_are_refused():
    odometry = LidarOdometry()
    odometry.add(hall()[:500], 0)
    with pytest.raises(ValueError, match="stamp_ns must increase"):
        odometry.add(hall()[:500], 0)
    with pytest.raises(ValueError, match="shape"):
        odometry.add(np.zeros((5, 2)), 1)
    with pytest.raises(ValueError, match="times_s"):
        odometry.add(np.zeros((5, 3)), 1, times_s=np.zeros(4))


def test_an_empty_first_scan_is_told_and_odom_begins_with_the_next():
    rng, place, poses = np.random.default_rng(6), hall(), drive(3)
    odometry = LidarOdometry()
    empty = odometry.add(np.full((100, 3), np.nan), 0)
    assert not empty.converged
    assert "too few" in empty.reason
    assert empty.covariance[0, 0] > 100.0
    for k, T in enumerate(poses):
        frame = odometry.add(scan(place, T, rng), (k + 1) * PERIOD_NS)
        assert frame.converged, frame.reason
        assert_on_the_way(frame, poses[0], T)
    assert len(odometry.trajectory()) == 3


def lounge(folder):
    rows = np.loadtxt(folder / "poses_T_world_lidar.txt")
    poses = [np.vstack([row[2:].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]]) for row in rows]
    scans = [np.load(folder / f"scan_{int(row[0]):03d}.npy") for row in rows]
    return scans, np.round(1e9 * (rows[:, 1] - rows[0, 1])).astype(np.int64), poses


@pytest.mark.slow  # the search of a start is shown in the hall
def test_the_walk_through_a_lounge_is_followed_though_every_eighth_scan_is_left(shared_data):
    """point_clouds/README.md: stations up to some metres and, handheld, 150 degrees apart."""
    scans, stamps, poses = lounge(shared_data("point_clouds/balm_hku_lounge"))
    trajectory, frames = odometry_of_scans(scans, stamps)
    assert len(trajectory) == len(scans) == 23
    for frame, T in zip(frames, poses, strict=True):
        assert frame.converged, frame.reason
        assert_on_the_way(frame, poses[0], T, LOUNGE_M, LOUNGE_DEG)
    assert any(frame.was_searched for frame in frames)
