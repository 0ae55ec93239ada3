# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory evaluation in words: its scores with meaning and origin, and one sentence."""

from dataclasses import dataclass

import numpy as np

from aerotwin_trajectory_evaluation.bound import SEGMENT_M, StereoCamera, stereo_bound
from aerotwin_trajectory_evaluation.calibration import Calibration
from aerotwin_trajectory_evaluation.evaluation import AS_GIVEN, TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import summarise
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol
from aerotwin_trajectory_evaluation.time_offset_estimates import (
    AGREED,
    DISPLACEMENTS,
    DISPUTED,
    TURNS,
)

MODE_TEXT = {
    "none": "nothing fitted",
    "origin": "first poses joined",
    "yaw": "shift and yaw fitted",
    "se3": "shift and rotation fitted",
    "sim3": "shift, rotation and scale fitted",
    "robust": "shift and rotation fitted to what agrees",
}
CERTAINTY_TEXT = {
    AGREED: "turns and displacements agree",
    DISPUTED: "turns and displacements differ, the turns count",
    TURNS: "by the turns alone",
    DISPLACEMENTS: "by the displacements alone",
}
"""How sure a time offset is."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """One number with all that a reader may ask of it."""

    label: str
    value: float | None
    unit: str
    meaning: str
    computed: str = ""
    digits: int = 3
    is_lower_better: bool | None = None

    @property
    def text(self) -> str:
        """The number as printed; a dash where there is none."""
        if self.value is None or self.value != self.value:
            return "–"
        return f"{self.value:.{self.digits}f}"


def mode_text(evaluation: TrajectoryEvaluation) -> str:
    """Return what was fitted, or how the estimate stands where nothing was."""
    mode = evaluation.alignment.mode
    return evaluation.start if mode == "none" else MODE_TEXT[mode]


def before_text(evaluation: TrajectoryEvaluation) -> str:
    """Return how the estimate stands before anything is fitted."""
    if evaluation.start == AS_GIVEN:
        return "nothing fitted"
    return f"{evaluation.start}, nothing else fitted"


def score_rows(evaluation: TrajectoryEvaluation, camera: StereoCamera | None = None) -> list[Score]:
    """Return the scores in the order in which they are read."""
    return [
        *_extent(evaluation),
        *_absolute(evaluation),
        *_relative(evaluation),
        *_removed(evaluation),
        *_calibration(evaluation),
        *_consistency(evaluation),
        *_bound(camera),
    ]


def _extent(evaluation: TrajectoryEvaluation) -> list[Score]:
    complete = evaluation.completeness
    after = "" if evaluation.alignment.mode == "none" else " after the alignment"
    return [
        Score(
            label="path length",
            value=evaluation.reference.path_length_m,
            unit="m",
            meaning="of the true path, where it was judged",
            computed="sum of the distances between neighbouring true poses that have an estimate",
        ),
        Score(
            label="coverage",
            value=evaluation.coverage * 100.0,
            unit="%",
            meaning="share of the reference that has an estimate",
            computed="of the camera's frames where their stamps are known, else of the duration; "
            "where the estimate pauses for more than three of its usual periods, it is not there",
            digits=1,
            is_lower_better=False,
        ),
        Score(
            label="path tracked",
            value=complete.tracked_path * 100.0,
            unit="%",
            meaning="share of the true path with an estimate that is not lost",
            computed=f"lost: more than {complete.lost_above_m:.3g} m from truth{after}",
            digits=1,
            is_lower_better=False,
        ),
        Score(
            label="area under the curve",
            value=complete.auc * 100.0,
            unit="%",
            meaning="coverage and accuracy in one: 100 = always there and exact",
            computed="for every limit from 0 to "
            f"{evaluation.protocol.choices.auc_m:g} m, the share of the duration in which there is "
            "an estimate with a smaller error; the mean of these shares",
            digits=1,
            is_lower_better=False,
        ),
    ]


def _absolute(evaluation: TrajectoryEvaluation) -> list[Score]:
    unaligned, aligned = (
        summarise(evaluation.ape_unaligned.trans_m),
        summarise(evaluation.ape.trans_m),
    )
    turn = summarise(evaluation.ape.rot_deg)
    assert unaligned is not None
    assert aligned is not None
    assert turn is not None
    mode = evaluation.alignment.mode
    every = f"root of the mean square over {aligned.n} pairs of poses"
    before = before_text(evaluation)
    rows = [
        ("APE unaligned, RMSE", unaligned.rmse, "m", f"distance to truth, {before}", every),
        ("APE unaligned, largest", unaligned.max, "m", f"worst moment, {before}", "of all pairs"),
    ]
    ape, attitude, how = "APE aligned", "attitude error aligned", f", {MODE_TEXT[mode]}"
    if mode == "none":
        rows, ape, attitude, how = [], "APE", "attitude error", f", {before}"
    if evaluation.start != AS_GIVEN:
        as_given = "the numbers of the estimate against truth's, in whatever frame they are"
        rows.insert(0, ("APE as given, RMSE", evaluation.as_given_rmse_m, "m", as_given, every))
    rows += [
        (f"{ape}, RMSE", aligned.rmse, "m", f"distance to truth{how}", every),
        (f"{ape}, median", aligned.median, "m", "half of the poses are nearer to truth", ""),
        (f"{ape}, largest", aligned.max, "m", f"worst moment{how}", "of all pairs"),
        (f"{attitude}, RMSE", turn.rmse, "deg", f"angle to the true attitude{how}", every),
    ]
    return [
        Score(
            label=label,
            value=value,
            unit=unit,
            meaning=meaning,
            computed=computed,
            digits=4,
            is_lower_better=True,
        )
        for label, value, unit, meaning, computed in rows
    ]


def _relative(evaluation: TrajectoryEvaluation) -> list[Score]:
    choices = evaluation.protocol.choices
    metre, frame = summarise(evaluation.rpe_metre.trans_m), summarise(evaluation.rpe_frame.trans_m)
    turn = summarise(evaluation.rpe_metre.rot_deg)
    drift = evaluation.metrics()["segments"]
    pairs = "one from every pose on" if choices.rpe_all_pairs else "each begins where the last ends"
    over = f"over {choices.rpe_m:g} m"
    frames = "frame" if choices.rpe_frames == 1 else f"{choices.rpe_frames} frames"
    counted = f"over pairs of poses so far apart along the path of the {choices.rpe_path}; {pairs}"
    gained = f"error of the motion {over} of path"
    segments = segment_text(choices)
    rows = [
        (f"RPE {over}, mean", metre and metre.mean, "m", gained, f"mean {counted}", 4),
        (f"RPE {over}, RMSE", metre and metre.rmse, "m", gained,
         f"root of the mean square {counted}", 4),
        (f"RPE {over}, turn, RMSE", turn and turn.rmse, "deg", "the same in attitude",
         f"root of the mean square {counted}", 4),
        (f"RPE per {frames}, RMSE", frame and frame.rmse * 100.0, "cm",
         f"error of the motion from one {frames} to the next", f"pairs of poses: {pairs}", 3),
        ("segment drift, mean", drift["mean_percent"], "%", f"error at the end {segments}",
         "in percent of their length; mean over all segments of all lengths", 3),
        ("segment drift, median", drift["median_percent"], "%", f"error at the end {segments}",
         "in percent of their length; median over all segments of all lengths", 3),
        ("segment turn drift, mean", drift["mean_deg_per_100m"], "deg/100 m",
         "the same in attitude", "mean over all segments of all lengths", 3),
    ]  # fmt: skip
    return [
        Score(
            label=label,
            value=value,
            unit=unit,
            meaning=meaning,
            computed=computed,
            digits=digits,
            is_lower_better=True,
        )
        for label, value, unit, meaning, computed, digits in rows
    ]


def segment_text(choices: TrajectoryProtocol) -> str:
    """Return which segments are counted."""
    if choices.segment_shares:
        low, high = (
            f"{share:.0%}" for share in (choices.segment_shares[0], choices.segment_shares[-1])
        )
        return f"of segments of {low} to {high} of the path"
    low, high = f"{choices.segment_lengths_m[0]:g}", f"{choices.segment_lengths_m[-1]:g}"
    return f"of segments of {low} to {high} m"


def _removed(evaluation: TrajectoryEvaluation) -> list[Score]:
    alignment = evaluation.alignment
    if alignment.mode == "none":
        return []
    removed = alignment.removed(evaluation.estimate.p_ref_body)
    rows = [
        ("removed: offset", "offset_m", "m", "how far the alignment shifted the estimate"),
        ("removed: yaw", "yaw_deg", "deg", "how far it turned the estimate about the vertical"),
        ("removed: tilt", "tilt_deg", "deg", "how far it tilted the estimate"),
        (
            "removed: scale",
            "scale_percent",
            "%",
            "how much larger it made the estimate; 0 unless fitted (sim3)",
        ),
    ]
    scores = [
        Score(label=label, value=removed[key], unit=unit, meaning=meaning)
        for label, key, unit, meaning in rows
    ]
    if alignment.inlier_share is not None:
        share = alignment.inlier_share * 100.0
        meaning = "share of the poses that the robust fit kept"
        scores.append(Score(label="inliers", value=share, unit="%", meaning=meaning, digits=1))
    return scores


def _calibration(evaluation: TrajectoryEvaluation) -> list[Score]:
    found, scores = evaluation.calibration, []
    if found.time_offset_s is not None and found.time_offset_std_s is not None:
        state = "applied" if found.applied_time_offset else "not applied"
        scores.append(
            Score(
                label="time offset",
                value=found.time_offset_s * 1e3,
                unit=f"ms ± {found.time_offset_std_s * 1e3:.1f}",
                meaning="to be added to the estimate's stamps; negative: they are too late; "
                f"{CERTAINTY_TEXT[found.certainty]}; {state}",
                computed="the shift in time with which turns and displacements over one second "
                "agree best; ± one standard deviation, in which errors close in time count as one",
                digits=1,
            )
        )
    if found.lever_arm_m is not None and found.lever_arm_std_m is not None:
        state = "applied" if found.applied_lever_arm else "not applied"
        for axis, value, std in zip("xyz", found.lever_arm_m, found.lever_arm_std_m, strict=True):
            scores.append(
                Score(
                    label=f"lever arm {axis}",
                    value=None if np.isnan(value) else value * 100.0,
                    unit="cm" if np.isnan(std) else f"cm ± {std * 100.0:.1f}",
                    meaning=f"where on the reference's body the estimate's point sits; {state}",
                    computed="fitted together with the time offset",
                    digits=1,
                )
            )
    return scores


def _consistency(evaluation: TrajectoryEvaluation) -> list[Score]:
    return [
        Score(
            label=f"NEES, {name}",
            value=test.mean,
            unit=f"of {test.degrees}",
            meaning=f"{test.verdict}: standard deviations {test.factor:.2g} times as large would "
            "fit the errors",
            computed="mean of e^T P^-1 e, the first poses joined where the covariance grows from "
            f"there, as an odometry's; a consistent estimator has {test.low:.2f} to "
            f"{test.high:.2f} (95 %, {test.n_effective:.0f} independent samples of "
            f"{len(test.values)})",
            digits=2,
        )
        for name, test in evaluation.consistency.items()
    ]


def _bound(camera: StereoCamera | None) -> list[Score]:
    if camera is None:
        return []
    bound = stereo_bound(camera)
    seen = (
        f"b = {camera.baseline_m:g} m, f = {camera.focal_px:g} px, z = {camera.distance_m:g} m, "
        f"{camera.pixel_noise_px:g} px, {camera.n_features} features"
    )
    return [
        Score(
            label="possible: drift",
            value=bound.drift_percent,
            unit="%",
            meaning=f"what this camera's noise alone leaves over {SEGMENT_M:g} m",
            computed=f"sigma_z / (z sqrt(n)); {seen}",
        ),
        Score(
            label="possible: depth of a point",
            value=bound.depth_std_m,
            unit="m",
            meaning="standard deviation of one depth",
            computed=f"z^2 sqrt(2) sigma / (f b); {seen}",
        ),
    ]


def verdict(evaluation: TrajectoryEvaluation) -> str:
    """Return the result in one sentence."""
    aligned = summarise(evaluation.ape.trans_m)
    unaligned = summarise(evaluation.ape_unaligned.trans_m)
    assert aligned is not None
    assert unaligned is not None
    path = evaluation.reference.path_length_m
    share = f" ({aligned.rmse / path:.2%} of it)" if path > 0.0 else ""
    parts = [
        f"The estimate is {metres(aligned.rmse)} RMS from truth over {path:.0f} m of path{share}, "
        f"{mode_text(evaluation)}"
    ]
    if evaluation.alignment.mode != "none":
        parts.append(f"{metres(unaligned.rmse)} {_with(evaluation.start)}")
    if evaluation.start != AS_GIVEN:
        parts.append(f"{metres(evaluation.as_given_rmse_m)} {AS_GIVEN}")
    parts.append(f"it covers {evaluation.coverage:.0%} of the reference")
    parts += _problems(evaluation)
    return "; ".join(parts) + "."


def _with(start: str) -> str:
    return start if start == AS_GIVEN else f"with {start}"


def _problems(evaluation: TrajectoryEvaluation) -> list[str]:
    """Return what a reader must know beside the score."""
    counts = evaluation.completeness.n_incidents
    problems = []
    if not evaluation.alignment.is_determined:
        problems.append(evaluation.alignment.reason)
    if counts["lost"]:
        share = 1.0 - evaluation.completeness.not_lost
        problems.append(f"{share:.0%} of it is lost")
    named = [
        f"{n} {kind}{'s' if n > 1 else ''}"
        for kind, n in counts.items()
        if n and kind in ("gap", "jump")
    ]
    named += [f"a {kind}" for kind in ("late start",) if counts[kind]]
    named += [f"an {kind}" for kind in ("early end",) if counts[kind]]
    if named:
        problems.append(f"with {', '.join(named)}")
    found = evaluation.calibration
    if found.is_offset_significant:
        state = "taken out" if found.applied_time_offset else "not taken out"
        probably = "probably " if found.certainty == DISPUTED else ""
        problems.append(f"its stamps are {probably}{late_or_early(found)}, {state}")
    for name, test in evaluation.consistency.items():
        if name == "position" and test.verdict != "consistent":
            problems.append(f"its own uncertainty is {test.verdict}")
    return problems


def late_or_early(found: Calibration) -> str:
    """Return a time offset in words: how late or early the estimate's stamps are.

    Examples
    --------
    >>> late_or_early(Calibration(time_offset_s=-0.05))
    '50.0 ms too late'
    """
    assert found.time_offset_s is not None
    offset_ms = found.time_offset_s * 1e3
    return f"{abs(offset_ms):.1f} ms too {'late' if offset_ms < 0.0 else 'early'}"


def metres(value: float) -> str:
    """Return a distance in words: centimetres where they are few.

    Examples
    --------
    >>> metres(0.0217), metres(1.303)
    ('2.2 cm', '1.3 m')
    """
    return f"{value * 100.0:.2g} cm" if value < 0.1 else f"{value:.3g} m"
