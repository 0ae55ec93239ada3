# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans of a real walk through a hall, each placed in the map of the others from a wrong start.

The hall is the HKU lounge of BALM (Liu and Zhang 2021, IEEE RA-L 6, 3184); the poses of its authors
are taken for the truth.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
from evidence.data_folder import data_folder
from evidence.verification.leave_one_out import CONVERGED_M, leave_one_out, read_posed_scans
from evidence.verification.pose_errors import PoseErrors, pooled_figures

STARTS: Mapping[str, tuple[float, float]] = {"near": (0.2, 3.0), "far": (0.5, 10.0)}
"""Shift and turn of the starts [m], [deg]."""


def place_scans(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Place every scan from starts of the seed of a run."""
    shift_m, turn_deg = STARTS[document["start"]]
    scans, poses = read_posed_scans(data_folder(document))
    found = leave_one_out(scans, poses, [context.seed], shift_m=shift_m, turn_deg=turn_deg)
    errors = PoseErrors(
        shifts_m=np.where(found.accepted[0], found.shifts_m[0], np.nan),
        turns_deg=np.where(found.accepted[0], found.turns_deg[0], np.nan),
        is_found=found.accepted[0],
    )
    errors.save(context.folder)
    metrics = errors.figures(CONVERGED_M, CONVERGED_M)
    n_lost = metrics["n_lost"]
    outcome = f"{n_lost} of {metrics['n']} scans are lost" if n_lost else "all scans are placed"
    return {"metrics": metrics, "is_success": n_lost == 0, "outcome": outcome}


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Return the figures over all seeds, for each kind of start."""
    return pooled_figures(runs, "start", "Scans of a hall", lost_m=CONVERGED_M, near_m=CONVERGED_M)
