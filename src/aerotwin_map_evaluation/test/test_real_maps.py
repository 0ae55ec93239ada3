# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lidar scans of a lounge, put together by their poses, against themselves with known errors."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial import cKDTree

from aerotwin_core.frames import make_transform, transform_points
from aerotwin_map_evaluation import MapProtocol, evaluate_map, map_entropy

PROTOCOL = MapProtocol(
    radius_m=0.5, cut_m=0.5, awd_voxel_m=1.0, awd_min_points=60, entropy_radius_m=0.3,
    rejection_m=(0.1, 0.5), within_m=(0.05, 0.1, 0.2), method="point_to_plane",
)  # fmt: skip
SIGMA_M = 0.05
N_SCANS = 6


@pytest.fixture(scope="module")
def lounge(request):
    shared_data = request.getfixturevalue("shared_data")
    folder = shared_data("point_clouds/balm_hku_lounge")
    rows = np.loadtxt(folder / "poses_T_world_lidar.txt")[:N_SCANS]
    scans = []
    for row in rows:
        points = np.load(folder / f"scan_{int(row[0]):03d}.npy").astype(np.float64)
        T = np.vstack([row[2:].reshape(3, 4), [0, 0, 0, 1]])
        scans.append(transform_points(T, points))
    return np.concatenate(scans)


def noisy(points, seed=1000):
    return points + np.random.default_rng(seed).normal(0.0, SIGMA_M, points.shape)


def test_a_map_against_itself_has_no_error(lounge):
    protocol = dataclasses.replace(PROTOCOL, align="none")
    found = evaluate_map(None, lounge, reference_points=lounge, protocol=protocol).metrics()
    assert found["both_ways"]["hausdorff"]["symmetric_m"]["p100"] == 0.0
    assert found["both_ways"]["chamfer"]["sum_m"] == 0.0
    assert found["wasserstein"]["mean_m"] < 1e-6
    assert found["wasserstein"]["n_voxels"] > 500
    assert all(row["f"] == 1.0 for row in found["both_ways"]["precision_recall"])


def test_known_noise_comes_out_as_that_of_a_full_search(lounge):
    estimate = noisy(lounge)
    protocol = dataclasses.replace(PROTOCOL, align="none")
    found = evaluate_map(None, estimate, reference_points=lounge, protocol=protocol)
    expected = cKDTree(lounge).query(estimate)[0]
    np.testing.assert_allclose(found.scores.forward, expected, atol=1e-9)
    pairs = found.metrics()["correspondences"]
    assert pairs["mean_m"] == pytest.approx(expected[expected <= 0.5].mean(), abs=1e-9)


def test_noise_thickens_surfaces_by_its_own_size(lounge):
    """The variance across a surface is the sum of both variances."""
    clean, thick = (
        map_entropy(points, radius_m=0.3, min_points=15) for points in (lounge, noisy(lounge))
    )
    both = cKDTree(thick.positions).query(clean.positions)
    flat = clean.thickness_m < 0.02
    near = flat & (both[0] < 0.1) & np.isfinite(thick.thickness_m[both[1]])
    grown = np.median(thick.thickness_m[both[1][near]])
    expected = np.hypot(np.median(clean.thickness_m[near]), SIGMA_M)
    assert grown == pytest.approx(expected, rel=0.1)
    assert thick.plain()["mme"] > clean.plain()["mme"] + 0.5


def test_a_known_motion_is_taken_out(lounge):
    angle = np.radians(2.0)
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    T = make_transform(R, [0.15, -0.1, 0.05])
    estimate = transform_points(np.linalg.inv(T), noisy(lounge)[::2])
    found = evaluate_map(None, estimate, reference_points=lounge, protocol=PROTOCOL)
    assert found.registration.converged, found.registration.reason
    error = np.linalg.inv(T) @ found.T_reference_estimate
    # Half of 120 000 points with 5 cm of noise each, on surfaces in all directions.
    assert np.linalg.norm(error[:3, 3]) < 0.02
    np.testing.assert_allclose(error[:3, :3], np.eye(3), atol=2e-3)
