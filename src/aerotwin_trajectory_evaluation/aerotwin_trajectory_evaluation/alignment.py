# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Alignment of an estimated trajectory to its reference in every mode of a protocol."""

import numpy as np

from aerotwin_core.frames import invert_transform, make_transform
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.protocol import MODES
from aerotwin_trajectory_evaluation.robust_alignment import align_robustly
from aerotwin_trajectory_evaluation.umeyama import STRAIGHT, TrajectoryAlignment, align_umeyama


def align_trajectories(
    reference: Trajectory, estimate: Trajectory, mode: str, *, n_to_align: int = 0
) -> TrajectoryAlignment:
    """Return the alignment of paired trajectories (pose i belongs to pose i).

    Where the paths leave a freedom open (a point, a straight line, two poses) the smallest rotation
    that aligns them is chosen, and the result says what is open.

    Parameters
    ----------
    reference, estimate : Trajectory
        Of equal length, not empty.
    mode : {"none", "origin", "yaw", "se3", "sim3", "robust"}
        `origin` joins the first poses; `yaw` fits shift and yaw (what gravity leaves open),
        `se3` a rigid motion and `sim3` also a scale by least squares (Umeyama 1991, equal to
        evo's); `robust` a rigid motion insensitive to outliers.
    n_to_align : int
        Number of leading pairs used; 0 = all. `yaw` with one pair uses the attitudes, as
        rpg_trajectory_evaluation.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {MODES}, got {mode!r}")
    n = min(n_to_align, len(reference)) or len(reference)
    if mode == "none":
        return TrajectoryAlignment(mode=mode, T_reference_estimate=np.eye(4))
    if mode == "origin":
        T = _pose(reference) @ invert_transform(_pose(estimate))
        return TrajectoryAlignment(mode=mode, T_reference_estimate=T, n_used=1)
    p_reference, p_estimate = reference.p_ref_body[:n], estimate.p_ref_body[:n]
    if mode == "yaw":
        if n == 1 and n_to_align:
            return _align_yaw_of_first(reference, estimate)
        return _align_yaw(p_reference, p_estimate)
    if mode == "robust":
        return align_robustly(p_reference, p_estimate)
    return align_umeyama(p_reference, p_estimate, mode)


def _pose(trajectory: Trajectory) -> np.ndarray:
    """Return T_ref_body of the first pose; a rotation as written is inverted by its transpose."""
    return make_transform(trajectory.R_ref_body[0], trajectory.p_ref_body[0])


def _align_yaw(p_reference: np.ndarray, p_estimate: np.ndarray) -> TrajectoryAlignment:
    """Fit shift and yaw: the derivative of the squared error by yaw is zero in closed form."""
    mean_r, mean_e = p_reference.mean(axis=0), p_estimate.mean(axis=0)
    r, e = p_reference - mean_r, p_estimate - mean_e
    sine = float(np.sum(e[:, 0] * r[:, 1] - e[:, 1] * r[:, 0]))
    cosine = float(np.sum(e[:, 0] * r[:, 0] + e[:, 1] * r[:, 1]))
    R = _yaw_rotation(np.arctan2(sine, cosine))
    is_vertical = bool(np.hypot(sine, cosine) < STRAIGHT * np.sum(r[:, 2] ** 2) + 1e-12)
    return TrajectoryAlignment(
        mode="yaw",
        T_reference_estimate=make_transform(R, mean_r - R @ mean_e),
        is_determined=not is_vertical,
        reason="the path is vertical or a point: yaw is not determined" if is_vertical else "",
        n_used=len(p_reference),
    )


def _align_yaw_of_first(reference: Trajectory, estimate: Trajectory) -> TrajectoryAlignment:
    """Join the first positions and the yaw of the first attitudes (rpg, n_aligned = 1)."""
    turn = reference.R_ref_body[0] @ estimate.R_ref_body[0].T
    R = _yaw_rotation(np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]))
    shift = reference.p_ref_body[0] - R @ estimate.p_ref_body[0]
    return TrajectoryAlignment(mode="yaw", T_reference_estimate=make_transform(R, shift), n_used=1)


def _yaw_rotation(yaw: float) -> np.ndarray:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
