# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_reconstruction.degradation import DisplacementField
from aerotwin_reconstruction.degradation.displacement import INVERSE_ERROR_M, LOOK_UP_ERROR

RMS_M, CORRELATION_M = 0.30, 100.0
N_SEEDS = 600


def ensemble(points, *, vertical_ratio=1.0):
    """Return the displacements at points over many seeds, (seeds, n, 3)."""
    return np.stack(
        [
            DisplacementField(RMS_M, CORRELATION_M, seed, vertical_ratio=vertical_ratio)(points)
            for seed in range(N_SEEDS)
        ]
    )


@pytest.fixture(scope="module")
def draws():
    """Two places far apart give two draws a seed; four distances from the first."""
    distances = np.array([0.0, 30.0, 70.0, 100.0, 150.0, 1200.0])
    turn = np.deg2rad(33.0)
    points = np.column_stack(
        [distances * np.cos(turn), distances * np.sin(turn), np.linspace(0.0, 50.0, 6)]
    )
    return distances, ensemble(points)


def test_the_rms_over_seeds_is_that_asked_for(draws):
    u = draws[1][:, [0, -1]].reshape(-1, 3)
    # 5 sigma of the mean square of 3 independent components in 2 x N_SEEDS draws.
    sample_error = 5.0 * np.sqrt(2.0 / (3.0 * 2.0 * N_SEEDS))
    assert (u**2).sum(axis=1).mean() == pytest.approx(RMS_M**2, rel=sample_error)
    each = (u**2).mean(axis=0)
    np.testing.assert_allclose(each, RMS_M**2 / 3.0, rtol=np.sqrt(3.0) * sample_error)


def test_the_correlation_over_seeds_is_gaussian_with_1_over_e_at_its_length(draws):
    distances, u = draws
    product = (u[:, :1] * u).sum(axis=2).mean(axis=0)
    sample_error = 5.0 * RMS_M**2 * np.sqrt(2.0 / (3.0 * N_SEEDS))
    expected = RMS_M**2 * np.exp(-((distances / CORRELATION_M) ** 2))
    np.testing.assert_allclose(product, expected, atol=sample_error)
    assert expected[3] == pytest.approx(RMS_M**2 / np.e)


def test_the_components_do_not_depend_on_each_other(draws):
    u = draws[1][:, [0, -1]].reshape(-1, 3)
    covariance = u.T @ u / len(u)
    sample_error = 5.0 * RMS_M**2 / 3.0 / np.sqrt(len(u))
    np.testing.assert_allclose(covariance[~np.eye(3, dtype=bool)], 0.0, atol=sample_error)


def test_the_marginal_is_normal(draws):
    x = draws[1][:, [0, -1]].reshape(-1) / (RMS_M / np.sqrt(3.0))
    # Kurtosis of a normal sample: 3 with standard deviation sqrt(24 / n).
    assert (x**4).mean() == pytest.approx(3.0, abs=5.0 * np.sqrt(96.0 / len(x)))


def test_the_vertical_share_is_a_choice():
    field = DisplacementField(RMS_M, CORRELATION_M, 0, vertical_ratio=0.0)
    assert not field(np.array([[3.0, 4.0, 5.0]]))[:, 2].any()
    assert np.linalg.norm(field.axis_rms_m) == pytest.approx(RMS_M)
    twice = DisplacementField(RMS_M, CORRELATION_M, 0, vertical_ratio=2.0).axis_rms_m
    assert twice[2] == pytest.approx(2.0 * twice[0])


def test_what_stands_on_a_place_moves_with_it():
    field = DisplacementField(RMS_M, CORRELATION_M, 3)
    column = np.array([[7.0, -9.0, z] for z in (-5.0, 0.0, 30.0)])
    np.testing.assert_array_equal(field(column), field(column[[1, 1, 1]]))


def test_a_seed_gives_the_same_field_again_and_another_another():
    p = np.array([[12.0, 30.0, 1.0]])
    first = DisplacementField(RMS_M, CORRELATION_M, 5)(p)
    np.testing.assert_array_equal(first, DisplacementField(RMS_M, CORRELATION_M, 5)(p))
    assert np.abs(first - DisplacementField(RMS_M, CORRELATION_M, 6)(p)).max() > 1e-3


def test_a_dense_cloud_is_looked_up_within_the_stated_error():
    field = DisplacementField(RMS_M, CORRELATION_M, 8)
    points = np.random.default_rng(0).uniform(-60.0, 60.0, (20_000, 3))
    points[:, 0] += 500.0
    summed = np.concatenate([field(part) for part in np.array_split(points, 40)])
    looked_up = field(points)
    assert np.abs(looked_up - summed).max() > 0.0  # the two ways differ
    np.testing.assert_allclose(looked_up, summed, atol=LOOK_UP_ERROR * RMS_M)
    whole = field(np.vstack([points, points + np.array([30.0, 40.0, 0.0])]))[: len(points)]
    np.testing.assert_allclose(whole, looked_up, atol=LOOK_UP_ERROR * RMS_M)


@pytest.mark.parametrize("n", [7, 20_000])
def test_the_inverse_undoes_the_map(n):
    field = DisplacementField(2.0, 50.0, 11)
    points = np.random.default_rng(1).uniform(-60.0, 60.0, (n, 3))
    back = field.inverse(points + field(points))
    np.testing.assert_allclose(
        back, points, atol=INVERSE_ERROR_M + 2 * LOOK_UP_ERROR * 2.0 * (n > 99)
    )


def test_a_field_that_folds_the_place_has_no_inverse():
    field = DisplacementField(80.0, 20.0, 0)
    with pytest.raises(ValueError, match="folds"):
        field.inverse(np.random.default_rng(0).uniform(-200.0, 200.0, (50, 3)))


@pytest.mark.parametrize("wrong", [(-0.1, 100.0), (np.nan, 100.0), (0.3, 0.0)])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        DisplacementField(*wrong, 0)
    with pytest.raises(ValueError, match="finite"):
        DisplacementField(0.3, 100.0, 0)(np.array([[np.inf, 0.0, 0.0]]))
