# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Computation of `aerotwin evaluate trajectory`: from files to an evaluation of each estimate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aerotwin_core.errors import UserError
from aerotwin_trajectory_evaluation.bound import StereoCamera, stereo_bound
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation, evaluate_trajectory
from aerotwin_trajectory_evaluation.inputs import TrajectoryInputs, TrajectoryRequest, read_inputs

if TYPE_CHECKING:
    from aerotwin_trajectory_evaluation.evo_check import EvoCheck


@dataclass(frozen=True, kw_only=True)
class JudgedTrajectories:
    """Evaluations of estimates against one reference, by the name of the estimate.

    `own_coverage` is that of `TrajectoryInputs`; `evo` holds evo's scores, if requested.
    """

    evaluations: Mapping[str, TrajectoryEvaluation]
    camera: StereoCamera | None = None
    notes: tuple[str, ...] = ()
    own_coverage: Mapping[str, float]
    evo: "Mapping[str, EvoCheck]"

    @property
    def is_reliable(self) -> bool:
        """Whether each alignment is determined, and evo's scores agree."""
        are_determined = all(e.alignment.is_determined for e in self.evaluations.values())
        return are_determined and all(check.agrees for check in self.evo.values())

    def metrics(self) -> dict[str, Any]:
        """Return the numbers of a single estimate, or those of each by name."""
        each = {name: evaluation.metrics() for name, evaluation in self.evaluations.items()}
        for name, numbers in each.items():
            if self.camera is not None:
                numbers["bound"] = stereo_bound(self.camera).plain()
            if name in self.evo:
                numbers["evo"] = self.evo[name].plain()
        return next(iter(each.values())) if len(each) == 1 else {"estimates": each}


def judge_trajectories(request: TrajectoryRequest) -> JudgedTrajectories:
    """Read the files and score each estimate.

    Raises UserError if a file cannot be read, or an estimate cannot be scored.
    """
    inputs = read_inputs(request)
    evaluations = {name: _evaluate(inputs, name, request) for name in inputs.estimates}
    notes, evo = list(inputs.notes), {}
    if request.has_evo:
        from aerotwin_trajectory_evaluation.evo_check import check_with_evo

        evo = {name: check_with_evo(evaluation) for name, evaluation in evaluations.items()}
        for name, check in evo.items():
            says = "says the same" if check.agrees else "DIFFERS"
            notes.append(f"{name}: evo {check.version} {says} (to {check.largest:.1e})")
    return JudgedTrajectories(
        evaluations=evaluations,
        camera=request.camera,
        notes=tuple(notes),
        own_coverage=inputs.own_coverage,
        evo=evo,
    )


def _evaluate(
    inputs: TrajectoryInputs, name: str, request: TrajectoryRequest
) -> TrajectoryEvaluation:
    estimate = inputs.estimates[name]
    try:
        return evaluate_trajectory(
            inputs.reference.trajectory,
            estimate.trajectory,
            protocol=request.protocol,
            covariances=estimate.covariances,
            coverage=inputs.coverage,
        )
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
