# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory evaluation as a section of a report."""

from typing import Any

from aerotwin_core.metric import score_table
from aerotwin_core.plots import ESTIMATE, TRUTH
from aerotwin_core.scene import PathLayer, ReportScene
from aerotwin_core.section import Figure, Headline, Section, Table
from aerotwin_trajectory_evaluation import figures
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.controls import NOT_SEEN
from aerotwin_trajectory_evaluation.declared_metrics import (
    TRAJECTORY_METRICS,
    TRAJECTORY_SCHEMA,
    UNALIGNED_SCHEMA,
)
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import summarise
from aerotwin_trajectory_evaluation.summary import (
    MIN_COVERAGE,
    MODE_TEXT,
    OF_COMMAND,
    Remedies,
    before_text,
    cautions,
    context_of,
    mode_text,
    segment_text,
    verdict,
)

_MAX_INCIDENT_ROWS = 20
_WIDE_FIGURES = ("top", "side", "coloured", "time")
KIND = "trajectory"
"""What the section is: that of one estimate of several has another name, and this kind."""


def section(
    evaluation: TrajectoryEvaluation,
    *,
    title: str = "Trajectory",
    name: str = "trajectory",
    max_drift_percent: float | None = None,
    camera: StereoCamera | None = None,
    notes: tuple[str, ...] = (),
    remedies: Remedies = OF_COMMAND,
) -> Section:
    """Return the section of a trajectory evaluation.

    `title` and `name` are the heading and the key in `metrics.json`. A drift above
    `max_drift_percent` marks the headline bad; the bound of `camera` is shown beside the scores;
    `notes` are remarks on the files for the reader, `remedies` are those of the command.
    """
    numbers = evaluation.metrics(camera)
    context = context_of(evaluation, numbers)
    tables = [
        score_table("Scores", TRAJECTORY_METRICS.scores(context), evaluation.calibration.reason),
        _segment_table(evaluation),
    ]
    if evaluation.completeness.incidents:
        tables.append(_incident_table(evaluation))
    return Section(
        title=title,
        name=name,
        verdict=verdict(evaluation),
        text=_text(evaluation, notes),
        headline=_headline(evaluation, context, max_drift_percent),
        scenes=(scene(evaluation),),
        figures=_figures(evaluation, name),
        tables=(*tables, _control_table(evaluation)),
        metrics=numbers,
        warnings=tuple(cautions(evaluation, remedies)),
        schema=UNALIGNED_SCHEMA if evaluation.alignment.mode == "none" else TRAJECTORY_SCHEMA,
    )


def scene(evaluation: TrajectoryEvaluation, title: str = "The paths in space") -> ReportScene:
    """Return the 3D view: truth, the estimate before and after the fit, coloured by its error."""
    mode = evaluation.alignment.mode
    layers = [
        PathLayer(name="truth", points_map=evaluation.truth.p_ref_body, colour=TRUTH),
        PathLayer(
            name=f"estimate, {mode_text(evaluation)}",
            points_map=evaluation.aligned.p_ref_body,
            values=evaluation.ape.trans_m,
            unit="m",
        ),
    ]
    if mode != "none":
        layers.append(
            PathLayer(
                name=f"estimate, {evaluation.start}",
                points_map=evaluation.estimate.p_ref_body,
                colour=ESTIMATE,
                is_shown=figures.is_unaligned_shown(evaluation),
            )
        )
    caption = "Coloured by the distance to truth."
    return ReportScene(title=title, caption=caption, layers=tuple(layers))


def _text(evaluation: TrajectoryEvaluation, notes: tuple[str, ...]) -> str:
    choices, protocol = evaluation.protocol.choices, evaluation.protocol
    nearest = choices.association == "nearest"
    how = (
        f"nearest stamps, at most {choices.max_gap_s * 1e3:g} ms apart"
        if nearest
        else "truth interpolated at the estimate's stamps across gaps of at most "
        f"{choices.max_gap_s * 1e3:g} ms"
    )
    mode = evaluation.alignment.mode
    aligned = (
        f"Nothing was aligned; the estimate stands {evaluation.start}."
        if mode == "none"
        else f"Aligned scores ({mode}): {MODE_TEXT[mode]}. The score before it is the one to trust "
        "where both are in one frame, as when the start pose is known; the aligned one shows the "
        "shape of the path only."
    )
    parts = [
        f"{len(evaluation.reference)} pairs of truth and estimate: {how}. {aligned}",
        f"Protocol {protocol.name}, {protocol.hash}: every choice stands in metrics.json.",
    ]
    if notes:
        parts.append("Of the inputs: " + "; ".join(notes) + ".")
    return "\n\n".join(parts)


def _headline(
    evaluation: TrajectoryEvaluation, context: dict[str, Any], max_drift_percent: float | None
) -> tuple[Headline, ...]:
    path = evaluation.reference.path_length_m
    is_aligned, mode = evaluation.alignment.mode != "none", evaluation.alignment.mode
    unaligned = TRAJECTORY_METRICS["ape_unaligned.trans_m.rmse"].tile(
        context,
        label=f"{context['placement']}, RMSE" if is_aligned else "APE, RMSE",
        show=_short,
        meaning=f"RMS distance to truth over {path:.0f} m, {before_text(evaluation)}",
        computed="root of the mean square over all pairs of poses",
    )
    aligned = TRAJECTORY_METRICS["ape.trans_m.rmse"].tile(
        context,
        label="APE aligned, RMSE",
        show=_short,
        meaning=f"the same after the alignment: {MODE_TEXT[mode]}",
        computed="the shape of the path: where it lies in the world is fitted away",
    )
    coverage = TRAJECTORY_METRICS["coverage"].tile(
        context,
        label="Coverage",
        status="good" if evaluation.coverage >= MIN_COVERAGE else "bad",
        computed="where the estimate pauses for more than three of its usual periods, it is not "
        "there",
    )
    drift = _drift_tile(evaluation, context, max_drift_percent)
    relative = TRAJECTORY_METRICS["rpe.metre.trans_m.rmse"].tile(
        context, label="RPE, RMSE", is_dash_bare=True, show=_short
    )
    return (unaligned, *([aligned] if is_aligned else []), relative, drift, coverage)


