# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether an alignment may be believed, found without knowing the truth."""

from typing import Any

import numpy as np

from aerotwin_registration.icp.iterate import Iterate
from aerotwin_registration.icp.protocol import IcpProtocol
from aerotwin_registration.icp.result import Registration
from aerotwin_registration.icp.similarity import motion_of, split_scale
from aerotwin_registration.icp.surface import Surface
from aerotwin_registration.observability import open_directions


def judged(
    source: Surface, target: Surface, S_start: np.ndarray, last: Iterate, protocol: IcpProtocol
) -> dict[str, Any]:
    """Return all that a `Registration` says but the transform."""
    paired = last.index >= 0
    facts = {
        "n_iterations": last.n_iterations,
        "n_correspondences": int(np.count_nonzero(paired)),
        "fitness": last.fitness,
        "rmse_m": last.rmse_m,
        "open_directions": open_directions(last.moved[paired], target.tree) if paired.any() else (),
    }
    problem = _problem(source, S_start, last, facts, protocol)
    text = (
        f"settled after {last.n_iterations} iterations with {last.fitness:.1%} of the "
        f"points paired at {last.rmse_m:.3f} m RMSE"
    )
    return {**facts, "converged": not problem, "reason": problem or text}


def _problem(
    source: Surface,
    S_start: np.ndarray,
    last: Iterate,
    facts: dict[str, Any],
    protocol: IcpProtocol,
) -> str:
    shift, turn = motion_of(last.S @ np.linalg.inv(S_start), source.points, S_start)
    growth = np.log(split_scale(last.S)[1] / split_scale(S_start)[1])
    if facts["n_correspondences"] < protocol.min_correspondences:
        return (
            f"only {facts['n_correspondences']} points have a neighbour within "
            f"{protocol.radius_m:g} m, {protocol.min_correspondences} are needed; "
            "start closer or widen the radius"
        )
    if last.fitness < protocol.min_fitness:
        return (
            f"only {last.fitness:.1%} of the points have a neighbour within "
            f"{protocol.radius_m:g} m, {protocol.min_fitness:.0%} are needed"
        )
    if shift > protocol.max_shift_m or turn > protocol.max_turn_deg:
        return (
            f"the cloud drifted {shift:.2f} m and {turn:.1f} deg from its start, at most "
            f"{protocol.max_shift_m:g} m and {protocol.max_turn_deg:g} deg are believed"
        )
    if abs(growth) > protocol.max_scale_change:
        return f"the cloud was scaled by {np.exp(growth):.3f} from its start, which is not believed"
    if facts["open_directions"]:
        listed = " and ".join(d.text for d in facts["open_directions"])
        return f"the surface leaves open: {listed}"
    if not last.has_settled:
        return f"still moving after {last.n_iterations} iterations"
    return ""


def failure(S_initial: np.ndarray, reason: str) -> Registration:
    """Return a result without an iteration."""
    T, scale = split_scale(S_initial)
    return Registration(
        T_target_source=T,
        scale=scale,
        converged=False,
        reason=reason,
        n_iterations=0,
        n_correspondences=0,
        fitness=0.0,
        rmse_m=float("nan"),
    )
