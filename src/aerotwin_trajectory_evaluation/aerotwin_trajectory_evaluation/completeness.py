# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Share of the reference that was tracked, and incidents with their times, found from the data.

An estimate is lost by its distance to truth, never by the method's own report.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.association import LOST_PERIODS, is_pause
from aerotwin_trajectory_evaluation.metrics import travelled
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol

KINDS = ("late start", "early end", "gap", "lost", "jump")
_JUMP_USUAL = 10.0
# Neighbouring incidents of one kind are one: at most this apart [s].
_SAME_S = 0.5
_MAX_LISTED = 100


@dataclass(frozen=True, kw_only=True)
class Incident:
    """A problem of one of `KINDS`, from `from_s` to `to_s` since the reference's first pose [s].

    `size` is the largest error of a loss or jump [m], else the duration [s].
    """

    kind: str
    from_s: float
    to_s: float
    size: float

    @property
    def text(self) -> str:
        """Description of the incident."""
        if self.kind == "lost":
            return f"up to {self.size:.2f} m from truth"
        if self.kind == "jump":
            return f"moved {self.size:.2f} m otherwise than truth within one step"
        return f"no pose for {self.size:.2f} s"

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        return {**asdict(self), "text": self.text}


@dataclass(frozen=True, kw_only=True)
class Completeness:
    """Share of the reference that the scores represent.

    `tracked_path` is the share of the true path along which there is an estimate that is not lost,
    `not_lost` the share of the pairs that are not lost; lost is an error above `lost_above_m` [m].
    `n_without_reference` poses of the estimate have no pose of the reference to compare with. `auc`
    is the area under the curve of the share of time covered with an error below a limit, over
    limits from 0 to `auc_m`, normalised to 1. `incidents` are in order of time, at most 100;
    `n_incidents` is the number of all by kind.
    """

    tracked_path: float
    not_lost: float
    n_without_reference: int
    auc: float
    lost_above_m: float
    incidents: tuple[Incident, ...]
    n_incidents: dict[str, int]

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        return asdict(self) | {"incidents": [incident.plain() for incident in self.incidents]}


def judge_completeness(
    reference: Trajectory,
    estimate: Trajectory,
    paired: Trajectory,
    index: np.ndarray,
    errors_m: np.ndarray,
    step_errors_m: np.ndarray,
    *,
    coverage: float,
    protocol: TrajectoryProtocol,
) -> Completeness:
    """Return how complete an estimate is.

    `reference` and `estimate` are on one clock, before pairing; `paired` is the reference at the
    pairs, `index` (n,) the paired poses of the estimate. `errors_m` (n,) are the aligned errors of
    the pairs, `step_errors_m` (n - 1,) those of the motion from each pair to the next [m];
    `coverage` is the share of the frames or of the time with a pose.
    """
    limit_m = max(
        protocol.lost_m, protocol.lost_percent / 100.0 * float(travelled(reference.p_ref_body)[-1])
    )
    seconds = (paired.stamps_ns - reference.stamps_ns[0]) * 1e-9
    is_lost = errors_m > limit_m
    found = _silences(reference, estimate, protocol)
    found += _runs("lost", seconds, is_lost, errors_m)
    found += _jumps(seconds, step_errors_m, protocol)
    found.sort(key=lambda incident: (incident.from_s, incident.kind))
    return Completeness(
        tracked_path=_tracked_path(reference, estimate, paired, index, is_lost, protocol),
        not_lost=float(np.mean(~is_lost)),
        n_without_reference=max(len(estimate) - len(paired), 0),
        auc=coverage * float(np.mean(np.clip(1.0 - errors_m / protocol.auc_m, 0.0, 1.0))),
        lost_above_m=limit_m,
        incidents=tuple(found[:_MAX_LISTED]),
        n_incidents={kind: sum(i.kind == kind for i in found) for kind in KINDS},
    )


