# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether an alignment is reliable, determined without ground truth."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_registration.icp.evidence import Evidence, evidence_of
from aerotwin_registration.icp.protocol import IcpProtocol
from aerotwin_registration.icp.result import Registration
from aerotwin_registration.icp.rivals import best_rival
from aerotwin_registration.icp.similarity import motion_of, split_scale
from aerotwin_registration.icp.surface import AlignmentTarget
from aerotwin_registration.neighbours import Pairs

LEAST_VARIANCE = 1e-12
"""Of a residual [m^2]: clouds without noise are not known better than to a micrometre."""


@dataclass(frozen=True, kw_only=True)
class Iterate:
    """The last similarity S (4, 4), its pairs, and whether the loop had settled.

    x_target = S @ x_source, both relative to the origins of their surfaces.
    """

    S: np.ndarray
    pairs: Pairs
    n_iterations: int
    has_settled: bool


def judged(
    source: AlignmentTarget,
    target: AlignmentTarget,
    S_start: np.ndarray,
    last: Iterate,
    protocol: IcpProtocol,
) -> dict[str, Any]:
    """Return all fields of a `Registration` except the transform."""
    source, target = source.smooth, target.smooth
    evidence = evidence_of(
        source, target, last.S, protocol.radius_m, with_scale=protocol.with_scale
    )
    checks = _checks(source, target, S_start, last, protocol, evidence)
    problem = next(checks, "")
    pairs = last.pairs
    facts = {
        "converged": not problem,
        "reason": problem
        or f"settled after {last.n_iterations} iterations with {pairs.fitness:.1%} of the "
        f"points paired at {pairs.rmse_m:.3f} m RMSE",
        "n_iterations": last.n_iterations,
        "n_correspondences": pairs.n,
        "fitness": pairs.fitness,
        "rmse_m": pairs.rmse_m,
    }
    return facts if evidence is None else {**facts, **_borne_out(evidence, target, pairs.n)}


def _borne_out(evidence: Evidence, target: AlignmentTarget, n_pairs: int) -> dict[str, Any]:
    variance = max(evidence.surface_rmse_m**2, LEAST_VARIANCE)
    has_surface = np.isfinite(variance)
    return {
        "explained": evidence.explained,
        "surface_rmse_m": evidence.surface_rmse_m,
        "information": n_pairs / variance * evidence.information if has_surface else None,
        "centre_target": evidence.centre + target.origin,
        "open_directions": evidence.open_directions,
    }


def _checks(
    source: AlignmentTarget,
    target: AlignmentTarget,
    S_start: np.ndarray,
    last: Iterate,
    protocol: IcpProtocol,
    evidence: Evidence | None,
) -> Iterator[str]:
    """Yield the reasons to reject an alignment, simplest first; expensive checks run last."""
    yield from _about_pairs(last, protocol)
    if evidence is None:
        return
    yield from _about_drift(source, S_start, last, protocol)
    if evidence.open_directions:
        listed = " and ".join(d.text for d in evidence.open_directions)
        yield f"the surface leaves open: {listed}"
    if not last.has_settled:
        yield f"still moving after {last.n_iterations} iterations"
    if evidence.weakest < protocol.min_explained:
        yield (
            f"the surfaces do not bear it out: {evidence.weakest_direction.text} is opposed by "
            f"pairs of which only {evidence.weakest:.0%} lie on each other"
        )
    if protocol.max_rival_lead < 1.0:
        yield from _about_rivals(source, target, last, protocol)


def _about_pairs(last: Iterate, protocol: IcpProtocol) -> Iterator[str]:
    if last.pairs.n < protocol.min_correspondences:
        yield (
            f"only {last.pairs.n} points have a neighbour within "
            f"{protocol.radius_m:g} m, {protocol.min_correspondences} are needed; "
            "start closer or widen the radius"
        )
    if last.pairs.fitness < protocol.min_fitness:
        yield (
            f"only {last.pairs.fitness:.1%} of the points have a neighbour within "
            f"{protocol.radius_m:g} m, {protocol.min_fitness:.0%} are needed"
        )


def _about_drift(
    source: AlignmentTarget, S_start: np.ndarray, last: Iterate, protocol: IcpProtocol
) -> Iterator[str]:
    shift, turn = motion_of(last.S @ np.linalg.inv(S_start), source.points, S_start)
    if shift > protocol.max_shift_m or turn > protocol.max_turn_deg:
        yield (
            f"the cloud drifted {shift:.2f} m and {turn:.1f} deg from its start, at most "
            f"{protocol.max_shift_m:g} m and {protocol.max_turn_deg:g} deg are believed"
        )
    growth = np.log(split_scale(last.S)[1] / split_scale(S_start)[1])
    if abs(growth) > protocol.max_scale_change:
        yield (
            f"the cloud was scaled by {np.exp(growth):.3f} from its start, at most "
            f"{np.exp(protocol.max_scale_change):.3f} is believed"
        )


def _about_rivals(
    source: AlignmentTarget, target: AlignmentTarget, last: Iterate, protocol: IcpProtocol
) -> Iterator[str]:
    rival = best_rival(source, target, last.S, protocol)
    if rival is not None and rival.lead > protocol.max_rival_lead:
        yield (
            f"another answer, {rival.distance_m:.2f} m away, explains {rival.lead:.0%} more of "
            "the points; start closer or use GICP"
        )


def failure(S_initial: np.ndarray, reason: str) -> Registration:
    """Return a result without an iteration."""
    T, scale = split_scale(S_initial)
    return Registration(T_target_source=T, scale=scale, converged=False, reason=reason)
