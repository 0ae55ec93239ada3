# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Shares of variance and rank correlations against closed forms and SciPy."""

import numpy as np
import pyarrow
import pytest
from scipy.stats import f_oneway, kruskal, norm, spearmanr

from aerotwin_campaign import ResultColumns, rank_correlation, variance_share
from aerotwin_campaign.sensitivity import sensitivities

ROUNDING = 1e-10
# Ishigami and Homma 1990, a = 7, b = 0.1: the first-order indices are known in closed form.
A, B = 7.0, 0.1
V1 = 0.5 * (1.0 + B * np.pi**4 / 5.0) ** 2
V2 = A**2 / 8.0
V13 = 8.0 * B**2 * np.pi**8 / 225.0
INDICES = (V1 / (V1 + V2 + V13), V2 / (V1 + V2 + V13), 0.0)
INDEX_ERROR = 0.03  # classes of 30 lose some per cent of sin^2, 8192 random runs a per cent


def results_of(axes, metrics, n, is_success=None):
    success = [True] * n if is_success is None else list(is_success)
    return ResultColumns(pyarrow.table({
        "run_id": [f"{k:064x}" for k in range(n)],
        **{f"axes.{name}": values for name, values in axes.items()},
        "seed": [0] * n, "repeat": [0] * n, "is_success": success, "outcome": ["done"] * n,
        **{f"metrics.{name}": values for name, values in metrics.items()},
    }))  # fmt: skip


def test_the_shares_of_the_ishigami_function_are_its_first_order_indices():
    n = 8192
    x = np.random.default_rng(1).uniform(-np.pi, np.pi, (n, 3))
    y = np.sin(x[:, 0]) + A * np.sin(x[:, 1]) ** 2 + B * x[:, 2] ** 4 * np.sin(x[:, 0])
    found = sensitivities(results_of({f"x{k}": x[:, k] for k in range(3)}, {"y": y}, n))
    shares = {each.axis: each.share for each in found}
    assert [shares[f"x{k}"] for k in range(3)] == pytest.approx(INDICES, abs=INDEX_ERROR)
    assert [found[0].axis, found[-1].axis] == ["x1", "x2"]
    p_values = {each.axis: each.p_value for each in found}
    assert p_values["x0"] < 1e-9 and p_values["x1"] < 1e-9


def test_the_share_follows_from_the_f_statistic():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, 60)
    values = rng.normal(size=60) + codes
    f = f_oneway(*(values[codes == k] for k in range(4))).statistic
    eta_squared = 3.0 * f / (3.0 * f + 56.0)
    expected = 1.0 - (1.0 - eta_squared) * 59.0 / 56.0
    assert variance_share(values, codes) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize(
    ("values", "groups"),
    [([1.0, 1.0, 1.0], [0, 0, 1]), ([1.0, 2.0, 3.0], [0, 0, 0]), ([1.0, 2.0], [0, 1])],
    ids=["equal", "one group", "no two in a group"],
)
def test_there_is_no_share_where_nothing_can_be_told(values, groups):
    assert np.isnan(variance_share(np.array(values), np.array(groups)))


def test_the_rank_correlation_is_that_of_scipy_with_ties():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 6, 50).astype(float)
    y = -x + rng.normal(size=50)
    rho, low, high = rank_correlation(x, y)
    assert rho == pytest.approx(spearmanr(x, y).statistic, abs=ROUNDING)
    assert low < rho < high < 0.0


def test_the_interval_of_the_rank_correlation_covers_the_truth():
    truth = 6.0 / np.pi * np.arcsin(0.6 / 2.0)  # of a normal distribution with correlation 0.6
    rng, n_sets = np.random.default_rng(4), 400
    n_covered = 0
    for _ in range(n_sets):
        x = rng.normal(size=60)
        y = 0.6 * x + 0.8 * rng.normal(size=60)
        _, low, high = rank_correlation(x, y)
        n_covered += low <= truth <= high
    sample_error = 4.0 * np.sqrt(0.95 * 0.05 / n_sets)
    assert n_covered / n_sets == pytest.approx(0.95, abs=sample_error)
    assert norm.cdf(4.0) > 0.9999


def test_a_listed_axis_has_the_test_of_kruskal_and_wallis_and_no_direction():
    rng = np.random.default_rng(5)
    kinds = rng.choice(["a", "b", "c"], 90)
    y = rng.normal(size=90) + (kinds == "c")
    (found,) = sensitivities(results_of({"kind": kinds}, {"y": y}, 90))
    expected = kruskal(*(y[kinds == kind] for kind in "abc")).pvalue
    assert found.p_value == pytest.approx(expected, rel=ROUNDING)
    assert found.rho is None and found.n == 90


def test_runs_without_the_metric_and_what_does_not_vary_are_left_out():
    y = [None if k % 2 else float(k) for k in range(40)]
    axes = {"x": [float(k) for k in range(40)], "same": [1] * 40}
    (found,) = sensitivities(results_of(axes, {"y": y, "constant": [3.0] * 40}, 40))
    assert (found.axis, found.metric, found.n, found.rho) == ("x", "y", 20, pytest.approx(1.0))
