# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Association of estimated poses with reference poses, and how much of the reference they cover."""

import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol

MAX_GAP_S = TrajectoryProtocol().max_gap_s
LOST_PERIODS = 3.0
"""A gap longer than this many usual periods counts as lost time."""


def pair(
    reference: Trajectory, estimate: Trajectory, protocol: TrajectoryProtocol
) -> tuple[Trajectory, Trajectory, np.ndarray]:
    """Return reference and estimate at common stamps, and the indices of the estimate's poses.

    `nearest`: each pose of the shorter trajectory is paired with the nearest of the longer one, as
    in evo. `interpolate`: the reference at the estimate's stamps, linear in position and spherical
    in attitude, where two of its poses at most `max_gap_s` apart enclose the stamp.
    """
    if protocol.association == "interpolate":
        return _interpolated(reference, estimate, protocol.max_gap_s)
    i, j = associate(reference, estimate, max_gap_s=protocol.max_gap_s)
    is_denser = len(estimate) > len(reference)
    stamps = reference.stamps_ns[i] if is_denser else estimate.stamps_ns[j]
    return reference.select(i, stamps), estimate.select(j, stamps), j


def associate(
    reference: Trajectory, estimate: Trajectory, *, max_gap_s: float = MAX_GAP_S
) -> tuple[np.ndarray, np.ndarray]:
    """Return indices (into reference, into estimate) of poses with nearest stamps, as evo pairs.

    Each pose of the shorter trajectory is paired with the nearest of the longer one at most
    max_gap_s away; of two equally near ones, with the earlier.
    """
    if min(len(reference), len(estimate)) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    is_denser = len(estimate) > len(reference)
    short, long = (reference, estimate) if is_denser else (estimate, reference)
    nearest, gap_s = _nearest(long.stamps_ns, short.stamps_ns)
    near = np.flatnonzero(gap_s <= max_gap_s)
    return (near, nearest[near]) if is_denser else (nearest[near], near)


