# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of a campaign against the bars, a row for each figure.

A bar holds when it holds with every seed; the pooled figures of a case stand beside and are judged
alike. A mark that a run did not pass is a miss of its own: what did not come so far cannot be
better for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from aerotwin_core.rms import rms
from aerotwin_repeat_evaluation import MarkerErrors, marker_errors
from evidence.verification.repeats.case import Case

Scores = Mapping[str, Any]
Row = dict[str, Any]


def rows_of(cases: Iterable[Case], found: Mapping[str, Sequence[Scores]]) -> list[Row]:
    """Return the rows of a campaign: `case`, `seed`, `figure`, `unit`, `value`, `bar`, `met`.

    `seed` is None where all seeds are pooled, `bar` and `met` where there is none.
    """
    rows: list[Row] = []
    for case in cases:
        scores = found[case.name]
        for one in scores:
            rows += [_row(case, one["seed"], *figure) for figure in _figures(case, [one])]
        rows += [_row(case, None, *figure) for figure in _figures(case, scores)]
    return rows + list(_interventions(cases, found))


def offsets_of(scores: Sequence[Scores]) -> MarkerErrors:
    """Return the offsets at the marks of all seeds, one below the other."""
    most = max(len(one["marks"]["offsets_m"][0]) for one in scores)
    rows = [
        [np.nan if value is None else value for value in row] + [np.nan] * (most - len(row))
        for one in scores
        for row in one["marks"]["offsets_m"]
    ]
    return marker_errors(np.array(rows, float))


def floor_of(scores: Sequence[Scores]) -> np.ndarray | None:
    """Return the floor at the marks of all seeds, (m,) [m]; None where none is known."""
    floors = [one["floor_at_marks_m"] for one in scores]
    return None if None in floors else np.concatenate([np.array(floor) for floor in floors])


def _figures(case: Case, scores: Sequence[Scores]):
    """Yield name, unit, value and bar of the figures of a case."""
    markers, floor, bars = offsets_of(scores), floor_of(scores), case.thresholds
    max_rmse = bars.rmse_m
    if floor is not None:
        floor_m = rms(floor)
        yield "floor RMSE", "m", floor_m, None
        yield "floor largest", "m", float(np.abs(floor).max()), None
        max_rmse = None if bars.above_floor_m is None else floor_m + bars.above_floor_m
    yield "marker RMSE", "m", markers.rmse_m, max_rmse
    yield "marker largest", "m", markers.max_m, bars.max_m
    if case.n_repeats > 1:
        yield "repeatability", "m", markers.repeatability_m, bars.repeatability_m
    n_missed = sum(one["marks"]["n_missed"] for one in scores)
    yield "marks not passed", "", n_missed, 0


def _interventions(cases: Iterable[Case], found: Mapping[str, Sequence[Scores]]):
    """Yield the rows of all runs: interventions fail structured routes only."""
    kinds = {True: "structured routes", False: "other routes"}
    for is_structured, kind in kinds.items():
        counted = [
            one["interventions"]
            for case in cases
            if case.thresholds.is_structured is is_structured
            for one in found[case.name]
        ]
        if not counted:
            continue
        n, km = sum(one["n"] for one in counted), sum(one["driven_km"] for one in counted)
        threshold = 0 if is_structured else None
        yield _row(None, None, f"interventions, {kind}", "", n, threshold)
        yield _row(None, None, f"driven, {kind}", "km", km, None)
        if n:
            yield _row(None, None, f"driven per intervention, {kind}", "km", km / n, None)


def _row(
    case: Case | None, seed: int | None, figure: str, unit: str, value: float | None,
    threshold: float | None,
) -> Row:  # fmt: skip
    met = None if threshold is None else value is not None and value <= threshold
    return {
        "case": "all" if case is None else case.name, "seed": seed, "figure": figure, "unit": unit,
        "value": value, "threshold": threshold, "met": met,
    }  # fmt: skip


def line_of(row: Row) -> str:
    """Return a row as a line of the printed table."""
    value, threshold, unit, verdict = shown(row)
    seed = "all seeds" if row["seed"] is None else f"seed {row['seed']}"
    limit = f"at most {threshold}" if threshold else ""
    figure = f"{row['figure']:<42}{value:>8} {unit:<3}"
    return f"{row['case']:<16}{seed:<12}{figure}  {limit:<14} {verdict.upper()}".rstrip()


def shown(row: Row) -> tuple[str, str, str, str]:
    """Return value, bar, unit and verdict as words; lengths in centimetres, counts as they are."""
    is_length = row["unit"] == "m"
    value, threshold = (
        "" if row[key] is None
        else str(row[key]) if isinstance(row[key], int)
        else f"{row[key] * (100.0 if is_length else 1.0):.2f}"
        for key in ("value", "threshold")
    )  # fmt: skip
    verdict = {None: "", True: "met", False: "missed"}[row["met"]]
    return value or "none", threshold, "cm" if is_length else row["unit"], verdict
