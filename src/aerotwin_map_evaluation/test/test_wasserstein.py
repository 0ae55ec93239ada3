# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.spatial.transform import Rotation

from aerotwin_map_evaluation.wasserstein import FEWEST_VOXELS, voxel_distances, wasserstein_squared

# A root of a difference of traces of about 1 m^2: sqrt of some machine epsilons.
ZERO = 1e-6
ROUNDING = 1e-9


def covariance(rng, flat=False):
    """A random covariance [m^2]; a flat one has no extent in one direction, as walls have."""
    R = Rotation.random(random_state=rng).as_matrix()
    spread = rng.uniform(0.1, 1.5, 3) ** 2
    if flat:
        spread[2] = 0.0
    return R @ np.diag(spread) @ R.T


def w2(mean_a, cov_a, mean_b, cov_b):
    parts = (np.asarray(part, dtype=float)[None] for part in (mean_a, cov_a, mean_b, cov_b))
    return float(np.sqrt(wasserstein_squared(*parts)[0]))


def test_it_is_the_closed_form_with_an_independent_matrix_root():
    rng = np.random.default_rng(1000)
    for _ in range(50):
        a, b, m, n = covariance(rng), covariance(rng), rng.normal(size=3), rng.normal(size=3)
        root = sqrtm(a)
        expected = np.sum((m - n) ** 2) + np.trace(a + b - 2 * sqrtm(root @ b @ root)).real
        assert w2(m, a, n, b) == pytest.approx(np.sqrt(expected), abs=ROUNDING)


def test_aligned_gaussians_differ_by_their_deviations():
    """Along common axes W2^2 is the sum of squared differences of mean and of deviation."""
    a, b = np.diag([1.0, 4.0, 9.0]), np.diag([4.0, 4.0, 1.0])
    assert w2([1, 0, 0], a, [0, 2, 0], b) == pytest.approx(np.sqrt(1 + 4 + 1 + 0 + 4))


def test_identical_oblique_planes_are_no_distance_apart():
    """The trace of a Cholesky factor, used elsewhere, gives about a metre here."""
    rng = np.random.default_rng(1001)
    for _ in range(20):
        flat = covariance(rng, flat=True)
        assert w2(np.zeros(3), flat, np.zeros(3), flat) < ZERO


def test_a_motion_of_both_gaussians_changes_nothing():
    rng = np.random.default_rng(1002)
    for _ in range(20):
        a, b, m, n = covariance(rng), covariance(rng, True), rng.normal(size=3), rng.normal(size=3)
        R, t = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
        moved = w2(R @ m + t, R @ a @ R.T, R @ n + t, R @ b @ R.T)
        assert moved == pytest.approx(w2(m, a, n, b), abs=ZERO)


def surface(n=60_000, seed=1000):
    rng = np.random.default_rng(seed)
    xy = rng.uniform(-15, 15, (n, 2))
    return np.column_stack([xy, 2 * np.sin(0.3 * xy[:, 0]) + np.cos(0.4 * xy[:, 1])])


def awd(a, b, edge=3.0):
    return voxel_distances(a, b, edge_m=edge, min_points=100)


@pytest.mark.parametrize("yaw", [0.0, 17.0, 45.0])
def test_identical_clouds_give_zero_in_every_pose(yaw):
    cloud = surface() @ Rotation.from_euler("zyx", [yaw, yaw / 3, 5], degrees=True).as_matrix().T
    found = awd(cloud, cloud)
    assert found.awd_m < ZERO
    assert len(found.distances) > 80


def test_motions_of_the_lattice_onto_itself_change_nothing():
    """Quarter turns and shifts by whole voxels put the same points together."""
    a, b = surface(), surface(seed=1001) + np.random.default_rng(3).normal(0, 0.2, (60_000, 3))
    before = awd(a, b).awd_m
    for axis in "xyz":
        R = Rotation.from_euler(axis, 90, degrees=True).as_matrix()
        after = awd(a @ R.T + [3.0, -6.0, 30.0], b @ R.T + [3.0, -6.0, 30.0]).awd_m
        assert after == pytest.approx(before, abs=1e-6)


