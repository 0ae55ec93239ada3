# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The link between vehicles: statistics, determinism, independence of order."""

import math

import numpy as np
import pytest
from scipy.stats import kstest

from aerotwin_core.counter_bits import GOLDEN, mix_bits
from aerotwin_core.parameters import load_parameters
from aerotwin_formation import VehicleLinkParameters
from aerotwin_formation.link import LOST, _uniform, arrivals

SIGMAS = 5.0
"""A right frequency is further off once in a million and a half."""
CLEAN = {"loss_ratio": 0.0, "delay_s": 0.0, "jitter_s": 0.0}


def link(**changes):
    return VehicleLinkParameters(**{**CLEAN, **changes})


def lost(parameters, n_rounds, n=5, seed=1):
    """Return which of the messages of every pair of vehicles are lost (n_rounds, n (n - 1))."""
    near, pairs = np.zeros((n, n)), ~np.eye(n, dtype=bool)
    rounds = [
        arrivals(parameters, seed, number=k, stamp_ns=0, distances=near)[pairs] == LOST
        for k in range(n_rounds)
    ]
    return np.array(rounds)


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.2, 0.7, 1.0])
def test_as_many_messages_are_lost_as_the_parameter_says(ratio):
    found = lost(link(loss_ratio=ratio), 2000)
    sigma = math.sqrt(ratio * (1.0 - ratio) / found.size)
    assert found.mean() == pytest.approx(ratio, abs=SIGMAS * sigma)


def test_losses_without_bursts_have_no_memory():
    found = lost(link(loss_ratio=0.3), 3000)
    both = np.mean(found[1:] & found[:-1])
    assert both == pytest.approx(0.09, abs=SIGMAS * math.sqrt(0.09 * 0.91 / found.size))
    pairs = np.corrcoef(found.T) - np.eye(found.shape[1])
    assert np.abs(pairs).max() < SIGMAS / math.sqrt(len(found))


@pytest.mark.parametrize(("ratio", "burst"), [(0.2, 4.0), (0.5, 10.0)])
def test_bursts_are_as_long_as_the_parameter_says(ratio, burst):
    found = lost(link(loss_ratio=ratio, mean_burst=burst), 6000)
    n_bursts = np.count_nonzero(found[1:] & ~found[:-1])
    # lengths are geometric: their deviation is about their mean
    assert found.sum() / n_bursts == pytest.approx(burst, rel=SIGMAS / math.sqrt(n_bursts))
    # n correlated samples are worth n (1 - c) / (1 + c) with c their correlation
    keep = 1.0 - 1.0 / burst - ratio / (burst * (1.0 - ratio))
    sigma = math.sqrt(ratio * (1.0 - ratio) / found.size * (1.0 + keep) / (1.0 - keep))
    assert found.mean() == pytest.approx(ratio, abs=SIGMAS * sigma)


def test_the_chain_looked_at_backwards_is_the_chain_run_forwards():
    ratio, burst = 0.3, 5.0
    back, to_bad = 1.0 / burst, ratio / (burst * (1.0 - ratio))
    found = lost(link(loss_ratio=ratio, mean_burst=burst), 500, n=2, seed=4)[:, 0]
    key = np.random.SeedSequence(4).generate_state(1, np.uint64)[0]
    with np.errstate(over="ignore"):
        pair = mix_bits(key + np.uint64(GOLDEN) * np.uint64(0 * 2**32 + 1 + 1))
    is_bad, expected = False, []
    for k in range(500):
        u = _uniform(pair, k, 0)
        is_bad = u < ratio if k == 0 else u < (1.0 - back if is_bad else to_bad)
        expected.append(is_bad)
    assert found.tolist() == expected


def test_delays_are_uniform_between_delay_and_delay_with_jitter():
    parameters = link(delay_s=0.15, jitter_s=0.05)
    near = np.zeros((40, 40))
    found = arrivals(parameters, 3, number=0, stamp_ns=1_000, distances=near)
    delays = (found[~np.eye(40, dtype=bool)] - 1_000) * 1e-9
    assert kstest(delays, "uniform", args=(0.15, 0.05)).pvalue > 1e-3
    assert found[~np.eye(40, dtype=bool)].max() <= 1_000 + parameters.longest_delay_ns


def test_without_loss_all_arrives_but_from_oneself():
    found = arrivals(link(delay_s=0.1), 3, number=9, stamp_ns=5, distances=np.zeros((3, 3)))
    late = 5 + 100_000_000
    assert found.tolist() == [[LOST, late, late], [late, LOST, late], [late, late, LOST]]


def test_nothing_arrives_from_out_of_range():
    distances = np.array([[0.0, 99.0, 101.0], [99.0, 0.0, 50.0], [101.0, 50.0, 0.0]])
    found = arrivals(link(range_m=100.0), 3, number=0, stamp_ns=0, distances=distances) == LOST
    assert found.tolist() == [[True, False, True], [False, True, False], [True, False, True]]


def test_a_message_depends_on_nothing_but_seed_pair_and_number():
    parameters = link(loss_ratio=0.4, mean_burst=3.0, jitter_s=0.2)

    def found(number, n=8, seed=5):
        near = np.zeros((n, n))
        return arrivals(parameters, seed, number=number, stamp_ns=0, distances=near)

    forwards = [found(k) for k in range(50)]
    backwards = [found(k) for k in reversed(range(50))][::-1]
    assert np.array_equal(forwards, backwards)
    assert np.array_equal([found(k, n=3) for k in range(50)], np.array(forwards)[:, :3, :3])
    assert not np.array_equal(found(7), found(8)) and not np.array_equal(found(7), found(7, seed=6))
    one_way, other_way = forwards[0][0, 1], forwards[0][1, 0]
    assert one_way != other_way


def test_a_loss_of_everything_is_a_loss_of_everything():
    assert lost(link(loss_ratio=1.0, mean_burst=7.0), 50).all()


def test_parameters_are_checked():
    with pytest.raises(Exception, match=r"my.yaml: loss_ratio.*1\.5"):
        load_parameters(VehicleLinkParameters, {"loss_ratio": 1.5}, where="my.yaml")
