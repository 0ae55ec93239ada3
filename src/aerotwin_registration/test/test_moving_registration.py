# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from registration_cases import make_case
from scipy.spatial.transform import Rotation, Slerp

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_registration import align_moving
from aerotwin_registration.icp.continuous_time import moved_points

ROUNDING = 1e-9
SAME_SAMPLES = 1e-4  # exact pairs: it ends at the truth but for its stopping rule


@pytest.fixture(scope="module")
def moving():
    """The scan of a room, seen by a sensor that runs 0.5 m and turns 6 deg meanwhile."""
    points = make_case("room", 1000).target
    times = np.linspace(5.0, 5.1, len(points))
    begin = make_transform(Rotation.from_rotvec([0.01, 0.02, 0.05]).as_matrix(), [0.1, -0.05, 0.0])
    end = make_transform(Rotation.from_rotvec([0.0, -0.03, 0.15]).as_matrix(), [0.5, 0.2, 0.1])
    share = np.random.default_rng(1000).permutation((times - 5.0) / 0.1)
    turns = Slerp([0.0, 1.0], Rotation.from_matrix([begin[:3, :3], end[:3, :3]]))(share)
    p = begin[:3, 3] + share[:, None] * (end[:3, 3] - begin[:3, 3])
    return turns.inv().apply(points - p), 5.0 + 0.1 * share, points, begin, end


def test_poses_between_two_equal_scipys_slerp(moving):
    sensor, times, points, begin, end = moving
    share = (times - times.min()) / np.ptp(times)
    np.testing.assert_allclose(moved_points(sensor, share, begin, end), points, atol=ROUNDING)


def test_both_poses_of_a_moving_scan_are_found(moving):
    sensor, times, points, begin, end = moving
    result = align_moving(sensor, times, points)
    assert result.converged, result.reason
    np.testing.assert_allclose(result.T_target_begin, begin, atol=SAME_SAMPLES)
    np.testing.assert_allclose(result.T_target_end, end, atol=SAME_SAMPLES)
    np.testing.assert_allclose(result.points_target, points, atol=SAME_SAMPLES * 20)
    np.testing.assert_allclose(
        result.points_end(), transform_points(invert_transform(end), points), atol=2e-3
    )


def test_a_moving_scan_far_from_the_origin_is_found_as_well(moving):
    sensor, times, points, _, end = moving
    far = make_transform(np.eye(3), [1e6, -5e5, 300.0])
    result = align_moving(sensor, times, transform_points(far, points), T_target_begin_initial=far)
    assert result.converged, result.reason
    np.testing.assert_allclose(invert_transform(far) @ result.T_target_end, end, atol=SAME_SAMPLES)


def test_a_plane_leaves_motions_of_a_moving_scan_open():
    rng = np.random.default_rng(5)
    plane = np.column_stack([rng.uniform(-10, 10, (3000, 2)), np.zeros(3000)])
    result = align_moving(plane, np.linspace(0.0, 0.1, 3000), plane)
    assert not result.converged
    assert "open" in result.reason


def test_a_moving_scan_of_few_points_or_elsewhere_is_a_failure(moving):
    sensor, times, points, _, _ = moving
    assert "too few" in align_moving(sensor[:5], times[:5], points).reason
    assert "too few" in align_moving(np.empty((0, 3)), np.empty(0), points).reason
    assert not align_moving(sensor + 100.0, times, points).converged


def test_misuse_of_moving_scans_is_refused(moving):
    sensor, times, points, _, _ = moving
    with pytest.raises(ValueError, match="must be"):
        align_moving(sensor, times[:-1], points)
    with pytest.raises(ValueError, match="finite"):
        align_moving(np.full_like(sensor, np.nan), times, points)
