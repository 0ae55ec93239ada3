# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_registration import ICP_PRESETS, AlignmentTarget, IcpProtocol, align
from aerotwin_registration.icp import kernels
from aerotwin_registration.icp.similarity import fit_rigid, split_scale
from aerotwin_registration.neighbours import PairTracker
from aerotwin_registration.point_tree import PointTree

ROUNDING = 1e-9  # double precision over coordinates of tens of metres
METHODS = ("point_to_point", "point_to_plane", "gicp")
SAME_SAMPLES = 1e-6  # exact pairs: ICP ends at the truth but for its stopping rule

OTHER_SAMPLES = 0.03  # surfaces sampled 0.2 m apart, two ways
FAR_ROUNDING = 1e-6  # 1e6 m of coordinates, which hold 1e-10 m, and a turn about their origin


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


@pytest.mark.parametrize("method", METHODS)
def test_every_method_moves_a_moved_copy_back(method):
    target = rough_ground()
    T_target_source = motion()
    source = transform_points(invert_transform(T_target_source), target)
    result = align(source, target, protocol=IcpProtocol(method=method))
    assert result.converged, result.reason
    np.testing.assert_allclose(result.T_target_source, T_target_source, atol=SAME_SAMPLES)


@pytest.mark.parametrize("method", METHODS)
def test_the_scale_is_found_with_the_motion(method):
    target = rough_ground()
    source = transform_points(invert_transform(motion()), target) / 1.02
    result = align(source, target, protocol=IcpProtocol(method=method, with_scale=True))
    assert result.converged, result.reason
    assert result.scale == pytest.approx(1.02, abs=SAME_SAMPLES)
    np.testing.assert_allclose(result.T_target_source, motion(), atol=1e-5)
    np.testing.assert_allclose(transform_points(result.S_target_source, source), target, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_inverse_and_far_shifted_registrations_agree(method):
    protocol = IcpProtocol(method=method, voxel_m=0.3)
    target = rough_ground(8000)
    source = transform_points(invert_transform(motion()), rough_ground(8000, seed=1001))
    forward = align(source, target, protocol=protocol)
    inverse = align(target, source, protocol=protocol)
    far = make_transform(np.eye(3), [1e6, -1e6, 500.0])
    shifted = align(transform_points(far, source), transform_points(far, target), protocol=protocol)
    assert forward.converged and inverse.converged and shifted.converged
    there_and_back = transform_points(inverse.T_target_source @ forward.T_target_source, source)
    assert np.abs(there_and_back - source).max() < OTHER_SAMPLES
    back = transform_points(shifted.T_target_source, transform_points(far, source)) - far[:3, 3]
    near = transform_points(forward.T_target_source, source)
    assert np.abs(back - near).max() < FAR_ROUNDING


@pytest.mark.parametrize("kernel", ["huber", "cauchy", "tukey"])
@pytest.mark.parametrize("method", METHODS)
def test_robust_kernels_withstand_outliers(method, kernel):
    rng = np.random.default_rng(4)
    target = rough_ground()
    start = motion((0.02, 0.03, -0.02), (0.002, 0.001, -0.002))
    source = transform_points(invert_transform(start), target)
    plain = IcpProtocol(method=method, max_rival_lead=1.0)
    shifted = source.copy()
    shifted[:2000, 2] += rng.uniform(0.3, 0.8, 2000)
    errors = [
        np.abs(align(shifted, target, protocol=p).T_target_source - start).max()
        for p in (plain, replace(plain, robust_kernel=kernel, robust_m=0.15))
    ]
    assert errors[1] < 0.8 * errors[0]


def test_the_same_call_gives_the_same_bits():
    source, target = transform_points(motion(), rough_ground(8000)), rough_ground(8000, 2)
    for method in METHODS:
        protocol = IcpProtocol(method=method, max_iterations=10)
        first, second = (align(source, target, protocol=protocol) for _ in range(2))
        np.testing.assert_array_equal(first.T_target_source, second.T_target_source)
        np.testing.assert_array_equal(first.information, second.information)


def test_a_prepared_target_gives_the_same_answer():
    source, target = transform_points(motion(), rough_ground()), rough_ground(seed=2)
    protocol = IcpProtocol(method="gicp")
    provided = align(source, target, protocol=protocol)
    retained = align(source, AlignmentTarget(target), protocol=protocol)
    np.testing.assert_array_equal(provided.T_target_source, retained.T_target_source)


def test_gicp_weights_equal_their_definition():
    """Oracle: 2 eps (C_target + R C_source R^T)^-1 of Segal et al. 2009, by a matrix inverse."""
    rng, eps = np.random.default_rng(6), kernels.GICP_EPSILON
    normals = rng.normal(size=(2, 40, 3))
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    moved, target = rng.normal(size=(2, 40, 3))
    R = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    index, centre = np.arange(40), np.array([0.1, 0.2, 0.3])
    sums = kernels.normal_equations(
        0, 40, kernels.GICP, 0, 1.0, moved, normals[0], R, target, normals[1], index, centre
    )
    H, g, cost = np.zeros((7, 7)), np.zeros(7), 0.0
    for x, q, s, t in zip(moved, target, normals[0], normals[1], strict=True):
        flat = [np.eye(3) - (1 - eps) * np.outer(n, n) for n in (R @ s, t)]
        W = 2 * eps * np.linalg.inv(flat[0] + flat[1])
        a = x - centre
        cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        J = np.hstack([np.eye(3), -cross, a[:, None]])
        H, g, cost = H + J.T @ W @ J, g + J.T @ W @ (q - x), cost + (q - x) @ W @ (q - x)
    np.testing.assert_allclose(np.triu(sums[:7]), np.triu(H), atol=ROUNDING)
    np.testing.assert_allclose(sums[7], g, atol=ROUNDING)
    assert sums[8, 0] == pytest.approx(cost)


def test_normals_equal_those_of_an_eigen_decomposition():
    surface = AlignmentTarget(rough_ground(500), n_neighbours=12)
    normals, roughness = surface.normals_at(np.arange(500))
    near = surface.points[cKDTree(surface.points).query(surface.points, 12)[1]]
    off = near - near.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(np.einsum("nki,nkj->nij", off, off) / 12)
    np.testing.assert_allclose(np.abs(np.sum(normals * vectors[:, :, 0], axis=1)), 1.0, atol=1e-9)
    np.testing.assert_allclose(roughness, np.sqrt(values[:, 0]), atol=1e-7)


@pytest.mark.parametrize("n", [0, 1, 2, 9, 700])
def test_nearest_points_equal_scipys(n):
    rng = np.random.default_rng(n)
    points, queries = rng.normal(size=(n, 3)), rng.normal(size=(50, 3))
    tree = PointTree(points)
    for k, limit in ((1, np.inf), (3, 0.5)):
        distance, index = tree.nearest(queries, k, limit_m=limit)
        expected = np.full((50, k), np.inf)
        if n:
            found = cKDTree(tree.points).query(queries, range(1, k + 1), distance_upper_bound=limit)
            expected = found[0]
        np.testing.assert_allclose(distance, expected, atol=ROUNDING)
        assert ((index < 0) == np.isinf(expected)).all()


def test_presets_carry_their_papers_choices():
    beam = ICP_PRESETS["beam2024"]
    assert (beam.method, beam.radius_m) == ("point_to_point", 1.0)
    assert (beam.relative_tolerance, beam.max_iterations) == (1e-5, 1500)


def test_importing_the_package_compiles_nothing():
    code = "import sys, aerotwin_registration; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_mirrored_pairs_are_fitted_by_a_rotation_and_a_mirrored_start_is_refused():
    source = np.random.default_rng(7).normal(size=(200, 3))
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    T = fit_rigid(source, transform_points(mirror, source))
    assert np.linalg.det(T[:3, :3]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="mirror"):
        align(source, source, T_target_source_initial=mirror)
    with pytest.raises(ValueError, match="mirror"):
        split_scale(2.0 * mirror)
