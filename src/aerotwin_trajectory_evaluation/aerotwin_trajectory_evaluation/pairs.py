# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose pairs: for relative errors as in evo, for segments as in KITTI and rpg.

Pairs are computed on arrays; the tests compare them with evo's loops.
"""

import numpy as np

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
