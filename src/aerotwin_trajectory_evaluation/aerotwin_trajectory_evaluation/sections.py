# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory evaluation as a section of a report."""

from typing import Any

from aerotwin_core.section import MEASURE_COLUMNS, Figure, Headline, Section, Table, measure
from aerotwin_trajectory_evaluation import figures
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import summarise

MIN_COVERAGE = 0.9
MODE_TEXT = {
    "none": "as given",
    "origin": "first poses joined",
    "yaw": "shift and yaw fitted",
    "se3": "shift and rotation fitted",
    "sim3": "shift, rotation and scale fitted",
    "robust": "shift and rotation fitted to what agrees",
}


def section(
    evaluation: TrajectoryEvaluation,
    *,
    title: str = "Trajectory",
    name: str = "trajectory",
    max_drift_percent: float | None = None,
) -> Section:
    """Return the section of a trajectory evaluation.

    Parameters
    ----------
    evaluation : TrajectoryEvaluation
        What to show.
    title, name : str
        Heading and key in `metrics.json`.
    max_drift_percent : float, optional
        Drift above which the headline is marked bad.
    """
    warnings = []
    if not evaluation.alignment.is_determined:
        warnings.append(f"Alignment: {evaluation.alignment.reason}.")
    if evaluation.coverage < MIN_COVERAGE:
        warnings.append(
            f"Only {evaluation.coverage:.0%} of the flight has an estimate; the errors are those "
            "of the covered part."
        )
    missed = [c.name for c in evaluation.controls if c.expected_m > 0.0 and not c.is_detected]
    if missed:
        warnings.append(f"Negative control not seen by the scores: {', '.join(missed)}.")
    return Section(
        title=title,
        name=name,
        text=(
            f"{len(evaluation.reference)} pairs of truth and estimate, nearest stamps at most "
            f"{evaluation.max_gap_s * 1e3:g} ms apart. Aligned scores: "
            f"{MODE_TEXT[evaluation.alignment.mode]}. The unaligned score is the one to trust "
            "where the start pose was given; the aligned one shows the shape of the path only."
        ),
        headline=_headline(evaluation, max_drift_percent),
        figures=_figures(evaluation, name),
        tables=(
            Table(title="Scores", columns=MEASURE_COLUMNS, rows=tuple(rows(evaluation))),
            _segment_table(evaluation),
            _control_table(evaluation),
        ),
        metrics=evaluation.metrics(),
        warnings=tuple(warnings),
    )


def rows(evaluation: TrajectoryEvaluation) -> list[tuple[Any, ...]]:
    """Return *quantity, value, unit, meaning* of the main scores."""
    removed = evaluation.alignment.removed(evaluation.estimate.p_ref_body)
    aligned, given = summarise(evaluation.ape.trans_m), summarise(evaluation.ape_unaligned.trans_m)
    turn = summarise(evaluation.ape.rot_deg)
    metre, frame = summarise(evaluation.rpe_metre.trans_m), summarise(evaluation.rpe_frame.trans_m)
    assert aligned is not None
    assert given is not None
    assert turn is not None
    return [
        measure("path flown", evaluation.reference.path_length_m, "m", "length of the true path"),
        measure("coverage", evaluation.coverage * 100.0, "%", "share with an estimate", digits=1),
        measure("APE unaligned, RMSE", given.rmse, "m", "distance to truth, nothing fitted"),
        measure("APE unaligned, largest", given.max, "m", "worst moment, nothing fitted"),
        measure("APE aligned, RMSE", aligned.rmse, "m", "distance to truth after the alignment"),
        measure("APE aligned, median", aligned.median, "m", "half of the poses are better"),
        measure("APE aligned, largest", aligned.max, "m", "worst moment after the alignment"),
        measure("attitude error aligned, RMSE", turn.rmse, "deg", "angle to the true attitude"),
        measure(
            "RPE over 1 m, mean", metre.mean if metre else None, "m", "error gained per metre flown"
        ),
        measure(
            "RPE per frame, mean",
            frame.mean * 100.0 if frame else None,
            "cm",
            "error gained from one frame to the next",
        ),
        measure(
            "segment drift, median",
            evaluation.drift_percent,
            "%",
            "error over segments of 10 to 50 m by their length (KITTI)",
        ),
        measure(
            "segment turn drift, median", evaluation.drift_deg_m, "deg/m", "the same in attitude"
        ),
        measure("removed: offset", removed["offset_m"], "m", "shift that the alignment took away"),
        measure("removed: yaw", removed["yaw_deg"], "deg", "turn about the vertical taken away"),
        measure("removed: tilt", removed["tilt_deg"], "deg", "tilt of the vertical taken away"),
        measure(
            "removed: scale", removed["scale_percent"], "%", "0 unless the scale was fitted too"
        ),
    ]


