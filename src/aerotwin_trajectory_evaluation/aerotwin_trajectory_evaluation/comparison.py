# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several estimates of one reference side by side: one table, one figure, one 3D view.

A best is named only among estimates that cover the same part of the reference: one that stops
before the hard part avoids its error.
"""

from collections.abc import Mapping

import numpy as np

from aerotwin_core.charts import Series, chart, draw_boxes, draw_cumulative, thinned
from aerotwin_core.metric import MISSING, Score
from aerotwin_core.plots import TRUTH, WIDE_IN, colours, new_figure, render_svg, style
from aerotwin_core.scene import PathLayer, ReportScene
from aerotwin_core.section import Figure, Section, Table
from aerotwin_trajectory_evaluation.association import is_covered
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.declared_metrics import TRAJECTORY_METRICS
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.figures import AXES, plane_of
from aerotwin_trajectory_evaluation.summary import metres, score_rows

Evaluations = Mapping[str, TrajectoryEvaluation]
MAX_APART = 0.01
"""Share of the reference's poses that one estimate may cover alone where they are ranked."""


def comparison_section(
    evaluations: Evaluations,
    camera: StereoCamera | None = None,
    own_coverage: Mapping[str, float] | None = None,
) -> Section:
    """Return the section that compares several estimates of one reference.

    The bound of `camera` is shown beside the scores. `own_coverage` is that of each estimate before
    it was reduced to the common stamps.
    """
    return Section(
        title="Side by side",
        name="comparison",
        verdict=comparison_verdict(evaluations),
        text="The same truth, association and alignment for all. A score stands for the part of "
        "the reference that its estimate covers: read it with the coverage beside it.",
        scenes=(_scene(evaluations),),
        figures=_figures(evaluations),
        tables=(score_table(evaluations, camera, own_coverage or {}),),
        metrics={
            name: TRAJECTORY_METRICS.side_by_side(evaluation.metrics())
            for name, evaluation in evaluations.items()
        },
        schema={
            "type": "object",
            "additionalProperties": TRAJECTORY_METRICS.side_by_side_schema(),
        },
    )


def are_alike(evaluations: Evaluations) -> bool:
    """Return whether all estimates cover the same part of the reference."""
    if _are_at_one(evaluations):
        return True
    truth = next(iter(evaluations.values())).truth
    covered = np.array(
        [
            is_covered(e.estimate, truth.stamps_ns, e.protocol.choices.keyframe_gap_s)
            for e in evaluations.values()
        ]
    )
    apart = covered.any(axis=0) & ~covered.all(axis=0)
    return float(apart.mean()) <= MAX_APART


def _are_at_one(evaluations: Evaluations) -> bool:
    """Return whether all were scored at the same stamps, within the pairing tolerance."""
    stamps = [evaluation.reference.stamps_ns for evaluation in evaluations.values()]
    if len({len(own) for own in stamps}) > 1:
        return False
    apart_ns = np.ptp(stamps, axis=0).max()
    return bool(apart_ns <= 2e9 * next(iter(evaluations.values())).max_gap_s)


def comparison_verdict(evaluations: Evaluations) -> str:
    """Name the estimate with the smallest error where they are comparable, or say why not."""
    covers = ", ".join(f"{name} {e.coverage:.0%}" for name, e in evaluations.items())
    if not are_alike(evaluations):
        return (
            f"No best is named: the estimates cover different parts of the reference ({covers}). "
            "--common-stamps compares them where all have poses."
        )
    ape = TRAJECTORY_METRICS["ape.trans_m.rmse"]
    rmse = {name: ape.value(e.metrics()) or 0.0 for name, e in evaluations.items()}
    ranked = sorted(rmse, key=lambda name: rmse[name])
    first = next(iter(evaluations.values()))
    how = first.start if first.alignment.mode == "none" else "aligned"
    others = ", ".join(f"{name} {metres(rmse[name])}" for name in ranked[1:])
    return (
        f"{ranked[0]} is nearest to truth: {metres(rmse[ranked[0]])} RMS {how}, {others}; all "
        f"cover the same {first.coverage:.0%} of the reference. One run each: whether that is more "
        "than chance, aerotwin evaluate study tells from several."
    )


def score_table(
    evaluations: Evaluations, camera: StereoCamera | None, own_coverage: Mapping[str, float]
) -> Table:
    """Return all scores, one column per estimate; the best is marked where they are comparable."""
    columns = {name: score_rows(evaluation, camera) for name, evaluation in evaluations.items()}
    for name, share in own_coverage.items():
        columns[name].insert(1, _own_coverage(share))
    labels = list(dict.fromkeys(score.label for scores in columns.values() for score in scores))
    by_label = {name: {s.label: s for s in scores} for name, scores in columns.items()}
    is_ranked = are_alike(evaluations)
    rows, hints, best = [], [], []
    for label in labels:
        found = [by_label[name].get(label) for name in columns]
        known = next(score for score in found if score is not None)
        unit, texts = _cells(found)
        rows.append((label, unit, *texts))
        hints.append(". ".join(text for text in (known.meaning, known.computed) if text))
        if is_ranked:
            best += [(len(rows) - 1, 2 + k) for k in _best(found)]
    return Table(
        title="Scores",
        columns=("quantity", "unit", *columns),
        rows=tuple(rows),
        hints=tuple(hints),
        best=tuple(best),
        caption=""
        if is_ranked
        else "No best is marked: the estimates cover different parts of the reference.",
    )


