# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Time offset and lever arm between a reference and an estimate, with their uncertainty.

An estimate may be stamped by another clock, and describe another point of the body (a camera, an
IMU) than the reference. Both look like SLAM errors. They are separated here by their effect on
displacements and rotations over one second, in which drift is small.

The time offset is always what must be ADDED to the estimate's stamps, as evo's --t_offset: an
estimate whose stamps are 50 ms too late has -0.050 s. Scores change only on request
(`apply_time_offset`, `apply_lever_arm`).
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.displacements import (
    DisplacementFit,
    Samples,
    fit_displacements,
)
from aerotwin_trajectory_evaluation.time_offset_estimates import (
    DISPUTED,
    LEAST_SHARE,
    NO_OFFSET_ESTIMATE,
    NOBODY,
    SIGNIFICANT,
    TURNS,
    Decision,
    OffsetEstimate,
    decide,
)
from aerotwin_trajectory_evaluation.turn_offset import coarse_time_offset_s, offset_of_turns

_LEAST_ARM_M = 1e-4
"""Below there is nothing but rounding: positions of four decimals [m]."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Estimated time offset and lever arm; only applied where `applied_*` says so.

    Attributes
    ----------
    time_offset_s, time_offset_std_s : float or None
        What must be added to the estimate's stamps to meet the reference's clock (negative where
        its stamps are too late), and its standard deviation [s]; None if not observable.
    certainty : str
        One of `time_offset_estimates.CERTAINTIES`: whether the two estimates agree.
    is_offset_significant : bool
        Whether it is above 0.1 ms and three standard deviations, and explains errors.
    lever_arm_m, lever_arm_std_m : (3,) array or None
        Position of the estimate's point in the reference's body axes [m]; NaN along axes about
        which the flight did not rotate enough.
    lever_arm_share : float
        Share of the squared displacement error that it explains.
    reason : str
        What is not observable and why, or how the two estimates differ; empty without problems.
    """

    time_offset_s: float | None = None
    time_offset_std_s: float | None = None
    certainty: str = NOBODY
    is_offset_significant: bool = False
    by_turns: OffsetEstimate = NO_OFFSET_ESTIMATE
    by_displacements: OffsetEstimate = NO_OFFSET_ESTIMATE
    lever_arm_m: np.ndarray | None = None
    lever_arm_std_m: np.ndarray | None = None
    lever_arm_share: float = 0.0
    reason: str = ""
    applied_time_offset: bool = False
    applied_lever_arm: bool = False

    @property
    def time_offset_share(self) -> float:
        """Share of the squared displacement error that the offset explains."""
        return self.by_displacements.share

    @property
    def is_lever_arm_significant(self) -> bool:
        """Whether an axis is above 0.1 mm and three standard deviations, and it explains errors."""
        if self.lever_arm_m is None or self.lever_arm_std_m is None:
            return False
        least_m = np.maximum(_LEAST_ARM_M, SIGNIFICANT * self.lever_arm_std_m)
        is_sure = np.any(np.abs(self.lever_arm_m) > least_m)
        return bool(is_sure) and self.lever_arm_share > LEAST_SHARE

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        listed = lambda v: None if v is None else [None if x != x else float(x) for x in v]  # noqa: E731
        return {
            "time_offset_s": self.time_offset_s,
            "time_offset_std_s": self.time_offset_std_s,
            "time_offset_share": self.time_offset_share,
            "lever_arm_share": self.lever_arm_share,
            "time_offset_significant": self.is_offset_significant,
            "time_offset_applied": self.applied_time_offset,
            "time_offset_certainty": self.certainty,
            "by_turns": self.by_turns.plain(),
            "by_displacements": self.by_displacements.plain(),
            "lever_arm_m": listed(self.lever_arm_m),
            "lever_arm_std_m": listed(self.lever_arm_std_m),
            "lever_arm_significant": self.is_lever_arm_significant,
            "lever_arm_applied": self.applied_lever_arm,
            "reason": self.reason,
        }


