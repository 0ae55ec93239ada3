# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Minimum-snap trajectories through way-points (Mellinger and Kumar 2011, sec. V).

Of all motions through the way-points at fixed times, with fixed velocity, acceleration and jerk at
both ends, the one of least integrated squared snap is the spline of degree 7 with its knots at the
way-points (Schoenberg's theorem; de Boor, "A Practical Guide to Splines", 2001, ch. VI and XIII).
So no quadratic programme is needed: scipy solves the banded system of that spline, with
continuity up to the sixth derivative. Tests compare it with the programme's KKT system.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline
from scipy.optimize import minimize

from aerotwin_core.frames import FloatArray
from aerotwin_flight_control.reference import N_DERIVATIVES, FlatState, at_rest

DEGREE = 7
YAW_DEGREE = 3  # yaw has least acceleration (k_psi = 2 of the paper): a cubic spline
_CHECKS_PER_SEGMENT = 50
_N_TIME_ROUNDS = 30
_CLOSE = 1.001  # tolerated excess over a limit in the search for times
_SHORTEST_S = 0.05


@dataclass(frozen=True, kw_only=True)
class MotionLimits:
    """Largest speed [m/s] and acceleration [m/s^2] of a trajectory."""

    speed: float
    acceleration: float


class MinimumSnap:
    """A minimum-snap trajectory at fixed times.

    Parameters
    ----------
    p_map, times : (n, 3), (n,) array
        Way-points [m], two at least; their times [s], from 0, increasing.
    yaws : (n,) array
        Yaw at each way-point [rad]; turns of more than pi are not wrapped.
    start, end : FlatState, optional
        Provide velocity, acceleration and jerk at the ends; None: at rest.

    Attributes
    ----------
    coefficients : (8, n - 1, 3) array
        Of each segment in powers of the time since its start, lowest first.
    """

    def __init__(
        self,
        p_map: ArrayLike,
        times: ArrayLike,
        yaws: ArrayLike,
        *,
        start: FlatState | None = None,
        end: FlatState | None = None,
    ) -> None:
        points, self.times, yaws = _checked(p_map, times, yaws)
        self.duration = float(self.times[-1])
        ends = [
            [(order, state.p_derivatives_map[order]) for order in (1, 2, 3)]
            for state in (start or at_rest(points[0], 0.0), end or at_rest(points[-1], 0.0))
        ]
        spline = make_interp_spline(self.times, points, k=DEGREE, bc_type=tuple(ends))
        self.coefficients = _powers(spline, self.times)
        rates = [
            [(1, 0.0 if state is None else float(state.yaw_derivatives[1]))]
            for state in (start, end)
        ]
        turn = make_interp_spline(self.times, yaws, k=YAW_DEGREE, bc_type=tuple(rates))
        self._yaw_coefficients = _powers(turn, self.times)
        self._breaks = self.times.tolist()

    def at(self, t: float) -> FlatState:
        """Return the state at t [s], held outside the trajectory's time."""
        t = min(max(t, 0.0), self.duration)
        segment = min(max(bisect_right(self._breaks, t) - 1, 0), len(self._breaks) - 2)
        since = t - self._breaks[segment]
        position = _power_rows(since, DEGREE, N_DERIVATIVES) @ self.coefficients[:, segment]
        yaw = _power_rows(since, YAW_DEGREE, 3) @ self._yaw_coefficients[:, segment]
        return FlatState(p_derivatives_map=position, yaw_derivatives=yaw)

    def cost(self) -> float:
        """Return the integral of the squared snap [m^2/s^7]."""
        total = 0.0
        for segment, length in enumerate(np.diff(self.times)):
            snap = self.coefficients[4:, segment] * _SNAP_FACTORS[:, None]
            powers = np.arange(4)[:, None] + np.arange(4) + 1
            weights = length**powers / powers
            total += float(np.einsum("ik,ij,jk->", snap, weights, snap))
        return total

    def peaks(self) -> tuple[float, float]:
        """Return the largest speed [m/s] and acceleration [m/s^2] on a fine grid."""
        speeds, accelerations = [], []
        share = np.linspace(0.0, 1.0, _CHECKS_PER_SEGMENT)
        for segment, length in enumerate(np.diff(self.times)):
            powers = np.vander(share * length, DEGREE + 1, increasing=True)
            derived = self.coefficients[:, segment]
            for order, sizes in ((1, speeds), (2, accelerations)):
                derived = derived[1:] * np.arange(1, len(derived))[:, None]
                rows = powers[:, : DEGREE + 1 - order] @ derived
                sizes.append(float(np.linalg.norm(rows, axis=1).max()))
        return max(speeds), max(accelerations)


_SNAP_FACTORS = np.array([factorial(k) / factorial(k - 4) for k in range(4, DEGREE + 1)])


def plan_minimum_snap(
    p_map: ArrayLike,
    yaws: ArrayLike,
    limits: MotionLimits,
    *,
    start: FlatState | None = None,
    end: FlatState | None = None,
) -> MinimumSnap:
    """Return the trajectory through way-points, timed to meet the limits.

    The segments' shares of the time are those of least snap (Mellinger and Kumar, sec. V-C); the
    whole is then stretched until speed and acceleration just meet their limits. From rest to rest
    the stretch is exact: speeds scale with 1/k, accelerations with 1/k^2.

    Raises
    ------
    ValueError
        If neighbouring way-points coincide, or an end moves faster than the limits allow.
    """
    points = np.asarray(p_map, dtype=np.float64)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if len(points) < 2 or lengths.min() < 1e-6:
        raise ValueError("p_map must hold two way-points at least, no two neighbours the same")
    durations = _trapezoid_times(lengths, limits)
    durations = _least_snap_shares(points, durations) * durations.sum()

    def planned() -> MinimumSnap:
        times = np.concatenate([[0.0], np.cumsum(durations)])
        return MinimumSnap(points, times, yaws, start=start, end=end)

    for _ in range(_N_TIME_ROUNDS):
        trajectory = planned()
        speed, acceleration = trajectory.peaks()
        stretch = max(speed / limits.speed, sqrt(acceleration / limits.acceleration))
        if 1.0 / _CLOSE <= stretch <= _CLOSE:
            return trajectory
        if start is not None or end is not None:
            stretch = max(stretch, 0.9)  # what moves at its ends does not scale
        durations = np.maximum(durations * stretch, _SHORTEST_S)
    if stretch > _CLOSE * 1.01:
        raise ValueError(
            f"no times keep a speed of {limits.speed:g} m/s and an acceleration of "
            f"{limits.acceleration:g} m/s^2 between these ends, got {speed:.2f} and "
            f"{acceleration:.2f}; raise the limits"
        )
    return trajectory


def _trapezoid_times(lengths: FloatArray, limits: MotionLimits) -> FloatArray:
    """Return the time of each segment from rest to rest with a trapezoidal speed profile."""
    ramp = limits.speed**2 / limits.acceleration
    slow = 2.0 * np.sqrt(lengths / limits.acceleration)
    return np.where(
        lengths < ramp, slow, lengths / limits.speed + limits.speed / limits.acceleration
    )


def _least_snap_shares(points: FloatArray, durations: FloatArray) -> FloatArray:
    """Return the shares (sum 1) of the segments that minimise the total snap."""
    first = durations / durations.sum()
    if len(first) < 2:
        return first
    yaws = np.zeros(len(points))

    def shares(logarithms: FloatArray) -> FloatArray:
        parts = np.exp(np.append(logarithms, 0.0))
        return parts / parts.sum()

    def snap(logarithms: FloatArray) -> float:
        times = np.concatenate([[0.0], np.cumsum(shares(logarithms))])
        return float(np.log(MinimumSnap(points, times, yaws).cost()))

    begin = np.log(first[:-1] / first[-1])
    best = minimize(snap, begin, method="L-BFGS-B", bounds=[(b - 2.0, b + 2.0) for b in begin])
    return shares(best.x)


def _checked(
    p_map: ArrayLike, times: ArrayLike, yaws: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    points, instants, turns = (np.asarray(a, dtype=np.float64) for a in (p_map, times, yaws))
    n = len(points)
    if points.shape != (n, 3) or n < 2 or instants.shape != (n,) or turns.shape != (n,):
        raise ValueError(
            "p_map must be (n, 3) with n of 2 at least, times and yaws (n,), got "
            f"{points.shape}, {instants.shape}, {turns.shape}"
        )
    if instants[0] != 0.0 or not (np.diff(instants) > 0.0).all():
        raise ValueError(f"times must begin at 0 and increase, got {instants}")
    if not all(np.isfinite(a).all() for a in (points, instants, turns)):
        raise ValueError("way-points, times and yaws must be finite, got NaN or infinity")
    return points, instants, turns


def _powers(spline: BSpline, breaks: FloatArray) -> FloatArray:
    """Return the Taylor coefficients of a spline at the start of each segment, lowest first."""
    orders = range(spline.k + 1)
    return np.array([spline.derivative(k)(breaks[:-1]) / factorial(k) for k in orders])


def _power_rows(t: float, degree: int, n_orders: int) -> FloatArray:
    """Return rows that map coefficients to the value and its derivatives at t."""
    rows = np.zeros((n_orders, degree + 1))
    for order in range(n_orders):
        rows[order, order:] = (
            _FALLING[degree][order, order:] * t ** _EXPONENTS[: degree + 1 - order]
        )
    return rows


def _falling(degree: int) -> FloatArray:
    """Return k! / (k - order)! by order and power."""
    return np.array(
        [
            [factorial(k) / factorial(k - order) if k >= order else 0.0 for k in range(degree + 1)]
            for order in range(N_DERIVATIVES)
        ]
    )


_FALLING = {degree: _falling(degree) for degree in (YAW_DEGREE, DEGREE)}
_EXPONENTS = np.arange(DEGREE + 1)


def unwrap_yaws(yaws: Sequence[float]) -> FloatArray:
    """Return yaws [rad] so that each turn is the shorter one."""
    return np.unwrap(np.asarray(yaws, dtype=np.float64))
