# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Alignment of an estimated trajectory to its reference, and what it removed."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_core.trajectory import Trajectory

MODES = ("none", "origin", "yaw", "se3", "sim3")
# A path whose second extent is below this share of its first does not fix the roll about itself.
STRAIGHT = 0.01


@dataclass(frozen=True, kw_only=True)
class TrajectoryAlignment:
    """x_reference = scale * R @ x_estimate + t, and how well the paths determine it.

    Attributes
    ----------
    mode : str
        One of `MODES`.
    T_reference_estimate : (4, 4) array
        Rotation and shift (the scale stands apart).
    scale : float
        1 but for `sim3`.
    is_determined : bool
        Whether the paths fix every freedom of the mode.
    reason : str
        Why not, in words; empty otherwise.
    """

    mode: str
    T_reference_estimate: np.ndarray
    scale: float = 1.0
    is_determined: bool = True
    reason: str = ""

    def removed(self, p_estimate: np.ndarray) -> dict[str, float]:
        """Return what the alignment took away from a path (n, 3).

        Offset [m] of the path's mean, yaw about the vertical and tilt of it [deg], and scale [%].
        """
        R = self.T_reference_estimate[:3, :3]
        mean = p_estimate.mean(axis=0)
        moved = self.scale * (R @ mean) + self.T_reference_estimate[:3, 3]
        return {
            "offset_m": float(np.linalg.norm(moved - mean)),
            "yaw_deg": float(np.degrees(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))),
            "tilt_deg": float(np.degrees(np.arccos(np.clip(R[2, 2], -1.0, 1.0)))),
            "scale_percent": (self.scale - 1.0) * 100.0,
        }

    def apply(self, estimate: Trajectory) -> Trajectory:
        """Return the estimate moved (and scaled) onto the reference."""
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_matrix(self.T_reference_estimate[:3, :3])
        positions = transform_points(self.T_reference_estimate, estimate.p_ref_body * self.scale)
        attitudes = (turn * Rotation.from_quat(estimate.q_ref_body)).as_quat()
        return Trajectory(estimate.stamps_ns, positions, attitudes)


def align_trajectories(
    reference: Trajectory, estimate: Trajectory, mode: str
) -> TrajectoryAlignment:
    """Return the alignment of paired trajectories (pose i belongs to pose i).

    Parameters
    ----------
    reference, estimate : Trajectory
        Of equal length, not empty.
    mode : {"none", "origin", "yaw", "se3", "sim3"}
        `origin` joins the first poses; `yaw` fits shift and yaw (what gravity leaves open),
        `se3` a rigid motion and `sim3` also a scale by least squares (Umeyama 1991).

    Notes
    -----
    `se3` and `sim3` are evo's. On a straight path the roll about it is not determined: positions
    are still aligned where evo can, attitudes are then arbitrary, and the result says so.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {MODES}, got {mode!r}")
    if len(reference) != len(estimate) or len(reference) == 0:
        raise ValueError(
            f"trajectories must be paired, got {len(reference)} and {len(estimate)} poses"
        )
    if mode == "none":
        return TrajectoryAlignment(mode=mode, T_reference_estimate=np.eye(4))
    if mode == "origin":
        T = reference.transforms()[0] @ invert_transform(estimate.transforms()[0])
        return TrajectoryAlignment(mode=mode, T_reference_estimate=T)
    if mode == "yaw":
        return _align_yaw(reference.p_ref_body, estimate.p_ref_body)
    return _align_umeyama(reference.p_ref_body, estimate.p_ref_body, mode)


def _align_yaw(p_reference: np.ndarray, p_estimate: np.ndarray) -> TrajectoryAlignment:
    """Fit shift and yaw: the derivative of the squared error by yaw is zero in closed form."""
    mean_r, mean_e = p_reference.mean(axis=0), p_estimate.mean(axis=0)
    r, e = p_reference - mean_r, p_estimate - mean_e
    sine = float(np.sum(e[:, 0] * r[:, 1] - e[:, 1] * r[:, 0]))
    cosine = float(np.sum(e[:, 0] * r[:, 0] + e[:, 1] * r[:, 1]))
    yaw = np.arctan2(sine, cosine)
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    is_vertical = bool(np.hypot(sine, cosine) < STRAIGHT * np.sum(r[:, 2] ** 2) + 1e-12)
    return TrajectoryAlignment(
        mode="yaw",
        T_reference_estimate=make_transform(R, mean_r - R @ mean_e),
        is_determined=not is_vertical,
        reason="the path is vertical or a point: yaw is not determined" if is_vertical else "",
    )


def _align_umeyama(
    p_reference: np.ndarray, p_estimate: np.ndarray, mode: str
) -> TrajectoryAlignment:
    from evo.core.geometry import GeometryException, umeyama_alignment

    reason = _what_is_open(p_reference, p_estimate)
    try:
        R, t, scale = umeyama_alignment(p_estimate.T, p_reference.T, mode == "sim3")
    except GeometryException:
        t = p_reference.mean(axis=0) - p_estimate.mean(axis=0)
        return TrajectoryAlignment(
            mode=mode,
            T_reference_estimate=make_transform(np.eye(3), t),
            is_determined=False,
            reason=f"{reason or 'the paths fix no rotation'}; only the shift was fitted",
        )
    return TrajectoryAlignment(
        mode=mode,
        T_reference_estimate=make_transform(R, t),
        scale=float(scale),
        is_determined=not reason,
        reason=reason,
    )


def _what_is_open(p_reference: np.ndarray, p_estimate: np.ndarray) -> str:
    if len(p_reference) < 3:
        return f"{len(p_reference)} poses do not determine a rotation"
    for name, points in (("reference", p_reference), ("estimate", p_estimate)):
        extent = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if extent[0] < 1e-9:
            return f"the {name} stands still: no rotation is determined"
        if extent[1] < STRAIGHT * extent[0]:
            return f"the {name} is a straight line: the roll about it is not determined"
    return ""
