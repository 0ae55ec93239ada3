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
from aerotwin_repeat_evaluation.path_errors import arc_length, lateral_errors

ICP_MAX_ITERATIONS = 50
ICP_TOLERANCE = 1e-6
"""Change of the mean distance at which the path ICP ends [m] (VTR3's scripts: SVD, 50, 1e-6)."""
_ROUTE_STEP_M = 0.05
_NOISE_M = 0.02
"""Horizontal standard deviation of a post-processed receiver, vertically twice that [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PseudoGnssErrors:
    """Lateral errors of one repeat against the teach path, with three alignments of the frames.

    Attributes
    ----------
    first_point_m, path_icp_m, marks_m : (n,) arrays
        After moving the path's first point onto the repeat's; after ICP of both; after the best
        rigid fit of the marks, None if they are not known in both frames [m].
    """

    first_point_m: np.ndarray
    path_icp_m: np.ndarray
    marks_m: np.ndarray | None


def gnss_positions(p_true: np.ndarray, *, seed: int) -> np.ndarray:
    """Return the positions that a post-processed receiver measures for true ones (n, 3) [m]."""
    p = np.asarray(p_true, np.float64)
    noise = np.random.default_rng([seed, 733]).normal(0.0, _NOISE_M, p.shape)
    return p + noise * [1.0, 1.0, 2.0]


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
    R, t = _path_icp(shifted, said)

    def errors(moved: np.ndarray) -> np.ndarray:
        return lateral_errors(moved, said, window_m=window_m, s_near_m=s_start_m).error_m

    by_marks = None
    if marks is not None:
        in_map, in_gnss = (_flat(np.asarray(p, np.float64)) for p in marks)
        R_gnss_map, shift = rigid_fit(in_map, in_gnss)
        by_marks = errors((_flat(path) @ R_gnss_map.T + shift)[:, :2])
    return PseudoGnssErrors(
        first_point_m=errors(shifted),
        path_icp_m=errors(shifted @ R.T + t),
        marks_m=by_marks,
    )


def _flat(points: np.ndarray) -> np.ndarray:
    """Return points (n, d) projected into the horizontal plane, (n, 3)."""
    return np.column_stack([points[:, :2], np.zeros(len(points))])


def _path_icp(path: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (2, 2) and shift (2,) of the ICP of a path onto positions."""
    from scipy.spatial import cKDTree

    s = arc_length(path)
    even = np.linspace(0.0, s[-1], max(int(s[-1] / _ROUTE_STEP_M), 2))
    dense = np.column_stack([np.interp(even, s, column) for column in path.T])
    tree = cKDTree(dense)
    R, t, before = np.eye(2), np.zeros(2), np.inf
    for _ in range(ICP_MAX_ITERATIONS):
        distance, nearest = tree.query((target - t) @ R)
        R3, shift = rigid_fit(_flat(dense[nearest]), _flat(target))
        R, t = R3[:2, :2], shift[:2]
        if abs(before - distance.mean()) < ICP_TOLERANCE:
            break
        before = distance.mean()
    return R, t
