# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The common part of all path trackers: commands, their limits, and the speed schedule."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_teach_repeat.tracking.motion_model import State
from aerotwin_teach_repeat.tracking.parameters import TrackerParameters
from aerotwin_teach_repeat.tracking.route_path import FloatArray, RoutePath, Segment
from aerotwin_teach_repeat.tracking.vehicle_memory import VehicleMemory

PREDICTION_WINDOW_M = 0.3
"""Error allowed to the prediction along the route, beyond the distance that it covers."""
_STRAIGHT_1_M = 1e-9


@dataclass(frozen=True, kw_only=True)
class TrackerCommand:
    """Command to a vehicle until the next one.

    `v_m_s` is the speed along the vehicle's x axis, negative in reverse, `omega_rad_s` the turn
    rate, positive to the left. With `is_fallback` another control law than the tracker's own made
    it, and `reason` says why; "" if normal.
    """

    v_m_s: float
    omega_rad_s: float
    is_fallback: bool = False
    reason: str = ""


class PathTracker(ABC):
    """Steers a vehicle along a route; remembers its commands to compensate latencies."""

    def __init__(self, route: RoutePath, parameters: TrackerParameters) -> None:
        self.route, self.parameters = route, parameters
        self.schedule = speed_schedule(route, parameters)
        self.reset()

    @abstractmethod
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
        self, v: float, omega: float, time_s: float, *, is_fallback: bool = False, reason: str = ""
    ) -> TrackerCommand:
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
            v_m_s=v, omega_rad_s=omega, is_fallback=is_fallback, reason=reason
        )
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


def speed_schedule(route: RoutePath, parameters: TrackerParameters) -> FloatArray:
    """Return the speed (m,) at every sample of a route [m/s], never negative.

    The least of: the reference speed; the limit by turn rate, less its reserve, at the curvature;
    the limit by lateral acceleration; the speed from which the next slower sample can be reached,
    v^2 = v_next^2 + 2 a ds, with a reserve. The minimum speed holds in turns unless the turn rate
    itself forbids it; stops are approached at the creep speed at least.
    """
    curvature = np.maximum(np.abs(route.curvature_1_m), _STRAIGHT_1_M)
    allowed = np.minimum(
        (1.0 - parameters.turn_reserve) * parameters.max_turn_rate_rad_s / curvature,
        np.sqrt(parameters.max_lateral_acceleration_m_s2 / curvature),
    )
    speed = np.clip(allowed, parameters.min_speed_m_s, parameters.reference_speed_m_s)
    speed = np.minimum(speed, parameters.max_turn_rate_rad_s / curvature)
    for segment in route.segments:
        part = slice(segment.start, segment.stop)
        speed[part] = _brake(route.s_m[part], speed[part], parameters)
    return speed


def _brake(s_m: FloatArray, speed: FloatArray, parameters: TrackerParameters) -> FloatArray:
    """Return the speeds from which every slower one ahead, and the stop at the end, is reached.

    The running minimum of v_j^2 + 2 a (s_j - s_i) over j >= i, from behind.
    """
    square = speed**2
    square[-1] = 0.0
    fall = 2.0 * (1.0 - parameters.brake_reserve) * parameters.max_acceleration_m_s2 * s_m
    reachable = np.minimum.accumulate((square + fall)[::-1])[::-1] - fall
    slow = np.sqrt(np.maximum(reachable, 0.0))
    slow = np.maximum(slow, np.minimum(parameters.creep_speed_m_s, speed))
    slow[-1] = 0.0
    return slow


def speed_at(route: RoutePath, schedule: FloatArray, s_m: float, segment: Segment) -> float:
    """Return the scheduled speed at arc length s within a segment [m/s]."""
    part = slice(segment.start, segment.stop)
    if s_m >= segment.stop_s_m:
        return 0.0
    return float(np.interp(s_m, route.s_m[part], schedule[part]))
