# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory evaluation as text: its scores with meaning and origin, and a summary."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.metric import Score
from aerotwin_trajectory_evaluation.association import coverage_of_time, interpolation_hint
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.calibration import Calibration
from aerotwin_trajectory_evaluation.declared_metrics import TRAJECTORY_METRICS
from aerotwin_trajectory_evaluation.evaluation import AS_GIVEN, FITTED, TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import summarise
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol
from aerotwin_trajectory_evaluation.sensor_frames import find_attitude_offset
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


def mode_text(evaluation: TrajectoryEvaluation) -> str:
    """Return what was fitted, or how the estimate is placed where nothing was."""
    mode = evaluation.alignment.mode
    return evaluation.start if mode == "none" else MODE_TEXT[mode]


def before_text(evaluation: TrajectoryEvaluation) -> str:
    """Return how the estimate is placed before the fit."""
    if evaluation.start == AS_GIVEN:
        return "nothing fitted"
    return f"{evaluation.start}, nothing else fitted"


def score_rows(evaluation: TrajectoryEvaluation, camera: StereoCamera | None = None) -> list[Score]:
    """Return the scores in reading order."""
    return TRAJECTORY_METRICS.scores(context_of(evaluation, evaluation.metrics(camera)))


def context_of(evaluation: TrajectoryEvaluation, numbers: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers with the texts that the metric declarations name."""
    choices, mode = evaluation.protocol.choices, evaluation.alignment.mode
    found, is_aligned, before = evaluation.calibration, mode != "none", before_text(evaluation)
    every = "one from every pose on"
    unit = "key-frame" if choices.keyframe_gap_s > 0.0 else "frame"
    return {
        **numbers,
        "is_aligned": is_aligned,
        "is_placed": evaluation.start not in (AS_GIVEN, FITTED),
        "absolute": "APE aligned" if is_aligned else "APE",
        "placement": "APE as given" if evaluation.start == AS_GIVEN else "APE placed",
        "attitude": "attitude error aligned" if is_aligned else "attitude error",
        "before": before,
        "after": " after the alignment" if is_aligned else "",
        "fit": f", {MODE_TEXT[mode] if is_aligned else before}",
        "pairs_text": every if choices.rpe_all_pairs else "each begins where the last ends",
        "frames": unit if choices.rpe_frames == 1 else f"{choices.rpe_frames} {unit}s",
        "period": _period_text(evaluation, choices.rpe_frames),
        "segment_range": segment_text(choices),
        "certainty": CERTAINTY_TEXT.get(found.certainty, ""),
        "offset_state": _applied(found.applied_time_offset),
        "arm_state": _applied(found.applied_lever_arm),
    }


def _period_text(evaluation: TrajectoryEvaluation, n_frames: int) -> str:
    """Return how far apart the poses of a relative error are in time."""
    stamps_ns = evaluation.estimate.stamps_ns
    if len(stamps_ns) <= n_frames:
        return ""
    period_s = float(np.median(stamps_ns[n_frames:] - stamps_ns[:-n_frames])) * 1e-9
    return f", {period_s:.3g} s in the median"


def _applied(is_applied: bool) -> str:
    return "applied" if is_applied else "not applied"


def segment_text(choices: TrajectoryProtocol) -> str:
    """Return which segments are counted."""
    if choices.segment_shares:
        low, high = (
            f"{share:.0%}" for share in (choices.segment_shares[0], choices.segment_shares[-1])
        )
        return f"of segments of {low} to {high} of the path"
    low, high = f"{choices.segment_lengths_m[0]:g}", f"{choices.segment_lengths_m[-1]:g}"
    return f"of segments of {low} to {high} m"


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
    as_given_m = evaluation.as_given_rmse_m
    if evaluation.start != AS_GIVEN and as_given_m is not None:
        parts.append(f"{metres(as_given_m)} {AS_GIVEN} (in its own frame, which begins elsewhere)")
    parts.append(f"it covers {evaluation.coverage:.0%} of the reference")
    parts += _problems(evaluation)
    return "; ".join(parts) + "."


def _with(start: str) -> str:
    return f"{start} (nothing fitted)" if start == AS_GIVEN else f"with {start}"


def _problems(evaluation: TrajectoryEvaluation) -> list[str]:
    """Return the problems to report beside the score."""
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
    """Return a time offset as text: how late or early the estimate's stamps are.

    Examples
    --------
    >>> late_or_early(Calibration(time_offset_s=-0.05))
    '50.0 ms too late'
    """
    assert found.time_offset_s is not None
    offset_ms = found.time_offset_s * 1e3
    return f"{abs(offset_ms):.1f} ms too {'late' if offset_ms < 0.0 else 'early'}"


def metres(value: float) -> str:
    """Return a distance as text, in centimetres where it is short.

    Examples
    --------
    >>> metres(0.0217), metres(1.303)
    ('2.2 cm', '1.3 m')
    """
    return f"{value * 100.0:.2g} cm" if value < 0.1 else f"{value:.3g} m"


MIN_COVERAGE = 0.9
MIN_PAIRED = 0.9
"""Share of the shorter trajectory that must have found a pose of the other."""
ODD_ATTITUDE_DEG = 30.0
"""No estimate that follows the path turns so far from truth; other axes do."""


USUAL_KEYFRAME_GAP_S = 2.0
"""A SLAM that moves sets a key-frame more often; one that is lost takes longer to come back."""


@dataclass(frozen=True, kw_only=True)
class Remedies:
    """What a reader can do about a caution, in terms of the command that judged."""

    keyframe_gap: str = f"--keyframe-gap-s {USUAL_KEYFRAME_GAP_S:g}"
    poses_of: str = "--poses-of FRAME takes them to base_link"
    scale: str = "--align sim3"
    time_offset: str = "--apply-time-offset"
    lever_arm: str = "--apply-lever-arm"


OF_COMMAND = Remedies()
OF_PROTOCOL = Remedies(
    keyframe_gap=f"keyframe_gap_s: {USUAL_KEYFRAME_GAP_S:g} in a file of --protocol",
    scale="align: sim3 in a file of --protocol",
    time_offset="apply_time_offset: true in a file of --protocol",
    lever_arm="apply_lever_arm: true in a file of --protocol",
)
"""Of commands whose choices are all in a protocol."""


def _keyframe_hint(evaluation: TrajectoryEvaluation, remedies: Remedies) -> str:
    """Return what to do if the estimate seems to hold key-frames only."""
    gap_s = USUAL_KEYFRAME_GAP_S
    if evaluation.protocol.choices.keyframe_gap_s > 0.0:
        return ""
    spanned = coverage_of_time(evaluation.truth, evaluation.estimate, keyframe_gap_s=gap_s)
    if spanned < max(MIN_COVERAGE, evaluation.coverage):
        return ""
    return (
        f" Its poses span {spanned:.0%} of the time with gaps of at most {gap_s:g} s: if they are "
        f"key-frames only, {remedies.keyframe_gap} counts the time between them."
    )


def cautions(evaluation: TrajectoryEvaluation, remedies: Remedies = OF_COMMAND) -> list[str]:
    """Return the cautions as text."""
    warnings = []
    if not evaluation.alignment.is_determined:
        warnings.append(f"Alignment: {evaluation.alignment.reason}.")
    if evaluation.coverage < MIN_COVERAGE:
        warnings.append(
            f"Only {evaluation.coverage:.0%} of the reference has an estimate; the errors are "
            "those of the covered part." + _keyframe_hint(evaluation, remedies)
        )
    n_pairs, n_poses = len(evaluation.reference), evaluation.n_estimate
    if n_pairs < MIN_PAIRED * min(n_poses, evaluation.n_reference):
        hint = interpolation_hint(evaluation.truth, evaluation.protocol.choices)
        warnings.append(
            f"Only {n_pairs} of {n_poses} poses of the estimate were judged: the others have none "
            f"of the truth's {evaluation.n_reference} near enough in time"
            + (f"; {hint} judges those between two of the truth's." if hint else ".")
        )
    if (other := evaluation.other_scale) is not None:
        warnings.append(
            f"The estimate has another scale: times {other.scale:.3g} it is {other.rmse_m:.3g} m "
            f"from truth (RMS, aligned), as it is {other.unscaled_rmse_m:.3g} m. {remedies.scale} "
            "fits the scale, as a monocular SLAM needs."
        )
    warnings += _as_large_as_the_step(evaluation)
    offset = find_attitude_offset(evaluation.reference, evaluation.estimate)
    warnings += [] if offset is None else [f"{offset.text} {remedies.poses_of}."]
    found = evaluation.calibration
    if found.is_offset_significant and not found.applied_time_offset:
        warnings.append(_offset_text(found, remedies))
    if found.is_lever_arm_significant and not found.applied_lever_arm:
        warnings.append(
            "Truth and estimate seem to be of different points of the body: the lever arm of the "
            f"table is in the scores ({remedies.lever_arm} takes it out)."
        )
    warnings += _not_applied(evaluation)
    missed = [c.name for c in evaluation.controls if c.is_missed]
    if missed:
        warnings.append(f"Negative control not seen by the scores: {', '.join(missed)}.")
    return warnings


def _offset_text(found: Calibration, remedies: Remedies) -> str:
    """Say how late or early the estimate is, what to add to its stamps, and how sure that is."""
    assert found.time_offset_s is not None
    assert found.time_offset_std_s is not None
    is_disputed = found.certainty == DISPUTED
    return (
        f"The stamps of the estimate are {'probably ' if is_disputed else ''}"
        f"{late_or_early(found)}: {found.time_offset_s * 1e3:+.1f} ± "
        f"{found.time_offset_std_s * 1e3:.1f} ms must be added to them "
        f"({CERTAINTY_TEXT[found.certainty]}). The scores hold that error; {remedies.time_offset} "
        "takes it out."
    )


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
