# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Time offset and lever arm estimated from the displacements over one second.

    p_ref(t + tau) + R_ref(t + tau) l = s R p_est(t) + c

Drift is small within a second. A wrong scale and errors that grow with the speed can look like
a time offset: `turn_offset` is the other estimate.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.rigid_motion import cross_matrix
from aerotwin_core.rms import rms_length
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import align_umeyama
from aerotwin_trajectory_evaluation.association import is_enclosed
from aerotwin_trajectory_evaluation.time_offset_estimates import (
    NO_OFFSET_ESTIMATE,
    ClusteredFit,
    OffsetEstimate,
)

DISPLACEMENT_S = 1.0
"""Displacements, and turns, are taken over this time."""
STEP_S = 0.01
"""Of the central difference that gives the reference's velocity, and rate of turn."""
_MAX_SAMPLES = 1500
_MAX_STEPS = 30
_CONVERGED = 1e-7
_GAP_S = 0.25  # longer gaps of the reference are not interpolated
# The sums of this many stretches of time give the covariance: neighbouring errors are alike, so
# poses do not count one by one.
_MAX_BLOCKS, _MIN_BLOCKS = 30, 8
# Least changes within a second that determine a time (of velocity; a ground robot at 0.1 m/s turns
# its own by ten times that) or a direction of the arm (of attitude, chord of the turn).
_LEAST_VELOCITY_M_S, _LEAST_TURN = 0.002, 0.02
# Explained displacement errors (RMS) below this count as none [m].
_LEAST_EXPLAINED_M = 1e-6


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Thinned poses of the estimate, and the pairs of them that make displacements.

    Samples keep the search limit `max_offset_s` [s] from the reference's ends. `stamps_ns` and
    `p_estimate` are of the n poses; of the m samples, `first` and `second` are the two poses, and
    `blocks` the stretch of time to which each belongs.
    """

    reference: Trajectory
    max_offset_s: float
    stamps_ns: np.ndarray
    p_estimate: np.ndarray
    first: np.ndarray
    second: np.ndarray
    blocks: np.ndarray

    @classmethod
    def of(
        cls, reference: Trajectory, estimate: Trajectory, max_offset_s: float
    ) -> "Samples | str":
        """Return the samples, or why there are too few."""
        margin_ns = int((max_offset_s + 2 * STEP_S) * 1e9)
        low, high = reference.stamps_ns[0] + margin_ns, reference.stamps_ns[-1] - margin_ns
        inside = (estimate.stamps_ns >= low) & (estimate.stamps_ns <= high)
        is_bridged = inside & is_enclosed(reference, estimate.stamps_ns, _GAP_S)
        if 2 * np.count_nonzero(is_bridged) < np.count_nonzero(inside):
            return (
                f"the reference's poses are more than {_GAP_S:g} s apart: no offset is determined"
            )
        index = np.flatnonzero(is_bridged)
        index = index[:: max(1, -(-len(index) // _MAX_SAMPLES))]
        stamps = estimate.stamps_ns[index]
        second = np.searchsorted(stamps, stamps + int(DISPLACEMENT_S * 1e9))
        first = np.flatnonzero(second < len(stamps))
        second = second[first]
        near = stamps[second] - stamps[first] <= 1.5e9 * DISPLACEMENT_S
        first, second = first[near], second[near]
        too_short = (
            f"too short: displacements over {DISPLACEMENT_S:g} s are needed in "
            f"{2.0 * DISPLACEMENT_S * _MIN_BLOCKS:g} s"
        )
        if len(first) < 3 * _MIN_BLOCKS:
            return too_short
        seconds = (stamps[first] - stamps[first[0]]) * 1e-9
        n_blocks = int(min(_MAX_BLOCKS, seconds[-1] / (2.0 * DISPLACEMENT_S)))
        if n_blocks < _MIN_BLOCKS:
            return too_short
        return cls(
            reference=reference,
            max_offset_s=max_offset_s,
            stamps_ns=stamps,
            p_estimate=estimate.p_ref_body[index],
            first=first,
            second=second,
            blocks=np.minimum((seconds / seconds[-1] * n_blocks).astype(np.int64), n_blocks - 1),
        )

    def reference_at(self, tau_s: float) -> Trajectory:
        """Return the reference at the stamps shifted by tau_s, at most max_offset_s."""
        return self.reference.interpolate(self.stamps_ns + round(tau_s * 1e9))

    def change(self, values: np.ndarray) -> np.ndarray:
        """Return the change of values (n, ...) over each displacement."""
        return values[self.second] - values[self.first]


@dataclass(frozen=True, kw_only=True)
class DisplacementFit:
    """Offset and lever arm that fit the displacements best.

    `arm_m` and `arm_std_m` (3,) are NaN along axes about which the flight did not rotate enough;
    `arm_reason` names those. `arm_share` is the share of the squared errors that the arm explains.
    """

    witness: OffsetEstimate
    arm_m: np.ndarray | None = None
    arm_std_m: np.ndarray | None = None
    arm_share: float = 0.0
    arm_reason: str = ""


def fit_displacements(
    samples: Samples, tau_s: float, *, is_offset_known: bool = False
) -> DisplacementFit:
    """Return offset and arm, fitted with rotation and scale by Gauss-Newton under Huber's cost.

    The search starts at the offset tau_s [s]; `is_offset_known` fixes it and fits the arm alone.
    """
    arm = np.zeros(3)
    _, velocity, R = _point_velocity_attitude(samples, tau_s, arm)
    if not is_offset_known and rms_length(samples.change(velocity)) < _LEAST_VELOCITY_M_S:
        return DisplacementFit(witness=OffsetEstimate(reason="the velocity hardly changes"))
    axes = _observable_axes(samples.change(R))
    n_tau = 0 if is_offset_known else 1
    of_arm = slice(n_tau, n_tau + axes.shape[1])
    for _ in range(_MAX_STEPS):
        fit = _linearise(samples, tau_s, arm, axes, n_tau)
        inverse, is_open = fit.inverse()
        # The scale is not observable where the estimate stands still.
        if is_open[: of_arm.stop].any() or is_open[-1]:
            return DisplacementFit(
                witness=OffsetEstimate(
                    reason="the displacements do not tell offset, arm and frame apart"
                )
            )
        step = fit.step(inverse)[: of_arm.stop]
        tau_s, arm = tau_s + float(step[:n_tau].sum()), arm + axes @ step[of_arm]
        if not abs(tau_s) <= samples.max_offset_s:
            return DisplacementFit(
                witness=OffsetEstimate(reason="the displacements differ too much")
            )
        if np.abs(step).max(initial=0.0) < _CONVERGED:
            break
    covariance = fit.covariance(inverse)
    witness = NO_OFFSET_ESTIMATE
    if not is_offset_known:
        witness = OffsetEstimate(
            offset_s=tau_s,
            std_s=float(np.sqrt(covariance[0, 0])),
            share=fit.explained(np.arange(1), np.array([tau_s]), _LEAST_EXPLAINED_M),
        )
    share = fit.explained(np.arange(of_arm.start, of_arm.stop), axes.T @ arm, _LEAST_EXPLAINED_M)
    return _with_arm(witness, arm, axes, covariance[of_arm, of_arm], share)


def _point_velocity_attitude(
    samples: Samples, tau_s: float, arm: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the true point at the arm (n, 3), its velocity and the attitudes (n, 3, 3)."""
    poses = [samples.reference_at(tau_s + shift_s) for shift_s in (0.0, STEP_S, -STEP_S)]
    now, after, before = (pose.p_ref_body + pose.R_ref_body @ arm for pose in poses)
    return now, (after - before) / (2.0 * STEP_S), poses[0].R_ref_body


