# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_registration import IcpProtocol, align
from aerotwin_registration.icp.similarity import fit_rigid
from aerotwin_registration.neighbours import PairTracker
from aerotwin_registration.point_tree import PointTree

ROUNDING = 1e-9  # double precision over coordinates of tens of metres
SAME_SAMPLES = 1e-6  # exact pairs: ICP ends at the truth but for its stopping rule


def rough_ground(n=6000, seed=1000):
    """Return a closed-form surface with slopes in every direction, so that nothing can slide."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-10.0, 10.0, (2, n))
    return np.column_stack([x, y, 1.5 * np.sin(0.6 * x) + 1.2 * np.cos(0.5 * y)])


def motion(shift=(0.2, -0.15, 0.1), rotvec=(0.01, -0.02, 0.03)):
    return make_transform(Rotation.from_rotvec(rotvec).as_matrix(), shift)


def test_a_moved_copy_is_moved_back():
    target = rough_ground()
    T_target_source = motion()
    source = transform_points(invert_transform(T_target_source), target)
    result = align(source, target)
    assert result.converged, result.reason
    np.testing.assert_allclose(result.T_target_source, T_target_source, atol=SAME_SAMPLES)


def test_forward_inverse_and_shifted_registrations_agree():
    target = rough_ground()
    source = transform_points(invert_transform(motion()), target)
    forward = align(source, target).T_target_source
    inverse = align(target, source).T_target_source
    offset = make_transform(np.eye(3), [400.0, -300.0, 50.0])
    shifted = align(
        transform_points(offset, source), transform_points(offset, target)
    ).T_target_source
    np.testing.assert_allclose(forward @ inverse, np.eye(4), atol=SAME_SAMPLES)
    np.testing.assert_allclose(
        invert_transform(offset) @ shifted @ offset, forward, atol=SAME_SAMPLES
    )


def test_equals_open3d_with_the_same_protocol():
    o3d = pytest.importorskip("open3d")
    target, source = rough_ground(4000, seed=1), rough_ground(3000, seed=2)
    source = transform_points(motion(), source) + np.random.default_rng(3).normal(
        0, 0.05, source.shape
    )
    ours = align(source, target)
    clouds = [o3d.geometry.PointCloud(o3d.utility.Vector3dVector(p)) for p in (source, target)]
    module = o3d.pipelines.registration
    theirs = module.registration_icp(
        *clouds,
        1.0,
        np.eye(4),
        module.TransformationEstimationPointToPoint(),
        module.ICPConvergenceCriteria(1e-5, 1e-5, 1500),
    )
    np.testing.assert_allclose(ours.T_target_source, theirs.transformation, atol=ROUNDING)
    assert ours.fitness == pytest.approx(theirs.fitness, abs=ROUNDING)
    assert ours.rmse_m == pytest.approx(theirs.inlier_rmse, abs=ROUNDING)


def test_rigid_fit_equals_scipy():
    rng = np.random.default_rng(7)
    source = rng.normal(size=(50, 3))
    target = transform_points(motion(), source) + rng.normal(0, 0.1, source.shape)
    fitted = fit_rigid(source, target)
    rotation, _ = Rotation.align_vectors(target - target.mean(0), source - source.mean(0))
    np.testing.assert_allclose(fitted[:3, :3], rotation.as_matrix(), atol=ROUNDING)
    np.testing.assert_allclose(
        transform_points(fitted, source).mean(0), target.mean(0), atol=ROUNDING
    )


def test_tracked_pairs_equal_a_full_search_at_every_step():
    rng = np.random.default_rng(11)
    tree = PointTree(rng.uniform(-2, 2, (400, 3)))
    source = rng.uniform(-3, 3, (300, 3))
    tracker, S = PairTracker(source, tree, 0.5), np.eye(4)
    for step in (0.0, 0.3, 0.01, 0.001, 0.05, 0.2):
        S[:3, 3] += rng.normal(0, step, 3)
        pairs = tracker.pairs(S)
        moved = transform_points(S, source)
        expected, index = cKDTree(tree.points).query(moved, distance_upper_bound=0.5)
        index[np.isinf(expected)] = -1
        near = expected[np.isfinite(expected)]
        np.testing.assert_array_equal(pairs.index, index)
        assert pairs.n == len(near)
        assert pairs.rmse_m == pytest.approx(np.sqrt(np.mean(near**2)), abs=ROUNDING)


def test_clouds_that_do_not_meet_are_a_failure_and_not_the_identity():
    target = rough_ground()
    result = align(target + np.array([100.0, 0, 0]), target)
    assert not result.converged
    assert "neighbour within 1 m" in result.reason


def test_a_handful_of_points_is_a_failure():
    result = align(np.zeros((5, 3)), rough_ground())
    assert not result.converged
    assert "too few" in result.reason


def test_a_plane_is_reported_to_slide_along_itself_and_turn_about_its_normal():
    rng = np.random.default_rng(5)
    plane = np.column_stack([rng.uniform(-10, 10, (3000, 2)), rng.normal(0, 0.02, 3000)])
    result = align(plane + np.array([0, 0, 0.3]), plane)
    assert not result.converged
    assert len(result.open_directions) == 3
    assert all(abs(d.translation[2]) < 0.1 for d in result.open_directions)
    assert "surface leaves open" in result.reason


def test_an_iteration_limit_is_named_as_such():
    target = rough_ground()
    source = transform_points(motion(), rough_ground(seed=3))
    result = align(source, target, protocol=IcpProtocol(max_iterations=2))
    assert not result.converged
    assert result.reason == "still moving after 2 iterations"


def test_drift_beyond_belief_is_a_failure():
    target = rough_ground()
    protocol = IcpProtocol(max_shift_m=0.05)
    result = align(target + np.array([0.2, 0, 0.1]), target, protocol=protocol)
    assert not result.converged
    assert "drifted" in result.reason


def test_nan_is_refused():
    points = rough_ground()
    points[3, 1] = np.nan
    with pytest.raises(ValueError, match="finite"):
        align(points, rough_ground())


def test_real_scan_pair_lands_on_its_published_motion(shared_data):
    """point_clouds/README.md: plain ICP at 0.25 m comes within 3.3 cm of the reference."""
    from aerotwin_registration import read_cloud, voxel_downsample

    folder = shared_data("point_clouds/small_gicp")
    source, target = (
        voxel_downsample(read_cloud(folder / f"{name}.ply").points, 0.25)
        for name in ("source", "target")
    )
    result = align(source, target)
    T = np.loadtxt(folder / "T_target_source.txt")
    assert result.converged, result.reason
    assert np.linalg.norm(result.T_target_source[:3, 3] - T[:3, 3]) < 0.04
