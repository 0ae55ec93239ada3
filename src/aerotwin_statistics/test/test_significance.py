# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests between methods against SciPy and counting by hand."""

import itertools

import numpy as np
import pytest
from scipy import stats

from aerotwin_statistics import compare_paired, compare_unpaired, holm, quartiles

ROUNDING = 1e-12
PERMUTATION_ERROR = 5 * np.sqrt(0.05 * 0.95 / 10_000)


def samples(seed, n=12, shift=0.4):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    return a, a + rng.normal(shift, 0.5, n)


def test_five_numbers_are_numpys():
    found = quartiles([4.0, 1.0, 3.0, 2.0])
    assert (found.minimum, found.q25, found.median, found.q75, found.maximum) == (
        *(1.0, 1.75, 2.5, 3.25, 4.0),
    )
    assert found.mean == 2.5
    assert found.std == pytest.approx(np.std([1, 2, 3, 4], ddof=1))
    assert np.isnan(quartiles([1.0]).std)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [5, 12, 30])
def test_signed_ranks_are_scipys(seed, n):
    a, b = samples(seed, n)
    found = compare_paired(a, b)
    assert found.p_value == pytest.approx(stats.wilcoxon(b - a).pvalue, rel=ROUNDING)


def test_tied_differences_are_counted_over_all_signs():
    off = np.array([1.0, 1.0, 2.0, -1.0, 3.0, 3.0])
    ranks = stats.rankdata(np.abs(off))
    seen = abs(np.sum(ranks * np.sign(off)))
    sums = [np.sum(ranks * signs) for signs in itertools.product((-1, 1), repeat=6)]
    by_hand = np.mean([abs(s) >= seen for s in sums])
    assert compare_paired(np.zeros(6), off).p_value == pytest.approx(by_hand)


def test_the_sign_permutation_is_scipys():
    a, b = samples(3, 10)
    exact = stats.permutation_test(
        (b - a,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert compare_paired(a, b, test="permutation").p_value == pytest.approx(exact)
    a, b = samples(3, 25, 0.2)
    drawn = compare_paired(a, b, test="permutation").p_value
    assert drawn == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=PERMUTATION_ERROR)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_of_unpaired_runs_are_scipys(seed):
    a, b = samples(seed)
    found = compare_unpaired(a, b[:9])
    assert found.p_value == pytest.approx(stats.mannwhitneyu(a, b[:9]).pvalue, rel=ROUNDING)
    drawn = compare_unpaired(a, b[:9], test="permutation").p_value
    textbook = stats.permutation_test(
        (a, b[:9]), lambda x, y: y.mean() - x.mean(), n_resamples=9999, random_state=1
    ).pvalue
    assert drawn == pytest.approx(textbook, abs=2 * 5 * np.sqrt(0.25 / 10_000))


def test_effects_have_a_sign_and_reach_one():
    a = np.arange(6.0)
    assert compare_paired(a, a + 1.0).effect == 1.0
    assert compare_paired(a + 1.0, a).effect == -1.0
    assert compare_unpaired(a, a + 10.0).effect == 1.0
    # Pairs (a, b) with b > a: 3 of 4; with b < a: 1 of 4.
    assert compare_unpaired([1.0, 3.0], [2.0, 4.0]).effect == pytest.approx(0.5)
    assert compare_paired(
        a, a + np.array([1, 2, 3, 4, 5, 60.0])
    ).median_difference == pytest.approx(3.5)


def test_nothing_moved_is_no_difference():
    a = np.arange(4.0)
    assert compare_paired(a, a).p_value == 1.0
    assert compare_paired(a, a).effect == 0.0
    assert compare_unpaired([2.0, 2.0], [2.0, 2.0]).p_value == 1.0


def test_few_runs_cannot_be_significant_and_it_says_so():
    found = compare_paired(np.arange(5.0), np.arange(5.0) + np.arange(1.0, 6.0))
    assert found.p_value == found.smallest_p_value == pytest.approx(0.0625)
    apart = compare_unpaired(np.arange(3.0), np.arange(3.0) + 10.0)
    assert apart.p_value == apart.smallest_p_value == pytest.approx(0.1)


def test_holm_is_the_step_down_of_the_paper():
    # p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") of R.
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.04, 0.05]), [0.05, 0.08, 0.09, 0.09, 0.09])
    np.testing.assert_allclose(holm([0.6, 0.001, 0.9]), [1.0, 0.003, 1.0])
    assert len(holm([])) == 0


def test_methods_that_are_alike_are_called_different_as_often_as_alpha():
    rng, n_trials = np.random.default_rng(1000), 400
    for compare in (compare_paired, compare_unpaired):
        p = [compare(rng.normal(size=10), rng.normal(size=10)).p_value for _ in range(n_trials)]
        assert np.mean(np.array(p) < 0.05) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / n_trials)


@pytest.mark.parametrize("values", [[], [np.nan], [[1.0]]])
def test_runs_without_a_number_are_refused(values):
    with pytest.raises(ValueError, match="finite numbers"):
        compare_unpaired([1.0], values)
    with pytest.raises(ValueError, match="must be pairs"):
        compare_paired([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="test must be one of"):
        compare_paired([1.0], [2.0], test="t")
