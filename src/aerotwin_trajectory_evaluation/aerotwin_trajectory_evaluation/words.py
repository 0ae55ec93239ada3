# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory evaluation in words: its scores with meaning and origin, and one sentence."""

from dataclasses import dataclass

import numpy as np

from aerotwin_trajectory_evaluation.bound import SEGMENT_M, StereoCamera, stereo_bound
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import summarise
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol

MIN_COVERAGE = 0.9
MIN_PAIRED = 0.9
"""Share of the shorter trajectory that must have found a pose of the other."""
MODE_TEXT = {
    "none": "as given",
    "origin": "first poses joined",
    "yaw": "shift and yaw fitted",
    "se3": "shift and rotation fitted",
    "sim3": "shift, rotation and scale fitted",
    "robust": "shift and rotation fitted to what agrees",
}


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
    return [
        Score(
            label="path flown",
            value=evaluation.reference.path_length_m,
            unit="m",
            meaning="length of the true path",
            computed="sum of the distances between neighbouring paired true poses",
        ),
        Score(
            label="coverage",
            value=evaluation.coverage * 100.0,
            unit="%",
            meaning="share with an estimate",
            computed="share of the frames with a pose; without frames, of the reference's time, "
            "gaps of more than three periods left out",
            digits=1,
            is_lower_better=False,
        ),
        Score(
            label="path tracked",
            value=complete.tracked_path * 100.0,
            unit="%",
            meaning="share of the true path with an estimate that is not lost",
            computed=f"lost: an aligned error above {complete.lost_above_m:.3g} m",
            digits=1,
            is_lower_better=False,
        ),
        Score(
            label="area under the curve",
            value=complete.auc * 100.0,
            unit="%",
            meaning="100 = always there and exact",
            computed="share of the time covered with an aligned error below a limit, averaged over "
            f"limits from 0 to {evaluation.protocol.choices.auc_m:g} m",
            digits=1,
            is_lower_better=False,
        ),
    ]


