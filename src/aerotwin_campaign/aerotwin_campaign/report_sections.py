# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapters of a campaign's report about all its runs together."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from aerotwin_campaign.campaign_results import (
    Grouping,
    ResultColumns,
    number_text,
    percent_text,
)
from aerotwin_campaign.report_figures import (
    MOST_FIGURES,
    metric_figure,
    share_figure,
    success_figure,
)
from aerotwin_campaign.sensitivity import sensitivities
from aerotwin_campaign.spec import short_id
from aerotwin_core.errors import UserError
from aerotwin_core.gate import Condition, judged
from aerotwin_core.section import Cell, Figure, Headline, Section, Table
from aerotwin_statistics import bootstrap_interval, proportion_interval

MOST_SENSITIVITIES = 60
_MOST_AXIS_FIGURES = 8
_MOST_UNITS = 1000
"""Runs for an interval by the bootstrap; from more on, the normal one is as good."""


def success_section(
    results: ResultColumns,
    n_runs: int | None,
    conditions: Sequence[Condition],
    summary: Mapping[str, Any],
) -> Section:
    """Return how many runs were a success, over all and by axis, and what conditions say."""
    n, hits = len(results), int(results.is_success.sum())
    tiles = [Headline(label="Runs", value=str(n), meaning=_of_all(n, n_runs))]
    verdict = "No run is done yet."
    if n:
        low, high = proportion_interval(hits, n)
        verdict = f"{hits} of {n} runs were a success: {hits / n:.1%}, 95 % interval "
        verdict += f"{low:.1%} to {high:.1%}."
        tiles.append(Headline(
            label="Success", value=percent_text(hits / n), unit="%", better="higher",
            meaning=f"{hits} of {n}; 95 % interval {low:.1%} to {high:.1%}",
            status="good" if hits == n else "warn",
            computed="Exact interval of Clopper and Pearson, as if the runs were drawn.",
        ))  # fmt: skip
    margins = results.margins[np.isfinite(results.margins)]
    if len(margins):
        tiles.append(Headline(
            label="Worst margin", value=f"{margins.min():.4g}", better="higher",
            meaning="smallest robustness of all expectations; below 0 one is not met",
            status="good" if margins.min() >= 0.0 else "bad",
        ))  # fmt: skip
    tables, failed = _condition_table(summary, conditions)
    if conditions:
        tiles.append(Headline(
            label="Failed conditions", value=f"{failed} of {len(conditions)}",
            meaning="of fail_if in the campaign file, and --fail-if",
            status="bad" if failed else "good",
        ))  # fmt: skip
    figures = []
    for number, (path, grouping) in enumerate(results.groupings.items()):
        if len(grouping.labels) > 1:
            tables.append(_success_table(results, path, grouping))
            if number < _MOST_AXIS_FIGURES:
                figures.append(
                    success_figure(path, grouping, results.is_success, f"campaign-{number}")
                )
    return Section(
        title="Success",
        name="success",
        verdict=verdict,
        text="Intervals hold for runs that are independent draws; repeats of one seed count each.",
        headline=tuple(tiles),
        figures=tuple(figures),
        tables=tuple(tables),
        metrics={name: results.summary[name] for name in ("n_runs", "n_failures", "success_share")}
        | ({"interval": list(proportion_interval(hits, n))} if n else {}),
    )


def _of_all(n: int, n_runs: int | None) -> str:
    if n_runs is None:
        return "in the table"
    return "all are done" if n == n_runs else f"of {n_runs}; {n_runs - n} are left"


def _condition_table(
    summary: Mapping[str, Any], conditions: Sequence[Condition]
) -> tuple[list[Table], int]:
    rows, n_failed = [], 0
    for condition in conditions:
        value, fails, said = None, True, "holds: fails"
        with suppress(UserError):  # no run has it
            ((_, value, fails),) = judged([condition], summary, {})
        if value is None:
            said = "not judged: fails"
        n_failed += fails
        rows.append((str(condition), number_text(value), said if fails else "does not hold"))
    table = Table(
        title="Conditions under which it fails", columns=("condition", "value", "result"),
        rows=tuple(rows),
    )  # fmt: skip
    return ([table] if rows else []), n_failed


def _success_table(results: ResultColumns, path: str, grouping: Grouping) -> Table:
    rows: list[tuple[Cell, ...]] = []
    has_margins = bool(np.isfinite(results.margins).any())
    for k, label in enumerate(grouping.labels):
        which = grouping.codes == k
        n, hits = int(which.sum()), int(results.is_success[which].sum())
        row: tuple[Cell, ...] = (label, f"{hits}/{n}", "–", "–")
        if n:
            low, high = proportion_interval(hits, n)
            row = (
                label,
                f"{hits}/{n}",
                percent_text(hits / n),
                f"{100 * low:.1f} … {100 * high:.1f}",
            )
        margins = results.margins[which]
        margins = margins[np.isfinite(margins)]
        worst = f"{margins.min():.4g}" if len(margins) else "–"
        rows.append((*row, worst) if has_margins else row)
    columns = (path, "success", "share [%]", "95 % interval [%]")
    return Table(
        title=f"Success by {path}",
        columns=(*columns, "worst margin") if has_margins else columns,
        rows=tuple(rows),
    )


