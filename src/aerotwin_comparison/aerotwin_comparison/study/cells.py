# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Summary of the runs of one method on one sequence; failures rank as the worst."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_comparison.study.protocol import StudyProtocol
from aerotwin_comparison.study.scores import QUANTITIES, Quantity, RunScores
from aerotwin_statistics import bootstrap_interval

ALL_SEQUENCES = "all"
# A failed run ranks behind every other: at this multiple of the worst of them.
_BEHIND = 1e3


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The runs of one method on one sequence (`ALL_SEQUENCES`: on all), by one score.

    `values` (n,) has one number for each run that has it, infinite for one without it because it
    failed. `n_failed` counts failed runs, whatever the score. `low` and `high` end the bootstrap
    interval of the centre over runs, NaN for fewer than two; `centre_name` is median or mean.
    """

    method: str
    sequence: str
    quantity: Quantity
    values: np.ndarray
    n_failed: int
    n_runs: int
    low: float
    high: float
    centre_name: str

    @property
    def finite(self) -> np.ndarray:
        """The finite values."""
        return self.values[np.isfinite(self.values)]

    @property
    def centre(self) -> float | None:
        """The median with failures as the worst, or the mean of the other runs.

        None when no run has the score; infinite when the median run failed, or all did.
        """
        if len(self.values) == 0:
            return None
        if self.centre_name == "median":
            return float(_quantile(self.values, 0.5))
        return float(self.finite.mean()) if len(self.finite) else float("inf")

    @property
    def quartiles(self) -> tuple[float, float]:
        """First and third quartile, failures as the worst."""
        return float(_quantile(self.values, 0.25)), float(_quantile(self.values, 0.75))

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON; infinite ones (failed) are null."""
        q25, q75 = self.quartiles if len(self.values) else (np.nan, np.nan)
        numbers = {
            "median": _quantile(self.values, 0.5) if len(self.values) else np.nan,
            "mean": self.finite.mean() if len(self.finite) else np.nan,
            "std": self.finite.std(ddof=1) if len(self.finite) > 1 else np.nan,
            "q25": q25,
            "q75": q75,
            "low": self.low,
            "high": self.high,
        }
        return {
            "method": self.method,
            "sequence": self.sequence,
            "quantity": self.quantity.key,
            "unit": self.quantity.unit,
            "n_runs": self.n_runs,
            "n_failed": self.n_failed,
            "n_values": len(self.finite),
            **{k: float(v) if np.isfinite(v) else None for k, v in numbers.items()},
        }


def cells_of(scored: Sequence[RunScores], protocol: StudyProtocol) -> list[Cell]:
    """Return the cells of all methods, sequences and scores that any run has."""
    methods = dict.fromkeys(s.run.method for s in scored)
    sequences = [*dict.fromkeys(s.run.sequence for s in scored), ALL_SEQUENCES]
    known = [q for q in QUANTITIES if any(q.key in s.values for s in scored)]
    cells = []
    for method in methods:
        for sequence in sequences:
            group = [
                s
                for s in scored
                if s.run.method == method and sequence in (s.run.sequence, ALL_SEQUENCES)
            ]
            if group:
                cells += [_cell(method, sequence, q, group, protocol) for q in known]
    return cells


def _cell(
    method: str,
    sequence: str,
    quantity: Quantity,
    group: Sequence[RunScores],
    protocol: StudyProtocol,
) -> Cell:
    found = [s.value(quantity.key) for s in group]
    values = np.array([v for v in found if v is not None], dtype=np.float64)
    low, high = _interval(values, protocol)
    return Cell(
        method=method,
        sequence=sequence,
        quantity=quantity,
        values=values,
        n_failed=sum(bool(s.failure) for s in group),
        n_runs=len(group),
        low=low,
        high=high,
        centre_name=protocol.centre,
    )


def _interval(values: np.ndarray, protocol: StudyProtocol) -> tuple[float, float]:
    """Return the interval of the centre over runs; infinite ends where failed runs decide."""
    if protocol.centre == "mean":
        values = values[np.isfinite(values)]
    if len(values) < 2:
        return float("nan"), float("nan")
    ranked, limit = without_infinity(values)
    found = bootstrap_interval(
        ranked,
        statistic=protocol.centre,
        confidence=protocol.confidence,
        n_resamples=protocol.n_resamples,
        seed=protocol.seed,
    )
    low, high = (float("inf") if end > limit else end for end in (found.low, found.high))
    return low, high


def without_infinity(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return values with failures placed far beyond the worst, and the largest finite one."""
    finite = values[np.isfinite(values)]
    limit = float(np.max(np.abs(finite), initial=1e-9))
    return np.where(np.isfinite(values), values, limit * _BEHIND), limit


def _quantile(values: np.ndarray, level: float) -> float:
    """Return a quantile (linear between order statistics), infinite where it includes a failure."""
    ordered = np.sort(values)
    place = level * (len(ordered) - 1)
    below, share = int(np.floor(place)), place - np.floor(place)
    if share == 0.0:
        return float(ordered[below])
    if np.isinf(ordered[below + 1]):
        return float("inf")
    return float(ordered[below] + share * (ordered[below + 1] - ordered[below]))
