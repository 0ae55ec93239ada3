# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several estimates of one flight side by side: one table, one picture, one view into space."""

from collections.abc import Mapping

from aerotwin_core.charts import Series, chart, draw_boxes, draw_cumulative, thinned
from aerotwin_core.plots import TRUTH, WIDE_IN, colours, new_figure, render_svg, style
from aerotwin_core.scene import PathLayer, Scene
from aerotwin_core.section import Figure, Section, Table
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.figures import AXES, plane_of
from aerotwin_trajectory_evaluation.metrics import summarise
from aerotwin_trajectory_evaluation.metrics_schema import COMPARISON_SCHEMA
from aerotwin_trajectory_evaluation.words import score_rows

Evaluations = Mapping[str, TrajectoryEvaluation]


def comparison_section(evaluations: Evaluations, camera: StereoCamera | None = None) -> Section:
    """Return the section that sets several estimates of one reference beside each other."""
    return Section(
        title="Side by side",
        name="comparison",
        verdict=_verdict(evaluations),
        text="The same truth, association and alignment for all. A score stands for the share of "
        "the flight that its estimate covers: compare it with the coverage beside it.",
        scenes=(_scene(evaluations),),
        figures=_figures(evaluations),
        tables=(_table(evaluations, camera),),
        metrics={name: _short(evaluation) for name, evaluation in evaluations.items()},
        schema=COMPARISON_SCHEMA,
    )


def _short(evaluation: TrajectoryEvaluation) -> dict[str, float | None]:
    aligned, given = summarise(evaluation.ape.trans_m), summarise(evaluation.ape_unaligned.trans_m)
    metre = summarise(evaluation.rpe_metre.trans_m)
    return {
        "ape_rmse_m": aligned.rmse if aligned else None,
        "ape_unaligned_rmse_m": given.rmse if given else None,
        "rpe_rmse_m": metre.rmse if metre else None,
        "drift_percent": evaluation.drift_percent,
        "coverage": evaluation.coverage,
        "tracked_path": evaluation.completeness.tracked_path,
    }


def _verdict(evaluations: Evaluations) -> str:
    """Name the estimate with the least aligned error, and whether another covers more."""
    rmse = {
        name: _short(evaluation)["ape_rmse_m"] or 0.0 for name, evaluation in evaluations.items()
    }
    best = min(rmse, key=lambda name: rmse[name])
    text = f"{best} is nearest to truth ({rmse[best]:.3g} m RMS aligned)"
    widest = max(evaluations, key=lambda name: evaluations[name].coverage)
    if evaluations[widest].coverage > evaluations[best].coverage + 0.01:
        text += (
            f" but covers {evaluations[best].coverage:.0%} of the flight, {widest} "
            f"{evaluations[widest].coverage:.0%}"
        )
    return f"{text}. One run each: whether that is more than chance a study of several tells."


def _table(evaluations: Evaluations, camera: StereoCamera | None) -> Table:
    columns = {name: score_rows(evaluation, camera) for name, evaluation in evaluations.items()}
    labels = list(dict.fromkeys(score.label for scores in columns.values() for score in scores))
    by_label = {name: {s.label: s for s in scores} for name, scores in columns.items()}
    rows, hints, best = [], [], []
    for label in labels:
        found = [by_label[name].get(label) for name in columns]
        known = next(score for score in found if score is not None)
        rows.append((label, *("–" if s is None else s.text for s in found), known.unit))
        hints.append(". ".join(text for text in (known.meaning, known.computed) if text))
        values = [None if s is None or s.text == "–" else s.value for s in found]
        if known.is_lower_better is not None and None not in values and len(set(values)) > 1:
            pick = min if known.is_lower_better else max
            best.append((len(rows) - 1, 1 + values.index(pick(v for v in values if v is not None))))
    return Table(
        title="Scores",
        columns=("quantity", *columns, "unit"),
        rows=tuple(rows),
        hints=tuple(hints),
        best=tuple(best),
    )


def _scene(evaluations: Evaluations) -> Scene:
    longest = max(evaluations.values(), key=lambda evaluation: len(evaluation.reference))
    layers = [PathLayer(name="truth", points_map=longest.reference.p_ref_body, colour=TRUTH)]
    for (name, evaluation), colour in zip(
        evaluations.items(), colours(len(evaluations)), strict=True
    ):
        points = evaluation.aligned.p_ref_body
        layers.append(PathLayer(name=name, points_map=points, colour=colour))
    return Scene(title="All paths, aligned", layers=tuple(layers))


def _figures(evaluations: Evaluations) -> tuple[Figure, ...]:
    errors = [Series(label=name, values=e.ape.trans_m) for name, e in evaluations.items()]
    steps = [Series(label=name, values=e.rpe_metre.trans_m) for name, e in evaluations.items()]
    over = f"{next(iter(evaluations.values())).protocol.choices.rpe_m:g} m"
    return (
        Figure(
            title="All paths from above, and their errors over time",
            caption="Aligned.",
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
            title=f"Error gained over {over}",
            caption="Box from quarter to quarter with the median, whiskers from 5 % to 95 %.",
            svg=chart("comparison-rpe", lambda axes: draw_boxes(axes, steps, unit="m")),
        ),
    )


def _paths(evaluations: Evaluations) -> str:
    figure = new_figure(WIDE_IN, 5.2)
    longest = max(evaluations.values(), key=lambda evaluation: len(evaluation.reference))
    with style():
        above, error = figure.subplots(1, 2)
        truth = longest.reference.p_ref_body
        across, up, _ = plane_of(longest)
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
