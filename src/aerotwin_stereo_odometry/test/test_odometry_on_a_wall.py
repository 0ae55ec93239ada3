# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest

from aerotwin_stereo_odometry import (
    StereoOdometry,
    StereoOdometryParameters,
    bundle,
    patches,
    pose,
    semi_dense,
    warm_up,
)

NORMAL, DISTANCE_M = np.array([-0.15, 0.1, 1.0]), 6.0
DRIFT = 0.01  # of the path; windowed bundle adjustment reaches 0.2 % (published bound)
FRAME_NS = 50_000_000
PARAMETERS = StereoOdometryParameters(image_noise_std=1.0, cell_px=24)


def fly(rig, pairs, first=0, parameters=PARAMETERS):
    odometry = StereoOdometry(rig, parameters)
    return odometry, [odometry.track((first + k) * FRAME_NS, *p) for k, p in enumerate(pairs)]


def p_of(frames):
    return np.array([f.T_odom_optical[:3, 3] for f in frames])


@pytest.fixture(scope="module")
def flown(wall, sequence):
    return fly(wall.rig, sequence[1])


def test_a_known_motion_is_followed_within_a_percent(flown, sequence):
    _, frames = flown
    poses, _ = sequence
    path = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).sum()
    error = np.linalg.norm(p_of(frames) - poses[:, :3, 3], axis=1)
    assert all(f.is_tracked for f in frames)
    assert error.max() < DRIFT * path
    turn = frames[-1].T_odom_optical[:3, :3].T @ poses[-1, :3, :3]
    assert np.degrees(np.arccos((np.trace(turn) - 1) / 2)) < 0.2


def test_without_bundle_adjustment_it_tracks_and_drifts_more(wall, flown, sequence):
    plain = dataclasses.replace(PARAMETERS, bundle_iterations=0)
    poses, pairs = sequence
    _, frames = fly(wall.rig, pairs, parameters=plain)
    errors = [np.linalg.norm(p_of(f) - poses[:, :3, 3], axis=1) for f in (flown[1], frames)]
    assert all(f.is_tracked for f in frames)
    assert np.sqrt(np.mean(errors[1] ** 2)) > 1.5 * np.sqrt(np.mean(errors[0] ** 2))


def test_errors_stay_within_the_covariance(flown, sequence):
    _, frames = flown
    for frame, T in zip(frames[10:], sequence[0][10:]):
        e = frame.T_odom_optical[:3, 3] - T[:3, 3]
        assert e @ np.linalg.solve(frame.covariance[:3, :3], e) < 30.0  # chi2, 3 degrees: 1e-6
        assert np.linalg.eigvalsh(frame.covariance).min() > 0.0
        np.testing.assert_array_equal(frame.covariance, frame.covariance.T)


def test_the_map_lies_on_the_wall(flown):
    points, intensity = flown[0].map_points()
    distance = np.abs(points @ NORMAL - DISTANCE_M) / np.linalg.norm(NORMAL)
    assert len(points) == len(intensity) > 500
    assert np.median(distance) < 0.03
    assert np.percentile(distance, 95) < 0.15
    cells = np.floor(points / PARAMETERS.map_voxel_m).astype(int)
    assert len(np.unique(cells, axis=0)) == len(cells)


def test_two_runs_give_the_same_bytes(flown, wall, sequence):
    again, frames = fly(wall.rig, sequence[1])
    for a, b in zip(flown[1], frames):
        np.testing.assert_array_equal(a.T_odom_optical, b.T_odom_optical)
        np.testing.assert_array_equal(a.covariance, b.covariance)
    np.testing.assert_array_equal(again.map_points()[0], flown[0].map_points()[0])


