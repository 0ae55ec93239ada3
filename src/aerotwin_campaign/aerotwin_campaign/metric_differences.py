# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which metrics differ between paired runs, and which are worse: by tests of all of them at once.

The unit is a seed, over whose documents and repeats is averaged: runs of one seed share random
numbers, even where a version draws them in another order. A metric is worse or better where its
test says so, corrected for the number of metrics that differ at all (Holm), so that the
probability of any such verdict without a change is below alpha. It assumes that the units are
independent, and that without a change a difference is as often positive as negative.

References
----------
Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945.
McNemar: Note on the sampling error of the difference between correlated proportions. Psychometrika
12, 1947; exact, which for truth values is the sign test.
Holm: A simple sequentially rejective multiple test procedure. Scand. J. Statistics 6, 1979.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from aerotwin_campaign.paired_results import PairedMetric, PairedResults
from aerotwin_statistics import bootstrap_interval, compare_paired, holm

WORSE, BETTER, CHANGED, CHANCE, SAME = "worse", "better", "changed", "no difference", "same"
VERDICTS = (WORSE, BETTER, CHANGED, CHANCE, SAME)
"""Of a metric: worse or better by its test; changed, which is neither, or its direction is not
declared; no more than chance explains; the same to the last bit."""
WILCOXON, SIGN = "wilcoxon", "sign"
ALPHA, LEAST_SHARE = 0.05, 1e-4
_TIED_SHARE = 0.5
"""With fewer distinct sizes than this share of the differences, ranks say little: signs count."""
_MOST_VALUES = 24
"""Values of an axis by which a difference is divided."""
_HIGHER = ("is_success", "is_met", "robustness", "is_repeatable")
"""Last parts of names of metrics of which more is better whatever declares them."""


@dataclass(frozen=True, kw_only=True)
class AxisPart:
    """A difference where an axis has one value; numbers as in `MetricDifference`."""

    axis: str
    value: Any
    n_pairs: int
    n_differ: int
    difference: float | None
    relative: float | None


