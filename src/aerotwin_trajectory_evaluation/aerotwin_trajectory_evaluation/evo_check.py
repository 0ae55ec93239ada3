# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of the same pairs by evo itself, as an independent check.

The scores of this package are computed on arrays, many times faster than evo's loops, and are
meant to be equal to them. evo is GPL-3 and is imported only here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.metrics import PoseErrors
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol

AGREES_BELOW = 1e-6
"""Largest difference of any error of any pose that counts as equal [m, deg]."""
_RELATIONS = {
    "trans_m": "translation_part",
    "rot_deg": "rotation_angle_deg",
    "full": "full_transformation",
}
_EVO_MODES = ("none", "origin", "se3", "sim3")


@dataclass(frozen=True, kw_only=True)
class EvoCheck:
    """Largest differences between our errors and evo's, over all poses and pairs.

    `differences` are by score and kind of error, as `ape.trans_m`; infinite where the pairs are not
    the same. `is_aligned_by_evo` tells whether evo aligned too; it has no `yaw` or `robust`
    alignment, and cannot align a line. `version` is evo's.
    """

    version: str
    differences: dict[str, float]
    is_aligned_by_evo: bool

    @property
    def largest(self) -> float:
        """Largest of all differences [m, deg]."""
        return max(self.differences.values())

    @property
    def agrees(self) -> bool:
        """Whether every error of every pose agrees to rounding."""
        return self.largest <= AGREES_BELOW

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        return {
            "version": self.version,
            "agrees": self.agrees,
            "largest_difference": self.largest if np.isfinite(self.largest) else None,
            "is_aligned_by_evo": self.is_aligned_by_evo,
        }


def check_with_evo(evaluation: TrajectoryEvaluation) -> EvoCheck:
    """Return the differences of alignment, APE and RPE from evo's on the same pairs."""
    from importlib.metadata import version

    from evo.core import metrics

    choices, mode = evaluation.protocol.choices, evaluation.alignment.mode
    reference = evo_trajectory(evaluation.reference)
    # evo has no alignment for these, and rejects degenerate paths.
    is_ours = mode not in _EVO_MODES or not evaluation.alignment.is_determined
    estimate = evo_trajectory(evaluation.aligned if is_ours else evaluation.estimate)
    if not is_ours:
        _align_by_evo(reference, estimate, choices)
    options = {
        "all_pairs": choices.rpe_all_pairs,
        "rel_delta_tol": choices.rpe_tolerance,
        "pairs_from_reference": choices.rpe_path == "reference",
    }
    frames = {"delta": choices.rpe_frames, "delta_unit": metrics.Unit.frames}
    metre = {"delta": choices.rpe_m, "delta_unit": metrics.Unit.meters}
    scores = (
        ("ape", evaluation.ape, metrics.APE, {}),
        ("rpe.frame", evaluation.rpe_frame, metrics.RPE, options | frames),
        ("rpe.metre", evaluation.rpe_metre, metrics.RPE, options | metre),
    )
    differences = {}
    for name, ours, metric, provided in scores:
        for kind, relation in _RELATIONS.items():
            theirs = metric(metrics.PoseRelation[relation], **provided)
            if len(ours.at):  # evo rejects an empty selection of pairs
                theirs.process_data((reference, estimate))
            differences[f"{name}.{kind}"] = _difference(ours, kind, theirs)
    return EvoCheck(version=version("evo"), differences=differences, is_aligned_by_evo=not is_ours)


def _difference(ours: PoseErrors, kind: str, theirs: Any) -> float:
    errors = getattr(ours, kind)
    if len(errors) != len(theirs.error):
        return float("inf")
    if hasattr(theirs, "delta_ids") and ours.at.tolist() != list(theirs.delta_ids):
        return float("inf")
    return float(np.abs(errors - theirs.error).max(initial=0.0))


def evo_trajectory(trajectory: Trajectory) -> Any:
    """Return a trajectory as evo's, with the rotations as they were written."""
    from evo.core.trajectory import PoseTrajectory3D

    poses = np.tile(np.eye(4), (len(trajectory), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = trajectory.R_ref_body, trajectory.p_ref_body
    return PoseTrajectory3D(poses_se3=list(poses), timestamps=trajectory.stamps_ns * 1e-9)


def evo_ape(reference: Trajectory, estimate: Trajectory) -> Callable[[], np.ndarray]:
    """Return a function in which evo associates, aligns (SE(3)) and scores, for benchmarks."""
    from evo.core import metrics, sync

    theirs = evo_trajectory(reference), evo_trajectory(estimate)

    def score() -> np.ndarray:
        paired, guess = sync.associate_trajectories(*theirs)
        guess.align(paired)
        ape = metrics.APE()
        ape.process_data((paired, guess))
        return ape.error

    return score


def evo_rpe(
    reference: Trajectory, estimate: Trajectory, delta_m: float
) -> Callable[[], np.ndarray]:
    """Return a function in which evo computes the RPE of all pairs delta_m apart."""
    from evo.core import metrics

    theirs = evo_trajectory(reference), evo_trajectory(estimate)

    def score() -> np.ndarray:
        rpe = metrics.RPE(delta=delta_m, delta_unit=metrics.Unit.meters, all_pairs=True)
        rpe.process_data(theirs)
        return rpe.error

    return score


def _align_by_evo(reference: Any, estimate: Any, choices: TrajectoryProtocol) -> None:
    if choices.align == "origin":
        estimate.align_origin(reference)
    elif choices.align != "none":
        estimate.align(reference, correct_scale=choices.align == "sim3", n=choices.n_to_align or -1)
