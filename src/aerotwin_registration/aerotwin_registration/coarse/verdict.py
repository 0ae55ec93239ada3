# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Acceptance of the best pose: its lead over the others, and its fit to the surface.

Two poses are compared point by point. Points that are near each other are not independent, so
the error of the lead is that of sums over blocks of the source.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.rms import rms_length
from aerotwin_registration.coarse.field import Field, Sample
from aerotwin_registration.coarse.protocol import CoarseProtocol
from aerotwin_registration.icp import Registration
from aerotwin_registration.observability import OpenDirection

BLOCK_CELLS = 4  # edge of a block, in coarse cells
SLIDE_CELLS = 2.0  # displacement along a motion that the surface hardly constrains, in coarse cells
SLIDE_MARGIN = 3.5
"""Standard errors by which a moved place must be worse. Of two or four places that are named before
any is tried no share of the score is asked: the few trees along a road are a small one."""
APART_CELLS = 1.0  # RMS displacement above which two poses are distinct, in coarse cells
_WAY_OUT = "if the clouds lie farther apart, give a start (--initial or --origin)"


@dataclass(frozen=True, kw_only=True)
class CandidatePose:
    """The ICP result of a pose of the source, and the sample at it (n, 3), in target axes [m]."""

    registration: Registration
    points: np.ndarray


@dataclass(frozen=True, kw_only=True)
class CoarseRegistration(Registration):
    """The result of a coarse alignment; check `converged` first.

    Attributes
    ----------
    lead : float
        Score lead of the best pose over the runner-up, as a share of its score; 1 without one.
    margin : float
        The same lead in standard errors; infinity without a runner-up.
    T_target_source_rival, scale_rival : (4, 4) array or None, float
        The runner-up.
    """

    lead: float = 1.0
    margin: float = float("inf")
    T_target_source_rival: np.ndarray | None = None
    scale_rival: float = 1.0

    def after(self, T_initial: np.ndarray) -> "CoarseRegistration":
        """Return the same result for the source before T_initial moved it."""
        T_rival = self.T_target_source_rival
        if T_rival is not None:
            T_rival = _chain(T_rival, self.scale_rival, T_initial)
        return replace(
            self,
            T_target_source=_chain(self.T_target_source, self.scale, T_initial),
            T_target_source_rival=T_rival,
        )


def judge(
    places: list[CandidatePose],
    sample: Sample,
    field: Field,
    cell: float,
    max_offset_m: float,
    protocol: CoarseProtocol,
    weight: Callable[[float], float],
) -> CoarseRegistration:
    """Return the best pose, and whether it is accepted; scores are weighted by scale."""
    values = [_values(p.points, field) * weight(p.registration.scale) for p in places]
    order = sorted(range(len(places)), key=lambda k: -float(values[k].mean()))
    best = order[0]
    blocks = _blocks(sample.points, BLOCK_CELLS * cell)
    rivals = [k for k in order[1:] if _is_apart(places[best], places[k], APART_CELLS * cell)]
    leads = [_lead(values[best], values[k], blocks) for k in rivals]
    closest = min(range(len(rivals)), key=lambda k: leads[k][1], default=None)
    result = CoarseRegistration(**vars(places[best].registration))
    if closest is not None:
        lead, margin = leads[closest]
        rival = places[rivals[closest]].registration
        result = replace(
            result,
            lead=lead,
            margin=margin,
            T_target_source_rival=rival.T_target_source,
            scale_rival=rival.scale,
        )
    score = values[best]

    def is_as_good(points: np.ndarray) -> bool:
        values = _values(points, field) * weight(result.scale)
        lead, margin = _lead(score, values, blocks)
        return margin < SLIDE_MARGIN and not _leads(lead, margin, protocol)

    problem = (
        _problem(result, protocol)
        or _misplaced(result, sample, max_offset_m + cell, protocol.max_tilt_deg)
        or _sliding(result, places[best].points, SLIDE_CELLS * cell, is_as_good)
    )
    return replace(result, converged=not problem, reason=problem or _praise(result))


def _praise(result: CoarseRegistration) -> str:
    text = f"{result.fitness:.0%} of the source lie on the target"
    if result.T_target_source_rival is None:
        return f"{text}, and every start ended there"
    return (
        f"{text}, and no other place comes near: the runner-up is {result.lead:.0%} or "
        f"{result.margin:.1f} standard errors behind"
    )


def not_tried(
    T_initial: np.ndarray, n_source: int, n_target: int, protocol: CoarseProtocol
) -> CoarseRegistration:
    """Return a failure for lack of points."""
    return _failure(
        T_initial,
        f"{n_source} cells of the source and {n_target} points of the target within reach "
        f"are too few: {protocol.min_points} are needed; {_WAY_OUT}",
    )


def no_place(T_initial: np.ndarray, max_offset_m: float) -> CoarseRegistration:
    """Return a failure where the source does not meet the target."""
    return _failure(T_initial, f"no place within {max_offset_m:g} m has a hit; {_WAY_OUT}")


