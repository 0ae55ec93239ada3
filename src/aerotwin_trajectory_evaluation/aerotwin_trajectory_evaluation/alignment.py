# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Alignment of an estimated trajectory to its reference in every mode of a protocol."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_core.rigid_motion import rotation_svd
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.protocol import MODES

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


# Three poses fix a rigid motion. With 45 % outliers a sample is good with 0.55^3 = 17 %, so that of
# this many more than fifty are, and one of them has its poses far apart.
_N_SAMPLES = 300
_SAMPLE = 3
_MAX_JUDGED = 1500
_SEED = 20260
# The median of |x|, x normal in three dimensions, is 1.538 sigma (chi with 3 degrees of freedom);
# an inlier lies within the 97.5 % quantile of the same distribution, 3.058 sigma.
_MEDIAN_CHI3 = 1.538
_INLIER_CHI3 = 3.058
_LEAST_SIGMA_M = 1e-6
_MAX_STEPS = 50


def align_robustly(p_reference: np.ndarray, p_estimate: np.ndarray) -> TrajectoryAlignment:
    """Return the rigid motion between points (n, 3) under the Geman-McClure cost.

    It starts from the motion with the least median residual (Rousseeuw 1984) among seeded samples
    of three poses each and the fit of all; reweighted least squares follow. Up to half of the poses
    may be outliers. The scale of the noise is that of the better half of the points.

    Paths that leave a freedom open (a line, a point) are fitted in the same way, with the rotation
    of `align_umeyama`. With three poses or fewer: least squares, no inlier share.
    """
    fit = align_umeyama(p_reference, p_estimate)
    if len(p_reference) <= _SAMPLE:
        few = f"{len(p_reference)} poses are too few for a robust fit: least squares"
        return dataclasses.replace(fit, mode="robust", reason=fit.reason or few)
    fit = _least_median(fit, p_reference, p_estimate)
    residuals = _residuals(fit, p_reference, p_estimate)
    for _ in range(_MAX_STEPS):
        limit = _INLIER_CHI3 * _noise_m(residuals)
        weights = (limit**2 / (residuals**2 + limit**2)) ** 2
        fit = align_umeyama(p_reference, p_estimate, weights=weights)
        before, residuals = residuals, _residuals(fit, p_reference, p_estimate)
        if np.abs(residuals - before).max() < _LEAST_SIGMA_M:
            break
    inlier_share = float(np.mean(residuals <= _INLIER_CHI3 * _noise_m(residuals)))
    return dataclasses.replace(fit, mode="robust", inlier_share=inlier_share)


def _least_median(
    fit: TrajectoryAlignment, p_reference: np.ndarray, p_estimate: np.ndarray
) -> TrajectoryAlignment:
    """Return the motion with the least median residual, of all poses or of three sampled ones."""
    judged = slice(None, None, -(-len(p_reference) // _MAX_JUDGED))
    score = lambda found: float(  # noqa: E731
        np.median(_residuals(found, p_reference[judged], p_estimate[judged]))
    )
    best, least = fit, score(fit)
    rng = np.random.default_rng(_SEED)
    for _ in range(_N_SAMPLES):
        drawn = rng.choice(len(p_reference), _SAMPLE, replace=False)
        found = align_umeyama(p_reference[drawn], p_estimate[drawn])
        is_usable = found.is_determined or not fit.is_determined
        if is_usable and (median := score(found)) < least:
            best, least = found, median
    return best


def _residuals(
    fit: TrajectoryAlignment, p_reference: np.ndarray, p_estimate: np.ndarray
) -> np.ndarray:
    T = fit.T_reference_estimate
    return np.linalg.norm(p_reference - p_estimate @ T[:3, :3].T - T[:3, 3], axis=1)


def _noise_m(residuals: np.ndarray) -> float:
    return max(float(np.median(residuals)) / _MEDIAN_CHI3, _LEAST_SIGMA_M)


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
