# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Repeats of a taught route as chapters of a report."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aerotwin_core.metric import score_table
from aerotwin_core.plots import TRUTH
from aerotwin_core.scene import PathLayer, PointLayer, ReportScene
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_repeat_evaluation import figures
from aerotwin_repeat_evaluation.declared_metrics import TEACH_REPEAT_METRICS, TEACH_REPEAT_SCHEMA
from aerotwin_repeat_evaluation.displacements import true_poses
from aerotwin_repeat_evaluation.evaluation import TeachRepeatEvaluation, metrics_of
from aerotwin_repeat_evaluation.published import published_table

_UNDERSTATED = 2.0
"""The report warns if the truth exceeds the belief by more than this factor."""
_FEW_RUNS = 3
_MAX_MARK_ROWS = 60
_COMPARED = {
    "RMSE cm": "pte_m.rmse",
    "largest cm": "pte_m.max",
    "floor RMSE cm": "floor_m.rmse",
    "bias RMS cm": "marks.bias_rms_m",
    "repeatability cm": "repeatability_m",
    "belief RMSE cm": "belief_m.at_marks.rmse",
}
"""Columns of the table of methods, and paths of their metrics."""
_BRIEF = (
    "method", "route", "pte_m", "floor_m", "repeatability_m", "belief_m", "interventions",
)  # fmt: skip


def section_of(evaluation: TeachRepeatEvaluation, *, name: str = "teach_repeat") -> Section:
    """Return the chapter of one evaluation."""
    metrics = metrics_of(evaluation)
    return Section(
        title=f"Repeats: {evaluation.method}, {evaluation.route}",
        name=name,
        verdict=_verdict(metrics),
        text=_text(evaluation, metrics),
        headline=_headline(metrics),
        scenes=(_scene(evaluation),),
        figures=_figures(evaluation, name),
        tables=(
            score_table("Scores", TEACH_REPEAT_METRICS.scores(metrics)),
            _mark_table(evaluation),
            *_pair_table(evaluation),
            published_table(is_matched=evaluation.is_matched),
        ),
        metrics=metrics,
        warnings=tuple(_warnings(evaluation, metrics)),
        schema=TEACH_REPEAT_SCHEMA,
    )


def methods_section(
    evaluations: Sequence[TeachRepeatEvaluation], *, name: str = "teach_repeat_methods"
) -> Section:
    """Return the chapter that compares several methods on shared marks."""
    all_metrics = [metrics_of(evaluation) for evaluation in evaluations]
    rows = tuple(
        (
            metrics["method"],
            metrics["route"]["name"],
            str(metrics["marks"]["n_passings"]),
            *(TEACH_REPEAT_METRICS[path].score(metrics).text for path in _COMPARED.values()),
        )
        for metrics in all_metrics
    )
    return Section(
        title="Methods side by side",
        name=name,
        text="Deviations from the marks on the true ground, all runs of each method pooled. The "
        "floor is what no localiser by one rigid fit within 40 m can avoid in that map.",
        figures=(
            Figure(
                title="Deviation at the marks",
                caption="Box from quarter to quarter with the median, whiskers from 5 % to 95 %.",
                svg=figures.boxes_of_methods(evaluations, f"{name}-boxes"),
                is_wide=True,
            ),
        ),
        tables=(
            Table(
                title="Path-tracking error of each method",
                columns=("method", "route", "passings", *_COMPARED),
                rows=rows,
            ),
            published_table(is_matched=all(e.is_matched for e in evaluations)),
        ),
        metrics={"methods": [{key: metrics[key] for key in _BRIEF} for metrics in all_metrics]},
    )


def _cm(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value * 100.0:.1f}"


def _verdict(metrics: dict[str, Any]) -> str:
    if metrics["pte_m"]["rmse"] is None:
        return f"{metrics['method']}: no run passed a mark."
    text = (
        f"{metrics['method']}: the vehicle passes the marks of {metrics['route']['name']} at "
        f"{_cm(metrics['pte_m']['rmse'])} cm RMSE, {_cm(metrics['pte_m']['max'])} cm at most"
    )
    if metrics["floor_m"] is not None:
        floor = metrics["floor_m"]
        text += f" (floor of the map: {_cm(floor['rmse'])} and {_cm(floor['max'])} cm)"
    return f"{text}; it believes {_cm(metrics['belief_m']['at_marks']['rmse'])} cm RMSE."


def _runs(n: int) -> str:
    return "1 run" if n == 1 else f"{n} runs"


def _text(evaluation: TeachRepeatEvaluation, metrics: dict[str, Any]) -> str:
    runs = metrics["runs"]
    return (
        f"{_runs(runs['n'])} of {metrics['route']['length_m']:.0f} m, {runs['n_completed']} to "
        f"the goal, {len(evaluation.marks)} marks. At each mark the distance of the vehicle's "
        "base to the mark on the true ground is taken across the route, left positive. For a "
        "map with a known displacement the mark lies at the exact image of its place on the "
        "taught route, so an offset of the whole map costs nothing and its distortion everything."
        "\n\nBias is the mean of the runs at a mark: what the map does. Repeatability is the "
        "spread about it (unbiased, root mean over the marks). The robot's own belief is taken at "
        "the same moments; it cannot see the map's distortion.\n\nThe floor is the residual of the "
        "best rigid fit of the true surroundings within 40 m to their image in the map, with every "
        "correspondence known."
    )


