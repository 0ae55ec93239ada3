# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Deviation measured by GNSS, as in the field, where no other reference of the robot's pose exists.

The teach path is in the map frame and the repeat in that of the receiver; they are aligned first:
by the first point, by ICP of the paths, or by the marks. The ICP hides any deviation of the repeat
as a whole, lateral deviation included; the others do not.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_repeat_evaluation.floor import rigid_fit
from aerotwin_repeat_evaluation.path_errors import lateral_errors

ICP_MAX_ITERATIONS = 50
ICP_TOLERANCE = 1e-6
"""Change of the mean distance at which the path ICP ends [m] (VTR3's scripts: SVD, 50, 1e-6)."""
_ROUTE_STEP_M = 0.05


@dataclass(frozen=True, kw_only=True)
class PostProcessedGnssNoise:
    """Errors of a post-processed receiver.

    `white_m` is the standard deviation of each sample, horizontal; vertically twice that [m].
    `gaps` are fractions (from, to) of the run, 0 to 1, without a fix.
    """

    white_m: float = 0.02
    gaps: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class PseudoGnssErrors:
    """Lateral errors of one repeat against the teach path, with three alignments of the frames.

    Attributes
    ----------
    first_point_m, path_icp_m, marks_m : (n,) arrays
        After moving the path's first point onto the repeat's; after ICP of both; after the best
        rigid fit of the marks, None if they are not known in both frames [m].
    icp_shift_m, icp_yaw_rad : float
        Motion of the path by the ICP beyond the first-point translation: an offset it hides.
    """

    first_point_m: np.ndarray
    path_icp_m: np.ndarray
    marks_m: np.ndarray | None
    icp_shift_m: float
    icp_yaw_rad: float
    icp_n_iterations: int


def gnss_positions(p_true: np.ndarray, noise: PostProcessedGnssNoise, *, seed: int) -> np.ndarray:
    """Return measured positions for true positions (n, 3): noise added, gaps left out [m]."""
    p = np.asarray(p_true, np.float64)
    rng = np.random.default_rng([seed, 733])
    said = p + rng.normal(0.0, noise.white_m, p.shape) * [1.0, 1.0, 2.0]
    share = np.linspace(0.0, 1.0, len(p))
    is_there = np.ones(len(p), bool)
    for low, high in noise.gaps:
        is_there &= (share < low) | (share > high)
    return said[is_there]


def pseudo_gnss_errors(
    teach_path: np.ndarray,
    gnss: np.ndarray,
    *,
    marks: tuple[np.ndarray, np.ndarray] | None = None,
    window_m: float | None = None,
    s_start_m: float = 0.0,
) -> PseudoGnssErrors:
    """Return the lateral errors of a repeat by GNSS against the teach path.

    Parameters
    ----------
    teach_path : (k, 3) array
        In the map [m].
    gnss : (n, 3) array
        Positions of the repeat in the receiver's frame, which differs from the map by a rigid
        motion, with a heading difference that the marks or the ICP can correct [m].
    marks : (m, 3) and (m, 3) arrays, optional
        The same marks in the map and in the receiver's frame, at least three [m].
    s_start_m : float
        Arc length on the path at which the repeat began [m].
    """
    path, said = (np.asarray(p, np.float64)[:, :2] for p in (teach_path, gnss))
    shifted = path + (said[0] - path[0])
    R, t, n_iterations = _path_icp(shifted, said)
    fitted = shifted @ R.T + t

    def errors(moved: np.ndarray) -> np.ndarray:
        return lateral_errors(moved, said, window_m=window_m, s_near_m=s_start_m).error_m

    by_marks = None
    if marks is not None:
        in_map, in_gnss = (_flat(np.asarray(p, np.float64)) for p in marks)
        R_gnss_map, shift, _ = rigid_fit(in_map, in_gnss)
        by_marks = errors((_flat(path) @ R_gnss_map.T + shift)[:, :2])
    return PseudoGnssErrors(
        first_point_m=errors(shifted),
        path_icp_m=errors(fitted),
        marks_m=by_marks,
        icp_shift_m=float(np.linalg.norm((fitted - shifted).mean(axis=0))),
        icp_yaw_rad=float(np.arctan2(R[1, 0], R[0, 0])),
        icp_n_iterations=n_iterations,
    )


def _flat(points: np.ndarray) -> np.ndarray:
    """Return points (n, d) projected into the horizontal plane, (n, 3)."""
    return np.column_stack([points[:, :2], np.zeros(len(points))])


def _path_icp(path: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return rotation (2, 2), shift (2,) and iterations of the ICP of a path onto positions."""
    from scipy.spatial import cKDTree

    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1)))
    even = np.linspace(0.0, s[-1], max(int(s[-1] / _ROUTE_STEP_M), 2))
    dense = np.column_stack([np.interp(even, s, column) for column in path.T])
    tree = cKDTree(dense)
    R, t, before = np.eye(2), np.zeros(2), np.inf
    n_iterations = 0
    while n_iterations < ICP_MAX_ITERATIONS:
        n_iterations += 1
        distance, nearest = tree.query((target - t) @ R)
        R3, shift, _ = rigid_fit(_flat(dense[nearest]), _flat(target))
        R, t = R3[:2, :2], shift[:2]
        if abs(before - distance.mean()) < ICP_TOLERANCE:
            break
        before = distance.mean()
    return R, t, n_iterations