def _short(value: float) -> str:
    return f"{value:.2f}" if value >= 1.0 else f"{value:.3g}"


def _drift_tile(
    evaluation: TrajectoryEvaluation, context: dict[str, Any], max_drift_percent: float | None
) -> Headline:
    drift, status = evaluation.drift_percent, "neutral"
    if drift is not None and max_drift_percent is not None:
        status = "good" if drift <= max_drift_percent else "bad"
    over = f"median error at the end {segment_text(evaluation.protocol.choices)}"
    return TRAJECTORY_METRICS["segments.median_percent"].tile(
        context,
        label="Drift",
        is_dash_bare=True,
        show=lambda value: f"{value:.2f}",
        meaning="the path is too short for a segment" if drift is None else over,
        status=status,
        computed="error of the motion from the start of a segment to its end, in percent of its "
        "length",
    )


def _figures(evaluation: TrajectoryEvaluation, name: str) -> tuple[Figure, ...]:
    aligned = "" if evaluation.alignment.mode == "none" else "aligned "
    rows = (
        ("top", figures.top_down, "Seen from above and along the path",
         "Truth and the estimate in the plane of the motion; below, the third axis over the path. "
         "What lies far off before anything is fitted is not drawn."),
        ("side", figures.side, "Seen from the sides", "Equal scales; tilt shows here."),
        ("coloured", figures.coloured_path, "Where the error is",
         f"The true path where it was judged, coloured by the {aligned}error."),
        ("time", figures.error_along_path, "Error over time",
         "Distance to truth and the angle between attitudes. Marked: where the estimate is lost, "
         "jumps, or is not there."),
        ("cumulative", figures.cumulative, "Cumulative error",
         "Share of the pairs that are at most so far from truth."),
        ("histogram", figures.histogram, "Histogram of the error",
         "How often each distance occurs."),
        ("rpe", figures.relative_error,
         f"Error of the motion over {evaluation.protocol.choices.rpe_m:g} m",
         "RPE along the path; a peak is a place that was hard."),
        ("drift", figures.drift, "Drift by length",
         "All segments of each length: box from quarter to quarter with the median, whiskers from "
         "5 % to 95 %."),
    )  # fmt: skip
    drawn = [
        Figure(
            title=title,
            caption=caption,
            svg=draw(evaluation, f"{name}-{key}"),
            is_wide=key in _WIDE_FIGURES,
        )
        for key, draw, title, caption in rows
    ]
    for part, test in evaluation.consistency.items():
        drawn.append(
            Figure(
                title=f"Consistency of the {part}",
                caption=f"{test.share_within:.0%} of the poses lie below the line that 95 % of a "
                f"consistent estimator's do: {test.verdict}.",
                svg=figures.consistency(evaluation, test, f"{name}-nees-{part}"),
            )
        )
    return tuple(drawn)


def _segment_table(evaluation: TrajectoryEvaluation) -> Table:
    cells = []
    for part in evaluation.drift:
        trans, rot = summarise(part.trans_percent), summarise(part.rot_deg_m)
        yaw, tilt = summarise(part.yaw_deg), summarise(part.tilt_deg)
        if trans is None or rot is None or yaw is None or tilt is None:
            cells.append((f"{part.length_m:g} m", "0", *["–"] * 5))
        else:
            numbers = (trans.median, trans.mean, rot.mean * 100.0, yaw.mean, tilt.mean)
            cells.append((f"{part.length_m:g} m", str(trans.n), *(f"{v:.3f}" for v in numbers)))
    return Table(
        title="Segments",
        columns=("length", "segments", "median drift %", "mean drift %", "mean turn deg/100 m",
                 "mean yaw deg", "mean tilt deg"),
        rows=tuple(cells),
        caption="Along the true path; segments overlap.",
    )  # fmt: skip


def _incident_table(evaluation: TrajectoryEvaluation) -> Table:
    incidents = evaluation.completeness.incidents
    rows = tuple(
        (i.kind, f"{i.from_s:.2f}", f"{i.to_s:.2f}", i.text) for i in incidents[:_MAX_INCIDENT_ROWS]
    )
    total = sum(evaluation.completeness.n_incidents.values())
    left_out = total - len(rows)
    return Table(
        title="What went wrong",
        columns=("what", "from s", "to s", "how"),
        rows=rows,
        caption="Times since the first true pose."
        + (f" {left_out} more stand in metrics.json." if left_out else ""),
    )


def _control_table(evaluation: TrajectoryEvaluation) -> Table:
    cells = tuple(
        (
            c.name,
            *(f"{value:.3f}" for value in (c.expected_m, c.measured_m, c.floor_m)),
            c.seen_by or "nothing",
        )
        for c in evaluation.controls
    )
    mode = evaluation.alignment.mode
    blind = (
        f" With {MODE_TEXT[mode]} the APE cannot see {NOT_SEEN[mode]}." if NOT_SEEN[mode] else ""
    )
    return Table(
        title="Negative controls",
        columns=("the truth changed by", "expected m", "measured m", "unchanged m", "seen by"),
        rows=cells,
        caption="The truth at the estimate's stamps, changed by errors of known size, is paired, "
        f"aligned and scored as the estimate is.{blind}",
    )