def _headline(
    evaluation: TrajectoryEvaluation, max_drift_percent: float | None
) -> tuple[Headline, ...]:
    given = summarise(evaluation.ape_unaligned.trans_m)
    assert given is not None
    drift = evaluation.drift_percent
    if drift is None or max_drift_percent is None:
        status = "neutral"
    else:
        status = "good" if drift <= max_drift_percent else "bad"
    return (
        Headline(
            label="Trajectory error",
            value=f"{given.rmse:.2f}",
            unit="m",
            meaning=(
                f"RMS distance to truth over {evaluation.reference.path_length_m:.0f} m, "
                "nothing fitted"
            ),
        ),
        Headline(
            label="Drift",
            value="–" if drift is None else f"{drift:.2f}",
            unit="" if drift is None else "%",
            meaning=(
                "the path is shorter than 10 m"
                if drift is None
                else "median over segments of 10 to 50 m"
            ),
            status=status,
        ),
        Headline(
            label="Tracked",
            value=f"{evaluation.coverage * 100.0:.1f}",
            unit="%",
            meaning="share of the flight with an estimate",
            status="good" if evaluation.coverage >= MIN_COVERAGE else "bad",
        ),
    )


def _figures(evaluation: TrajectoryEvaluation, name: str) -> tuple[Figure, ...]:
    return (
        Figure(
            title="Seen from above and along the path",
            caption=(
                "Truth, the estimate as given and the estimate aligned. "
                "East is right, north is up; below, height over the path."
            ),
            svg=figures.top_down(evaluation, f"{name}-top"),
            is_wide=True,
        ),
        Figure(
            title="Error over time",
            caption="Distance to truth as given and aligned, and the angle between attitudes.",
            svg=figures.error_over_time(evaluation, f"{name}-time"),
            is_wide=True,
        ),
        Figure(
            title="Error gained per metre",
            caption="RPE over consecutive metres of the path; a peak is a place that was hard.",
            svg=figures.relative_error(evaluation, f"{name}-rpe"),
        ),
        Figure(
            title="Drift over segments",
            caption=(
                "All segments of each length: box from quarter to quarter with the median, "
                "whiskers from 5 % to 95 %."
            ),
            svg=figures.drift(evaluation, f"{name}-drift"),
        ),
    )


def _segment_table(evaluation: TrajectoryEvaluation) -> Table:
    cells = []
    for part in evaluation.drift:
        trans, rot = summarise(part.trans_percent), summarise(part.rot_deg_m)
        if trans is None or rot is None:
            cells.append((f"{part.length_m:g} m", "0", "–", "–", "–"))
        else:
            cells.append(
                (
                    f"{part.length_m:g} m",
                    str(trans.n),
                    f"{trans.median:.2f}",
                    f"{trans.mean:.2f}",
                    f"{rot.median:.4f}",
                )
            )
    return Table(
        title="Segments",
        columns=("length", "segments", "median drift %", "mean drift %", "median turn deg/m"),
        rows=tuple(cells),
        caption="From every pose on, along the true path; segments overlap.",
    )


def _control_table(evaluation: TrajectoryEvaluation) -> Table:
    cells = tuple(
        (c.name, f"{c.expected_m:.3f}", f"{c.measured_m:.3f}", "yes" if c.is_detected else "no")
        for c in evaluation.controls
    )
    return Table(
        title="Negative controls",
        columns=("the truth spoilt by", "expected m", "measured m", "detected"),
        rows=cells,
        caption="Errors of known size must be seen by the same scores, else they prove nothing.",
    )
