# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which pose of the estimate belongs to which of the reference, and how much is covered."""

import numpy as np

from aerotwin_core.trajectory import Trajectory

MAX_GAP_S = 0.01
# A gap longer than this many usual periods counts as lost time.
_LOST_PERIODS = 3.0


def associate(
    reference: Trajectory, estimate: Trajectory, *, max_gap_s: float = MAX_GAP_S
) -> tuple[np.ndarray, np.ndarray]:
    """Return indices (into reference, into estimate) of poses with nearest stamps, as evo pairs.

    Each pose of the shorter trajectory takes the nearest of the longer one, at most max_gap_s away.
    """
    from evo.core.sync import matching_time_indices

    start = int(reference.stamps_ns[0]) if len(reference) else 0
    seconds = [(t.stamps_ns - start) * 1e-9 for t in (reference, estimate)]
    if min(len(reference), len(estimate)) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if len(estimate) > len(reference):
        i, j = matching_time_indices(seconds[0], seconds[1], max_gap_s)
    else:
        j, i = matching_time_indices(seconds[1], seconds[0], max_gap_s)
    return np.array(i, dtype=np.int64), np.array(j, dtype=np.int64)


def take(trajectory: Trajectory, index: np.ndarray, stamps_ns: np.ndarray) -> Trajectory:
    """Return the poses at index (n,), under common stamps."""
    return Trajectory(stamps_ns, trajectory.p_ref_body[index], trajectory.q_ref_body[index])


def coverage_of_frames(
    frame_stamps_ns: np.ndarray, estimate: Trajectory, *, max_gap_s: float = MAX_GAP_S
) -> float:
    """Return the share of frames (n,) that have a pose within max_gap_s."""
    if len(frame_stamps_ns) == 0 or len(estimate) == 0:
        return 0.0
    own = estimate.stamps_ns
    right = np.clip(np.searchsorted(own, frame_stamps_ns), 0, len(own) - 1)
    left = np.maximum(right - 1, 0)
    gap = np.minimum(np.abs(own[right] - frame_stamps_ns), np.abs(own[left] - frame_stamps_ns))
    return float(np.mean(gap <= max_gap_s * 1e9))


def coverage_of_time(reference: Trajectory, estimate: Trajectory) -> float:
    """Return the share of the reference's duration in which the estimate has poses.

    Gaps of more than three usual periods of the estimate are not covered.
    """
    if len(reference) < 2 or len(estimate) < 2:
        return 0.0
    first, last = int(reference.stamps_ns[0]), int(reference.stamps_ns[-1])
    steps = np.diff(estimate.stamps_ns)
    low = np.clip(estimate.stamps_ns[:-1], first, last)
    high = np.clip(estimate.stamps_ns[1:], first, last)
    tracked = steps <= _LOST_PERIODS * np.median(steps)
    return float(np.sum((high - low)[tracked]) / (last - first))