def _own_coverage(share: float) -> Score:
    return Score(
        label="coverage before the cut",
        value=share * 100.0,
        unit="%",
        meaning="share of the reference that this estimate covers by itself",
        computed="before the poses at stamps that another estimate lacks were left out",
        digits=1,
    )


def _cells(found: list[Score | None]) -> tuple[str, list[str]]:
    """Return the unit of a row and its texts; what follows ± belongs to the number."""
    known = next(score for score in found if score is not None)
    unit, sign, _ = known.unit.partition(" ±")
    texts = []
    for score in found:
        spread = score.unit.partition(" ±")[2] if score is not None else ""
        text = MISSING if score is None else score.text
        texts.append(f"{text} ±{spread}" if sign and spread else text)
    return unit, texts


def _best(found: list[Score | None]) -> list[int]:
    """Return the indices of the best of a row; none where one is missing, or all are equal."""
    known = [score for score in found if score is not None and score.text != MISSING]
    values = [score.value for score in known if score.value is not None]
    if len(values) < len(found) or not known[0].better or len(set(values)) == 1:
        return []
    pick = min if known[0].better == "lower" else max
    return [values.index(pick(values))]


def _scene(evaluations: Evaluations) -> ReportScene:
    truth = next(iter(evaluations.values())).truth
    layers = [PathLayer(name="truth", points_map=truth.p_ref_body, colour=TRUTH)]
    for (name, evaluation), colour in zip(
        evaluations.items(), colours(len(evaluations)), strict=True
    ):
        points = evaluation.aligned.p_ref_body
        layers.append(PathLayer(name=name, points_map=points, colour=colour))
    return ReportScene(title=f"All paths{_how(evaluations)}", layers=tuple(layers))


def _how(evaluations: Evaluations) -> str:
    first = next(iter(evaluations.values()))
    mode = first.alignment.mode
    return f", {first.start}" if mode == "none" else f", aligned ({mode})"


def _figures(evaluations: Evaluations) -> tuple[Figure, ...]:
    named = list(zip(evaluations.items(), colours(len(evaluations)), strict=True))
    errors = [Series(label=name, values=e.ape.trans_m, colour=c) for (name, e), c in named]
    steps = [Series(label=name, values=e.rpe_metre.trans_m, colour=c) for (name, e), c in named]
    over = f"{next(iter(evaluations.values())).protocol.choices.rpe_m:g} m"
    return (
        Figure(
            title="All paths from above, and their errors over time",
            caption=f"All of the truth, and the paths{_how(evaluations)}.",
            svg=_paths(evaluations),
            is_wide=True,
        ),
        Figure(
            title="Cumulative error",
            caption="Share of the pairs of each that are at most so far from truth.",
            svg=chart(
                "comparison-cumulative",
                lambda axes: draw_cumulative(axes, errors, quantity="distance", unit="m"),
            ),
        ),
        Figure(
            title=f"Error of the motion over {over}",
            caption="RPE. Box from quarter to quarter with the median, whiskers from 5 % to 95 %.",
            svg=chart("comparison-rpe", lambda axes: draw_boxes(axes, steps, unit="m")),
        ),
    )


def _paths(evaluations: Evaluations) -> str:
    figure = new_figure(WIDE_IN, 5.2)
    first = next(iter(evaluations.values()))
    with style():
        above, error = figure.subplots(1, 2)
        truth = first.truth.p_ref_body[thinned(len(first.truth))]
        across, up, _ = plane_of(first)
        above.plot(truth[:, across], truth[:, up], color=TRUTH, lw=4.0, label="truth")
        for (name, evaluation), colour in zip(
            evaluations.items(), colours(len(evaluations)), strict=True
        ):
            which = thinned(len(evaluation.aligned))
            p, stamps = evaluation.aligned.p_ref_body[which], evaluation.reference.stamps_ns
            seconds = (stamps[which] - stamps[0]) * 1e-9 + evaluation.first_pair_s
            above.plot(p[:, across], p[:, up], color=colour, lw=1.4, label=name)
            error.plot(seconds, evaluation.ape.trans_m[which], color=colour, lw=1.2)
        above.set_aspect("equal", adjustable="datalim")
        above.set(xlabel=f"{AXES[across]} [m]", ylabel=f"{AXES[up]} [m]")
        error.set(xlabel="time since the first true pose [s]", ylabel="distance [m]")
        error.set_ylim(bottom=0.0)
        figure.legend(loc="outside upper left", ncols=5)
    return render_svg(figure, "comparison-paths")
