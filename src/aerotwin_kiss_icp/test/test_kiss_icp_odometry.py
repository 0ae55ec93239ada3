# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The odometry around KISS-ICP, against KISS-ICP alone."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_kiss_icp import KissIcpOdometry, KissIcpParameters

PERIOD_NS = 100_000_000
# A turn of 360 columns ends one of them before the next begins: this share of the way is left.
COLUMN = 1.0 / 360.0
STILL_M = 1e-3  # ICP stops at steps of 1e-4
PARAMETERS = KissIcpParameters(voxel_m=0.5)


@pytest.fixture(scope="module")
def tracked(drive):
    odometry = KissIcpOdometry(PARAMETERS)
    return odometry, [odometry.add(*scan) for scan in drive]


@pytest.fixture(scope="module")
def peer_poses(drive):
    """Poses of KISS-ICP as its authors call it: at the end of each turn."""
    from kiss_icp.config import KISSConfig
    from kiss_icp.kiss_icp import KissICP

    configuration = KISSConfig()
    configuration.mapping.voxel_size = PARAMETERS.voxel_m
    configuration.registration.max_num_threads = 1
    peer = KissICP(configuration)
    poses = []
    for _, points, times in drive:
        peer.register_frame(points, times)
        poses.append(peer.last_pose.copy())
    return poses


def test_the_pose_at_a_stamp_is_that_of_kiss_icp_where_the_turn_before_ended(tracked, peer_poses):
    for pose, T_begin, T_end in list(zip(tracked[1][1:], peer_poses, peer_poses[1:])):
        way = np.linalg.norm(T_end[:3, 3] - T_begin[:3, 3])
        off = np.linalg.norm(pose.T_odom_lidar[:3, 3] - T_begin[:3, 3])
        assert off <= 2.0 * COLUMN * way + 1e-9
    assert np.linalg.norm(peer_poses[-1][:3, 3]) > 2.0  # it moved


def test_without_deskewing_the_pose_is_that_of_the_middle_of_the_turn(drive):
    odometry = KissIcpOdometry(KissIcpParameters(voxel_m=0.5, deskew=False))
    for scan in drive:
        pose = odometry.add(*scan)
    middle = odometry._algorithm.last_pose
    half_way = pose.twist_in_lidar[:3] * scan[2].max() / 2.0
    moved = (np.linalg.inv(pose.T_odom_lidar) @ middle)[:3, 3]
    np.testing.assert_allclose(moved, half_way, atol=2e-3)  # the chord of an arc
    assert np.linalg.norm(half_way) > 0.02


def test_the_twist_moves_one_pose_to_the_next(tracked, peer_poses):
    """Integrated in a thousand steps, the slow obvious way."""
    for pose, T_begin, T_end in list(zip(tracked[1][1:], peer_poses, peer_poses[1:]))[10:]:
        T, dt = T_begin.copy(), PERIOD_NS * 1e-9 / 1000
        step = np.eye(4)
        step[:3, :3] = Rotation.from_rotvec(pose.twist_in_lidar[3:] * dt).as_matrix()
        step[:3, 3] = pose.twist_in_lidar[:3] * dt
        for _ in range(1000):
            T = T @ step
        np.testing.assert_allclose(T, T_end, atol=1e-4)


def test_two_runs_give_the_same_poses(tracked, drive):
    again = KissIcpOdometry(PARAMETERS)
    for pose, scan in list(zip(tracked[1], drive))[:8]:
        np.testing.assert_array_equal(again.add(*scan).T_odom_lidar, pose.T_odom_lidar)


def test_a_scan_without_times_is_taken_as_it_is(drive):
    stamp, points, _ = drive[0]
    odometry = KissIcpOdometry(PARAMETERS)
    still = np.zeros(len(points))
    odometry.add(stamp, points, still)
    pose = odometry.add(stamp + PERIOD_NS, points, still)
    np.testing.assert_allclose(pose.T_odom_lidar, np.eye(4), atol=STILL_M)


def test_points_that_are_not_numbers_are_left_out(drive):
    stamp, points, times = drive[0]
    corrupted = np.vstack([points, [[np.nan, 0.0, 0.0]]])
    odometry = KissIcpOdometry(PARAMETERS)
    odometry.add(stamp, corrupted, np.append(times, 0.05))
    assert np.isfinite(odometry.map_points()).all()


@pytest.mark.parametrize(
    ("scan", "message"),
    [
        ((0, np.zeros((20, 2)), np.zeros(20)), r"shape \(n, 3\)"),
        ((0, np.ones((20, 3)), np.zeros(19)), r"times_s \(n,\)"),
        ((0, np.full((20, 3), np.nan), np.zeros(20)), "10 finite points at least, got 0"),
    ],
)
def test_scans_that_are_none_are_refused(scan, message):
    with pytest.raises(ValueError, match=message):
        KissIcpOdometry().add(*scan)


def test_stamps_grow(drive):
    odometry = KissIcpOdometry(PARAMETERS)
    odometry.add(*drive[0])
    with pytest.raises(ValueError, match="stamp_ns must grow, got 0 after 0"):
        odometry.add(*drive[0])


def test_ranges_must_leave_something():
    with pytest.raises(UserError, match="min_range_m must be below max_range_m"):
        KissIcpOdometry(KissIcpParameters(min_range_m=50.0, max_range_m=20.0))