def _silences(
    reference: Trajectory, estimate: Trajectory, protocol: TrajectoryProtocol
) -> list[Incident]:
    """Return a late start, an early end, and gaps of the estimate within the reference's time."""
    silence_s = max(protocol.silence_s, protocol.keyframe_gap_s)
    own = (estimate.stamps_ns - reference.stamps_ns[0]) * 1e-9
    end = float(reference.stamps_ns[-1] - reference.stamps_ns[0]) * 1e-9
    found = []
    if own[0] > silence_s:
        found.append(Incident(kind="late start", from_s=0.0, to_s=own[0], size=own[0]))
    if end - own[-1] > silence_s:
        found.append(Incident(kind="early end", from_s=own[-1], to_s=end, size=end - own[-1]))
    periods = np.diff(own)
    if len(periods):
        is_gap = (periods > silence_s) & is_pause(estimate.stamps_ns, protocol.keyframe_gap_s)
        for k in np.flatnonzero(is_gap):
            gap = {"from_s": float(own[k]), "to_s": float(own[k + 1]), "size": float(periods[k])}
            found.append(Incident(kind="gap", **gap))
    return [_floats(incident) for incident in found]


def _floats(incident: Incident) -> Incident:
    values = {name: float(getattr(incident, name)) for name in ("from_s", "to_s", "size")}
    return Incident(kind=incident.kind, **values)


def _jumps(
    seconds: np.ndarray, step_errors_m: np.ndarray, protocol: TrajectoryProtocol
) -> list[Incident]:
    if len(step_errors_m) == 0:
        return []
    periods = np.diff(seconds)
    # Motion over a gap of the estimate is not a jump.
    is_step = periods <= (protocol.keyframe_gap_s or LOST_PERIODS * np.median(periods))
    limit = max(protocol.jump_m, _JUMP_USUAL * float(np.median(step_errors_m)))
    is_jump = np.concatenate([[False], (step_errors_m > limit) & is_step])
    return _runs("jump", seconds, is_jump, np.concatenate([[0.0], step_errors_m]))


def _runs(kind: str, seconds: np.ndarray, holds: np.ndarray, sizes: np.ndarray) -> list[Incident]:
    """Return the stretches where `holds` is true; neighbouring ones are merged."""
    where = np.flatnonzero(holds)
    if len(where) == 0:
        return []
    apart = (np.diff(seconds[where]) > _SAME_S) & (np.diff(where) > 1)
    return [
        Incident(
            kind=kind,
            from_s=float(seconds[part[0]]),
            to_s=float(seconds[part[-1]]),
            size=float(sizes[part].max()),
        )
        for part in np.split(where, np.flatnonzero(apart) + 1)
    ]


def _tracked_path(
    reference: Trajectory,
    estimate: Trajectory,
    paired: Trajectory,
    index: np.ndarray,
    is_lost: np.ndarray,
    protocol: TrajectoryProtocol,
) -> float:
    """Return the share of the path between neighbouring pairs that are present and not lost.

    The estimate is present where it does not pause between the two pairs, however far apart the
    reference's own poses are. Path length is measured on the reference's own poses, so that a
    sparse estimate does not shorten it.
    """
    periods = np.diff(reference.stamps_ns)
    steps = np.diff(travelled(reference.p_ref_body))
    # Nothing is scored in gaps of the reference.
    steps[periods > LOST_PERIODS * np.median(periods)] = 0.0
    path = np.concatenate([[0.0], np.cumsum(steps)])
    if path[-1] <= 0.0 or len(paired) < 2:
        return float(np.mean(~is_lost)) if len(is_lost) else 0.0
    start = reference.stamps_ns[0]
    at = np.interp(paired.stamps_ns - start, reference.stamps_ns - start, path)
    is_apart = is_pause(estimate.stamps_ns, protocol.keyframe_gap_s)
    pauses = np.concatenate([[0], np.cumsum(is_apart)])[index]
    good = (np.diff(pauses) == 0) & ~is_lost[1:] & ~is_lost[:-1]
    return float(min(np.sum(np.diff(at)[good]) / path[-1], 1.0))
