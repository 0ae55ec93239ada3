# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts against closed forms, and how often they are wrong over many trials."""

import math

import numpy as np
import pytest
from scipy import stats

from aerotwin_campaign.metric_differences import (
    ALPHA,
    fewest_units,
    find_differences,
    overall,
    paired_test,
)
from aerotwin_campaign.paired_results import PairedMetric, PairedResults

N_TRIALS = 1000
# Five standard errors of a share of 0.05 in so many trials above it would be 0.084; a valid verdict
# is below alpha, so that three are enough of an allowance.
MOST_FALSE = ALPHA + 3.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / N_TRIALS)


def paired(metrics, *, units=None, axes=None, is_repeatable=False):
    n = len(metrics[0].a)
    return PairedResults(
        metrics=tuple(metrics),
        units=np.arange(n) if units is None else units,
        axes=axes or {},
        run_ids=(("", ""),) * n,
        only_a=(),
        only_b=(),
        only_metrics=(),
        is_repeatable=np.full(n, is_repeatable),
        notes=(),
    )


def metric(a, b, name="error_m", better="lower", **rest):
    return PairedMetric(
        name=name, a=np.asarray(a, float), b=np.asarray(b, float), better=better, **rest
    )


def one(a, b, **rest):
    known = {key: rest.pop(key) for key in ("units", "axes", "is_repeatable") if key in rest}
    (found,) = find_differences(paired([metric(a, b, **rest)], **known))
    return found


def test_mcnemar_is_the_binomial_of_the_discordant_pairs():
    a = np.r_[np.ones(20), np.ones(9), np.zeros(1), np.zeros(5)]
    b = np.r_[np.ones(20), np.zeros(9), np.ones(1), np.zeros(5)]
    found = one(a, b, name="is_success", better="")
    closed = 2.0 * sum(math.comb(10, k) for k in (0, 1)) / 2**10
    assert found.test == "sign"
    assert found.p_value == pytest.approx(closed, rel=1e-12)
    assert (found.verdict, found.better) == ("worse", "higher")
    assert found.effect == pytest.approx(-0.8)


def test_signed_ranks_are_those_of_scipy():
    rng = np.random.default_rng(1)
    a = rng.normal(size=30)
    b = a + rng.normal(0.3, 0.5, 30)
    test, _, p_value = paired_test(a, b)
    assert test == "wilcoxon"
    assert p_value == pytest.approx(stats.wilcoxon(b - a, method="exact").pvalue, rel=1e-12)


def test_which_test_is_made_does_not_depend_on_signs():
    rng = np.random.default_rng(2)
    for k in range(50):
        off = np.round(rng.normal(size=20), k % 3)
        if off.any():
            flipped = off * rng.choice([-1.0, 1.0], 20)
            zero = np.zeros(20)
            assert paired_test(zero, off)[0] == paired_test(zero, flipped)[0]


def test_equal_pairs_are_the_same_and_nothing_is_tested():
    found = one([1.0, 2.0, np.nan], [1.0, 2.0, np.nan], is_repeatable=True)
    assert (found.verdict, found.p_value, found.n_differ) == ("same", None, 0)


@pytest.mark.parametrize(
    ("is_repeatable", "verdict"), [(True, "changed"), (False, "no difference")]
)
def test_one_pair_that_differs_is_a_change_where_runs_repeat(is_repeatable, verdict):
    b = np.arange(1.0, 31.0)
    b[3] += 1e-12
    assert one(np.arange(1.0, 31.0), b, is_repeatable=is_repeatable).verdict == verdict


def test_a_value_that_is_missing_on_one_side_differs():
    found = one([1.0, 2.0, 3.0], [1.0, np.nan, 3.0], is_repeatable=True)
    assert (found.verdict, found.only_a, found.only_b, found.n_units) == ("changed", 1, 0, 2)


@pytest.mark.parametrize(
    ("better", "shift", "verdict"),
    [("lower", 0.1, "worse"), ("lower", -0.1, "better"), ("higher", 0.1, "better"),
     ("higher", -0.1, "worse"), ("", 0.1, "changed")],
)  # fmt: skip
def test_the_declared_direction_says_what_is_worse(better, shift, verdict):
    rng = np.random.default_rng(3)
    a = rng.normal(1.0, 0.3, 20)
    assert one(a, a + shift * rng.random(20), better=better).verdict == verdict