@dataclass(frozen=True, kw_only=True)
class MetricDifference:
    """How a metric differs between runs A and B.

    Attributes
    ----------
    better : str
        lower, higher, or empty if it is not known.
    n_pairs, n_differ : int
        Pairs, and those whose values are not equal; one that is known of one run only differs.
    n_units : int
        Seeds of which both values are known.
    only_a, only_b : int
        Pairs in which one run alone has a value.
    mean_a, mean_b, difference : float or None
        Means over units, and their difference B - A. None for texts.
    low, high : float or None
        95 % interval of the difference, by a bootstrap of the units.
    relative : float or None
        Difference by the mean size of A.
    test : str
        wilcoxon, sign, or empty if none was made.
    effect : float or None
        From -1 (B smaller everywhere it differs) to 1.
    p_value, p_adjusted : float or None
        Of the test, and corrected by Holm.
    parts : tuple of AxisPart
        Where it differs; empty unless the verdict is worse, better or changed.
    """

    name: str
    unit: str
    better: str
    verdict: str
    n_pairs: int
    n_differ: int
    n_units: int
    only_a: int
    only_b: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    relative: float | None = None
    test: str = ""
    effect: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    parts: tuple[AxisPart, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


def find_differences(
    pairs: PairedResults,
    *,
    alpha: float = ALPHA,
    least_share: float = LEAST_SHARE,
    directions: Mapping[str, str] | None = None,
) -> list[MetricDifference]:
    """Return how each metric differs, in the order of `pairs.metrics`.

    Parameters
    ----------
    alpha : float
        Largest probability of any `worse` or `better` if there was no change.
    least_share : float
        A smaller difference, by the mean size of A, is never worse or better.
    directions : mapping of str to str, optional
        Which way is better, lower or higher, by name of metrics that do not declare it.
    """
    found = [_Measured(metric, pairs.units) for metric in pairs.metrics]
    tested = [each for each in found if each.p_value is not None]
    adjusted = dict(zip(map(id, tested), holm([each.p_value for each in tested]).tolist()))
    known = directions or {}
    return [
        _judged(each, pairs, adjusted.get(id(each)), alpha, least_share, known) for each in found
    ]


def overall(differences: Sequence[MetricDifference]) -> str:
    """Return the first verdict of `VERDICTS` that a metric has."""
    return min((each.verdict for each in differences), key=VERDICTS.index, default=SAME)


def fewest_units(n_metrics: int, alpha: float = ALPHA) -> int:
    """Return how many units have to differ for the least p-value to be below alpha for a metric."""
    return 1 + math.ceil(math.log2(max(n_metrics, 1) / alpha))


def paired_test(a: np.ndarray, b: np.ndarray) -> tuple[str, float, float]:
    """Return which test was made of pairs, its effect and its two-sided p-value.

    Signed ranks; signs alone, exactly, where most differences have the size of another, as those of
    truth values. Which one depends on the sizes of the differences and not on their signs.

    Parameters
    ----------
    a, b : (n,) array
        At least one pair differs.

    Examples
    --------
    >>> paired_test(np.zeros(6), np.ones(6))
    ('sign', 1.0, 0.03125)
    """
    off = b - a
    moved = off[off != 0.0]
    if len(np.unique(np.abs(moved))) > _TIED_SHARE * len(moved) or len(moved) == 1:
        found = compare_paired(a, b)
        return WILCOXON, found.effect, found.p_value
    from scipy.stats import binomtest

    n_up = int(np.count_nonzero(moved > 0.0))
    p_value = float(binomtest(n_up, len(moved)).pvalue)
    return SIGN, 2.0 * n_up / len(moved) - 1.0, p_value


class _Measured:
    """A metric by units, and its test."""

    def __init__(self, metric: PairedMetric, units: np.ndarray) -> None:
        self.metric = metric
        is_a, is_b = ~np.isnan(metric.a), ~np.isnan(metric.b)
        self.only_a, self.only_b = int((is_a & ~is_b).sum()), int((is_b & ~is_a).sum())
        self.differs = (is_a != is_b) | (is_a & is_b & (metric.a != metric.b))
        both = is_a & is_b
        self.a = self.b = np.empty(0)
        self.test, self.effect, self.p_value = "", None, None
        if metric.is_text:
            return
        _, group = np.unique(units[both], return_inverse=True)
        counts = np.bincount(group)
        self.a = np.bincount(group, metric.a[both]) / counts
        self.b = np.bincount(group, metric.b[both]) / counts
        if (self.a != self.b).any():
            self.test, self.effect, self.p_value = paired_test(self.a, self.b)


def _judged(
    found: _Measured,
    pairs: PairedResults,
    p_adjusted: float | None,
    alpha: float,
    least_share: float,
    directions: Mapping[str, str],
) -> MetricDifference:
    metric = found.metric
    better = directions.get(metric.name, "") or metric.better
    if not better and metric.name.rpartition(".")[2] in _HIGHER:
        better = "higher"
    means = _means(found.a, found.b)
    is_shown = p_adjusted is not None and p_adjusted < alpha
    size = abs(means["relative"]) if means["relative"] is not None else math.inf
    if not found.differs.any():
        verdict = SAME
    elif is_shown and size >= least_share and better:
        assert found.effect is not None
        verdict = BETTER if (found.effect > 0.0) == (better == "higher") else WORSE
    elif is_shown or (found.differs & pairs.is_repeatable).any():
        verdict = CHANGED
    else:
        verdict = CHANCE
    return MetricDifference(
        name=metric.name,
        unit=metric.unit,
        better=better,
        verdict=verdict,
        n_pairs=len(metric.a),
        n_differ=int(found.differs.sum()),
        n_units=len(found.a),
        only_a=found.only_a,
        only_b=found.only_b,
        **means,
        **_interval(found.b - found.a),
        test=found.test,
        effect=found.effect,
        p_value=found.p_value,
        p_adjusted=p_adjusted,
        parts=tuple(_parts(found, pairs)) if verdict in (WORSE, BETTER, CHANGED) else (),
    )


def _means(a: np.ndarray, b: np.ndarray) -> dict[str, float | None]:
    if len(a) == 0:
        return dict.fromkeys(("mean_a", "mean_b", "difference", "relative"))
    difference, size = float(np.mean(b - a)), float(np.mean(np.abs(a)))
    return {
        "mean_a": float(np.mean(a)),
        "mean_b": float(np.mean(b)),
        "difference": difference,
        "relative": difference / size if size > 0.0 else None,
    }


def _interval(off: np.ndarray) -> dict[str, float | None]:
    if len(off) < 2:
        return {"low": None, "high": None}
    interval = bootstrap_interval(off)
    return {"low": interval.low, "high": interval.high}


def _parts(found: _Measured, pairs: PairedResults) -> Iterator[AxisPart]:
    """Yield the difference by the values of each axis that has a few."""
    metric = found.metric
    for axis, values in pairs.axes.items():
        texts = np.array([repr(value) for value in values])
        distinct, first = np.unique(texts, return_index=True)
        if not 1 < len(distinct) <= _MOST_VALUES:
            continue
        for k in np.sort(first):
            here = texts == texts[k]
            known = here & ~np.isnan(metric.a) & ~np.isnan(metric.b)
            is_number = not metric.is_text and known.any()
            means = _means(metric.a[known], metric.b[known]) if is_number else {}
            yield AxisPart(
                axis=axis,
                value=values[k],
                n_pairs=int(here.sum()),
                n_differ=int((found.differs & here).sum()),
                difference=means.get("difference"),
                relative=means.get("relative"),
            )
