# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The results of a campaign by column: what its report and its JUnit file are made of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from aerotwin_campaign.results_table import AXES, COSTS, METRICS, column_numbers, summary_of

if TYPE_CHECKING:
    import pyarrow

_EXPECTATION = re.compile(r"expect\.(\d+)\.(is_met|robustness)")
MOST_TEXTS, MOST_NUMBERS = 50, 30
"""Values of an axis that are shown one by one; more numbers are put into classes of equal count."""
_SHOWN_CLASSES = 10
_LEAST_IN_CLASS = 10


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """The runs (n,) by the values of an axis.

    `labels` are those of the groups in order, `codes` (n,) the group of each run, and `middles` the
    number that stands for each group, None if the axis is not of numbers.
    """

    labels: tuple[str, ...]
    codes: np.ndarray
    middles: np.ndarray | None


@dataclass(frozen=True)
class ResultColumns:
    """A table as of `ResultsTable.table`, or read from its Parquet file."""

    table: "pyarrow.Table"

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What conditions are about: see `ResultsTable.summary`."""
        return summary_of(self.table)

    @cached_property
    def is_success(self) -> np.ndarray:
        """Whether each run (n,) was a success."""
        return np.array(self.table["is_success"].to_pylist(), dtype=bool)

    @cached_property
    def run_ids(self) -> list[str]:
        """Of each run."""
        return list(self.table["run_id"].to_pylist())

    @cached_property
    def outcomes(self) -> list[str]:
        """Of each run."""
        return [text or "" for text in self.table["outcome"].to_pylist()]

    @cached_property
    def axes(self) -> dict[str, list[Any]]:
        """The value of each axis in each run, by path."""
        return self._columns(AXES)

    @cached_property
    def metrics(self) -> dict[str, np.ndarray]:
        """Values (n,) of each metric of numbers or truth values; NaN where a run has none."""
        return {name: column_numbers(self.table[f"{METRICS}{name}"])
                for name in self.summary if isinstance(self.summary[name], Mapping)}  # fmt: skip

    @cached_property
    def measured(self) -> dict[str, np.ndarray]:
        """The metrics that do not belong to expectations."""
        return {k: v for k, v in self.metrics.items() if not _EXPECTATION.fullmatch(k)}

    @cached_property
    def all_metrics(self) -> dict[str, list[Any]]:
        """Each metric in each run, as it was returned; None where a run has none."""
        return self._columns(METRICS)

    @cached_property
    def expectations(self) -> dict[int, dict[str, np.ndarray]]:
        """Of each expectation by number: `is_met` and `robustness` (n,), where there is one."""
        found: dict[int, dict[str, np.ndarray]] = {}
        for name, values in self.metrics.items():
            if match := _EXPECTATION.fullmatch(name):
                found.setdefault(int(match[1]), {})[match[2]] = values
        return dict(sorted(found.items()))

    @cached_property
    def margins(self) -> np.ndarray:
        """The smallest robustness over the expectations of each run (n,), NaN if it has none."""
        found = [each["robustness"] for each in self.expectations.values() if "robustness" in each]
        if not found:
            return np.full(len(self), np.nan)
        least = np.min([np.where(np.isnan(x), np.inf, x) for x in found], axis=0)
        return np.where(np.isinf(least), np.nan, least)

    @cached_property
    def groupings(self) -> dict[str, Grouping]:
        """The runs by each axis."""
        return {path: grouping_of(values) for path, values in self.axes.items()}

    @cached_property
    def units(self) -> np.ndarray:
        """The number (n,) of each run's combination of axes and seed: repeats share it."""
        parts = [tuple(map(repr, row)) for row in zip(self.seeds, *self.axes.values())]
        known: dict[tuple[str, ...], int] = {}
        return np.array([known.setdefault(part, len(known)) for part in parts], dtype=np.int64)

    @cached_property
    def seeds(self) -> list[int]:
        """Of each run."""
        return list(self.table["seed"].to_pylist())

    @cached_property
    def repeats(self) -> list[int]:
        """Of each run."""
        return list(self.table["repeat"].to_pylist())

    @cached_property
    def costs(self) -> dict[str, list[Any]]:
        """Wall and CPU time [s] and host of each run, as far as the table has them."""
        return self._columns(COSTS)

    def cost(self, name: str) -> np.ndarray:
        """Return the numbers (n,) of a cost; NaN where there is none."""
        column = f"{COSTS}{name}"
        if column not in self.table.column_names:
            return np.full(len(self), np.nan)
        return column_numbers(self.table[column])

    def unit(self, metric: str) -> str:
        """Return the declared unit of a metric, or ""."""
        metadata = self.table.schema.field(f"{METRICS}{metric}").metadata or {}
        return bytes(metadata.get(b"unit", b"")).decode("utf-8", "replace")

    def unmet(self, run: int) -> list[str]:
        """Return the expectations that a run, by its row, did not meet, with their robustness."""
        found = []
        for number, each in self.expectations.items():
            if "is_met" in each and each["is_met"][run] == 0.0:
                margin = each.get("robustness", [np.nan] * len(self))[run]
                known = "" if np.isnan(margin) else f", robustness {margin:.4g}"
                found.append(f"expectation {number} not met{known}")
        return found

    def shown_axes(self, run: int) -> str:
        """Return the values of the axes in a run, by its row."""
        return ", ".join(f"{path}={shown_value(values[run])}" for path, values in self.axes.items())

    def _columns(self, prefix: str) -> dict[str, list[Any]]:
        names = [name for name in self.table.column_names if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.table[name].to_pylist() for name in names}


