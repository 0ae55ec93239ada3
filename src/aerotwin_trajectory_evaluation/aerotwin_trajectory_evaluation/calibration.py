# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Time offset and lever arm between a reference and an estimate, with their uncertainty.

An estimate may be stamped by another clock, and be of another point of the body (a camera, an IMU)
than the reference. Both look like errors of the SLAM. They are told apart from it here by what
they do to displacements over one second, in which drift hardly shows:

    p_ref(t + tau) + R_ref(t + tau) l = s R p_est(t) + c

Nothing here changes a score: who wants that asks for it (`apply_time_offset`, `apply_lever_arm`).
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.rigid_motion import cross_matrix
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import align_umeyama
from aerotwin_trajectory_evaluation.association import is_enclosed
from aerotwin_trajectory_evaluation.rate_correlation import coarse_time_offset_s

DISPLACEMENT_S = 1.0
"""Displacements are taken over this time."""
_MAX_SAMPLES = 1500
_MAX_STEPS = 30
_STEP_S = 0.01  # of the central difference that gives the reference's velocity
_GAP_S = 0.25  # longer gaps of the reference are not interpolated
# Huber's constant for 95 % efficiency in one dimension, 1.345, at the 97 % quantile of the norm of
# three normal numbers; and the median of that norm.
_HUBER_CHI3, _MEDIAN_CHI3 = 3.0, 1.538
# The sums of this many stretches of time give the covariance (clustered sandwich, Cameron and
# Miller 2015, eq. 11): neighbouring errors are alike, so poses do not count one by one.
_MAX_BLOCKS, _MIN_BLOCKS = 30, 8
# Least changes within a second that tell a time (of velocity) or a direction of the arm (of
# attitude, chord of the turn).
_LEAST_VELOCITY_M_S, _LEAST_TURN = 0.02, 0.02
_SIGNIFICANT = 3.0
# Of the unknowns' information, each in its own unit: beyond it nothing but rounding is left.
_WORST_CONDITION = 1e12
# What explains less of the errors than this may be anything that is alike on many stretches.
_LEAST_SHARE = 0.1
# Below these there is nothing but rounding: stamps of four decimals, positions of four [s, m]; and
# the least part of the displacements' error that is any [m].
_LEAST_OFFSET_S, _LEAST_ARM_M, _LEAST_EXPLAINED_M = 1e-4, 1e-4, 1e-6


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What was found between the two; nothing of it is applied unless `applied_*` says so.

    Attributes
    ----------
    time_offset_s, time_offset_std_s : float or None
        What must be added to the estimate's stamps to meet the reference's clock, and its standard
        deviation [s]; None where the motion does not tell.
    lever_arm_m, lever_arm_std_m : (3,) array or None
        Position of the estimate's point in the reference's body axes [m]; NaN along axes that the
        flight did not turn about enough to tell.
    time_offset_share, lever_arm_share : float
        Share of the squared error of the displacements that each explains.
    reason : str
        What is not determined and why; empty where all is.
    """

    time_offset_s: float | None = None
    time_offset_std_s: float | None = None
    lever_arm_m: np.ndarray | None = None
    lever_arm_std_m: np.ndarray | None = None
    time_offset_share: float = 0.0
    lever_arm_share: float = 0.0
    reason: str = ""
    applied_time_offset: bool = False
    applied_lever_arm: bool = False

    @property
    def is_offset_significant(self) -> bool:
        """Whether the offset is above 0.1 ms and three standard deviations, and explains errors."""
        if self.time_offset_s is None or self.time_offset_std_s is None:
            return False
        least_s = max(_LEAST_OFFSET_S, _SIGNIFICANT * self.time_offset_std_s)
        return abs(self.time_offset_s) > least_s and self.time_offset_share > _LEAST_SHARE

    @property
    def is_lever_arm_significant(self) -> bool:
        """Whether an axis is above 0.1 mm and three standard deviations, and it explains errors."""
        if self.lever_arm_m is None or self.lever_arm_std_m is None:
            return False
        least_m = np.maximum(_LEAST_ARM_M, _SIGNIFICANT * self.lever_arm_std_m)
        is_sure = np.any(np.abs(self.lever_arm_m) > least_m)
        return bool(is_sure) and self.lever_arm_share > _LEAST_SHARE

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        listed = lambda v: None if v is None else [None if x != x else float(x) for x in v]  # noqa: E731
        return {
            "time_offset_s": self.time_offset_s,
            "time_offset_std_s": self.time_offset_std_s,
            "time_offset_share": self.time_offset_share,
            "lever_arm_share": self.lever_arm_share,
            "time_offset_significant": self.is_offset_significant,
            "time_offset_applied": self.applied_time_offset,
            "lever_arm_m": listed(self.lever_arm_m),
            "lever_arm_std_m": listed(self.lever_arm_std_m),
            "lever_arm_significant": self.is_lever_arm_significant,
            "lever_arm_applied": self.applied_lever_arm,
            "reason": self.reason,
        }


def find_calibration(
    reference: Trajectory, estimate: Trajectory, *, max_offset_s: float
) -> Calibration:
    """Return time offset and lever arm between two trajectories that need not be aligned.

    Parameters
    ----------
    reference, estimate : Trajectory
        Of one body, each in its own frame, of any scale; the reference's attitudes must be good.
    max_offset_s : float
        Largest time offset that is sought [s].

    Notes
    -----
    The offset is sought on the rates of turn, or the speeds, by cross-correlation; then offset,
    arm, rotation and scale are fitted to the displacements by Gauss-Newton under Huber's cost.
    """
    coarse, reason = coarse_time_offset_s(reference, estimate, max_offset_s=max_offset_s)
    if coarse is None:
        return Calibration(reason=reason)
    problem = _Displacements.of(reference, estimate, max_offset_s)
    if problem is None:
        return Calibration(reason="too short: displacements over one second are needed in 16 s")
    return _solve(problem, coarse)


def apply_calibration(
    reference: Trajectory,
    estimate: Trajectory,
    calibration: Calibration,
    *,
    time_offset: bool,
    lever_arm: bool,
) -> tuple[Trajectory, Trajectory, Calibration]:
    """Return reference and estimate with what was asked for applied, and the record of it."""
    if time_offset and calibration.time_offset_s is not None:
        shift_ns = round(calibration.time_offset_s * 1e9)
        estimate = dataclasses.replace(estimate, stamps_ns=estimate.stamps_ns + shift_ns)
        calibration = dataclasses.replace(calibration, applied_time_offset=True)
    if lever_arm and calibration.lever_arm_m is not None:
        arm = np.nan_to_num(calibration.lever_arm_m)
        moved = reference.p_ref_body + reference.R_ref_body @ arm
        reference = dataclasses.replace(reference, p_ref_body=moved)
        calibration = dataclasses.replace(calibration, applied_lever_arm=True)
    return reference, estimate, calibration


@dataclass(frozen=True, kw_only=True)
class _Displacements:
    """The estimate's poses, thinned, and which two of them make a displacement."""

    reference: Trajectory
    max_offset_s: float
    stamps_ns: np.ndarray
    p_estimate: np.ndarray
    first: np.ndarray
    second: np.ndarray
    block: np.ndarray

    @classmethod
    def of(
        cls, reference: Trajectory, estimate: Trajectory, max_offset_s: float
    ) -> "_Displacements | None":
        margin_ns = int((max_offset_s + 2 * _STEP_S) * 1e9)
        low, high = reference.stamps_ns[0] + margin_ns, reference.stamps_ns[-1] - margin_ns
        inside = (estimate.stamps_ns >= low) & (estimate.stamps_ns <= high)
        inside &= is_enclosed(reference, estimate.stamps_ns, _GAP_S)
        index = np.flatnonzero(inside)
        index = index[:: max(1, -(-len(index) // _MAX_SAMPLES))]
        stamps = estimate.stamps_ns[index]
        second = np.searchsorted(stamps, stamps + int(DISPLACEMENT_S * 1e9))
        first = np.flatnonzero(second < len(stamps))
        second = second[first]
        near = stamps[second] - stamps[first] <= 1.5e9 * DISPLACEMENT_S
        first, second = first[near], second[near]
        if len(first) < 3 * _MIN_BLOCKS:
            return None
        seconds = (stamps[first] - stamps[first[0]]) * 1e-9
        n_blocks = int(min(_MAX_BLOCKS, seconds[-1] / (2.0 * DISPLACEMENT_S)))
        if n_blocks < _MIN_BLOCKS:
            return None
        block = np.minimum((seconds / seconds[-1] * n_blocks).astype(np.int64), n_blocks - 1)
        return cls(
            reference=reference,
            max_offset_s=max_offset_s,
            stamps_ns=stamps,
            p_estimate=estimate.p_ref_body[index],
            first=first,
            second=second,
            block=block,
        )

    def reference_at(self, tau_s: float, arm: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return point (n, 3), its velocity and the attitudes (n, 3, 3) at stamps shifted by tau_s.

        At most by max_offset_s: the samples keep that far from the ends of the reference.
        """
        poses = [
            self.reference.interpolate(self.stamps_ns + round((tau_s + d) * 1e9))
            for d in (0.0, _STEP_S, -_STEP_S)
        ]
        now, after, before = (pose.p_ref_body + pose.R_ref_body @ arm for pose in poses)
        return now, (after - before) / (2.0 * _STEP_S), poses[0].R_ref_body

    def change(self, values: np.ndarray) -> np.ndarray:
        """Return the change of values (n, ...) over each displacement."""
        return values[self.second] - values[self.first]


def _solve(problem: _Displacements, tau_s: float) -> Calibration:
    arm = np.zeros(3)
    _, velocity, R = problem.reference_at(tau_s, arm)
    if _rms(problem.change(velocity)) < _LEAST_VELOCITY_M_S:
        return Calibration(reason="the velocity hardly changes: neither offset nor arm is told")
    axes = _axes_told(problem.change(R))
    for _ in range(_MAX_STEPS):
        J, residuals, weights = _linearise(problem, tau_s, arm, axes)
        H = np.einsum("n,nij,nik->jk", weights, J, J)
        if _is_singular(H):
            return Calibration(reason="the motion does not tell offset, arm and frame apart")
        step = -np.linalg.solve(H, np.einsum("n,nij,ni->j", weights, J, residuals))
        tau_s, arm = tau_s + float(step[0]), arm + axes @ step[1 : 1 + axes.shape[1]]
        if not abs(tau_s) <= problem.max_offset_s:
            return Calibration(reason="the fit runs away: the paths differ too much")
        if np.abs(step[: 1 + axes.shape[1]]).max() < 1e-7:
            break
    covariance = _clustered_covariance(J, residuals, weights, H, problem.block)
    shares = _explained(residuals, weights, H, (tau_s, *(axes.T @ arm)))
    found = _result(tau_s, arm, axes, covariance)
    return dataclasses.replace(found, time_offset_share=shares[0], lever_arm_share=shares[1])


def _is_singular(H: np.ndarray) -> bool:
    diagonal = np.diag(H)
    if not np.isfinite(H).all() or diagonal.min() <= 0.0:
        return True
    return bool(np.linalg.cond(H / np.sqrt(np.outer(diagonal, diagonal))) > _WORST_CONDITION)


def _explained(
    residuals: np.ndarray,
    weights: np.ndarray,
    H: np.ndarray,
    values: tuple[float, ...],
) -> tuple[float, float]:
    """Return which share of the squares would come on top without the offset, without the arm.

    What the other unknowns could take over of it is left out (Schur complement of H).
    """
    left = float(np.einsum("n,ni,ni->", weights, residuals, residuals))
    least = float(weights.sum()) * _LEAST_EXPLAINED_M**2
    shares = []
    for part in (np.arange(1), np.arange(1, len(values))):
        others = np.setdiff1d(np.arange(len(H)), part)
        cross = H[np.ix_(part, others)]
        alone = H[np.ix_(part, part)] - cross @ np.linalg.solve(H[np.ix_(others, others)], cross.T)
        value = np.array(values)[part]
        gain = float(value @ alone @ value)
        shares.append(gain / (gain + left) if gain > least else 0.0)
    return shares[0], shares[1]


def _linearise(
    problem: _Displacements, tau_s: float, arm: np.ndarray, axes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Jacobian (m, 3, k), residuals (m, 3) and Huber's weights (m,) of the displacements.

    Columns: time offset, arm along `axes` (3, k'), rotation of the estimate (3), its scale.
    """
    point, velocity, R = problem.reference_at(tau_s, arm)
    fit = align_umeyama(point, problem.p_estimate, "sim3")
    turned = fit.scale * problem.p_estimate @ fit.T_reference_estimate[:3, :3].T
    moved = problem.change(turned)
    columns = [problem.change(velocity)[:, :, None], problem.change(R) @ axes]
    columns += [cross_matrix(moved), -moved[:, :, None]]  # of -(turn x moved) by the turn
    residuals = problem.change(point) - moved
    size = np.linalg.norm(residuals, axis=1)
    limit = max(_HUBER_CHI3 / _MEDIAN_CHI3 * float(np.median(size)), 1e-12)
    return np.concatenate(columns, axis=2), residuals, limit / np.maximum(size, limit)


def _axes_told(change_of_R: np.ndarray) -> np.ndarray:
    """Return the directions (3, k) of the body along which the turns tell an arm."""
    information = np.einsum("nij,nik->jk", change_of_R, change_of_R) / len(change_of_R)
    values, vectors = np.linalg.eigh(information)
    return vectors[:, values > _LEAST_TURN**2]


def _clustered_covariance(
    J: np.ndarray, residuals: np.ndarray, weights: np.ndarray, H: np.ndarray, block: np.ndarray
) -> np.ndarray:
    n_blocks = int(block.max()) + 1
    scores = np.zeros((n_blocks, J.shape[2]))
    np.add.at(scores, block, np.einsum("n,nij,ni->nj", weights, J, residuals))
    inverse = np.linalg.inv(H)
    return inverse @ (scores.T @ scores) @ inverse * (n_blocks / (n_blocks - 1))


def _result(tau_s: float, arm: np.ndarray, axes: np.ndarray, covariance: np.ndarray) -> Calibration:
    std_tau = float(np.sqrt(covariance[0, 0]))
    if axes.shape[1] == 0:
        reason = "the attitude hardly changes: the lever arm is not told"
        return Calibration(time_offset_s=tau_s, time_offset_std_s=std_tau, reason=reason)
    of_arm = covariance[1 : 1 + axes.shape[1], 1 : 1 + axes.shape[1]]
    std = np.sqrt(np.diag(axes @ of_arm @ axes.T))
    # An axis is told when the directions that are told hold most of it.
    untold = np.sum(axes**2, axis=1) < 0.5
    names = ", ".join(name for name, is_untold in zip("xyz", untold, strict=True) if is_untold)
    return Calibration(
        time_offset_s=tau_s,
        time_offset_std_s=std_tau,
        lever_arm_m=np.where(untold, np.nan, arm),
        lever_arm_std_m=np.where(untold, np.nan, std),
        reason=f"the body hardly turns across {names}: no arm along it is told" if names else "",
    )


def _rms(vectors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
