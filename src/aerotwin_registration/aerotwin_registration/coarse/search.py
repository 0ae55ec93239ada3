# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The search: every yaw, every shift of a window, and refinement of the best poses."""

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import maximum_filter

from aerotwin_registration.coarse.field import Field

N_PEAKS = 6  # peaks retained of each yaw and window
N_PARTS = 8
_N_THREADS = min(len(os.sched_getaffinity(0)), N_PARTS)
N_HALVINGS = 6  # refinement ends at 1/64 of a coarse step


@dataclass(frozen=True, kw_only=True)
class Window:
    """Search region of the source's middle at yaw 0, and how it turns with the yaw.

    It is centred at centre + R(yaw) scale lever [m] and extends by `reach_m` horizontally and
    vertically.
    """

    centre: np.ndarray
    lever: np.ndarray
    reach_m: float

    def middle(self, yaw: float, scale: float) -> np.ndarray:
        """Return the middle of the window at a yaw [rad] and scale."""
        return self.centre + scale * rotation(yaw) @ self.lever


def search(
    points: np.ndarray,
    field: Field,
    windows: list[Window],
    yaws: np.ndarray,
    scales: np.ndarray,
    weight: Callable[[float], float],
) -> np.ndarray:
    """Return the peaks of the correlation over all yaws, scales and shifts, best first.

    `points` (n, 3) are the source about its middle [m]; `weight` weights a score by its scale.
    Poses (k, 5) are the middle of the source in the target (x, y, z) [m], yaw [rad] and scale.
    """
    tasks = [(yaw, scale, w) for scale in scales for yaw in yaws for w in windows]
    with ThreadPoolExecutor(_N_THREADS) as pool:
        found = list(pool.map(lambda task: _peaks(points, field, *task), tasks))
    poses = np.concatenate([poses for poses, _ in found])
    scores = np.concatenate(
        [weight(scale) * values for (_, scale, _), (_, values) in zip(tasks, found, strict=True)]
    )
    return poses[np.argsort(-scores, kind="stable")]


def _peaks(
    points: np.ndarray, field: Field, yaw: float, scale: float, window: Window
) -> tuple[np.ndarray, np.ndarray]:
    from aerotwin_registration.coarse import kernels

    cell, n = field.cell_m, int(np.ceil(window.reach_m / field.cell_m))
    first = window.middle(yaw, scale) - n * cell
    nodes = np.rint(field.nodes(scale * points @ rotation(yaw).T + first)).astype(np.int32)
    sums = np.zeros((2 * n + 1,) * 3, dtype=np.int32)
    kernels.correlate(np.ascontiguousarray(nodes), field.values, sums)
    off = cell * (np.arange(2 * n + 1) - n)
    sums[:, np.hypot(off[:, None], off) > window.reach_m + cell] = 0
    peaks = np.flatnonzero((sums == maximum_filter(sums, 3)) & (sums > 0))
    peaks = peaks[np.argsort(-sums.ravel()[peaks], kind="stable")][:N_PEAKS]
    z, y, x = np.unravel_index(peaks, sums.shape)
    poses = np.empty((len(peaks), 5))
    poses[:, :3] = first + cell * np.column_stack([x, y, z])
    poses[:, 3:] = yaw, scale
    return poses, sums.ravel()[peaks] / (255.0 * len(points))


def refine(
    points: np.ndarray,
    field: Field,
    poses: np.ndarray,
    steps: np.ndarray,
    weight: Callable[[float], float],
) -> np.ndarray:
    """Return poses moved uphill by first steps (5,) [m, rad, log(scale)], 0 fixed; best first."""
    from aerotwin_registration.coarse import kernels

    unit = np.array([field.cell_m] * 3 + [1.0, 1.0])
    zero = np.concatenate([field.origin_m, [0.0, 0.0]])
    moved = (poses - zero) / unit
    in_nodes = np.ascontiguousarray(points / field.cell_m)

    def work(part: slice) -> None:
        kernels.climb(in_nodes, moved[part], steps / unit, N_HALVINGS, field.values)

    edges = np.linspace(0, len(poses), N_PARTS + 1).astype(int)
    with ThreadPoolExecutor(_N_THREADS) as pool:
        list(pool.map(work, [slice(a, b) for a, b in itertools.pairwise(edges)]))
    scores = np.array(
        [weight(pose[4]) * kernels.score(in_nodes, pose, field.values) for pose in moved]
    )
    return moved[np.argsort(-scores, kind="stable")] * unit + zero


def distinct(poses: np.ndarray, radius_m: float, apart_m: float, n_most: int) -> np.ndarray:
    """Return the indices of poses (k, 5), best first, that are distinct.

    `radius_m` is the RMS distance of the source's points from their vertical axis; poses whose RMS
    displacement of the points is below `apart_m` count as the same [m].
    """
    retained: list[int] = []
    for k, pose in enumerate(poses):
        if all(displacement(pose, poses[j], radius_m) >= apart_m for j in retained):
            retained.append(k)
            if len(retained) == n_most:
                break
    return np.array(retained, dtype=np.int64)


def displacement(a: np.ndarray, b: np.ndarray, radius_m: float) -> float:
    """Return the RMS distance between a cloud's points at two poses (5,) [m], heights unscaled."""
    shift = float(np.sum((a[:3] - b[:3]) ** 2))
    turn = a[4] ** 2 + b[4] ** 2 - 2.0 * a[4] * b[4] * np.cos(a[3] - b[3])
    return float(np.sqrt(shift + radius_m**2 * max(turn, 0.0)))


def rotation(yaw: float) -> np.ndarray:
    """Return R_z(yaw) (3, 3)."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
