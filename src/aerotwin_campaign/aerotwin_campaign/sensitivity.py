# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How much of a metric an axis explains.

References
----------
Kelley: An unbiased correlation ratio measure. PNAS 21, 1935 (epsilon squared).
Saltelli et al.: Variance based sensitivity analysis of model output. Computer Physics
Communications 181, 2010 (the first-order index S = Var(E[Y|X]) / Var(Y)).
Kruskal and Wallis: Use of ranks in one-criterion variance analysis. JASA 47, 1952.
Bonett and Wright: Sample size requirements for estimating Pearson, Kendall and Spearman
correlations. Psychometrika 65, 2000 (standard error of Fisher's z of a rank correlation).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_campaign.campaign_results import MOST_NUMBERS, Grouping, ResultColumns, grouping_of
from aerotwin_statistics import holm

SUCCESS, MARGIN = "is_success", "smallest robustness"
MOST_SHARES = 2000
"""Pairs of an axis and a metric."""
_LEAST_RUNS = 10
_LEAST_FOR_INTERVAL = 4


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """How one metric depends on one axis, over `n` runs that have both.

    Attributes
    ----------
    share : float
        First-order share of the variance, from the groups of the axis, corrected for their number.
    p_value : float
        Of Kruskal and Wallis, that the groups are alike, corrected for all pairs (Holm).
    rho, rho_low, rho_high : float or None
        Rank correlation of Spearman and its 95 % interval; None if the axis is not of numbers.
    """

    axis: str
    metric: str
    n: int
    share: float
    p_value: float
    rho: float | None = None
    rho_low: float | None = None
    rho_high: float | None = None


def variance_share(values: np.ndarray, groups: np.ndarray) -> float:
    """Return the share of the variance of values (n,) that their groups (n,) explain.

    It is epsilon squared, eta squared corrected for the number of groups; where the axes are
    independent it estimates the first-order index of Sobol. It is NaN for equal values, one group,
    or no two values in a group, and at least 0.
    """
    _, codes = np.unique(groups, return_inverse=True)
    counts = np.bincount(codes)
    total = float(((values - values.mean()) ** 2).sum())
    n, n_groups = len(values), len(counts)
    if total <= 0.0 or n_groups < 2 or n <= n_groups:
        return float("nan")
    means = np.bincount(codes, values) / counts
    within = float(((values - means[codes]) ** 2).sum())
    return max(0.0, 1.0 - within / total * (n - 1) / (n - n_groups))


def rank_correlation(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return Spearman's rank correlation of x and y (n,), and its 95 % interval.

    The interval is that of Bonett and Wright; NaN for less than `_LEAST_FOR_INTERVAL` pairs.
    """
    from scipy.stats import rankdata

    rho = float(np.clip(np.corrcoef(rankdata(x), rankdata(y))[0, 1], -1.0, 1.0))
    if len(x) < _LEAST_FOR_INTERVAL:
        return rho, float("nan"), float("nan")
    if abs(rho) == 1.0:
        return rho, rho, rho
    from scipy.special import ndtri

    reach = float(ndtri(0.975)) * np.sqrt((1.0 + rho**2 / 2.0) / (len(x) - 3))
    low, high = np.tanh(np.arctanh(rho) + np.array([-reach, reach]))
    return rho, float(low), float(high)


def sensitivities(results: ResultColumns) -> list[Sensitivity]:
    """Return how success and each measured metric depend on each axis, the largest share first.

    Pairs in which one of the two does not vary, or with fewer than ten runs, are left out.
    """
    metrics = {SUCCESS: results.is_success.astype(np.float64), **results.measured}
    if results.expectations:
        metrics[MARGIN] = results.margins
    pairs = []
    for axis, axis_values in results.axes.items():
        grouping = grouping_of(axis_values, MOST_NUMBERS)
        for metric, values in metrics.items():
            found = _sensitivity(axis, axis_values, grouping, metric, values)
            pairs += [found] if found is not None else []
    pairs = sorted(pairs, key=lambda each: (-each.share, each.axis, each.metric))[:MOST_SHARES]
    corrected = holm([each.p_value for each in pairs]) if pairs else []
    return [Sensitivity(**{**vars(each), "p_value": float(p)}) for each, p in zip(pairs, corrected)]


def _sensitivity(
    axis: str, axis_values: list[Any], grouping: Grouping, metric: str, values: np.ndarray
) -> Sensitivity | None:
    from scipy.stats import kruskal

    known = np.isfinite(values)
    y, codes = values[known], grouping.codes[known]
    if len(y) < _LEAST_RUNS or y.min() == y.max():
        return None
    share = variance_share(y, codes)
    if np.isnan(share):
        return None
    p_value = float(kruskal(*(y[codes == k] for k in np.unique(codes))).pvalue)
    rho = low = high = None
    if grouping.middles is not None:
        x = np.array(axis_values, dtype=np.float64)[known]
        rho, low, high = rank_correlation(x, y)
    return Sensitivity(
        axis=axis, metric=metric, n=len(y), share=share, p_value=p_value,
        rho=rho, rho_low=low, rho_high=high,
    )  # fmt: skip