@pytest.mark.parametrize("name", ["expect.0.robustness", "expect.2.is_met", "robustness"])
def test_less_robustness_is_worse_whatever_is_declared(name):
    a = np.linspace(0.5, 1.0, 20)
    assert one(a, a - np.linspace(0.01, 0.02, 20), name=name, better="").verdict == "worse"


def test_what_is_systematic_but_tiny_is_changed_and_not_worse():
    a = np.linspace(1.0, 2.0, 30)
    assert one(a, a * (1.0 + 1e-9), is_repeatable=True).verdict == "changed"


def test_repeats_of_a_unit_are_no_further_units():
    a = np.repeat(np.linspace(1.0, 2.0, 4), 10)
    found = one(a, a + 0.1, units=np.repeat(np.arange(4), 10))
    assert (found.n_pairs, found.n_units) == (40, 4)
    assert found.p_value == pytest.approx(2.0 / 2**4)
    assert found.verdict == "no difference"


def test_texts_are_compared_for_equality_only():
    found = one([0, 1, 2], [0, 1, 3], name="outcome", is_text=True, is_repeatable=True)
    assert (found.verdict, found.difference, found.p_value) == ("changed", None, None)


def test_a_difference_is_located_on_its_axis():
    wind = [0.0, 5.0, 10.0] * 10
    a = np.linspace(1.0, 2.0, 30)
    b = a + np.where(np.array(wind) == 10.0, 0.5, 0.0)
    found = one(a, b, axes={"wind": wind}, is_repeatable=True)
    assert [(p.value, p.n_differ, p.n_pairs) for p in found.parts] == [
        (0.0, 0, 10), (5.0, 0, 10), (10.0, 10, 10)
    ]  # fmt: skip
    assert found.parts[2].difference == pytest.approx(0.5)


def test_the_fewest_units_are_those_whose_least_p_value_is_below_alpha():
    for n_metrics in (1, 4, 15):
        n = fewest_units(n_metrics)
        assert 2.0 ** (1 - n) * n_metrics <= ALPHA < 2.0 ** (2 - n) * n_metrics


def no_change(rng, n, n_metrics):
    """Return metrics of runs with noise: heavy-tailed, few values, truth values, correlated."""
    level = rng.normal(5.0, 1.0, n)
    common = rng.normal(size=(2, n))
    found = []
    for k in range(n_metrics):
        kind = k % 5
        a, b = level + 0.5 * rng.normal(size=(2, n))
        if kind == 1:
            a, b = np.exp(rng.standard_t(2, (2, n)).clip(-20, 20))
        elif kind == 2:
            a, b = np.round(level + rng.normal(size=(2, n)))
        elif kind == 3:
            a, b = rng.random((2, n)) < 0.8
        elif kind == 4:
            a, b = level + common + 0.1 * rng.normal(size=(2, n))
        found.append(metric(a, b, f"m{k}", "lower"))
    return found


@pytest.mark.parametrize("n", [8, 30])
def test_without_a_change_anything_is_worse_or_better_in_less_than_alpha_of_trials(n, monkeypatch):
    monkeypatch.setattr("aerotwin_campaign.metric_differences._interval", lambda _: {})
    rng = np.random.default_rng(n)
    n_false = 0
    for _ in range(N_TRIALS):
        n_false += overall(find_differences(paired(no_change(rng, n, 15)))) != "no difference"
    assert n_false / N_TRIALS <= MOST_FALSE


def test_a_planted_shift_among_many_metrics_is_found(monkeypatch):
    monkeypatch.setattr("aerotwin_campaign.metric_differences._interval", lambda _: {})
    rng = np.random.default_rng(9)
    n_found, n_wrong, n_trials = 0, 0, 200
    for _ in range(n_trials):
        metrics = no_change(rng, 30, 15)
        level = rng.normal(5.0, 1.0, 30)
        worse = level + rng.normal(0.5, 0.4, 30)  # 1.25 standard deviations of the differences
        found = find_differences(paired([*metrics, metric(level, worse, "planted")]))
        n_found += found[-1].verdict == "worse"
        n_wrong += any(each.verdict in ("worse", "better") for each in found[:-1])
    assert n_found / n_trials > 0.99
    assert n_wrong / n_trials <= ALPHA + 3.0 * math.sqrt(ALPHA / n_trials)
