# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import pytest
from scipy.stats import binom, binomtest

from aerotwin_statistics import proportion_interval

ROUNDING = 1e-9  # two ways to the same quantile of a beta distribution


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (960, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_interval_is_that_of_scipy(hits, n, confidence):
    found = binomtest(hits, n).proportion_ci(confidence, method="exact")
    expected = pytest.approx((found.low, found.high), abs=ROUNDING)
    assert proportion_interval(hits, n, confidence) == expected


def test_the_interval_covers_the_truth_at_least_as_often_as_it_says():
    n = 20
    intervals = [proportion_interval(k, n) for k in range(n + 1)]
    for share in (0.01, 0.1, 0.37, 0.5, 0.9):
        covered = sum(
            binom.pmf(k, n, share) for k, (a, b) in enumerate(intervals) if a <= share <= b
        )
        assert covered >= 0.95


@pytest.mark.parametrize(("hits", "n", "confidence"), [(0, 0, 0.95), (4, 3, 0.95), (1, 3, 1.0)])
def test_what_is_no_proportion_is_refused(hits, n, confidence):
    with pytest.raises(ValueError, match=r"expected 0 to n hits|confidence must be"):
        proportion_interval(hits, n, confidence)