def _headline(metrics: dict[str, Any]) -> tuple[Headline, ...]:
    floor = metrics["floor_m"]
    beyond = "no floor is known" if floor is None else f"floor {_cm(floor['rmse'])} cm"
    return (
        TEACH_REPEAT_METRICS["pte_m.rmse"].tile(
            metrics,
            label="Path-tracking error",
            meaning=f"RMSE at the marks, {_cm(metrics['pte_m']['max'])} cm at most; {beyond}",
            computed="root of the mean squared lateral offset over all marks and runs",
        ),
        TEACH_REPEAT_METRICS["repeatability_m"].tile(
            metrics,
            label="Repeatability",
            meaning="spread of the runs about their mean at each mark",
            computed="root of the mean over the marks of the unbiased variance over the runs",
        ),
        TEACH_REPEAT_METRICS["belief_m.at_marks.rmse"].tile(
            metrics,
            label="Belief",
            meaning="RMSE at the marks as the robot sees it",
            computed="believed lateral error at the moments of the passings",
        ),
        TEACH_REPEAT_METRICS["interventions.n"].tile(
            metrics,
            label="Interventions",
            status="good" if metrics["interventions"]["n"] == 0 else "bad",
        ),
    )


def _scene(evaluation: TeachRepeatEvaluation) -> ReportScene:
    route = true_poses(evaluation.displacement, evaluation.T_map_route)[:, :3, 3]
    layers: list[PathLayer | PointLayer] = [
        PathLayer(name="route taught, true place", points_map=route, colour=TRUTH),
        PointLayer(
            name="marks",
            points_map=evaluation.marks.T_true_mark[:, :3, 3],
            values=np.abs(evaluation.markers.bias_m),
            unit="m",
            quantity="bias",
        ),
    ]
    layers += [
        PathLayer(
            name=f"{k + 1}: {run.name}",
            points_map=run.T_true_base[:, :3, 3],
            values=np.abs(found.error_m),
            unit="m",
            quantity="beside the route",
            is_shown=k == 0,
        )
        for k, (run, found) in enumerate(zip(evaluation.runs, evaluation.true, strict=True))
    ]
    return ReportScene(
        title="The runs in space",
        caption="True paths, coloured by the distance from the true place of the taught route.",
        layers=tuple(layers),
    )


def _figures(evaluation: TeachRepeatEvaluation, name: str) -> tuple[Figure, ...]:
    return (
        Figure(
            title="Route and runs from above",
            caption="All runs in the true place, coloured by the distance beside the route.",
            svg=figures.route_map(evaluation, f"{name}-map"),
            is_wide=True,
        ),
        Figure(
            title="Error along the route",
            caption="Truth, what the robot believes, and the floor of the map; dots are the marks. "
            "Where truth follows the floor, the map is to blame.",
            svg=figures.along_the_route(evaluation, f"{name}-along"),
            is_wide=True,
        ),
        Figure(
            title="Deviation at the marks",
            caption="Box from quarter to quarter with the median, whiskers from 5 % to 95 %.",
            svg=figures.boxes_of_one(evaluation, f"{name}-boxes"),
        ),
        Figure(
            title="Bias and spread at each mark",
            caption="Dots: mean of the runs; bars: from the least to the most.",
            svg=figures.bias_and_spread(evaluation, f"{name}-bias"),
        ),
        Figure(
            title="Localisation against truth",
            caption="Belief beside the true place as the map shows it; red where not localised.",
            svg=figures.localization_along(evaluation, f"{name}-localisation"),
            is_wide=True,
        ),
    )


def _mark_table(evaluation: TeachRepeatEvaluation) -> Table:
    markers, floor = evaluation.markers, evaluation.floor_at_marks_m
    order = np.argsort(-np.nan_to_num(np.abs(markers.bias_m)), kind="stable")[:_MAX_MARK_ROWS]
    rows = tuple(
        (
            f"{evaluation.marks.s_m[j]:.1f}",
            _cm(float(markers.bias_m[j])),
            _cm(None if floor is None else float(floor[j])),
            " ".join(_cm(float(value)) for value in markers.offsets_m[j]),
        )
        for j in sorted(order)
    )
    return Table(
        title="Marks",
        columns=("at m", "bias cm", "floor cm", "offset of each run cm"),
        rows=rows,
        caption="Left of the mark positive." + (
            "" if len(rows) == len(evaluation.marks) else f" The {len(rows)} with the largest bias."
        ),
    )  # fmt: skip


def _pair_table(evaluation: TeachRepeatEvaluation) -> tuple[Table, ...]:
    if evaluation.repeats is None:
        return ()
    names = [f"{k + 1}" for k in range(len(evaluation.runs))]
    pairs = evaluation.repeats.pair_rmse_m
    return (
        Table(
            title="Runs against each other",
            columns=("RMSE cm, from", *names),
            rows=tuple(
                (f"{names[k]}: {run.name}", *(_cm(float(v)) for v in pairs[k]))
                for k, run in enumerate(evaluation.runs)
            ),
            caption="Lateral deviation of the run of the column from the path of the row's.",
        ),
    )


def _warnings(evaluation: TeachRepeatEvaluation, metrics: dict[str, Any]) -> list[str]:
    found = []
    if metrics["marks"]["n_missed"]:
        found.append(
            f"{metrics['marks']['n_missed']} of {evaluation.markers.offsets_m.size} passings of "
            "marks are missing; the figures are of the others."
        )
    left = metrics["runs"]["n"] - metrics["runs"]["n_completed"]
    if left:
        found.append(f"{left} of {_runs(metrics['runs']['n'])} did not reach the goal.")
    if metrics["runs"]["n"] < _FEW_RUNS:
        few = _runs(metrics["runs"]["n"])
        found.append(f"{few}: too few to say much about repeatability; drive three.")
    truth, belief = metrics["pte_m"]["rmse"], metrics["belief_m"]["at_marks"]["rmse"]
    if truth and belief and truth > _UNDERSTATED * belief:
        found.append(
            f"The robot's own figure understates the truth {truth / belief:.1f} times: it cannot "
            "see the distortion of its map."
        )
    return found
