# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The common part of all path trackers: commands, their limits, and the tracker interface."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_teach_repeat.tracking.motion_model import State
from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.route_path import FloatArray, RoutePath, Segment
from aerotwin_teach_repeat.tracking.speed_schedule import speed_schedule
from aerotwin_teach_repeat.tracking.vehicle_memory import VehicleMemory

PREDICTION_WINDOW_M = 0.3
"""Error allowed to the prediction along the route, beyond the distance that it covers."""


@dataclass(frozen=True, kw_only=True)
class TrackerCommand:
    """Command to a vehicle until the next one.

    Attributes
    ----------
    v_m_s, omega_rad_s : float
        Speed along the vehicle's x axis, negative in reverse [m/s], and turn rate, positive to
        the left [rad/s].
    is_fallback, reason : bool, str
        Whether another control law than the tracker's own made it, and why; "" if normal.
    n_iterations : int
        Solver iterations, 0 without a solver.
    """

    v_m_s: float
    omega_rad_s: float
    is_fallback: bool = False
    reason: str = ""
    n_iterations: int = 0


class PathTracker(Protocol):
    """Steers a vehicle along a route; remembers its commands to compensate latencies."""

    route: RoutePath
    parameters: TrackerParameters

    def command(
        self, T_map_base: ArrayLike, twist: ArrayLike, s_m: float, *,
        time_s: float | None = None, age_s: float = 0.0,
    ) -> TrackerCommand:  # fmt: skip
        """Return the command that leaves at time_s.

        Parameters
        ----------
        T_map_base : (4, 4) array
        twist : (2,) array
            Measured speed along x [m/s] and turn rate [rad/s].
        s_m : float
            Arc length of the pose along the route [m].
        time_s : float or None
            When the command leaves [s]; None: a control period after the last one.
        age_s : float
            Age of the pose and twist at that time [s].
        """

    def stop(self, time_s: float | None = None) -> TrackerCommand:
        """Return a command towards standstill, braking at the limit."""

    def reset(self) -> None:
        """Clear the sent commands: the vehicle stands."""


class TrackerBase:
    """Route, speed schedule and vehicle memory, common to the trackers."""

    def __init__(self, route: RoutePath, parameters: TrackerParameters) -> None:
        self.route, self.parameters = route, parameters
        self.schedule = speed_schedule(route, parameters)
        self.reset()

    def reset(self) -> None:
        """Clear the sent commands: the vehicle stands."""
        self._memory = VehicleMemory(self.parameters)
        self._last = TrackerCommand(v_m_s=0.0, omega_rad_s=0.0)
        self._time_s = 0.0

    def stop(self, time_s: float | None = None) -> TrackerCommand:
        """Return a command towards standstill, braking at the limit, straightening out."""
        return self._send(0.0, 0.0, self._now(time_s), reason="stops")

    def _now(self, time_s: float | None) -> float:
        return self._time_s + self.parameters.control_period_s if time_s is None else time_s

    def _where(
        self, T_map_base: ArrayLike, twist: ArrayLike, s_m: float, time_s: float, age_s: float
    ) -> tuple[State, float, Segment]:
        """Return the state, arc length and segment at which a command that leaves now acts."""
        T, (v, omega) = _checked(T_map_base, twist)
        self._memory.observe(time_s - age_s, v, omega)
        state = self._memory.predict(
            T, v, omega, time_s=time_s - age_s, until_s=time_s + self.parameters.command_delay_s
        )
        segment = self.route.segment_at(s_m)
        moved = math.hypot(state[0] - T[0, 3], state[1] - T[1, 3])
        s_then = self.route.nearest(state[:2], s_m, moved + PREDICTION_WINDOW_M, segment)
        return state, s_then, segment

    def _send(
        self, v: float, omega: float, time_s: float, *, is_fallback: bool = False,
        reason: str = "", n_iterations: int = 0,
    ) -> TrackerCommand:  # fmt: skip
        """Return a command within all limits and remember it."""
        p, last = self.parameters, self._last
        dt = min(max(time_s - self._time_s, 0.0), p.control_period_s)
        v = _within(v, p.max_speed_m_s, last.v_m_s, p.max_acceleration_m_s2 * dt)
        omega = _within(
            omega, p.max_turn_rate_rad_s, last.omega_rad_s, p.max_turn_acceleration_rad_s2 * dt
        )
        if p.vehicle == "bicycle":
            tightest = abs(v) * p.max_curvature_1_m
            omega = float(np.clip(omega, -tightest, tightest))
        self._last = TrackerCommand(
            v_m_s=v, omega_rad_s=omega, is_fallback=is_fallback, reason=reason,
            n_iterations=n_iterations,
        )  # fmt: skip
        self._time_s = time_s
        self._memory.sent(time_s, (v, self._memory.model.turn_of(v, omega)))
        return self._last


def _within(value: float, limit: float, last: float, change: float) -> float:
    """Return value within -+ limit and within last -+ change."""
    return float(np.clip(np.clip(value, last - change, last + change), -limit, limit))


def _checked(T_map_base: ArrayLike, twist: ArrayLike) -> tuple[FloatArray, tuple[float, float]]:
    T = np.asarray(T_map_base, dtype=np.float64)
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise ValueError(f"T_map_base must be (4, 4) and finite, got {T.tolist()}")
    pair = np.asarray(twist, dtype=np.float64)
    if pair.shape != (2,) or not np.isfinite(pair).all():
        raise ValueError(f"twist must be a finite (speed, turn rate), got {pair.tolist()}")
    return T, (float(pair[0]), float(pair[1]))
