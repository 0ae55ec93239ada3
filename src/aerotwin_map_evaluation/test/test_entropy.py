# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_map_evaluation import map_entropy
from aerotwin_map_evaluation.entropy import THINNEST_M
from aerotwin_map_evaluation.no_reference import evaluate_without_reference
from aerotwin_map_evaluation.sections import statistics_verdict

CONSTANT = 1.5 * np.log(2 * np.pi * np.e)


def test_an_isotropic_gaussian_has_its_closed_form():
    """h = 3/2 ln(2 pi e sigma^2) when every neighbourhood holds the whole cloud."""
    sigma, n = 0.1, 4000
    cloud = np.random.default_rng(1000).normal(0, sigma, (n, 3))
    found = map_entropy(cloud, radius_m=100.0, min_points=10).plain()
    # Three variances, each with a relative error of sqrt(2 / n): five sigma of half their sum.
    sample_error = 5 * 0.5 * np.sqrt(3 * 2 / n)
    assert found["mme"] == pytest.approx(CONSTANT + 3 * np.log(sigma), abs=sample_error)
    assert found["thickness_mean_m"] == pytest.approx(sigma, rel=0.05)
    assert found["share_judged"] == 1.0


def test_it_is_the_entropy_of_numpy_covariances():
    rng = np.random.default_rng(1001)
    cloud = rng.uniform(0, 3, (2000, 3)) * [1, 1, 0.1]
    found = map_entropy(cloud, radius_m=0.5, min_points=10)
    for position, value in list(zip(found.positions, found.values))[:100]:
        near = cloud[np.linalg.norm(cloud - position, axis=1) <= 0.5]
        if len(near) < 10:
            assert np.isnan(value)
            continue
        expected = CONSTANT + 0.5 * np.log(np.linalg.det(np.cov(near.T)))
        assert value == pytest.approx(expected, abs=1e-9)


def test_an_exact_plane_is_as_thin_as_the_limit_and_not_minus_infinity():
    rng = np.random.default_rng(1002)
    plane = np.column_stack([rng.uniform(-1, 1, (3000, 2)), np.zeros(3000)])
    found = map_entropy(plane, radius_m=50.0, min_points=10)
    variance = np.linalg.eigvalsh(np.cov(plane.T))
    expected = CONSTANT + 0.5 * np.log(variance[1] * variance[2]) + np.log(THINNEST_M)
    assert found.plain()["mme"] == pytest.approx(expected, abs=1e-3)


def test_noise_and_double_walls_raise_it():
    rng = np.random.default_rng(1003)
    wall = np.column_stack([rng.uniform(-3, 3, (8000, 2)), np.zeros(8000)])
    noisy = wall + rng.normal(0, 0.05, wall.shape)
    double = wall + [0.0, 0.0, 0.2] * rng.integers(0, 2, (8000, 1))
    thin, thick, two = (
        map_entropy(c + rng.normal(0, 0.005, c.shape), radius_m=0.5, min_points=10).plain()
        for c in (wall, noisy, double)
    )
    assert thin["mme"] < thick["mme"] < two["mme"]
    # Two walls 0.2 m apart: half the points 0.1 m off on either side.
    assert two["thickness_median_m"] == pytest.approx(0.1, rel=0.05)


def test_lonely_points_are_counted_and_not_judged():
    rng = np.random.default_rng(1004)
    block, lonely = rng.uniform(0, 1, (900, 3)), rng.uniform(100, 200, (100, 3))
    found = evaluate_without_reference(np.vstack([block, lonely])).metrics()
    assert found["share_alone"] == pytest.approx(0.1, abs=0.005)
    assert found["entropy"]["share_judged"] == pytest.approx(0.9, abs=0.01)
    assert found["protocol"]["name"] == "default"


def test_a_map_too_sparse_has_no_entropy():
    found = map_entropy(np.arange(30.0).reshape(-1, 3), radius_m=0.1, min_points=10).plain()
    assert found["mme"] is None
    assert found["share_judged"] == 0.0


def test_a_few_clumps_are_not_the_sharpness_of_a_map():
    rng = np.random.default_rng(1005)
    clump, far = rng.normal(0, 0.05, (40, 3)), rng.uniform(-500, 500, (4000, 3))
    tokens = statistics_verdict(evaluate_without_reference(np.vstack([clump, far])))
    assert "too sparse" in tokens and "1.0%" in tokens