def test_a_short_blackout_is_bridged_and_said(wall, sequence):
    poses, pairs = sequence
    dark = np.zeros_like(pairs[0][0])
    pairs = [[dark, dark] if 20 <= k < 23 else p for k, p in enumerate(pairs)]
    _, frames = fly(wall.rig, pairs)
    assert [f.is_tracked for f in frames[18:25]] == [True, True, False, False, False, True, True]
    assert np.linalg.norm(p_of(frames)[-1] - poses[-1, :3, 3]) < 0.05
    assert np.trace(frames[22].covariance) > 100 * np.trace(frames[19].covariance)


def test_a_long_blackout_starts_a_new_map_where_the_old_one_ended(wall, sequence):
    poses, pairs = sequence
    dark = np.zeros_like(pairs[0][0])
    n_dark = PARAMETERS.max_lost_frames + 4
    pairs = [[dark, dark] if 15 <= k < 15 + n_dark else p for k, p in enumerate(pairs)]
    _, frames = fly(wall.rig, pairs)
    assert not any(f.is_tracked for f in frames[15 : 16 + n_dark])
    assert all(f.is_tracked for f in frames[16 + n_dark :])
    steps = np.linalg.norm(np.diff(p_of(frames), axis=0), axis=1)
    assert steps.max() < 0.2  # no jump: neither into the dark nor out of it
    # the motion after the gap is right, whatever was lost in it
    a, b = 17 + n_dark, len(poses) - 1
    est = np.linalg.inv(frames[a].T_odom_optical) @ frames[b].T_odom_optical
    true = np.linalg.inv(poses[a]) @ poses[b]
    np.testing.assert_allclose(est[:3, 3], true[:3, 3], atol=0.03)
    e = p_of(frames)[b] - poses[b, :3, 3]
    assert e @ np.linalg.solve(frames[b].covariance[:3, :3], e) < 30.0


def test_a_start_in_the_dark_waits_for_light(wall, sequence):
    dark = np.zeros_like(sequence[1][0][0])
    _, frames = fly(wall.rig, [[dark, dark]] * 3 + sequence[1][:8])
    assert not any(f.is_tracked for f in frames[:4])
    assert all(f.is_tracked for f in frames[4:])


def test_the_first_pose_may_be_given(wall, sequence):
    T_first = np.eye(4)
    T_first[:3, :3] = [[0, 0, 1], [-1, 0, 0], [0, -1, 0]]
    T_first[:3, 3] = [0.1, 0.055, 0.0]
    odometry = StereoOdometry(wall.rig, PARAMETERS, T_odom_optical_first=T_first)
    frames = [odometry.track(k * FRAME_NS, *p) for k, p in enumerate(sequence[1][:15])]
    np.testing.assert_allclose(frames[0].T_odom_optical, T_first, atol=1e-12)
    np.testing.assert_allclose(p_of(frames)[-1], (T_first @ sequence[0][14])[:3, 3], atol=0.02)


def test_wrong_images_and_stamps_are_refused(wall, sequence):
    left, right = sequence[1][0]
    odometry = StereoOdometry(wall.rig)
    with pytest.raises(ValueError, match="uint8"):
        odometry.track(0, left.astype(float), right)
    with pytest.raises(ValueError, match="left must be"):
        odometry.track(0, left[:, 1:], right)
    odometry.track(5, left, right)
    with pytest.raises(ValueError, match="must grow"):
        odometry.track(5, left, right)


def test_warming_up_compiles_all_that_a_flight_needs(wall, sequence):
    kernels = [
        bundle._optimise, bundle._squared_errors, patches._align, patches.cut_patches,
        patches.warp_patches, pose._optimise, semi_dense.refine_inverse_depths,
    ]  # fmt: skip
    warm_up()
    before = [len(k.signatures) for k in kernels]
    fly(wall.rig, sequence[1][:20])
    assert [len(k.signatures) for k in kernels] == before
    assert min(before) == 1


def test_the_warm_up_knows_how_far_it_slid():
    odometry = warm_up()
    points, _ = odometry.map_points()
    # a wall at f b / d = 120 * 0.1 / 8 m, seen from 15 steps of 4 px
    assert abs(np.median(points[:, 2]) - 1.5) < 0.01
