# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Chapters of all repeats together: limits, boxes of every case, errors along the routes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aerotwin_campaign import FinishedRun, OverallFigures
from aerotwin_core.charts import Series, chart, draw_boxes
from aerotwin_core.documents import parse_json
from aerotwin_core.plots import ESTIMATE, FLOOR, TRUTH, WIDE_IN, new_figure, render_svg, style
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_repeat_evaluation.published import published_table
from evidence.verification.repeats import CASES
from evidence.verification.repeats.case import Case
from evidence.verification.repeats.rows import (
    SCORES,
    Row,
    Scores,
    floor_of,
    judged_of,
    missed,
    offsets_of,
    pooled_values,
    rows_of,
    shown,
)

_CM = 100.0


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Return the pooled values of every case, `n_limits_missed`, and the chapters."""
    found: dict[str, list[Scores]] = {}
    for run in sorted(runs, key=lambda run: run.seed):
        found.setdefault(run.axes["case"], []).append(_scores(run))
    cases = [case for name, case in CASES.items() if name in found]
    rows = rows_of(cases, found)
    values: dict[str, Any] = {case.name: pooled_values(case, found[case.name]) for case in cases}
    sections = [
        _summary(cases, found, rows),
        *(_section(case, found[case.name], rows) for case in cases),
    ]
    return OverallFigures(values=values | {"n_limits_missed": len(missed(rows))}, sections=sections)


def _scores(run: FinishedRun) -> Scores:
    """Return what a run found; its seed alone if it failed before it was judged."""
    if not (path := run.file(SCORES)).is_file():
        return {"seed": run.seed}
    return dict(parse_json(path.read_bytes()))


def _summary(
    cases: Sequence[Case], found: Mapping[str, Sequence[Scores]], rows: Sequence[Row]
) -> Section:
    """Return the chapter over all cases."""
    judged = [row for row in rows if row["met"] is not None]
    n_met = sum(row["met"] for row in judged)
    series = []
    for case in cases:
        if not (scores := judged_of(found[case.name])):
            continue
        offsets = np.abs(offsets_of(scores).offsets_m).ravel() * _CM
        series.append(Series(label=case.name, values=offsets, colour=ESTIMATE))
        floor = floor_of(scores)
        if floor is not None:
            label = f"{case.name}: floor"
            series.append(Series(label=label, values=np.abs(floor) * _CM, colour=FLOOR))
    boxes = chart(
        "repeats-boxes",
        lambda axes: draw_boxes(axes, series, quantity="beside the marks", unit="cm"),
        width_in=WIDE_IN,
        height_in=4.2,
    )
    return Section(
        title="All cases",
        name="repeats",
        verdict=f"{n_met} of {len(judged)} bars are met.",
        text="At each mark the lateral distance of the vehicle's base to the mark on the true "
        "ground is taken. The marks of a bent map lie at the exact images of their places on the "
        "taught route; those of a driven teach where the robot truly passed when it was taught; "
        "those of a survey where they were painted before. "
        "The floor is the residual of the best rigid fit within 40 m with every correspondence "
        "known.",
        headline=tuple(_headline(case, rows) for case in cases),
        figures=(
            Figure(
                title="Deviation at the marks",
                caption="All seeds and repeats. Box from quarter to quarter with the median, "
                "whiskers from 5 % to 95 %.",
                svg=boxes,
                is_wide=True,
            ),
        ),
        tables=(
            _table("Bars over all seeds", [row for row in rows if row["seed"] is None]),
            published_table(),
        ),
        metrics={"n_bars": len(judged), "n_met": n_met},
    )


def _headline(case: Case, rows: Sequence[Row]) -> Headline:
    (row,) = (
        row for row in rows
        if (row["case"], row["seed"], row["figure"]) == (case.name, None, "marker RMSE")
    )  # fmt: skip
    value, threshold, unit, _ = shown(row)
    return Headline(
        label=case.title,
        value=value,
        unit=unit,
        meaning=f"RMSE at the marks; the bar is {threshold} cm"
        if threshold
        else "RMSE at the marks",
        status={None: "neutral", True: "good", False: "bad"}[row["met"]],
        computed="root of the mean squared lateral offset over all marks, repeats and seeds",
        better="lower",
    )


def _section(case: Case, scores: Sequence[Scores], rows: Sequence[Row]) -> Section:
    """Return the chapter of one case."""
    table = _table("Figures of each seed", [row for row in rows if row["case"] == case.name])
    title, n_failed = f"{case.name}: {case.title}", len(scores) - len(judged_of(scores))
    warnings = (f"{n_failed} of {len(scores)} runs failed.",) if n_failed else ()
    if not (scores := judged_of(scores)):
        return Section(title=title, name=case.name, tables=(table,), warnings=warnings)
    markers = offsets_of(scores)
    return Section(
        title=title,
        name=case.name,
        verdict=f"{_cm(markers.rmse_m)} cm RMSE and {_cm(markers.max_m)} cm at most over "
        f"{markers.n} passings of marks.",
        figures=(
            Figure(
                title="Offsets along the route",
                caption="Dots: every passing of every repeat; line: the floor, where one is known.",
                svg=_along(case.name, scores),
                is_wide=True,
            ),
        ),
        warnings=warnings,
        tables=(
            table,
            _drives(scores),
        ),
        metrics={
            "rmse_m": markers.rmse_m,
            "max_m": markers.max_m,
            "repeatability_m": markers.repeatability_m,
            "n_passings": markers.n,
        },
    )


def _along(name: str, scores: Sequence[Scores]) -> str:
    """Draw the offsets of each seed over the way, one below the other."""
    figure = new_figure(WIDE_IN, 1.2 + 1.5 * len(scores))
    with style():
        panels = figure.subplots(len(scores), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, one in zip(panels, scores, strict=True):
            s_m, offsets = one["marks"]["s_m"], offsets_of([one]).offsets_m * _CM
            for column in offsets.T:
                axes.plot(s_m, column, ".", color=ESTIMATE, ms=6)
            if one["floor_at_marks_m"] is not None:
                axes.plot(s_m, np.array(one["floor_at_marks_m"]) * _CM, color=FLOOR, lw=1.4)
            axes.axhline(0.0, color=TRUTH, lw=0.8)
            axes.set_ylabel(f"seed {one['seed']} [cm]")
        panels[-1].set_xlabel("way along the route [m]")
    return render_svg(figure, f"{name}-along")


def _drives(scores: Sequence[Scores]) -> Table:
    """Return how each repeat went."""
    rows = tuple(
        (
            run["name"], run["state"], f"{run['simulated_s']:.0f}",
            f"{run['simulated_s'] / run['wall_s']:.1f}", run["reason"],
        )
        for one in scores
        for run in one["drives"]
    )  # fmt: skip
    columns = ("repeat", "end", "driven s", "times real time", "reason")
    lost = sum(one["localisation"]["n_failed"] for one in scores)
    n = sum(one["localisation"]["n"] for one in scores)
    return Table(
        title="Repeats", columns=columns, rows=rows, caption=f"{lost} of {n} scans not localised."
    )


def _table(title: str, rows: Sequence[Row]) -> Table:
    cells = []
    for row in rows:
        value, threshold, unit, verdict = shown(row)
        seed = "all" if row["seed"] is None else str(row["seed"])
        cells.append((row["case"], seed, row["figure"], value, threshold, unit, verdict))
    columns = ("case", "seed", "figure", "value", "at most", "unit", "bar")
    return Table(title=title, columns=columns, rows=tuple(cells))


def _cm(value: float | None) -> str:
    return "–" if value is None else f"{value * _CM:.1f}"
