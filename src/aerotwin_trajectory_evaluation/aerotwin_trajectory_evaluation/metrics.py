# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of paired trajectories: absolute (APE), relative (RPE), and drift over segments.

Rotations are used as written in the files (`Trajectory.R_ref_body`), as in evo, so that the scores
are equal to evo's also on files of rounded matrices.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from aerotwin_core.rms import rms
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol

# rpg_trajectory_evaluation, trajectory.py: max_dist_diff = 0.2 * length.
_RPG_TOLERANCE = 0.2


def travelled(p_ref_body: np.ndarray) -> np.ndarray:
    """Return the path length from the first position to each of (n, 3) [m]."""
    if len(p_ref_body) == 0:
        return np.empty(0)
    steps = np.linalg.norm(np.diff(p_ref_body, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def pairs_by_frames(n: int, delta: int, *, all_pairs: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return (first, second) indices that are delta poses apart."""
    if all_pairs:
        first = np.arange(max(n - delta, 0))
        return first, first + delta
    ends = np.arange(0, n, delta)
    return ends[:-1], ends[1:]


def pairs_by_path(
    p_ref_body: np.ndarray, delta_m: float, *, all_pairs: bool, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return (first, second) indices that are delta_m of path apart.

    Without `all_pairs` a pair begins where the last one ended, and ends at the first pose at least
    delta_m on. With it, pairs go from every pose to the one nearest to delta_m on; those that
    deviate by more than the share `tolerance` of delta_m are left out.
    """
    if not all_pairs:
        ends = np.array(_ends_along(p_ref_body, delta_m), dtype=np.int64)
        return ends[:-1], ends[1:]
    path = travelled(p_ref_body)
    first = np.arange(max(len(path) - 1, 0))
    second, miss = _nearest_on_path(path, first, delta_m)
    near = miss <= delta_m * tolerance
    return first[near], second[near]


def _ends_along(p_ref_body: np.ndarray, delta_m: float) -> list[int]:
    # The sum starts anew at each end, as evo's: a running total would round otherwise.
    steps = np.linalg.norm(np.diff(p_ref_body, axis=0), axis=1).tolist()
    ends, since = [0], 0.0
    for i, step in enumerate(steps, 1):
        since += step
        if since >= delta_m:
            ends.append(i)
            since = 0.0
    return ends


def _nearest_on_path(
    path: np.ndarray, first: np.ndarray, delta_m: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the later pose nearest to delta_m on, the earliest of equals, and how far off [m]."""
    above = np.searchsorted(path, path[first] + delta_m, side="left")
    above = np.clip(above, first + 1, len(path) - 1)
    # Where the body stood still several poses are equally near: the first of them counts.
    below = np.searchsorted(path, path[np.maximum(above - 1, 0)], side="left")
    below = np.clip(below, first + 1, len(path) - 1)
    miss_above = np.abs(path[above] - path[first] - delta_m)
    miss_below = np.abs(path[below] - path[first] - delta_m)
    take_below = miss_below <= miss_above
    return np.where(take_below, below, above), np.where(take_below, miss_below, miss_above)


def segment_lengths_m(path: np.ndarray, protocol: TrajectoryProtocol) -> tuple[float, ...]:
    """Return the lengths of the segments [m]; shares of the path are cut to 1 cm, as in rpg."""
    if not protocol.segment_shares:
        return protocol.segment_lengths_m
    whole = float(path[-1]) if len(path) else 0.0
    lengths = (int(share * whole * 100.0) / 100.0 for share in protocol.segment_shares)
    return tuple(length for length in lengths if length > 0.0)


def segments(
    path: np.ndarray, length_m: float, *, step: int, end: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return (first, second) indices of the segments of one length on a path (n,) [m].

    A segment starts at every `step`-th pose. It ends at the first pose farther than length_m
    (`beyond`, KITTI), or the nearest to it, less than a fifth of the length off (`nearest`, rpg).
    """
    first = np.arange(0, len(path), step)
    if end == "beyond":
        second = np.searchsorted(path, path[first] + length_m, side="right")
        inside = second < len(path)
        return first[inside], second[inside]
    first = first[first < len(path) - 1]
    second, miss = _nearest_on_path(path, first, length_m)
    near = miss < _RPG_TOLERANCE * length_m
    return first[near], second[near]


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Summary of a set of `n` errors."""

    n: int
    rmse: float
    mean: float
    median: float
    std: float
    min: float
    max: float

    def plain(self) -> dict[str, float | int]:
        """Return a mapping for JSON."""
        return dataclasses.asdict(self)


def summarise(errors: np.ndarray) -> Statistics | None:
    """Return the summary of errors (n,), None if empty."""
    if len(errors) == 0:
        return None
    return Statistics(
        n=len(errors),
        rmse=rms(errors),
        mean=float(np.mean(errors)),
        median=float(np.median(errors)),
        std=float(np.std(errors)),
        min=float(np.min(errors)),
        max=float(np.max(errors)),
    )


@dataclass(frozen=True, kw_only=True)
class PoseErrors:
    """Errors (n,), one per pose or pair.

    Length of the translation [m], angle of the rotation [deg], Frobenius norm `full` of E - I of
    the 4x4 error E (metres and radians mixed, evo's "full"), and the index `at` of the pose where
    each ends.
    """

    trans_m: np.ndarray
    rot_deg: np.ndarray
    full: np.ndarray
    at: np.ndarray

    def plain(self) -> dict[str, dict | None]:
        """Return summaries for JSON."""
        parts = {
            "trans_m": summarise(self.trans_m),
            "rot_deg": summarise(self.rot_deg),
            "full": summarise(self.full),
        }
        return {name: part.plain() if part else None for name, part in parts.items()}


def absolute_errors(reference: Trajectory, estimate: Trajectory) -> PoseErrors:
    """Return the APE as evo defines it: distance and angle between paired poses, as they are."""
    back = _transpose(estimate.R_ref_body)
    shift = reference.p_ref_body - estimate.p_ref_body
    errors = _pose_errors(
        back @ reference.R_ref_body,
        np.einsum("nij,nj->ni", back, shift),
        np.arange(len(reference)),
        is_exact=_are_exact(reference, estimate),
    )
    # Distances do not pass through rotations, which a file may have rounded.
    return dataclasses.replace(errors, trans_m=np.linalg.norm(shift, axis=1))


def relative_errors(
    reference: Trajectory, estimate: Trajectory, first: np.ndarray, second: np.ndarray
) -> PoseErrors:
    """Return the RPE as evo defines it, over motions from poses `first` to `second` (m,)."""
    R_reference, p_reference = _motion(reference, first, second)
    R_estimate, p_estimate = _motion(estimate, first, second)
    R_back = _transpose(R_reference)
    shift = np.einsum("nij,nj->ni", R_back, p_estimate - p_reference)
    return _pose_errors(
        R_back @ R_estimate, shift, second, is_exact=_are_exact(reference, estimate)
    )


def relative_errors_by_frames(
    reference: Trajectory, estimate: Trajectory, protocol: TrajectoryProtocol
) -> PoseErrors:
    """Return the RPE over `rpe_frames` poses."""
    pairs = pairs_by_frames(len(estimate), protocol.rpe_frames, all_pairs=protocol.rpe_all_pairs)
    return relative_errors(reference, estimate, *pairs)


def relative_errors_by_path(
    reference: Trajectory, estimate: Trajectory, protocol: TrajectoryProtocol
) -> PoseErrors:
    """Return the RPE over `rpe_m` of path."""
    along = reference if protocol.rpe_path == "reference" else estimate
    pairs = pairs_by_path(
        along.p_ref_body,
        protocol.rpe_m,
        all_pairs=protocol.rpe_all_pairs,
        tolerance=protocol.rpe_tolerance,
    )
    return relative_errors(reference, estimate, *pairs)


def _are_exact(reference: Trajectory, estimate: Trajectory) -> bool:
    """Return whether the rotations are orthonormal to the last digit."""
    return reference.R_as_written is None and estimate.R_as_written is None


def _pose_errors(R: np.ndarray, shift: np.ndarray, at: np.ndarray, *, is_exact: bool) -> PoseErrors:
    from_identity = np.sum((R - np.eye(3)) ** 2, axis=(1, 2))
    squared = np.sum(shift**2, axis=1)
    return PoseErrors(
        trans_m=np.sqrt(squared),
        rot_deg=np.degrees(_angles(R, from_identity, is_exact=is_exact)),
        full=np.sqrt(from_identity + squared),
        at=at,
    )


def _angles(R: np.ndarray, from_identity: np.ndarray, *, is_exact: bool) -> np.ndarray:
    """Return the angles of rotations (n, 3, 3), exact near 0 and near pi.

    |R - I|^2 = 8 sin^2(a / 2) and 1 + tr R = 4 cos^2(a / 2). For rounded matrices the nearest
    rotation is used, as in evo: otherwise their rounding would count as a rotation.
    """
    if is_exact or len(R) == 0:
        cosine = np.sqrt(np.maximum(1.0 + np.trace(R, axis1=1, axis2=2), 0.0)) / 2.0
        return 2.0 * np.arctan2(np.sqrt(from_identity / 8.0), cosine)
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).magnitude()


def _transpose(matrices: np.ndarray) -> np.ndarray:
    return matrices.transpose(0, 2, 1)


def _motion(
    trajectory: Trajectory, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (m, 3, 3) and shift (m, 3) of the second poses in the axes of the first."""
    rotations = trajectory.R_ref_body
    back = _transpose(rotations[first])
    shift = trajectory.p_ref_body[second] - trajectory.p_ref_body[first]
    return back @ rotations[second], np.einsum("nij,nj->ni", back, shift)


@dataclass(frozen=True, kw_only=True)
class SegmentDrift:
    """Drift over all segments of one requested length `length_m` [m], one value per segment.

    `trans_percent` [%] and `rot_deg_m` [deg/m] are the error of the motion and its angle, divided
    by the length; `yaw_deg` and `tilt_deg` the parts of the angle about the estimate's vertical,
    and the rest [deg] (rpg: yaw, gravity).
    """

    length_m: float
    trans_percent: np.ndarray
    rot_deg_m: np.ndarray
    yaw_deg: np.ndarray
    tilt_deg: np.ndarray


def segment_drift(
    reference: Trajectory, estimate: Trajectory, protocol: TrajectoryProtocol
) -> tuple[SegmentDrift, ...]:
    """Return the drift over segments along the path of the *reference*, as KITTI or rpg counts."""
    path = travelled(reference.p_ref_body)
    return tuple(
        _drift(
            reference,
            estimate,
            length,
            *segments(path, length, step=protocol.segment_step, end=protocol.segment_end),
        )
        for length in segment_lengths_m(path, protocol)
    )


def _drift(
    reference: Trajectory,
    estimate: Trajectory,
    length_m: float,
    first: np.ndarray,
    second: np.ndarray,
) -> SegmentDrift:
    errors = relative_errors(reference, estimate, first, second)
    yaw, tilt = _yaw_and_tilt(reference, estimate, first, second)
    return SegmentDrift(
        length_m=length_m,
        trans_percent=errors.trans_m / length_m * 100.0,
        rot_deg_m=errors.rot_deg / length_m,
        yaw_deg=yaw,
        tilt_deg=tilt,
    )


def _yaw_and_tilt(
    reference: Trajectory, estimate: Trajectory, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the error's yaw and the norm of its pitch and roll in the estimate's frame [deg].

    As compute_relative_error of rpg_trajectory_evaluation (Zhang and Scaramuzza 2018).
    """
    if len(first) == 0:
        return np.empty(0), np.empty(0)
    R_reference, _ = _motion(reference, first, second)
    R_estimate, _ = _motion(estimate, first, second)
    R_world = estimate.R_ref_body[second]
    error = R_world @ (_transpose(R_reference) @ R_estimate) @ _transpose(R_world)
    yaw = np.arctan2(error[:, 1, 0], error[:, 0, 0])
    pitch = np.arctan2(-error[:, 2, 0], np.hypot(error[:, 0, 0], error[:, 1, 0]))
    roll = np.arctan2(error[:, 2, 1], error[:, 2, 2])
    return np.degrees(np.abs(yaw)), np.degrees(np.hypot(pitch, roll))
