# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Block bootstrap and equivalence on samples whose truth and dependence are known."""

import numpy as np
import pytest
from scipy import stats

from aerotwin_statistics import (
    STATISTICS,
    block_bootstrap,
    blocks_in_space,
    blocks_in_time,
    bootstrap_difference,
    bootstrap_interval,
    choose_block_size,
    tost,
)

ROUNDING = 1e-9
N_RESAMPLES = 300
RESAMPLING_ERROR = 4 / np.sqrt(2 * 2000)  # relative, of a deviation of 2000 replicates
CORRELATION = 5.0
N, LENGTH = 600, 300.0


def correlated(rng, n=N, length=LENGTH, correlation=CORRELATION):
    """Return places and values of a Gaussian process of unit variance (Ornstein-Uhlenbeck)."""
    x = np.sort(rng.uniform(0.0, length, n))
    keep = np.exp(-np.diff(x) / correlation)
    values = np.empty(n)
    values[0] = rng.normal()
    for i, (share, kick) in enumerate(zip(keep, rng.normal(size=n - 1))):
        values[i + 1] = share * values[i] + np.sqrt(1.0 - share**2) * kick
    return x, values


def sample_error(n_trials, share=0.95):
    """Return 4 sigma of a share that is counted in trials."""
    return 4 * np.sqrt(share * (1.0 - share) / n_trials)


def coverage(statistic, truth, block_m, n_trials, seed=1000):
    """Return the share of intervals that hold the truth."""
    rng, n_hit = np.random.default_rng(seed), 0
    for trial in range(n_trials):
        x, values = correlated(rng)
        blocks = None if block_m is None else blocks_in_time(x, block_m)
        found = bootstrap_interval(
            values, blocks, statistic=statistic, n_resamples=N_RESAMPLES, seed=trial
        )
        n_hit += found.low <= truth <= found.high
    return n_hit / n_trials


@pytest.mark.parametrize(
    ("statistic", "truth", "n_trials"),
    [("mean", 0.0, 300), ("std", 1.0, 300), ("median", 0.0, 80), ("q75", 0.6744898, 80)],
)
def test_intervals_of_correlated_samples_hold_the_truth_as_often_as_they_say(
    statistic, truth, n_trials
):
    # A deviation is skewed and sees correlation twice: a little short with 15 blocks of 20 m.
    short = 0.05 if statistic == "std" else 0.02
    assert coverage(statistic, truth, 20.0, n_trials) >= 0.95 - short - sample_error(n_trials)


def test_points_taken_one_by_one_promise_far_too_much():
    assert coverage("mean", 0.0, None, 60) < 0.6


def test_independent_samples_give_the_textbook_error():
    values = np.random.default_rng(0).exponential(size=400)
    found = bootstrap_interval(values)
    textbook = stats.sem(values)
    assert found.standard_error == pytest.approx(textbook, rel=RESAMPLING_ERROR)
    low, high = stats.t.interval(0.95, 399, values.mean(), textbook)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * textbook)
    assert found.estimate == pytest.approx(values.mean())


@pytest.mark.parametrize("statistic", STATISTICS)
def test_replicates_are_those_of_the_slow_form(statistic):
    rng = np.random.default_rng(3)
    values, blocks = rng.normal(size=90), rng.integers(0, 12, 90)
    numbers = {"mean": np.mean, "std": np.std, "median": np.median}
    levels = {"q25": 0.25, "q75": 0.75, "q95": 0.95}
    function = numbers.get(statistic) or (lambda v: np.quantile(v, levels[statistic]))
    found = block_bootstrap(values, blocks, statistic=statistic, n_resamples=50, seed=5)
    draws = np.random.default_rng(5).integers(0, 12, (50, 12))
    slow = [function(np.concatenate([values[blocks == k] for k in draw])) for draw in draws]
    np.testing.assert_allclose(found.values, slow, atol=ROUNDING)
    assert found.estimate == pytest.approx(function(values), abs=ROUNDING)