def _nearest(stamps_ns: np.ndarray, query_ns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of the stamp nearest to each query, and its distance [s].

    Computed in seconds of double precision, as in evo: where two stamps are equally near in
    decimals, as in TUM fr2/desk, rounding decides there, and so it must here.
    """
    stamps, query = _seconds(stamps_ns), _seconds(query_ns)
    above = np.clip(np.searchsorted(stamps, query, side="right"), 0, len(stamps) - 1)
    below = np.maximum(above - 1, 0)
    gap_above, gap_below = np.abs(stamps[above] - query), np.abs(query - stamps[below])
    return np.where(gap_below <= gap_above, below, above), np.minimum(gap_above, gap_below)


def _seconds(stamps_ns: np.ndarray) -> np.ndarray:
    """Return the doubles nearest to stamps; whole seconds are exact, so rounding occurs once."""
    whole, rest = np.divmod(stamps_ns, 10**9)
    return whole + rest * 1e-9


def interpolation_hint(reference: Trajectory, protocol: TrajectoryProtocol) -> str:
    """Return the options that score poses between the reference's; empty where they do not help.

    They help where the nearest reference pose is often beyond the pairing limit. The suggested gap
    is three median periods of the reference, rounded up to two digits.
    """
    if protocol.association == "interpolate" or len(reference) < 2:
        return ""
    period_s = float(np.median(np.diff(reference.stamps_ns))) * 1e-9
    if period_s <= 2.0 * protocol.max_gap_s:
        return ""
    gap_s = LOST_PERIODS * period_s
    digit_s = 10.0 ** (np.floor(np.log10(gap_s)) - 1.0)
    gap_s = float(np.ceil(gap_s / digit_s - 1e-6) * digit_s)
    return f"--association interpolate --max-gap-s {gap_s:.2g}"


def _interpolated(
    reference: Trajectory, estimate: Trajectory, max_gap_s: float
) -> tuple[Trajectory, Trajectory, np.ndarray]:
    inside = np.flatnonzero(is_enclosed(reference, estimate.stamps_ns, max_gap_s))
    chosen = estimate.select(inside)
    if len(inside) == 0:
        return reference.select(inside), chosen, inside
    return reference.interpolate(chosen.stamps_ns), chosen, inside


def is_enclosed(trajectory: Trajectory, stamps_ns: np.ndarray, max_gap_s: float) -> np.ndarray:
    """Return whether stamps (n,) meet a pose or lie between two at most max_gap_s apart."""
    own = trajectory.stamps_ns
    if len(own) < 2:
        return np.zeros(len(stamps_ns), dtype=bool)
    after = np.clip(np.searchsorted(own, stamps_ns, side="left"), 1, len(own) - 1)
    bridged = own[after] - own[after - 1] <= max_gap_s * 1e9
    meets = (own[after] == stamps_ns) | (own[after - 1] == stamps_ns)
    return ((stamps_ns >= own[0]) & (stamps_ns <= own[-1]) & bridged) | meets


def coverage_of(
    reference: Trajectory,
    estimate: Trajectory,
    frame_stamps_ns: np.ndarray | None,
    protocol: TrajectoryProtocol,
) -> float:
    """Return the share of the frames, or without them of the reference's time, with a pose."""
    gap_s = protocol.keyframe_gap_s
    if frame_stamps_ns is None:
        return coverage_of_time(reference, estimate, keyframe_gap_s=gap_s)
    return coverage_of_frames(
        frame_stamps_ns, estimate, max_gap_s=protocol.max_gap_s, keyframe_gap_s=gap_s
    )


def coverage_of_frames(
    frame_stamps_ns: np.ndarray,
    estimate: Trajectory,
    *,
    max_gap_s: float = MAX_GAP_S,
    keyframe_gap_s: float = 0.0,
) -> float:
    """Return the share of frames (n,) that have a pose within max_gap_s.

    Frames between two poses at most `keyframe_gap_s` apart have one, too.
    """
    if len(frame_stamps_ns) == 0 or len(estimate) == 0:
        return 0.0
    _, gap_s = _nearest(estimate.stamps_ns, frame_stamps_ns)
    has_pose = gap_s <= max_gap_s
    if keyframe_gap_s > 0.0:
        has_pose |= is_covered(estimate, frame_stamps_ns, keyframe_gap_s)
    return float(np.mean(has_pose))


def coverage_of_time(
    reference: Trajectory, estimate: Trajectory, *, keyframe_gap_s: float = 0.0
) -> float:
    """Return the share of the reference's duration in which the estimate has poses.

    Gaps of more than three usual periods of the estimate, or of key-frames those longer than
    `keyframe_gap_s`, are not covered.
    """
    if len(reference) < 2 or len(estimate) < 2:
        return 0.0
    first, last = int(reference.stamps_ns[0]), int(reference.stamps_ns[-1])
    low = np.clip(estimate.stamps_ns[:-1], first, last)
    high = np.clip(estimate.stamps_ns[1:], first, last)
    tracked = ~is_pause(estimate.stamps_ns, keyframe_gap_s)
    return float(np.sum((high - low)[tracked]) / (last - first))


def is_pause(stamps_ns: np.ndarray, keyframe_gap_s: float = 0.0) -> np.ndarray:
    """Return (n - 1,) whether steps between stamps (n,) are longer than three usual ones.

    Those of key-frames are pauses if they are longer than `keyframe_gap_s` above 0.
    """
    steps = np.diff(stamps_ns)
    if keyframe_gap_s > 0.0:
        return steps > keyframe_gap_s * 1e9
    return steps > LOST_PERIODS * max(float(np.median(steps)), 1.0) if len(steps) else steps > 0


def is_covered(
    estimate: Trajectory, stamps_ns: np.ndarray, keyframe_gap_s: float = 0.0
) -> np.ndarray:
    """Return at which stamps (n,) the estimate has poses, by the rule of `coverage_of_time`."""
    own = estimate.stamps_ns
    if len(own) < 2:
        return np.zeros(len(stamps_ns), dtype=bool)
    after = np.clip(np.searchsorted(own, stamps_ns, side="left"), 1, len(own) - 1)
    inside = (stamps_ns >= own[0]) & (stamps_ns <= own[-1])
    return inside & ~is_pause(own, keyframe_gap_s)[after - 1]
