# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether two samples agree within a margin: two one-sided tests.

References
----------
Schuirmann: A comparison of the two one-sided tests procedure and the power approach for assessing
the equivalence of average bioavailability. J. Pharmacokinetics and Biopharmaceutics 15, 1987.
"""

from dataclasses import asdict, dataclass

import numpy as np

from aerotwin_statistics.bootstrap import Interval, Replicates

EQUIVALENT, DIFFERENT, UNDECIDED = "equivalent", "different", "not decided"


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Result of two one-sided tests: the interval of the difference, of confidence 1 - 2 alpha.

    Attributes
    ----------
    margin : float
        Differences up to this do not matter.
    alpha : float
        Largest probability to call samples equivalent that differ by the margin or more.
    p_value : float
        The larger of the two one-sided tests': equivalent if it is below alpha. Never 0: with
        k of n resamples beyond the margin the tail is (k + 1) / (n + 1).
    verdict : str
        `equivalent`: the interval lies within the margin. `different`: it lies beyond, on one
        side. `not decided`: it reaches across.
    """

    interval: Interval
    margin: float
    alpha: float
    p_value: float
    verdict: str

    def plain(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        numbers = asdict(self)
        return numbers.pop("interval") | numbers


def tost(difference: Replicates, margin: float, *, alpha: float = 0.05) -> Equivalence:
    """Test a difference, from `bootstrap_difference`, against a margin.

    `margin` is the half width of the range that counts as equal, in the unit of the difference;
    `alpha` the error probability of each one-sided test.

    Raises
    ------
    ValueError
        If the margin is not positive or alpha is not between 0 and 0.5.
    """
    if not (margin > 0.0 and np.isfinite(margin)):
        raise ValueError(f"margin must be positive and finite, got {margin}")
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"alpha must be between 0 and 0.5, got {alpha}")
    interval = difference.interval(1.0 - 2.0 * alpha)
    if -margin < interval.low and interval.high < margin:
        verdict = EQUIVALENT
    elif interval.low > margin or interval.high < -margin:
        verdict = DIFFERENT
    else:
        verdict = UNDECIDED
    beyond = max(np.sum(difference.values >= margin), np.sum(difference.values <= -margin))
    # The sample itself counts, as in tests by permutation: no finite number of resamples shows 0.
    tail = (float(beyond) + 1.0) / (len(difference.values) + 1.0)
    return Equivalence(
        interval=interval,
        margin=margin,
        alpha=alpha,
        p_value=difference.probability_of_tail(tail),
        verdict=verdict,
    )