def _failure(T_initial: np.ndarray, reason: str) -> CoarseRegistration:
    return CoarseRegistration(T_target_source=T_initial, converged=False, reason=reason)


def _problem(result: CoarseRegistration, protocol: CoarseProtocol) -> str:
    if result.fitness < protocol.min_overlap:
        return (
            f"only {result.fitness:.0%} of the source lie on the target at the best place, "
            f"{protocol.min_overlap:.0%} are needed; is it the same place, within the offset?"
        )
    if not _leads(result.lead, result.margin, protocol):
        assert result.T_target_source_rival is not None
        return (
            f"ambiguous: {_named(result.T_target_source_rival)} fits as well as "
            f"{_named(result.T_target_source)}, {result.lead:.1%} or {result.margin:.1f} standard "
            "errors behind; give a start, or a larger part of the place"
        )
    return ""


def _leads(lead: float, margin: float, protocol: CoarseProtocol) -> bool:
    return lead >= protocol.min_lead and margin >= protocol.min_margin


def _sliding(
    result: CoarseRegistration,
    points: np.ndarray,
    step_m: float,
    is_as_good: Callable[[np.ndarray], bool],
) -> str:
    along = sliding_along(points, result.open_directions, step_m, is_as_good)
    return along and f"the surface leaves open {along}: {step_m:.1f} m along it fit as well"


def _misplaced(
    result: CoarseRegistration, sample: Sample, max_offset_m: float, max_tilt_deg: float
) -> str:
    """Return the reason if a pose is tilted or lies beyond the offset, else ""."""
    T = result.T_target_source
    tilt = float(np.degrees(np.arccos(np.clip(T[2, 2], -1.0, 1.0))))
    if tilt > max_tilt_deg:
        return f"the best place leans by {tilt:.1f} deg, {max_tilt_deg:g} are believed"
    moved = sample.middle @ result.S_target_source[:3, :3].T + T[:3, 3]
    offset = min(_reach(T[:3, 3]), _reach(moved - sample.middle))
    if offset > max_offset_m:
        return f"the best place is {offset:.1f} m off, beyond the largest offset; raise it"
    return ""


def _reach(shift: np.ndarray) -> float:
    return max(float(np.hypot(shift[0], shift[1])), abs(float(shift[2])))


def _values(points: np.ndarray, field: Field) -> np.ndarray:
    from aerotwin_registration.coarse import kernels

    in_place = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    return kernels.scores(field.nodes(points), in_place, field.values)


def _blocks(points: np.ndarray, edge_m: float) -> np.ndarray:
    keys = np.floor(points[:, :2] / edge_m).astype(np.int64)
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()


def _is_apart(a: CandidatePose, b: CandidatePose, apart_m: float) -> bool:
    return rms_length(a.points - b.points) >= apart_m


def _lead(best: np.ndarray, other: np.ndarray, blocks: np.ndarray) -> tuple[float, float]:
    difference = best - other
    sums = np.bincount(blocks, weights=difference)
    n = len(sums)
    error = np.sqrt(np.sum((sums - sums.mean()) ** 2) * n / max(n - 1, 1)) if n > 1 else np.inf
    lead = float(difference.sum())
    return lead / max(float(best.sum()), 1e-12), lead / max(float(error), 1e-12)


def _chain(T: np.ndarray, scale: float, T_initial: np.ndarray) -> np.ndarray:
    chained = T @ T_initial
    chained[:3, 3] = scale * T[:3, :3] @ T_initial[:3, 3] + T[:3, 3]
    return chained


def _named(T: np.ndarray) -> str:
    yaw = np.degrees(np.arctan2(T[1, 0], T[0, 0]))
    return f"yaw {yaw:.1f} deg at ({T[0, 3]:.1f}, {T[1, 3]:.1f}, {T[2, 3]:.1f}) m"


def sliding_along(
    points: np.ndarray,
    directions: tuple[OpenDirection, ...],
    step_m: float,
    is_as_good: Callable[[np.ndarray], bool],
) -> str:
    """Return the first open motion along which the points fit as well elsewhere; "" if none.

    An open direction is one of small steps: normals hardly constrain them. Over metres a wall at
    the end of a road does, and then the pose is determined. A plane goes on. The source's `points`
    (n, 3) are moved by `step_m` forward and backward; `is_as_good` judges the moved points.
    """
    for direction in directions:
        for step in (-step_m, step_m):
            if is_as_good(_slid(points, direction, step)):
                return direction.text
    return ""


def _slid(points: np.ndarray, direction: OpenDirection, step_m: float) -> np.ndarray:
    """Return points moved by a step along a direction, whose turns are in units of the radius."""
    centre = points.mean(axis=0)
    arms = points - centre
    radius = max(rms_length(arms), 1e-12)
    turn = Rotation.from_rotvec(step_m / radius * direction.rotation)
    growth = np.exp(step_m / radius * direction.growth)
    return centre + step_m * direction.translation + growth * turn.apply(arms)