def test_any_other_rotation_changes_it_only_by_new_voxels():
    a, b = surface(), surface(seed=1001) + np.random.default_rng(3).normal(0, 0.2, (60_000, 3))
    R = Rotation.from_euler("z", 33, degrees=True).as_matrix()
    # No invariance: other points share voxels. On an even error the mean hardly moves.
    assert awd(a @ R.T, b @ R.T).awd_m == pytest.approx(awd(a, b).awd_m, rel=0.1)


def test_a_shift_below_a_voxel_is_measured_where_voxels_keep_their_points():
    rng = np.random.default_rng(1003)
    cloud = rng.normal(0.0, 0.2, (5000, 3)) + np.array(
        [1.5, 1.5, 1.5]
    )  # in the middle of one voxel
    assert awd(cloud, cloud + np.array([0.1, 0.0, 0.0])).awd_m == pytest.approx(0.1, abs=1e-6)


def test_voxels_with_few_points_are_left_out_and_counted():
    few = surface(400)
    found = awd(few, few)
    assert found.awd_m is None
    assert found.plain()["n_voxels"] == 0
    assert found.n_occupied > 80


def test_too_few_voxels_give_no_figure_and_say_what_is_needed():
    """A dense spot of nine voxels beside a thin map of 600: no mean of the whole map."""
    rng = np.random.default_rng(1005)
    dense = rng.uniform(0.0, 3.0, (3000, 3)) * [1.0, 1.0, 0.3]
    thin = rng.uniform([4.0, 4.0, 0.0], [30.0, 30.0, 0.9], (3000, 3))
    found = awd(np.vstack([dense, thin]), np.vstack([dense, thin])).plain()
    assert 0 < found["n_voxels"] < FEWEST_VOXELS
    assert (found["mean_m"], found["p95_m"], found["consistency"]) == (None, None, None)
    assert f"only {found['n_voxels']} of the map's" in found["refused"]
    assert "awd_voxel_m" in found["refused"]
    enough = awd(surface(), surface())
    assert enough.refusal == "" and enough.plain()["refused"] is None


def test_even_errors_are_consistent_and_a_bad_corner_is_not():
    cloud = surface()
    even = cloud + np.array([0.0, 0.0, 0.1])
    uneven = cloud + np.where(cloud[:, :1] > 10, 1.0, 0.05) * [0.0, 0.0, 1.0]
    assert awd(cloud, even).consistency < awd(cloud, uneven).consistency


def test_consistency_is_the_mean_of_relative_spreads():
    """All voxels of this patch are near each other: one number, computed by hand."""
    rng = np.random.default_rng(1004)
    a = rng.uniform(0, 6, (20_000, 3)) * [1, 1, 0.4]
    b = a + rng.normal(0, 0.1, a.shape) * (a[:, :1] > 3)
    found = awd(a, b)
    w = found.distances
    assert found.consistency == pytest.approx(w.std() / w.mean(), rel=1e-9)


def test_clouds_however_far_apart_have_no_voxel_in_common():
    near = np.random.default_rng(2).uniform(0.0, 4.0, (2000, 3))
    apart = voxel_distances(near, near + 1e7, edge_m=1.0, min_points=10)
    assert len(apart.distances) == 0
    assert apart.n_occupied == 2 * apart.n_of_first
    outlier = np.vstack([near, [[1e7, 1e7, 1e7]]])
    kept = voxel_distances(outlier, near, edge_m=1.0, min_points=10)
    alone = voxel_distances(near, near, edge_m=1.0, min_points=10)
    np.testing.assert_array_equal(kept.centres, alone.centres)
    np.testing.assert_allclose(kept.distances, alone.distances, atol=1e-9)
