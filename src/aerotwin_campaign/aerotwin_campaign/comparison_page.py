# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between two campaigns, as text and as a page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aerotwin_campaign.metric_differences import (
    ALPHA,
    BETTER,
    CHANCE,
    CHANGED,
    SAME,
    VERDICTS,
    WORSE,
    AxisPart,
    MetricDifference,
    fewest_units,
    overall,
)
from aerotwin_campaign.paired_results import PairedResults
from aerotwin_core.foreign_text import listed, printable
from aerotwin_core.section import Headline, Section, Table
from aerotwin_report.tables import table_text

_SHOWN = 5
_LONGEST_VALUE = 40
_STATUS = {WORSE: "bad", BETTER: "good", CHANGED: "warn", CHANCE: "neutral", SAME: "good"}
_MEANINGS = {
    WORSE: "worse",
    BETTER: "better",
    CHANGED: "changed",
    CHANCE: "no more than chance",
    SAME: "the same to the last bit",
}
_NOTABLE_SHARE = 1.5
"""A value of an axis is named where its part of a difference is so many times that of its pairs."""


@dataclass(frozen=True, kw_only=True)
class CampaignComparison:
    """Two campaigns, run by run.

    Attributes
    ----------
    a, b : str
        Their stores or tables.
    pairs : PairedResults
    differences : tuple of MetricDifference
        Of all metrics.
    alpha : float
        Of all tests together.
    """

    a: str
    b: str
    pairs: PairedResults
    differences: tuple[MetricDifference, ...]
    alpha: float = ALPHA

    @property
    def verdict(self) -> str:
        """The gravest of a metric, one of `VERDICTS`."""
        return overall(self.differences)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader must know before believing the numbers."""
        pairs, found = self.pairs, list(self.pairs.notes)
        for label, only in (("A", pairs.only_a), ("B", pairs.only_b)):
            if only:
                more = ", …" if len(only) > _SHOWN else ""
                found.append(f"{len(only)} runs only in {label}: {', '.join(only[:_SHOWN])}{more}")
        for label in ("A", "B"):
            names = [name for name, where in pairs.only_metrics if where == label]
            if names:
                found.append(f"metrics only in {label}: {listed(names)}")
        tested = [each for each in self.differences if each.p_value is not None]
        n_needed = fewest_units(len(tested), self.alpha)
        n_units = max((each.n_units for each in tested), default=n_needed)
        if n_units < n_needed:
            found.append(
                f"{n_units} seeds are too few for {len(tested)} metrics: below "
                f"{n_needed} nothing can be called worse; fly more seeds"
            )
        n_unknown = int((~pairs.is_repeatable).sum())
        if n_unknown and any(each.verdict == CHANCE for each in self.differences):
            found.append(
                f"{n_unknown} pairs are of runs that are not known to repeat (by the metric "
                "is_repeatable, or repeats that are equal); --repeatable says that all do"
            )
        return tuple(found)

    def sentence(self) -> str:
        """Return the verdict as one sentence."""
        n, n_metrics = len(self.pairs.units), len(self.differences)
        if self.verdict == SAME:
            return f"same: {n} pairs of runs have equal values of all {n_metrics} metrics"
        if self.verdict == CHANCE:
            return f"no difference: {n} pairs of runs differ by no more than chance explains"
        parts = []
        for verdict in (WORSE, BETTER, CHANGED):
            named = [_named(each) for each in self.sorted() if each.verdict == verdict]
            if named:
                more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
                parts.append(f"{verdict}: {', '.join(named[:_SHOWN])}{more}")
        return "; ".join(parts)

    def sorted(self) -> list[MetricDifference]:
        """Return the differences, the gravest and surest first."""
        return sorted(
            self.differences,
            key=lambda each: (
                VERDICTS.index(each.verdict),
                math.inf if each.p_value is None else each.p_value,
                each.name,
            ),
        )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        """Return it for JSON."""
        pairs = self.pairs
        return {
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict,
            "alpha": self.alpha,
            "n_pairs": len(pairs.units),
            "n_repeatable_pairs": int(pairs.is_repeatable.sum()),
            "only_a": len(pairs.only_a),
            "only_b": len(pairs.only_b),
            "notes": list(self.notes),
            "metrics": {each.name: each.plain() for each in self.differences},
        }

    def text(self) -> str:
        """Return the table of what differs, what was found of the rest, and the verdict."""
        n_same = sum(each.verdict == SAME for each in self.differences)
        different = [each for each in self.sorted() if each.verdict != SAME]
        lines = [f"{len(self.pairs.units)} pairs of runs, {n_same} metrics the same"]
        if different:
            lines.append(table_text(_table(different, "Metrics that differ, B - A")))
        lines += [f"note: {each}" for each in self.notes]
        return "\n".join([*lines, self.sentence()])

    def section(self) -> Section:
        """Return the chapter of a page."""
        found = self.sorted()
        counts = {verdict: sum(each.verdict == verdict for each in found) for verdict in VERDICTS}
        tiles = [Headline(label="Pairs of runs", value=str(len(self.pairs.units)))]
        tiles += [
            Headline(
                label=f"Metrics {_MEANINGS[verdict]}",
                value=str(n),
                status=_STATUS[verdict] if n else "neutral",
                meaning=listed([each.name for each in found if each.verdict == verdict][:_SHOWN]),
            )
            for verdict, n in counts.items()
        ]
        changed = [each for each in found if each.parts]
        return Section(
            title="Two campaigns, run by run",
            name="campaign_comparison",
            verdict=f"{self.sentence()}.",
            text="Runs are paired by document, seed and repeat. A metric is worse or better where "
            "its paired test says so: of signed ranks, or of signs where most differences have the "
            "same size, as for truth values; the p-values are corrected for the number of metrics "
            f"that differ (Holm); their limit is {self.alpha:g}. Changed is what differs in runs "
            "that repeat to the last bit, or has no declared direction.",
            headline=tuple(tiles),
            tables=(_table(found, "Metrics"), *(_part_table(each) for each in changed)),
            metrics=self.plain(),
            warnings=self.notes,
        )


def _table(differences: Sequence[MetricDifference], title: str) -> Table:
    return Table(
        title=title,
        columns=("metric", "verdict", "A", "B", "difference", "95 %", "relative", "p", "pairs",
                 "mostly where"),
        rows=tuple(_row(each) for each in differences),
        column_hints=(
            "as in the results", "", "mean over documents and seeds", "", "mean of B - A",
            "bootstrap of documents and seeds", "of the mean size of A", "corrected by Holm",
            "that differ, of all", "the value of an axis with more than its part of the difference",
        ),
    )  # fmt: skip


def _row(each: MetricDifference) -> tuple[str, ...]:
    low_high = "–" if each.low is None else f"{each.low:.3g} … {each.high:.3g}"
    unit = f" [{each.unit}]" if each.unit else ""
    return (
        f"{each.name}{unit}",
        each.verdict,
        _number(each.mean_a),
        _number(each.mean_b),
        _number(each.difference),
        low_high,
        "–" if each.relative is None else f"{each.relative:+.2%}",
        "–" if each.p_adjusted is None else f"{each.p_adjusted:.2g}",
        f"{each.n_differ}/{each.n_pairs}",
        _mostly(each),
    )


def _part_table(each: MetricDifference) -> Table:
    return Table(
        title=f"{each.name}: where",
        columns=("axis", "value", "difference", "relative", "pairs"),
        rows=tuple(
            (
                part.axis,
                _value(part.value),
                _number(part.difference),
                "–" if part.relative is None else f"{part.relative:+.2%}",
                f"{part.n_differ}/{part.n_pairs}",
            )
            for part in each.parts
        ),
    )


def _mostly(each: MetricDifference) -> str:
    """Return the value of an axis at which most of a difference is, if there is one."""

    def amount(part: AxisPart) -> float:
        return part.n_differ if part.difference is None else abs(part.difference) * part.n_pairs

    best, best_ratio = "", _NOTABLE_SHARE
    for axis in dict.fromkeys(part.axis for part in each.parts):
        parts = [part for part in each.parts if part.axis == axis]
        total, n = sum(map(amount, parts)), sum(part.n_pairs for part in parts)
        for part in parts:
            ratio = amount(part) * n / (total * part.n_pairs) if total else 0.0
            if ratio > best_ratio:
                best, best_ratio = f"{axis} = {_value(part.value)}", ratio
    return best


def _value(value: Any) -> str:
    return printable(f"{value:g}" if isinstance(value, float) else str(value), _LONGEST_VALUE)


def _named(each: MetricDifference) -> str:
    if each.relative is None:
        return each.name
    is_tested = each.verdict in (WORSE, BETTER)
    p_value = f", p = {each.p_adjusted:.2g}" if is_tested else ""
    return f"{each.name} ({each.relative:+.2%}{p_value})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