def _linearise(
    samples: Samples, tau_s: float, arm: np.ndarray, axes: np.ndarray, n_tau: int
) -> ClusteredFit:
    """Return the displacements' residuals and Jacobian.

    Columns: time offset (n_tau = 1), arm along `axes` (3, k'), rotation of the estimate (3), scale.
    """
    point, velocity, R = _point_velocity_attitude(samples, tau_s, arm)
    fit = align_umeyama(point, samples.p_estimate, "sim3")
    moved = samples.change(fit.scale * samples.p_estimate @ fit.T_reference_estimate[:3, :3].T)
    columns = [samples.change(velocity)[:, :, None]] * n_tau + [samples.change(R) @ axes]
    columns += [cross_matrix(moved), -moved[:, :, None]]  # of -(turn x moved) by the turn
    J = np.concatenate(columns, axis=2)
    return ClusteredFit.of(J, samples.change(point) - moved, samples.blocks)


def _observable_axes(change_of_R: np.ndarray) -> np.ndarray:
    """Return the body directions (3, k) along which the rotations make an arm observable."""
    information = np.einsum("nij,nik->jk", change_of_R, change_of_R) / len(change_of_R)
    values, vectors = np.linalg.eigh(information)
    return vectors[:, values > _LEAST_TURN**2]


def _with_arm(
    witness: OffsetEstimate, arm: np.ndarray, axes: np.ndarray, covariance: np.ndarray, share: float
) -> DisplacementFit:
    if axes.shape[1] == 0:
        return DisplacementFit(
            witness=witness,
            arm_reason="the attitude hardly changes: the lever arm is not determined",
        )
    std = np.sqrt(np.diag(axes @ covariance @ axes.T))
    # An axis is determined when the directions that are hold most of it.
    is_open = np.sum(axes**2, axis=1) < 0.5
    names = ", ".join(name for name, one in zip("xyz", is_open, strict=True) if one)
    return DisplacementFit(
        witness=witness,
        arm_m=np.where(is_open, np.nan, arm),
        arm_std_m=np.where(is_open, np.nan, std),
        arm_share=share,
        arm_reason=f"the body hardly turns across {names}: no arm along it is determined"
        if names
        else "",
    )