def expectation_section(results: ResultColumns) -> Section | None:
    """Return how often each expectation was met; None if there is none."""
    if not results.expectations:
        return None
    rows, numbers = [], {}
    for number, each in results.expectations.items():
        met = each.get("is_met", np.full(len(results), np.nan))
        met = met[np.isfinite(met)]
        n, hits = len(met), int(met.sum())
        low, high = proportion_interval(hits, n) if n else (np.nan, np.nan)
        margin = each.get("robustness", np.full(len(results), np.nan))
        known = np.isfinite(margin)
        where = int(np.argmin(np.where(known, margin, np.inf))) if known.any() else None
        rows.append((
            number, f"{hits}/{n}", percent_text(hits / n) if n else "–",
            f"{100 * low:.1f} … {100 * high:.1f}" if n else "–",
            "–" if where is None else f"{margin[where]:.4g}",
            f"{np.median(margin[known]):.4g}" if known.any() else "–",
            "–" if where is None else short_id(results.run_ids[where]),
        ))  # fmt: skip
        numbers[str(number)] = {"n": n, "n_met": hits}
    return Section(
        title="Expectations",
        name="expectations",
        text="Numbers are those of the scenario's list, from 0. Robustness is how far a run is "
        "from not meeting it, in the unit of what it compares: below 0 it is not met.",
        tables=(
            Table(
                title="Expectations",
                columns=("number", "met", "share [%]", "95 % interval [%]", "smallest robustness",
                         "median robustness", "of run"),
                rows=tuple(rows),
                caption="Of several scenarios, one number stands for different expectations."
                if len(set(results.axes.get("scenario", ()))) > 1 else "",
            ),
        ),
        metrics=numbers,
    )  # fmt: skip


def metric_section(results: ResultColumns) -> Section | None:
    """Return the distribution of each measured metric; None without metrics."""
    if not results.measured:
        return None
    rows, figures = [], []
    for number, (name, values) in enumerate(results.measured.items()):
        found = results.summary[name]
        known = np.isfinite(values)
        rows.append((
            name, results.unit(name), int(found["n"]), number_text(found["mean"]),
            _interval(results, values, "mean"), number_text(found["median"]),
            _interval(results, values, "median"), number_text(found["std"]),
            number_text(found["min"]), number_text(found["p95"]), number_text(found["max"]),
        ))  # fmt: skip
        is_truth = bool(known.any()) and set(np.unique(values[known])) <= {0.0, 1.0}
        if len(figures) < MOST_FIGURES and not is_truth:
            figures.append(metric_figure(results, name, f"campaign-metric-{number}"))
    drawn: list[Figure] = [each for each in figures if each is not None]
    left_out = len(results.measured) > MOST_FIGURES
    return Section(
        title="Metrics",
        name="metrics",
        text="Truth values count as 0 and 1. Metrics that do not vary have no figure"
        + (f", nor have those after the first {MOST_FIGURES}." if left_out else "."),
        figures=tuple(drawn),
        tables=(
            Table(
                title="Distributions",
                columns=("metric", "unit", "runs", "mean", "95 %", "median", "95 %", "std", "min",
                         "95 % below", "max"),
                rows=tuple(rows),
                column_hints=(
                    "as in the results", "", "that have it", "",
                    "bootstrap over runs, of repeats of one seed together", "",
                    "bootstrap over runs, of repeats of one seed together", "of the sample", "",
                    "the 95 % quantile", "",
                ),
            ),
        ),
        metrics={name: results.summary[name] for name in results.measured},
    )  # fmt: skip


def _interval(results: ResultColumns, values: np.ndarray, statistic: str) -> str:
    """Return the interval of a statistic over runs; repeats of one seed are drawn together."""
    known = np.isfinite(values)
    _, units = np.unique(results.units[known], return_inverse=True)
    if len(np.unique(units)) < 2:
        return "–"
    if units[-1] >= _MOST_UNITS:  # neighbours in a random order are joined: fewer draws
        order = np.random.default_rng(0).permutation(units.max() + 1)
        units = order[units] % _MOST_UNITS
    found = bootstrap_interval(values[known], units, statistic=statistic, n_resamples=1000)
    return f"{found.low:.4g} … {found.high:.4g}"


def sensitivity_section(results: ResultColumns) -> Section | None:
    """Return what each axis explains; None if nothing varies over axes."""
    found = sensitivities(results)
    if not found:
        return None
    strongest = found[0]
    rows = tuple(
        (
            each.metric, each.axis, each.n, percent_text(each.share), f"{each.p_value:.2g}",
            "–" if each.rho is None else f"{each.rho:+.2f}",
            "–" if each.rho_low is None or np.isnan(each.rho_low)
            else f"{each.rho_low:+.2f} … {each.rho_high:+.2f}",
        )
        for each in found[:MOST_SENSITIVITIES]
    )  # fmt: skip
    figure = share_figure(found, list(results.axes))
    more = f" The first {MOST_SENSITIVITIES} of {len(found)}." if len(found) > len(rows) else ""
    return Section(
        title="Sensitivity",
        name="sensitivity",
        verdict=f"{strongest.axis} explains most: {strongest.share:.0%} of the variance of "
        f"{strongest.metric}." if strongest.p_value < 0.05
        else "No axis has an effect that is more than chance.",
        text="Each axis by itself. Share of variance is the first-order index: eta squared over "
        "the values of the axis (numbers of many values in classes of equal count), corrected for "
        "their number. It is meaningful where axes vary independently, as in a grid or a sample. p "
        "is the Kruskal-Wallis test that the axis has no effect, corrected for the number of rows "
        "(Holm). Spearman's rank correlation says the direction, for numbers.",
        figures=(figure,) if figure is not None else (),
        tables=(
            Table(
                title="Strongest first",
                columns=("metric", "axis", "runs", "share [%]", "p", "Spearman", "95 %"),
                rows=rows, caption=more.strip(),
            ),
        ),
        metrics={"pairs": [vars(each) for each in found]},
    )  # fmt: skip