def grouping_of(values: list[Any], most_classes: int = _SHOWN_CLASSES) -> Grouping:
    """Return the groups of an axis: its values, or classes of equal count for many numbers.

    Classes are `most_classes` at most, and have ten runs or more.

    Of more than `MOST_TEXTS` values that are no numbers, the most frequent are groups, and one
    holds the rest.
    """
    is_numeric = bool(values) and all(
        isinstance(x, int | float) and not isinstance(x, bool) for x in values
    )
    distinct = list(dict.fromkeys(values))
    if is_numeric and len(distinct) > MOST_NUMBERS:
        return _classes(np.array(values, dtype=np.float64), most_classes)
    if is_numeric:
        distinct.sort()
    rest: list[str] = []
    if len(distinct) > MOST_TEXTS:
        counts = dict.fromkeys(distinct, 0)
        for x in values:
            counts[x] += 1
        distinct = sorted(distinct, key=lambda x: -counts[x])[: MOST_TEXTS - 1]
        rest = ["others"]
    index = {x: k for k, x in enumerate(distinct)}
    return Grouping(
        labels=(*(shown_value(x) for x in distinct), *rest),
        codes=np.array([index.get(x, len(distinct)) for x in values], dtype=np.int64),
        middles=np.array(distinct, dtype=np.float64) if is_numeric else None,
    )


def _classes(numbers: np.ndarray, most: int) -> Grouping:
    n_classes = int(np.clip(len(numbers) // _LEAST_IN_CLASS, 2, most))
    edges = np.unique(np.quantile(numbers, np.linspace(0.0, 1.0, n_classes + 1)))
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    used, codes = np.unique(codes, return_inverse=True)
    return Grouping(
        labels=tuple(f"{edges[k]:.4g} … {edges[k + 1]:.4g}" for k in used),
        codes=codes,
        middles=np.array([np.median(numbers[codes == k]) for k in range(len(used))]),
    )


def shown_value(value: Any) -> str:
    """Return the value of an axis as a person reads it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def percent_text(share: float) -> str:
    """Return a share in percent."""
    return f"{100.0 * share:.1f}"


def number_text(value: float | None) -> str:
    """Return a number of a table; a dash for none or NaN."""
    return "–" if value is None or np.isnan(value) else f"{value:.4g}"
