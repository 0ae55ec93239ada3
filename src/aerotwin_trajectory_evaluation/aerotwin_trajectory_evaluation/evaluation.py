# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluation of one estimated trajectory: pair, align, score, and check the check."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import TrajectoryAlignment, align_trajectories
from aerotwin_trajectory_evaluation.association import (
    MAX_GAP_S,
    associate,
    coverage_of_frames,
    coverage_of_time,
    take,
)
from aerotwin_trajectory_evaluation.controls import Control, negative_controls
from aerotwin_trajectory_evaluation.metrics import (
    PoseErrors,
    SegmentDrift,
    absolute_errors,
    relative_errors,
    segment_drift,
    summarise,
)


@dataclass(frozen=True, kw_only=True)
class TrajectoryEvaluation:
    """What came out; arrays are over the paired poses.

    Attributes
    ----------
    reference, estimate, aligned : Trajectory
        Paired poses: truth, the estimate as given, the estimate aligned.
    alignment : TrajectoryAlignment
        How `aligned` came from `estimate`.
    coverage : float
        Share of the frames (or, without frame stamps, of the reference's time) with a pose.
    n_reference, n_estimate : int
        Poses before pairing.
    ape, ape_unaligned : PoseErrors
        Per pose, aligned and as given.
    rpe_frame, rpe_metre : PoseErrors
        From one frame to the next, and over one metre.
    drift : tuple of SegmentDrift
        Over segments of 10 to 50 m.
    controls : tuple of Control
        Whether known errors are seen by these scores.
    max_gap_s : float
        Largest difference of paired stamps [s].
    """

    reference: Trajectory
    estimate: Trajectory
    aligned: Trajectory
    alignment: TrajectoryAlignment
    coverage: float
    n_reference: int
    n_estimate: int
    ape: PoseErrors
    ape_unaligned: PoseErrors
    rpe_frame: PoseErrors
    rpe_metre: PoseErrors
    drift: tuple[SegmentDrift, ...]
    controls: tuple[Control, ...]
    max_gap_s: float

    @property
    def drift_percent(self) -> float | None:
        """Median drift over all segments [% of the length]; None when the path is too short."""
        return self._median([d.trans_percent for d in self.drift])

    @property
    def drift_deg_m(self) -> float | None:
        """Median turn error over all segments [deg/m]."""
        return self._median([d.rot_deg_m for d in self.drift])

    @staticmethod
    def _median(parts: list[np.ndarray]) -> float | None:
        joined = np.concatenate(parts) if parts else np.empty(0)
        return float(np.median(joined)) if len(joined) else None

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        removed = self.alignment.removed(self.estimate.p_ref_body)
        return {
            "n_pairs": len(self.reference),
            "n_reference": self.n_reference,
            "n_estimate": self.n_estimate,
            "coverage": self.coverage,
            "max_gap_s": self.max_gap_s,
            "path_m": self.reference.path_length_m,
            "duration_s": float(self.reference.stamps_ns[-1] - self.reference.stamps_ns[0]) * 1e-9,
            "alignment": {
                "mode": self.alignment.mode,
                "T_reference_estimate": self.alignment.T_reference_estimate.tolist(),
                "scale": self.alignment.scale,
                "is_determined": self.alignment.is_determined,
                "reason": self.alignment.reason,
                "removed": removed,
            },
            "ape": self.ape.plain(),
            "ape_unaligned": self.ape_unaligned.plain(),
            "rpe": {"frame": self.rpe_frame.plain(), "metre": self.rpe_metre.plain()},
            "segments": self._segments(),
            "controls": [control.plain() for control in self.controls],
        }

    def _segments(self) -> dict[str, Any]:
        lengths = []
        for drift in self.drift:
            trans, rot = summarise(drift.trans_percent), summarise(drift.rot_deg_m)
            lengths.append(
                {
                    "length_m": drift.length_m,
                    "trans_percent": trans.plain() if trans else None,
                    "rot_deg_m": rot.plain() if rot else None,
                }
            )
        return {
            "median_percent": self.drift_percent,
            "median_deg_m": self.drift_deg_m,
            "lengths": lengths,
        }


def evaluate_trajectory(
    reference: Trajectory,
    estimate: Trajectory,
    *,
    align: str = "se3",
    frame_stamps_ns: np.ndarray | None = None,
    T_reference_estimate: np.ndarray | None = None,
    max_gap_s: float = MAX_GAP_S,
) -> TrajectoryEvaluation:
    """Score an estimate against its reference.

    Parameters
    ----------
    reference, estimate : Trajectory
        Poses of the same body.
    align : str
        One of `MODES`.
    frame_stamps_ns : (n,) array, optional
        Stamps of all frames that the estimator was given, for the share it tracked.
    T_reference_estimate : (4, 4) array, optional
        Known pose of the estimate's frame in the reference's (a start pose), applied first;
        the "unaligned" scores are then those that count.
    max_gap_s : float
        Farthest stamps that are paired [s].

    Raises
    ------
    UserError
        If fewer than two poses can be paired.
    """
    if T_reference_estimate is not None:
        given = TrajectoryAlignment(mode="none", T_reference_estimate=T_reference_estimate)
        estimate = given.apply(estimate)
    i, j = associate(reference, estimate, max_gap_s=max_gap_s)
    if len(i) < 2:
        raise UserError(_no_pairs(reference, estimate, len(i), max_gap_s))
    # The shorter trajectory gives the stamps: none of its poses serves twice.
    is_denser = len(estimate) > len(reference)
    stamps = reference.stamps_ns[i] if is_denser else estimate.stamps_ns[j]
    paired, guess = take(reference, i, stamps), take(estimate, j, stamps)
    alignment = align_trajectories(paired, guess, align)
    aligned = alignment.apply(guess)
    return TrajectoryEvaluation(
        reference=paired,
        estimate=guess,
        aligned=aligned,
        alignment=alignment,
        coverage=(
            coverage_of_time(reference, estimate)
            if frame_stamps_ns is None
            else coverage_of_frames(frame_stamps_ns, estimate, max_gap_s=max_gap_s)
        ),
        n_reference=len(reference),
        n_estimate=len(estimate),
        ape=absolute_errors(paired, aligned),
        ape_unaligned=absolute_errors(paired, guess),
        rpe_frame=relative_errors(paired, guess, delta=1, unit="frames"),
        rpe_metre=relative_errors(paired, guess, delta=1.0, unit="m"),
        drift=segment_drift(paired, guess),
        controls=negative_controls(paired),
        max_gap_s=max_gap_s,
    )


def _no_pairs(reference: Trajectory, estimate: Trajectory, n: int, max_gap_s: float) -> str:
    spans = []
    for trajectory in (reference, estimate):
        if len(trajectory):
            first, last = trajectory.stamps_ns[[0, -1]] * 1e-9
            spans.append(f"{len(trajectory)} poses from {first:.3f} s to {last:.3f} s")
        else:
            spans.append("no pose")
    return (
        f"only {n} poses have stamps within {max_gap_s:g} s of each other; the reference has "
        f"{spans[0]}, the estimate {spans[1]}; check clocks and units"
    )
