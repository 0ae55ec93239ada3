# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The images of `aerotwin localize` against reference poses, and the result in numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_dense_localization.localization import Status
from aerotwin_scenarios.dense_localization.commands.located_images import LocatedImages
from aerotwin_scenarios.dense_localization.recordings.external_poses import ExternalPoses
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation, evaluate_trajectory
from aerotwin_trajectory_evaluation.metrics import summarise


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """Errors of localised images against a reference."""

    evaluation: TrajectoryEvaluation  # of the images that have a pose in both
    unaligned_m: np.ndarray  # (m,): position errors without alignment of the map [m]
    # (4, 4): pose of the map in the reference's frame, if it was moved there before
    T_reference_map: np.ndarray | None

    @classmethod
    def of(
        cls,
        located: LocatedImages,
        reference: ExternalPoses,
        *,
        T_reference_map: np.ndarray | None,
        align: str,
    ) -> "Judgement":
        """Score poses of a camera.

        `T_reference_map` (4, 4): pose of the map in the reference's frame, if known independently.
        `align`: alignment after it, a mode of the trajectory evaluation; `none` for nothing.

        Raises `UserError` if fewer than two images can be compared.
        """
        truth, estimate = reference.of_camera(located.stamps_ns), located.trajectory()
        evaluation = evaluate_trajectory(
            truth, estimate, align=align, frame_stamps_ns=located.stamps_ns,
            T_reference_estimate=T_reference_map, covariances=located.covariances,
        )  # fmt: skip
        known = dict(zip(estimate.stamps_ns.tolist(), estimate.p_ref_body, strict=True))
        found = np.array([known[stamp] for stamp in evaluation.reference.stamps_ns.tolist()])
        away = np.linalg.norm(found - evaluation.reference.p_ref_body, axis=1)
        return cls(evaluation=evaluation, unaligned_m=away, T_reference_map=T_reference_map)

    def metrics(self) -> dict[str, Any]:
        """Return the scores."""
        errors, turns = self.evaluation.ape.trans_m, self.evaluation.ape.rot_deg
        return {
            "ate_m": _figures(errors),
            "ate_unaligned_m": _figures(self.unaligned_m),
            "turn_deg": _figures(turns),
            "n_wrong": int((errors > LOST_M).sum()),
        }


def judged(
    located: LocatedImages, reference: ExternalPoses | None, **choices: Any
) -> tuple[Judgement | None, str]:
    """Return the judgement, or None and why there is none."""
    if reference is None:
        return None, ""
    try:
        return Judgement.of(located, reference, **choices), ""
    except UserError as error:
        return None, f"not compared with {reference.source}: {error}"


def numbers_of(
    located: LocatedImages, judgement: Judgement | None, *, n_fused: int | None, seconds: float
) -> dict[str, Any]:
    """Return the result in numbers.

    `n_lost` are images without a pose (`n_without_pose`, the status `lost`), and those with an
    error above 0.5 m (`n_wrong`, None without a reference). `n_fused` were fused with an IMU; None
    without.
    """
    scores: dict[str, Any] = dict.fromkeys(("ate_m", "ate_unaligned_m", "turn_deg", "n_wrong"))
    scores |= {} if judgement is None else judgement.metrics()
    n_wrong = scores["n_wrong"] or 0
    n = len(located.found)
    placed = located.is_placed
    return scores | {
        "n_frames": n,
        "n_lost": int((~placed).sum()) + n_wrong,
        "n_without_pose": int((~placed).sum()),
        "n_fused": n_fused,
        "n_by_status": {str(status): located.count(status) for status in Status},
        "sigma_median_m": _median(located.sigma_m[placed]),
        "correlation_median": _median(np.array([f.correlation for f in located.found])[placed]),
        "seconds": seconds,
        "frames_per_s": n / seconds if seconds > 0.0 else None,
    }


def _figures(errors: np.ndarray) -> dict[str, float] | None:
    found = summarise(errors)
    return None if found is None else {"mean": found.mean, "rmse": found.rmse, "max": found.max}


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None
