# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of methods: tests over runs, corrected for the number of tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_comparison.study.cells import without_infinity
from aerotwin_comparison.study.protocol import StudyProtocol
from aerotwin_comparison.study.scores import QUANTITIES, Quantity, RunScores
from aerotwin_statistics import Comparison, compare_paired, compare_unpaired, holm

_FEWEST_PAIRS = 2
_FEWEST_RUNS = 2
"""One run has no spread: nothing tells a difference from chance."""


@dataclass(frozen=True, kw_only=True)
class MethodComparison:
    """Comparison of two methods by one score.

    `is_paired` where runs of the same sequence and seed were compared; differences are b minus a.
    `typical` is the difference in the unit of the score, None where failed runs decide it;
    `p_adjusted` is by Holm, over all pairs of methods of this score; `winner` is the better method
    where it is below the level, else empty.
    """

    quantity: Quantity
    method_a: str
    method_b: str
    is_paired: bool
    comparison: Comparison
    typical: float | None
    p_adjusted: float
    winner: str

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        c = self.comparison
        return {
            "quantity": self.quantity.key,
            "a": self.method_a,
            "b": self.method_b,
            "test": c.test,
            "is_paired": self.is_paired,
            "n_a": c.n_a,
            "n_b": c.n_b,
            "median_difference": self.typical,
            "effect": c.effect,
            "p_value": c.p_value,
            "p_adjusted": self.p_adjusted,
            "smallest_p_value": c.smallest_p_value,
            "winner": self.winner or None,
        }


def method_comparisons_of(
    scored: Sequence[RunScores], protocol: StudyProtocol
) -> list[MethodComparison]:
    """Return the comparisons of all pairs of methods by every score that both have twice."""
    methods = list(dict.fromkeys(s.run.method for s in scored))
    pairs = [(a, b) for i, a in enumerate(methods) for b in methods[i + 1 :]]
    duels = []
    for quantity in (each for each in QUANTITIES if each.better):
        found = [
            (a, b, *compared)
            for a, b in pairs
            if (compared := _compared(scored, quantity, a, b, protocol)) is not None
        ]
        adjusted = holm([comparison.p_value for _, _, comparison, *_ in found])
        for (a, b, comparison, typical, is_paired), p in zip(found, adjusted):
            is_better_b = (comparison.effect < 0.0) == (quantity.better == "lower")
            is_seen = p < protocol.alpha and comparison.effect != 0.0
            duels.append(
                MethodComparison(
                    quantity=quantity,
                    method_a=a,
                    method_b=b,
                    is_paired=is_paired,
                    comparison=comparison,
                    typical=typical,
                    p_adjusted=float(p),
                    winner="" if not is_seen else b if is_better_b else a,
                )
            )
    return duels


def _compared(
    scored: Sequence[RunScores], quantity: Quantity, a: str, b: str, protocol: StudyProtocol
) -> tuple[Comparison, float | None, bool] | None:
    """Compare runs of the same sequence and seed where there are some, else all runs.

    Returns the comparison, its typical difference and whether runs were paired; None where a method
    has fewer than two runs with the score.
    """
    sides: list[dict[tuple[str, str], float]] = []
    for method in (a, b):
        known = {
            (s.run.sequence, s.run.seed): s.value(quantity.key)
            for s in scored
            if s.run.method == method
        }
        sides.append({key: v for key, v in known.items() if v is not None})
    if min(map(len, sides)) < _FEWEST_RUNS:
        return None
    joined = np.array([*sides[0].values(), *sides[1].values()])
    ranked, worst = without_infinity(joined)
    first = dict(zip(sides[0], ranked[: len(sides[0])]))
    second = dict(zip(sides[1], ranked[len(sides[0]) :]))
    common = [key for key in first if key in second]
    is_paired = len(common) >= _FEWEST_PAIRS
    if is_paired:
        pairs = [first[k] for k in common], [second[k] for k in common]
        comparison = compare_paired(*pairs, seed=protocol.seed)
    else:
        values = list(first.values()), list(second.values())
        comparison = compare_unpaired(*values, seed=protocol.seed)
    typical = comparison.median_difference
    return comparison, typical if abs(typical) <= 2.0 * worst else None, is_paired
