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
from aerotwin_trajectory_evaluation.displacements import STEP_S, Samples
from aerotwin_trajectory_evaluation.time_offset_estimates import ClusteredFit, OffsetEstimate

_LEAST_CORRELATION = 0.3
_MIN_S = 4.0
_GRID_S = (0.005, 0.1)
_MAX_GRID = 200_000
_MIN_OVERLAP = 0.5


def coarse_time_offset_s(
    reference: Trajectory, estimate: Trajectory, *, max_offset_s: float
) -> tuple[float | None, str]:
    """Return what must be added to the estimate's stamps [s]; if None, also why it is unknown.

    The kind of rate with the higher correlation is used. The peak is refined by a parabola.
    """
    if min(len(reference), len(estimate)) < 3:
        return None, "a time offset needs three poses"
    if (estimate.stamps_ns[-1] - estimate.stamps_ns[0]) * 1e-9 < _MIN_S:
        return None, f"the estimate lasts less than {_MIN_S:g} s: no time offset is determined"
    first = int(reference.stamps_ns[0])
    best, best_correlation = 0.0, -1.0
    for rate in (_rates_of_turn, _speeds):
        offset, correlation = _peak(rate(reference, first), rate(estimate, first), max_offset_s)
        if correlation > best_correlation:
            best, best_correlation = offset, correlation
    if best_correlation < _LEAST_CORRELATION:
        return None, (
            f"neither rates of turn nor speeds are alike within {max_offset_s:g} s "
            f"(correlation {max(best_correlation, 0.0):.2f}): no time offset is determined"
        )
    return best, ""


_Rates = tuple[np.ndarray, np.ndarray]


def _rates_of_turn(trajectory: Trajectory, first_ns: int) -> _Rates:
    """Return times [s] between the poses and angular rates there [rad/s]."""
    before, after = trajectory.q_ref_body[:-1], trajectory.q_ref_body[1:]
    # q and -q are one rotation; the chord between unit quaternions spans half of the angle.
    chord = np.minimum(
        np.linalg.norm(after - before, axis=1), np.linalg.norm(after + before, axis=1)
    )
    return _per_second(trajectory, 4.0 * np.arcsin(np.minimum(chord / 2.0, 1.0)), first_ns)


def _speeds(trajectory: Trajectory, first_ns: int) -> _Rates:
    steps = np.linalg.norm(np.diff(trajectory.p_ref_body, axis=0), axis=1)
    return _per_second(trajectory, steps, first_ns)


def _per_second(trajectory: Trajectory, amounts: np.ndarray, first_ns: int) -> _Rates:
    seconds = (trajectory.stamps_ns - first_ns) * 1e-9
    period = np.diff(seconds)
    apart = period > 1e-3 * np.median(period)  # poses with one stamp give no rate
    return ((seconds[1:] + seconds[:-1]) / 2.0)[apart], (amounts / np.maximum(period, 1e-12))[apart]


def _peak(reference: _Rates, estimate: _Rates, max_offset_s: float) -> tuple[float, float]:
    """Return the lag with the largest correlation, and that correlation (Pearson's)."""
    if min(len(reference[0]), len(estimate[0])) < 3:
        return 0.0, -1.0
    duration = estimate[0][-1] - estimate[0][0]
    usual = float(np.median(np.diff(estimate[0])))
    step = float(np.clip(usual, *_GRID_S))
    step = max(step, (duration + 2 * max_offset_s) / _MAX_GRID)
    n_lags = int(np.ceil(max_offset_s / step))
    grid = np.arange(estimate[0][0], estimate[0][-1], step)
    wide = grid[0] + step * np.arange(-n_lags, len(grid) + n_lags)
    fixed = _smoothed(*estimate, grid, usual)
    moving = _smoothed(*reference, wide, usual)
    covered = ((wide >= reference[0][0]) & (wide <= reference[0][-1])).astype(float)
    correlation = _correlations(fixed, moving * covered, covered)
    best = int(np.argmax(correlation))
    return (best - n_lags + _parabola(correlation, best)) * step, float(correlation[best])


def _smoothed(
    seconds: np.ndarray, rates: np.ndarray, grid: np.ndarray, usual_s: float
) -> np.ndarray:
    """Return the mean rate within one usual period around each moment of the grid."""
    amount = np.concatenate([[0.0], np.cumsum(np.diff(seconds) * (rates[1:] + rates[:-1]) / 2.0)])
    after = np.interp(grid + usual_s / 2.0, seconds, amount)
    before = np.interp(grid - usual_s / 2.0, seconds, amount)
    return (after - before) / usual_s


def _correlations(fixed: np.ndarray, moving: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Return Pearson's correlation at every lag, over the covered samples of the moving one."""
    size = 1 << int(np.ceil(np.log2(len(fixed) + len(moving))))
    n_lags = len(moving) - len(fixed) + 1
    transforms = {
        name: np.fft.rfft(values, size)
        for name, values in (
            ("one", np.ones(len(fixed))),
            ("x", fixed),
            ("xx", fixed**2),
            ("c", covered),
            ("y", moving),
            ("yy", moving**2),
        )
    }
    sums = lambda a, b: np.fft.irfft(np.conj(transforms[a]) * transforms[b], size)[:n_lags]  # noqa: E731
    n = np.maximum(sums("one", "c"), 1.0)
    x, y = sums("x", "c") / n, sums("one", "y") / n
    var_x, var_y = sums("xx", "c") / n - x**2, sums("one", "yy") / n - y**2
    floor_x, floor_y = 1e-9 * np.mean(fixed**2) + 1e-18, 1e-9 * np.mean(moving**2) + 1e-18
    covariance = sums("x", "y") / n - x * y
    usable = (n >= _MIN_OVERLAP * len(fixed)) & (var_x > floor_x) & (var_y > floor_y)
    scale = np.sqrt(np.maximum(var_x, floor_x) * np.maximum(var_y, floor_y))
    return np.where(usable, covariance / scale, -1.0)


def _parabola(values: np.ndarray, best: int) -> float:
    """Return the offset of the vertex of the parabola through three values from the middle one."""
    if best in (0, len(values) - 1):
        return 0.0
    before, top, after = values[best - 1 : best + 2]
    curvature = before - 2.0 * top + after
    return (
        0.0 if curvature >= 0.0 else float(np.clip(0.5 * (before - after) / curvature, -0.5, 0.5))
    )


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
