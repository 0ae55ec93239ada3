# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial import cKDTree

from aerotwin_map_evaluation import CloudScores

LIMITS = (0.1, 0.25, 0.5)
FLOAT32 = 1e-5


def random_clouds():
    rng = np.random.default_rng(1000)
    return rng.uniform(0, 10, (4000, 3)), rng.uniform(0, 10, (3000, 3)) * [1, 1, 1.2]


def test_two_parallel_planes_have_their_distance_everywhere():
    """Grids above each other: every nearest point is the one right above, h away."""
    x, y = np.meshgrid(np.arange(50.0), np.arange(50.0))
    low = np.column_stack([x.ravel(), y.ravel(), np.zeros(2500)])
    scores = CloudScores.between(low + np.array([0, 0, 0.3]), low, LIMITS)
    assert scores.chamfer["sum_m"] == pytest.approx(0.6)
    assert scores.chamfer["mean_m"] == pytest.approx(0.3)
    assert scores.chamfer["squared_m2"] == pytest.approx(2 * 0.09)
    assert scores.hausdorff["symmetric_m"]["p100"] == pytest.approx(0.3)
    assert [row["f"] for row in scores.precision_recall()] == [0.0, 0.0, 1.0]


def test_it_is_brute_force():
    a, b = random_clouds()
    scores = CloudScores.between(a, b, LIMITS)
    forward, backward = cKDTree(b).query(a)[0], cKDTree(a).query(b)[0]
    np.testing.assert_allclose(scores.forward, forward, atol=FLOAT32)
    np.testing.assert_allclose(scores.backward, backward, atol=FLOAT32)
    row = scores.precision_recall()[2]
    precision, recall = np.mean(forward <= 0.5), np.mean(backward <= 0.5)
    assert row["precision"] == pytest.approx(precision, abs=1e-3)
    assert row["f"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-3)
    assert scores.hausdorff["map_to_reference_m"]["p95"] == pytest.approx(
        np.percentile(forward, 95), abs=FLOAT32
    )


def test_open3d_finds_the_same_distances():
    o3d = pytest.importorskip("open3d")
    a, b = random_clouds()
    clouds = [o3d.geometry.PointCloud(o3d.utility.Vector3dVector(c)) for c in (a, b)]
    scores = CloudScores.between(a, b, LIMITS)
    np.testing.assert_allclose(
        scores.forward, clouds[0].compute_point_cloud_distance(clouds[1]), atol=FLOAT32
    )
    np.testing.assert_allclose(
        scores.backward, clouds[1].compute_point_cloud_distance(clouds[0]), atol=FLOAT32
    )


def test_half_a_map_is_accurate_and_not_complete():
    a, _ = random_clouds()
    scores = CloudScores.between(a[a[:, 0] < 5], a, LIMITS)
    assert scores.plain()["accuracy"]["max_m"] == 0.0
    assert scores.precision_recall()[0]["recall"] == pytest.approx(0.5, abs=0.03)
    assert scores.hausdorff["map_to_reference_m"]["p100"] == 0.0
    assert scores.hausdorff["symmetric_m"]["p100"] > 4.0


def test_one_far_point_is_the_classical_hausdorff_distance_and_no_percentile():
    a, _ = random_clouds()
    scores = CloudScores.between(np.vstack([a, [[500.0, 0, 0]]]), a, LIMITS)
    assert scores.hausdorff["symmetric_m"]["p100"] > 480.0
    assert scores.hausdorff["symmetric_m"]["p99"] == 0.0
