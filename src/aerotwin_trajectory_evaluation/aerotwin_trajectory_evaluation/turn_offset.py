# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The time offset estimated from the rotations of the body over one second.

    log(R_ref(t + tau)^T R_ref(t + 1 s + tau)) = C log(R_est(t)^T R_est(t + 1 s))

Rotations in body axes do not depend on frame, scale or point of the body; C is the rotation between
the body axes of reference and estimate (a camera's, for example).
"""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.rigid_motion import cross_matrix, nearest_rotation
from aerotwin_core.rms import rms_length
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.clustered_fit import ClusteredFit
from aerotwin_trajectory_evaluation.displacements import STEP_S, Samples
from aerotwin_trajectory_evaluation.time_offset_estimates import OffsetEstimate

_MAX_STEPS = 30
_CONVERGED_S = 1e-7
# The least change of the rate of turn within a second that tells a time [rad/s]: a tenth of a
# degree a second, of the order of an attitude's own noise.
_LEAST_RATE = 2e-3
# Explained rotation errors (RMS) below this count as none [rad].
_LEAST_EXPLAINED = 1e-6


def offset_of_turns(samples: Samples, estimate: Trajectory, tau_s: float) -> OffsetEstimate:
    """Return the time offset of the rotations, by Gauss-Newton under Huber's cost.

    The search starts at tau_s [s]; `samples` are moments of the estimate and their pairs.
    """
    turns = _turns(samples, estimate.interpolate(samples.stamps_ns))
    for _ in range(_MAX_STEPS):
        true, rates = _true_turns(samples, tau_s)
        if rms_length(rates) < _LEAST_RATE:
            return OffsetEstimate(reason="the rate of turn hardly changes")
        seen = turns @ _axes_between(true, turns).T
        J = np.concatenate([rates[:, :, None], cross_matrix(seen)], axis=2)
        fit = ClusteredFit.of(J, true - seen, samples.blocks)
        inverse, is_open = fit.inverse()
        if is_open[0]:
            return OffsetEstimate(reason="the turns do not determine an offset")
        step_s = float(fit.step(inverse)[0])
        tau_s += step_s
        if not abs(tau_s) <= samples.max_offset_s:
            return OffsetEstimate(reason="the turns differ too much")
        if abs(step_s) < _CONVERGED_S:
            break
    return OffsetEstimate(
        offset_s=tau_s,
        std_s=float(np.sqrt(fit.covariance(inverse)[0, 0])),
        share=fit.explained(np.arange(1), np.array([tau_s]), _LEAST_EXPLAINED),
    )


def _turns(samples: Samples, poses: Trajectory) -> np.ndarray:
    """Return the rotation vectors (n, 3) from the first to the second pose of each sample."""
    attitudes = Rotation.from_quat(poses.q_ref_body)
    return (attitudes[samples.first].inv() * attitudes[samples.second]).as_rotvec()


def _true_turns(samples: Samples, tau_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the reference's rotations (n, 3) at stamps shifted by tau_s, and their rates."""
    now, after, before = (
        _turns(samples, samples.reference_at(tau_s + shift_s)) for shift_s in (0.0, STEP_S, -STEP_S)
    )
    return now, (after - before) / (2.0 * STEP_S)


def _axes_between(true: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Return C (3, 3), the rotation that best maps rotations (n, 3) to the true ones (Kabsch)."""
    return nearest_rotation(true.T @ turns)
