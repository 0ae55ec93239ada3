# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Moments at which all of several estimates have a pose: only there they are comparable.

An estimate that stops early has left out the hard part, so that its error cannot be compared with
that of one that continued. Here each estimate is reduced to the common moments.
"""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.association import associate, pair
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol


def common_poses(
    reference: Trajectory, estimates: Sequence[Trajectory], choices: TrajectoryProtocol
) -> list[np.ndarray]:
    """Return for each estimate the indices (m,) of its poses at the common moments.

    The moments are those of the estimate with the fewest pairs; every other one is represented by
    its nearest pose, at most `max_gap_s` away. Poses without a pair in the reference are left out,
    and a pose is used for one moment only.

    Raises
    ------
    UserError
        If the estimates share fewer than two moments.
    """
    paired = [pair(reference, estimate, choices)[2] for estimate in estimates]
    fewest = min(range(len(paired)), key=lambda k: len(paired[k]))
    base = estimates[fewest].select(paired[fewest])
    chosen = [
        _at(base, estimate, own, choices.max_gap_s) for estimate, own in zip(estimates, paired)
    ]
    is_common = np.all([index >= 0 for index in chosen], axis=0)
    n_common = int(is_common.sum())
    if n_common < 2:
        raise UserError(
            f"--common-stamps: the estimates share {n_common} stamps to {choices.max_gap_s:g} s, "
            "two are needed; raise --max-gap-s, or compare them without"
        )
    return [index[is_common] for index in chosen]


def _at(base: Trajectory, estimate: Trajectory, own: np.ndarray, max_gap_s: float) -> np.ndarray:
    """Return which pose of the estimate (among its own) matches each of base; -1 for none."""
    found = np.full(len(base), -1)
    of_base, of_own = associate(base, estimate.select(own), max_gap_s=max_gap_s)
    _, first = np.unique(of_own, return_index=True)
    found[of_base[first]] = own[of_own[first]]
    return found
