# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Least-squares alignment of paths, rigid or with a scale, and what an alignment removed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.frames import make_transform, transform_points
from aerotwin_core.rigid_motion import rotation_svd
from aerotwin_core.trajectory import Trajectory

# A path whose second extent is below this share of its first does not fix the roll about itself.
STRAIGHT = 0.01
# A path shorter than this in every direction is a point [m].
_POINT_M = 1e-9
# Below this share of the largest, a singular value is rounding.
_RANK = 1e-12


@dataclass(frozen=True, kw_only=True)
class TrajectoryAlignment:
    """x_reference = scale * R @ x_estimate + t, and how well the paths determine it.

    Attributes
    ----------
    mode : str
        One of `MODES`.
    T_reference_estimate : (4, 4) array
        Rotation and shift, without the scale.
    scale : float
        1 except for `sim3`.
    is_determined, reason : bool, str
        Whether the paths fix every freedom of the mode. If not, or if a robust fit fell back to
        least squares, why; else empty.
    n_used : int
        Pairs used in the fit.
    inlier_share : float or None
        Of `robust`: share of those pairs that are inliers; None where it could not choose.
    """

    mode: str
    T_reference_estimate: np.ndarray
    scale: float = 1.0
    is_determined: bool = True
    reason: str = ""
    n_used: int = 0
    inlier_share: float | None = None

    def removed(self, p_estimate: np.ndarray) -> dict[str, float]:
        """Return what the alignment did to a path (n, 3): the opposite of the estimate's error.

        Offset [m] of the path's mean, yaw about the vertical and its tilt [deg], and scale [%]: for
        an estimate rotated by +10 deg and half as large, -10 deg and +100 %.
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
        R = self.T_reference_estimate[:3, :3]
        positions = transform_points(self.T_reference_estimate, estimate.p_ref_body * self.scale)
        attitudes = _turned(R, estimate.q_ref_body)
        as_written = None if estimate.R_as_written is None else R @ estimate.R_as_written
        return Trajectory(estimate.stamps_ns, positions, attitudes, as_written)

    def plain(self, p_estimate: np.ndarray) -> dict[str, Any]:
        """Return a mapping for JSON; p_estimate (n, 3) is the unaligned path."""
        return {
            "mode": self.mode,
            "T_reference_estimate": self.T_reference_estimate.tolist(),
            "scale": self.scale,
            "is_determined": self.is_determined,
            "reason": self.reason,
            "n_used": self.n_used,
            "inlier_share": self.inlier_share,
            "removed": self.removed(p_estimate),
        }


def align_umeyama(
    p_reference: np.ndarray,
    p_estimate: np.ndarray,
    mode: str = "se3",
    weights: np.ndarray | None = None,
) -> TrajectoryAlignment:
    """Return the least-squares motion (`se3`) or similarity (`sim3`) of points (n, 3), weighted.

    Umeyama (1991), eq. 34-43. Where the paths are a line to rounding, the smallest of the equally
    good rotations is returned.
    """
    w = np.full(len(p_reference), 1.0 / len(p_reference)) if weights is None else weights
    w = w / w.sum()
    mean_r, mean_e = w @ p_reference, w @ p_estimate
    r, e = p_reference - mean_r, p_estimate - mean_e
    u, d, vt = rotation_svd((r * w[:, None]).T @ e)
    reason = what_is_open(p_reference, p_estimate)
    if d[1] <= _RANK * d[0]:
        R = _smallest_rotation(u[:, 0], vt[0], d)
        d = np.abs(d)
    else:
        R = u @ vt
    spread = float(w @ np.sum(e**2, axis=1))
    scale = float(d.sum() / spread) if mode == "sim3" and spread > _POINT_M**2 else 1.0
    return TrajectoryAlignment(
        mode=mode,
        T_reference_estimate=make_transform(R, mean_r - scale * (R @ mean_e)),
        scale=scale,
        is_determined=not reason,
        reason=reason,
        n_used=len(p_reference),
    )


def _smallest_rotation(to: np.ndarray, since: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return the smallest rotation of direction `since` to `to`; none where they have no length."""
    from scipy.spatial.transform import Rotation

    if d[0] < _POINT_M**2:
        return np.eye(3)
    axis, cosine = np.cross(since, to), float(np.clip(since @ to, -1.0, 1.0))
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        if cosine > 0.0:
            return np.eye(3)
        across = np.eye(3)[int(np.argmin(np.abs(since)))]
        axis = np.cross(since, across)
        return Rotation.from_rotvec(np.pi * axis / np.linalg.norm(axis)).as_matrix()
    return Rotation.from_rotvec(axis / sine * np.arctan2(sine, cosine)).as_matrix()


def _turned(R: np.ndarray, q_xyzw: np.ndarray) -> np.ndarray:
    """Return the quaternions (n, 4) of R times the rotations q_xyzw (n, 4).

    The quaternion of R is the dominant eigenvector of Bar-Itzhack's (2000) matrix K3, which needs
    no case for each axis; the product is Hamilton's.
    """
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[3, 3] = np.trace(R)
    turn = np.linalg.eigh(K)[1][:, -1]
    v, w = q_xyzw[:, :3], q_xyzw[:, 3:]
    vector = turn[3] * v + w * turn[:3] + np.cross(turn[:3], v)
    return np.hstack([vector, turn[3] * w - (v @ turn[:3])[:, None]])


def what_is_open(p_reference: np.ndarray, p_estimate: np.ndarray) -> str:
    """Return which freedom of a rotation two paths (n, 3) leave open, as text; empty if none."""
    if len(p_reference) < 3:
        return f"{len(p_reference)} poses do not determine a rotation"
    for name, points in (("reference", p_reference), ("estimate", p_estimate)):
        centred = points - points.mean(axis=0)
        extent = np.sqrt(np.maximum(np.linalg.eigvalsh(centred.T @ centred)[::-1], 0.0))
        if extent[0] < _POINT_M:
            return f"the {name} stands still: no rotation is determined"
        if extent[1] < STRAIGHT * extent[0]:
            return f"the {name} is a straight line: the roll about it is not determined"
    return ""