def _absolute(evaluation: TrajectoryEvaluation) -> list[Score]:
    given, aligned = summarise(evaluation.ape_unaligned.trans_m), summarise(evaluation.ape.trans_m)
    turn = summarise(evaluation.ape.rot_deg)
    assert given is not None
    assert aligned is not None
    assert turn is not None
    how = f"after the alignment ({MODE_TEXT[evaluation.alignment.mode]})"
    every = f"{aligned.n} pairs; root of the mean square" if aligned.n else ""
    rows = [
        ("APE unaligned, RMSE", given.rmse, "m", "distance to truth, nothing fitted", every),
        ("APE unaligned, largest", given.max, "m", "worst moment, nothing fitted", ""),
        ("APE aligned, RMSE", aligned.rmse, "m", f"distance to truth {how}", every),
        ("APE aligned, median", aligned.median, "m", "half of the poses are better", ""),
        ("APE aligned, largest", aligned.max, "m", f"worst moment {how}", ""),
        ("attitude error aligned, RMSE", turn.rmse, "deg", "angle to the true attitude", every),
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
    pairs = "from every pose on" if choices.rpe_all_pairs else "consecutive pairs"
    over = f"over {choices.rpe_m:g} m"
    frames = "frame" if choices.rpe_frames == 1 else f"{choices.rpe_frames} frames"
    counted = f"{pairs}, metres along the path of the {choices.rpe_path}"
    segments = segment_text(choices)
    rows = [
        (f"RPE {over}, mean", metre and metre.mean, "m", f"error gained {over}", counted, 4),
        (f"RPE {over}, RMSE", metre and metre.rmse, "m", f"error gained {over}", counted, 4),
        (f"RPE {over}, turn, RMSE", turn and turn.rmse, "deg", "the same in attitude", counted, 4),
        (f"RPE per {frames}, RMSE", frame and frame.rmse * 100.0, "cm",
         f"error gained from one {frames} to the next", pairs, 3),
        ("segment drift, mean", drift["mean_percent"], "%", f"error {segments}",
         "mean over all segments of all lengths", 3),
        ("segment drift, median", drift["median_percent"], "%", f"error {segments}",
         "median over all segments of all lengths", 3),
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
        return f"over segments of {low} to {high} of the path by their length"
    low, high = f"{choices.segment_lengths_m[0]:g}", f"{choices.segment_lengths_m[-1]:g}"
    return f"over segments of {low} to {high} m by their length"


def _removed(evaluation: TrajectoryEvaluation) -> list[Score]:
    alignment = evaluation.alignment
    removed = alignment.removed(evaluation.estimate.p_ref_body)
    rows = [
        ("removed: offset", "offset_m", "m", "shift that the alignment took away"),
        ("removed: yaw", "yaw_deg", "deg", "turn about the vertical taken away"),
        ("removed: tilt", "tilt_deg", "deg", "tilt of the vertical taken away"),
        ("removed: scale", "scale_percent", "%", "0 unless the scale was fitted too"),
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
                meaning=f"to be added to the estimate's stamps; {state}",
                computed="fitted to displacements over one second; ± one standard deviation, "
                "clustered in time",
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
                    meaning=f"the estimate's point in the reference's body; {state}",
                    computed="fitted with the time offset",
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
    aligned, given = summarise(evaluation.ape.trans_m), summarise(evaluation.ape_unaligned.trans_m)
    assert aligned is not None
    assert given is not None
    path = evaluation.reference.path_length_m
    share = f" ({aligned.rmse / path:.2%} of it)" if path > 0.0 else ""
    mode = MODE_TEXT[evaluation.alignment.mode]
    parts = [
        f"The estimate is {_metres(aligned.rmse)} RMS from truth over {path:.0f} m of path{share}, "
        f"{mode}"
    ]
    if evaluation.alignment.mode != "none":
        parts.append(f"{_metres(given.rmse)} as given")
    parts.append(f"{evaluation.coverage:.0%} of the flight has an estimate")
    parts += _troubles(evaluation)
    return "; ".join(parts) + "."


def _troubles(evaluation: TrajectoryEvaluation) -> list[str]:
    """Return what a reader must know beside the score."""
    counts = evaluation.completeness.n_incidents
    troubles = []
    if not evaluation.alignment.is_determined:
        troubles.append(evaluation.alignment.reason)
    if counts["lost"]:
        share = 1.0 - evaluation.completeness.not_lost
        troubles.append(f"{share:.0%} of it is lost")
    named = [
        f"{n} {kind}{'s' if n > 1 else ''}"
        for kind, n in counts.items()
        if n and kind in ("gap", "jump")
    ]
    named += [f"a {kind}" for kind in ("late start",) if counts[kind]]
    named += [f"an {kind}" for kind in ("early end",) if counts[kind]]
    if named:
        troubles.append(f"with {', '.join(named)}")
    found = evaluation.calibration
    if found.is_offset_significant and found.time_offset_s is not None:
        state = "taken out" if found.applied_time_offset else "not taken out"
        troubles.append(f"a time offset of {found.time_offset_s * 1e3:.0f} ms is {state}")
    for name, test in evaluation.consistency.items():
        if name == "position" and test.verdict != "consistent":
            troubles.append(f"its own uncertainty is {test.verdict}")
    return troubles


def cautions(evaluation: TrajectoryEvaluation) -> list[str]:
    """Return what a reader must know before believing the numbers."""
    warnings = []
    if not evaluation.alignment.is_determined:
        warnings.append(f"Alignment: {evaluation.alignment.reason}.")
    if evaluation.coverage < MIN_COVERAGE:
        warnings.append(
            f"Only {evaluation.coverage:.0%} of the flight has an estimate; the errors are those "
            "of the covered part."
        )
    n_pairs, n_poses = len(evaluation.reference), evaluation.n_estimate
    if n_pairs < MIN_PAIRED * min(n_poses, evaluation.n_reference):
        warnings.append(
            f"Only {n_pairs} of {n_poses} poses of the estimate were judged: the others have none "
            f"of the truth's {evaluation.n_reference} near enough in time."
        )
    found = evaluation.calibration
    if found.is_offset_significant and not found.applied_time_offset:
        assert found.time_offset_s is not None
        warnings.append(
            f"The stamps of the estimate are {found.time_offset_s * 1e3:+.1f} ms from those of "
            "the truth; the scores hold that error (--apply-time-offset takes it out)."
        )
    if found.is_lever_arm_significant and not found.applied_lever_arm:
        warnings.append(
            "Truth and estimate seem to be of different points of the body: the lever arm below "
            "is in the scores (--apply-lever-arm takes it out)."
        )
    warnings += _not_applied(evaluation)
    missed = [c.name for c in evaluation.controls if c.is_missed]
    if missed:
        warnings.append(f"Negative control not seen by the scores: {', '.join(missed)}.")
    return warnings


def _not_applied(evaluation: TrajectoryEvaluation) -> list[str]:
    """Return what was asked for and could not be done."""
    found, choices = evaluation.calibration, evaluation.protocol.choices
    asked = (
        ("time offset", choices.apply_time_offset, found.applied_time_offset),
        ("lever arm", choices.apply_lever_arm, found.applied_lever_arm),
    )
    return [
        f"The {name} was asked for, not applied: {found.reason}."
        for name, is_asked, is_applied in asked
        if is_asked and not is_applied
    ]


def _metres(value: float) -> str:
    return f"{value * 100.0:.2g} cm" if value < 0.1 else f"{value:.3g} m"
