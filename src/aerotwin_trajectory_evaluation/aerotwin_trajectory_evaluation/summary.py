# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory evaluation as text: its scores with meaning and origin, and a summary."""

from typing import Any

from aerotwin_core.metric import Score
from aerotwin_trajectory_evaluation.bound import StereoCamera, stereo_bound
from aerotwin_trajectory_evaluation.calibration import Calibration
from aerotwin_trajectory_evaluation.declared_metrics import TRAJECTORY_METRICS
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
    return TRAJECTORY_METRICS.scores(context_of(evaluation, camera))


def context_of(
    evaluation: TrajectoryEvaluation, camera: StereoCamera | None = None
) -> dict[str, Any]:
    """Return the numbers with the texts that the metric declarations name."""
    choices, mode = evaluation.protocol.choices, evaluation.alignment.mode
    found, is_aligned, before = evaluation.calibration, mode != "none", before_text(evaluation)
    every = "one from every pose on"
    bound = {} if camera is None else {"bound": stereo_bound(camera).plain()}
    return {
        **evaluation.metrics(),
        **bound,
        "is_aligned": is_aligned,
        "is_placed": evaluation.start != AS_GIVEN,
        "absolute": "APE aligned" if is_aligned else "APE",
        "attitude": "attitude error aligned" if is_aligned else "attitude error",
        "before": before,
        "after": " after the alignment" if is_aligned else "",
        "fit": f", {MODE_TEXT[mode] if is_aligned else before}",
        "pairs_text": every if choices.rpe_all_pairs else "each begins where the last ends",
        "frames": "frame" if choices.rpe_frames == 1 else f"{choices.rpe_frames} frames",
        "segment_range": segment_text(choices),
        "certainty": CERTAINTY_TEXT.get(found.certainty, ""),
        "offset_state": _applied(found.applied_time_offset),
        "arm_state": _applied(found.applied_lever_arm),
    }


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
    if evaluation.start != AS_GIVEN:
        parts.append(f"{metres(evaluation.as_given_rmse_m)} {AS_GIVEN}")
    parts.append(f"it covers {evaluation.coverage:.0%} of the reference")
    parts += _problems(evaluation)
    return "; ".join(parts) + "."


def _with(start: str) -> str:
    return start if start == AS_GIVEN else f"with {start}"


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