def test_quantiles_of_more_values_than_classes_are_right_to_a_class():
    values = np.random.default_rng(0).normal(size=50_000)
    found = block_bootstrap(values, np.arange(50_000) // 100, statistic="q95", n_resamples=200)
    error = np.sqrt(0.95 * 0.05 / 50_000) / stats.norm.pdf(1.6449)
    assert found.standard_error == pytest.approx(error, rel=4 / np.sqrt(2 * 200))
    assert found.values.mean() == pytest.approx(found.estimate, abs=0.5 * error)


def test_few_units_get_the_wider_tails_of_t():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    found = bootstrap_interval(values, n_resamples=20_000)
    plain = np.quantile(block_bootstrap(values, n_resamples=20_000).values, [0.025, 0.975])
    assert found.low < plain[0] and found.high > plain[1]


def test_a_bootstrap_repeats_and_its_seed_matters():
    values = np.arange(30.0)
    first, again, other = (block_bootstrap(values, seed=s).values for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_many_blocks_are_joined_without_a_change():
    values = np.random.default_rng(2).normal(size=60_000)
    found = bootstrap_interval(values, n_resamples=500)
    assert found.n_blocks <= 5000
    assert found.standard_error == pytest.approx(stats.sem(values), rel=4 / np.sqrt(2 * 500))


@pytest.mark.parametrize(
    ("values", "blocks", "text"),
    [
        ([1.0, np.nan], None, "finite"),
        ([1.0, 2.0], [7, 7], "at least 2 blocks"),
        ([1.0, 2.0], [1.0, 2.0], "integers"),
        ([1.0, 2.0], [1], "integers"),
    ],
)
def test_samples_that_say_nothing_are_refused(values, blocks, text):
    with pytest.raises(ValueError, match=text):
        block_bootstrap(np.array(values), None if blocks is None else np.array(blocks))


def test_blocks_are_cubes_of_a_lattice_that_two_clouds_share():
    points = np.array([[0.1, 0.1, 0.1], [1.9, 0.1, 0.1], [2.1, 0.1, 0.1], [-0.1, 0.1, 0.1]])
    first = blocks_in_space(points, 2.0)
    assert first[0] == first[1]
    assert len(set(first.tolist())) == 3
    np.testing.assert_array_equal(blocks_in_space(points[2:], 2.0), first[2:])
    np.testing.assert_array_equal(blocks_in_time(np.array([0.0, 0.9, 1.0]), 1.0) % 2, [0, 0, 1])


@pytest.mark.parametrize("points", [np.zeros((3, 4)), np.array([[np.nan]]), np.array([[1e9]])])
def test_points_without_a_block_are_refused(points):
    with pytest.raises(ValueError, match="points must be"):
        blocks_in_space(points, 1.0)


def test_the_block_size_grows_until_it_holds_the_correlation():
    x, values = correlated(np.random.default_rng(4), n=6000, length=3000.0)
    chosen = choose_block_size(values, x[:, None], (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0))
    assert chosen.edge >= 2.0 * CORRELATION
    assert chosen.is_settled
    # Sum of the correlations of an Ornstein-Uhlenbeck process: variance 2 * correlation / length.
    truth = np.sqrt(2.0 * CORRELATION / 3000.0)
    assert max(chosen.standard_errors) == pytest.approx(truth, rel=0.3)
    trend = np.linspace(0.0, 1.0, 6000)
    assert not choose_block_size(trend, x[:, None], (16.0, 32.0, 64.0, 128.0)).is_settled


def test_a_difference_counts_what_a_place_does_to_both_only_once():
    rng = np.random.default_rng(0)
    place = rng.normal(size=40)
    blocks = np.repeat(np.arange(40), 25)
    a, b = (place[blocks] + 0.1 * rng.normal(size=1000) for _ in range(2))
    together = bootstrap_difference(a, b, blocks, blocks, shares_blocks=True)
    apart = bootstrap_difference(a, b, blocks, blocks)
    assert together.estimate == apart.estimate == pytest.approx(b.mean() - a.mean())
    assert together.standard_error < 0.1 * apart.standard_error
    spread = np.sqrt(2.0 * place.var(ddof=1) / 40)
    assert apart.standard_error == pytest.approx(spread, rel=0.1)


def test_a_place_that_only_one_sample_has_is_drawn_all_the_same():
    a, b = np.arange(10.0), np.arange(6.0)
    found = bootstrap_difference(a, b, np.arange(10), np.arange(6), shares_blocks=True)
    assert np.isfinite(found.values).all()
    assert found.n_blocks == 6


# --- equivalence -------------------------------------------------------------------------------


def verdicts(shift, margin, seed=1000, n_trials=200):
    rng, found = np.random.default_rng(seed), []
    for trial in range(n_trials):
        (xa, a), (xb, b) = correlated(rng), correlated(rng)
        difference = bootstrap_difference(
            a,
            b + shift,
            blocks_in_time(xa, 20.0),
            blocks_in_time(xb, 20.0),
            n_resamples=N_RESAMPLES,
            seed=trial,
        )
        found.append(tost(difference, margin).verdict)
    return {name: found.count(name) / n_trials for name in set(found)}


def test_what_is_equal_is_called_so_and_never_different():
    # The difference of two means of 300 m has sigma 0.26: a margin of 1 is four of them.
    found = verdicts(0.0, 1.0)
    assert found.get("equivalent", 0.0) >= 0.95
    assert "different" not in found


def test_what_differs_beyond_the_margin_is_called_so():
    found = verdicts(2.2, 1.0)
    assert found.get("different", 0.0) >= 0.95
    assert "equivalent" not in found


def test_at_the_margin_itself_equivalence_is_claimed_at_most_as_often_as_alpha():
    found = verdicts(1.0, 1.0)
    assert found.get("equivalent", 0.0) <= 0.05 + sample_error(200)
    assert found.get("not decided", 0.0) > 0.8


def test_a_margin_finer_than_the_data_is_not_decided():
    assert "equivalent" not in verdicts(0.0, 0.05, n_trials=40)


def test_equivalence_agrees_with_two_t_tests_of_independent_samples():
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=200), rng.normal(0.1, 1.0, 200)
    found = tost(bootstrap_difference(a, b, n_resamples=20_000), 0.3)
    textbook = max(
        stats.ttest_ind(b - 0.3, a, alternative="less").pvalue,
        stats.ttest_ind(b + 0.3, a, alternative="greater").pvalue,
    )
    assert found.p_value == pytest.approx(textbook, rel=0.3)
    assert (found.verdict == "equivalent") == (found.p_value < 0.05)


@pytest.mark.parametrize("margin", [0.0, -1.0, np.nan])
def test_a_margin_that_is_none_is_refused(margin):
    with pytest.raises(ValueError, match="margin must be positive"):
        tost(bootstrap_difference(np.arange(5.0), np.arange(5.0)), margin)


def test_no_number_of_resamples_shows_a_probability_of_zero():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=400), rng.normal(size=400)
    difference = bootstrap_difference(a, b, n_resamples=N_RESAMPLES)
    found = tost(difference, 100.0)
    assert (np.abs(difference.values) < 100.0).all()
    # With hundreds of blocks t is nearly the normal, and the tail 1 in 301 stands as it is.
    assert found.p_value == pytest.approx(1.0 / (N_RESAMPLES + 1), rel=0.1)
