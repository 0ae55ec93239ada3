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
SCORES = "scores.json"
_KEYS = {
    "floor RMSE": "floor_rmse_m",
    "floor largest": "floor_max_m",
    "marker RMSE": "marker_rmse_m",
    "marker largest": "marker_max_m",
    "repeatability": "repeatability_m",
    "marks not passed": "n_marks_missed",
}


def rows_of(cases: Iterable[Case], found: Mapping[str, Sequence[Scores]]) -> list[Row]:
    """Return the rows: `case`, `seed`, `figure`, `unit`, `value`, `threshold`, `met`.

    `seed` is None where all seeds are pooled, `threshold` and `met` where there is none. The scores
    of a run that failed are its `seed` alone; what needs them is None, and misses its limit.
    """
    rows: list[Row] = []
    for case in cases:
        scores = found[case.name]
        for one in scores:
            rows += [_row(case, one["seed"], *figure) for figure in _figures(case, [one])]
        rows += [_row(case, None, *figure) for figure in _figures(case, scores)]
    return rows + list(_interventions(cases, found))


def rows_of_run(case: Case, scores: Scores) -> list[Row]:
    """Return the rows of one run alone."""
    rows = rows_of([case], {case.name: [scores]})
    return [row for row in rows if row["seed"] is not None or row["case"] == "all"]


def missed(rows: Iterable[Row]) -> list[Row]:
    """Return the rows whose limit does not hold."""
    return [row for row in rows if row["met"] is False]


def metrics_of_run(case: Case, scores: Scores) -> dict[str, float | None]:
    """Return the main numbers of a run, by names with units."""
    counted, scans = scores["interventions"], scores["localisation"]
    return values_of(_figures(case, [scores])) | {
        "n_interventions": counted["n"],
        "driven_km": counted["driven_km"],
        "n_scans": scans["n"],
        "n_scans_lost": scans["n_failed"],
    }


def values_of(figures: Iterable[tuple[str, str, float | None, float | None]]) -> dict[str, Any]:
    """Return the values of figures, by names with units."""
    return {_KEYS[name]: value for name, _, value, _ in figures}


def pooled_values(case: Case, scores: Sequence[Scores]) -> dict[str, Any]:
    """Return the figures of a case over all seeds, by names with units."""
    return values_of(_figures(case, scores))


def judged_of(scores: Iterable[Scores]) -> list[Scores]:
    """Return the scores of the runs that did not fail."""
    return [one for one in scores if "marks" in one]


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
    bars = case.thresholds
    if len(judged_of(scores)) < len(scores):
        yield "marker RMSE", "m", None, bars.above_floor_m if bars.rmse_m is None else bars.rmse_m
        yield "marker largest", "m", None, bars.max_m
        yield "marks not passed", "", None, 0
        return
    markers, floor = offsets_of(scores), floor_of(scores)
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
            one.get("interventions")
            for case in cases
            if case.thresholds.is_structured is is_structured
            for one in found[case.name]
        ]
        if not counted:
            continue
        known = [one for one in counted if one is not None]
        if len(known) < len(counted):
            yield _row(None, None, f"interventions, {kind}", "", None, 0 if is_structured else None)
            continue
        n, km = sum(one["n"] for one in known), sum(one["driven_km"] for one in known)
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
