# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of paired trajectories: absolute (APE), relative (RPE), and drift over segments."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.trajectory import Trajectory

SEGMENT_LENGTHS_M = (10.0, 20.0, 30.0, 40.0, 50.0)


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Summary of a set of errors; `n` is how many."""

    n: int
    rmse: float
    mean: float
    median: float
    std: float
    min: float
    max: float

    def plain(self) -> dict[str, float | int]:
        """Return a mapping for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def summarise(errors: np.ndarray) -> Statistics | None:
    """Return the summary of errors (n,), None where there are none."""
    if len(errors) == 0:
        return None
    return Statistics(
        n=len(errors),
        rmse=float(np.sqrt(np.mean(errors**2))),
        mean=float(np.mean(errors)),
        median=float(np.median(errors)),
        std=float(np.std(errors)),
        min=float(np.min(errors)),
        max=float(np.max(errors)),
    )


@dataclass(frozen=True, kw_only=True)
class PoseErrors:
    """Errors in metres and degrees, one each per pose or pair, and the pose where each ends."""

    trans_m: np.ndarray
    rot_deg: np.ndarray
    at: np.ndarray

    def plain(self) -> dict[str, dict | None]:
        """Return summaries for JSON."""
        parts = {"trans_m": summarise(self.trans_m), "rot_deg": summarise(self.rot_deg)}
        return {name: part.plain() if part else None for name, part in parts.items()}


def absolute_errors(reference: Trajectory, estimate: Trajectory) -> PoseErrors:
    """Return the APE as evo defines it: distance and angle between paired poses, as they stand."""
    turn = Rotation.from_quat(reference.q_ref_body).inv() * Rotation.from_quat(estimate.q_ref_body)
    return PoseErrors(
        trans_m=np.linalg.norm(estimate.p_ref_body - reference.p_ref_body, axis=1),
        rot_deg=np.degrees(turn.magnitude()),
        at=np.arange(len(reference)),
    )


def relative_errors(
    reference: Trajectory, estimate: Trajectory, *, delta: float, unit: str
) -> PoseErrors:
    """Return the RPE as evo defines it, over consecutive pairs.

    Parameters
    ----------
    delta, unit : float, {"m", "frames"}
        Distance between the poses of a pair; metres are counted along the path of the estimate,
        and a pair ends at the first pose that is at least `delta` away.
    """
    ends = _ends_of_pairs(estimate, delta, unit)
    first, second = ends[:-1], ends[1:]
    shift_r, turn_r = _motion(reference, first, second)
    shift_e, turn_e = _motion(estimate, first, second)
    return PoseErrors(
        trans_m=np.linalg.norm(shift_e - shift_r, axis=1),
        rot_deg=np.degrees((turn_r.inv() * turn_e).magnitude()),
        at=second,
    )


def _ends_of_pairs(estimate: Trajectory, delta: float, unit: str) -> np.ndarray:
    if unit == "frames":
        return np.arange(0, len(estimate), int(delta))
    steps = np.linalg.norm(np.diff(estimate.p_ref_body, axis=0), axis=1).tolist()
    ends, travelled = [0], 0.0
    for i, step in enumerate(steps, 1):
        travelled += step
        if travelled >= delta:
            ends.append(i)
            travelled = 0.0
    return np.array(ends, dtype=np.int64)


def _motion(
    trajectory: Trajectory, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, Rotation]:
    """Return shift (n, 3) and turn of the second poses in the axes of the first."""
    turn = Rotation.from_quat(trajectory.q_ref_body[first]).inv()
    shift = turn.apply(trajectory.p_ref_body[second] - trajectory.p_ref_body[first])
    return shift, turn * Rotation.from_quat(trajectory.q_ref_body[second])


@dataclass(frozen=True, kw_only=True)
class SegmentDrift:
    """Drift over all segments of one length: per cent of the length, and degrees per metre."""

    length_m: float
    trans_percent: np.ndarray
    rot_deg_m: np.ndarray


def segment_drift(
    reference: Trajectory,
    estimate: Trajectory,
    lengths_m: tuple[float, ...] = SEGMENT_LENGTHS_M,
) -> tuple[SegmentDrift, ...]:
    """Return the drift over segments as KITTI counts it, from every pose on.

    A segment ends at the first pose where the *reference* has travelled more than its length. The
    error is the estimate's motion over the segment against the reference's.
    """
    travelled = np.concatenate(
        [[0.0], np.cumsum(np.linalg.norm(np.diff(reference.p_ref_body, axis=0), axis=1))]
    )
    drifts = []
    for length in lengths_m:
        ends = np.searchsorted(travelled, travelled + length, side="right")
        starts = np.flatnonzero(ends < len(travelled))
        shift_r, turn_r = _motion(reference, starts, ends[starts])
        shift_e, turn_e = _motion(estimate, starts, ends[starts])
        drifts.append(
            SegmentDrift(
                length_m=length,
                trans_percent=np.linalg.norm(shift_r - shift_e, axis=1) / length * 100.0,
                rot_deg_m=np.degrees((turn_e.inv() * turn_r).magnitude()) / length,
            )
        )
    return tuple(drifts)