def find_calibration(
    reference: Trajectory, estimate: Trajectory, *, max_offset_s: float
) -> Calibration:
    """Return time offset and lever arm between two trajectories that need not be aligned.

    Both are of one body, each in its own frame, of any scale; the reference's attitudes must be
    accurate. The offset, at most max_offset_s [s], is first estimated by cross-correlation of
    angular rates or speeds, then fitted to the rotations and, with arm, rotation and scale, to the
    displacements. Where the two differ the rotations are used, and the arm is fitted again with
    their offset.
    """
    near = _within_reach(reference, estimate, max_offset_s)
    coarse, reason = coarse_time_offset_s(reference, near, max_offset_s=max_offset_s)
    if coarse is None:
        return Calibration(reason=reason)
    samples = Samples.of(reference, near, max_offset_s)
    if isinstance(samples, str):
        return Calibration(reason=samples)
    by_turns = offset_of_turns(samples, near, coarse)
    fit = fit_displacements(samples, coarse)
    decision = decide(by_turns, fit.witness)
    if decision.offset_s is not None and decision.certainty in (TURNS, DISPUTED):
        arm = fit_displacements(samples, decision.offset_s, is_offset_known=True)
        fit = dataclasses.replace(arm, witness=fit.witness)
    return Calibration(
        time_offset_s=decision.offset_s,
        time_offset_std_s=decision.std_s,
        certainty=decision.certainty,
        is_offset_significant=decision.is_significant,
        by_turns=by_turns,
        by_displacements=fit.witness,
        lever_arm_m=fit.arm_m,
        lever_arm_std_m=fit.arm_std_m,
        lever_arm_share=fit.arm_share,
        reason=_reason(decision, by_turns, fit),
    )


def _within_reach(reference: Trajectory, estimate: Trajectory, max_offset_s: float) -> Trajectory:
    """Return the estimate's poses that an offset within the limit moves into the reference."""
    margin_ns = int(max_offset_s * 1e9)
    first, last = reference.stamps_ns[0] - margin_ns, reference.stamps_ns[-1] + margin_ns
    inside = (estimate.stamps_ns >= first) & (estimate.stamps_ns <= last)
    return estimate.select(np.flatnonzero(inside))


def _reason(decision: Decision, turns: OffsetEstimate, fit: DisplacementFit) -> str:
    """Return what is not observable, or inconsistent, and why."""
    displacements = fit.witness
    parts = []
    if decision.certainty == NOBODY:
        parts.append(f"no time offset is determined: {turns.reason}, and {displacements.reason}")
    elif decision.certainty == DISPUTED:
        parts.append(
            f"turns and displacements differ on the time offset ({turns.text} and "
            f"{displacements.text}): the turns count, which neither scale nor drift of the "
            "positions can change, with a deviation for the difference"
        )
    elif turns.reason or displacements.reason:
        parts.append(
            f"the time offset rests on {decision.certainty}: {turns.reason or displacements.reason}"
        )
    if fit.arm_m is None and fit.witness.reason and decision.certainty in (NOBODY, TURNS):
        parts.append("the lever arm is not determined")
    return "; ".join([*parts, fit.arm_reason] if fit.arm_reason else parts)


def apply_calibration(
    reference: Trajectory,
    estimate: Trajectory,
    calibration: Calibration,
    *,
    time_offset: bool,
    lever_arm: bool,
) -> tuple[Trajectory, Trajectory, Calibration]:
    """Return reference and estimate with the requested corrections, and the record of them."""
    if time_offset and calibration.time_offset_s is not None:
        shift_ns = round(calibration.time_offset_s * 1e9)
        estimate = dataclasses.replace(estimate, stamps_ns=estimate.stamps_ns + shift_ns)
        calibration = dataclasses.replace(calibration, applied_time_offset=True)
    if lever_arm and calibration.lever_arm_m is not None:
        arm = np.nan_to_num(calibration.lever_arm_m)
        moved = reference.p_ref_body + reference.R_ref_body @ arm
        reference = dataclasses.replace(reference, p_ref_body=moved)
        calibration = dataclasses.replace(calibration, applied_lever_arm=True)
    return reference, estimate, calibration
