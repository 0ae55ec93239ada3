# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cautions that a reader needs before trusting the scores of a trajectory."""

from aerotwin_trajectory_evaluation.association import interpolation_hint
from aerotwin_trajectory_evaluation.calibration import Calibration
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import absolute_errors, summarise
from aerotwin_trajectory_evaluation.summary import CERTAINTY_TEXT, late_or_early
from aerotwin_trajectory_evaluation.time_offset_estimates import DISPUTED
from aerotwin_trajectory_evaluation.umeyama import align_umeyama

MIN_COVERAGE = 0.9
MIN_PAIRED = 0.9
"""Share of the shorter trajectory that must have found a pose of the other."""
LEAST_SCALE, SCALED_SHARE = 0.02, 0.5
"""A scale is worth a word beyond this, where it leaves less than this share of the error."""
ODD_ATTITUDE_DEG = 30.0
"""No estimate that follows the path turns so far from truth; other axes do."""


def cautions(evaluation: TrajectoryEvaluation) -> list[str]:
    """Return the cautions as text."""
    warnings = []
    if not evaluation.alignment.is_determined:
        warnings.append(f"Alignment: {evaluation.alignment.reason}.")
    if evaluation.coverage < MIN_COVERAGE:
        warnings.append(
            f"Only {evaluation.coverage:.0%} of the reference has an estimate; the errors are "
            "those of the covered part."
        )
    n_pairs, n_poses = len(evaluation.reference), evaluation.n_estimate
    if n_pairs < MIN_PAIRED * min(n_poses, evaluation.n_reference):
        hint = interpolation_hint(evaluation.truth, evaluation.protocol.choices)
        warnings.append(
            f"Only {n_pairs} of {n_poses} poses of the estimate were judged: the others have none "
            f"of the truth's {evaluation.n_reference} near enough in time"
            + (f"; {hint} judges those between two of the truth's." if hint else ".")
        )
    warnings += _of_another_scale(evaluation)
    warnings += _as_large_as_the_step(evaluation)
    found = evaluation.calibration
    if found.is_offset_significant and not found.applied_time_offset:
        warnings.append(_offset_text(found))
    if found.is_lever_arm_significant and not found.applied_lever_arm:
        warnings.append(
            "Truth and estimate seem to be of different points of the body: the lever arm of the "
            "table is in the scores (--apply-lever-arm takes it out)."
        )
    warnings += _not_applied(evaluation)
    missed = [c.name for c in evaluation.controls if c.is_missed]
    if missed:
        warnings.append(f"Negative control not seen by the scores: {', '.join(missed)}.")
    return warnings


def _offset_text(found: Calibration) -> str:
    """Say how late or early the estimate is, what to add to its stamps, and how sure that is."""
    assert found.time_offset_s is not None
    assert found.time_offset_std_s is not None
    is_disputed = found.certainty == DISPUTED
    return (
        f"The stamps of the estimate are {'probably ' if is_disputed else ''}"
        f"{late_or_early(found)}: {found.time_offset_s * 1e3:+.1f} ± "
        f"{found.time_offset_std_s * 1e3:.1f} ms must be added to them "
        f"({CERTAINTY_TEXT[found.certainty]}). The scores hold that error; --apply-time-offset "
        "takes it out."
    )


def _of_another_scale(evaluation: TrajectoryEvaluation) -> list[str]:
    """Say when a scale alone would remove most of the error, as for a monocular SLAM."""
    if evaluation.alignment.mode == "sim3":
        return []
    paired = evaluation.reference.p_ref_body, evaluation.estimate.p_ref_body
    rigid, similar = (align_umeyama(*paired, mode) for mode in ("se3", "sim3"))
    if not similar.is_determined or abs(similar.scale - 1.0) < LEAST_SCALE:
        return []
    before, after = (
        summarise(absolute_errors(evaluation.reference, fit.apply(evaluation.estimate)).trans_m)
        for fit in (rigid, similar)
    )
    if before is None or after is None or after.rmse > SCALED_SHARE * before.rmse:
        return []
    return [
        f"The estimate has another scale: times {similar.scale:.3g} it is {after.rmse:.3g} m from "
        f"truth (RMS, aligned), as it is {before.rmse:.3g} m. --align sim3 fits the scale, as a "
        "monocular SLAM needs."
    ]


def _as_large_as_the_step(evaluation: TrajectoryEvaluation) -> list[str]:
    """Say when the error of a motion is as large as the motion: that is not SLAM drift."""
    step_m, metre = evaluation.protocol.choices.rpe_m, summarise(evaluation.rpe_metre.trans_m)
    if metre is None or metre.rmse < step_m:
        return []
    turned = summarise(evaluation.ape.rot_deg)
    is_turned = turned is not None and turned.median > ODD_ATTITUDE_DEG
    why = (
        f"the attitudes differ by {turned.median:.0f} deg (median): probably those of other body "
        "axes, such as a camera's optical ones; RPE compares motions in body axes"
        if is_turned and turned is not None
        else "the estimate hardly moves with the truth, or its unit or scale is another"
    )
    return [
        f"RPE over {step_m:g} m is {metre.rmse:.3g} m (RMSE), as large as the step itself: {why}."
    ]


def _not_applied(evaluation: TrajectoryEvaluation) -> list[str]:
    """Return the corrections that were requested and could not be applied."""
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
