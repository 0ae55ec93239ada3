# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A whole flight along references: wait, take off, follow, descend, motors off.

`TrackingController` implements the protocol `aerotwin_core.interfaces.Controller`, fed by truth;
derived classes plan the references.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from aerotwin_core.frames import FloatArray, rotation_from_quaternion, yaw_from_rotation
from aerotwin_core.interfaces import ControllerContext, ControllerSample
from aerotwin_core.parameters import parameter
from aerotwin_flight_control.geometric_controller import (
    BodyState,
    GeometricController,
    GeometricParameters,
)
from aerotwin_flight_control.reference import FlatState, Reference, Sequel, at_rest
from aerotwin_multirotor_dynamics import load_airframe

_TOUCHED_M = 0.25  # how far below the standing vehicle the descent goes on before motors stop
_STILL_M_S = 0.1
_NS = 1e-9


@dataclass(frozen=True, kw_only=True)
class FlightOptions:
    """Options common to every `TrackingController`; the `flight:` part of its options."""

    control: GeometricParameters = parameter(
        GeometricParameters(), text="gains, and what the controller knows"
    )
    known_airframe: str = parameter(
        "", text="airframe that the controller believes to fly, name or path; empty = the true one"
    )
    wait_s: float = parameter(0.5, text="on the ground before take-off", unit="s", minimum=0.0)
    settle_s: float = parameter(1.0, text="hover after take-off", unit="s", minimum=0.0)
    landing_speed_m_s: float = parameter(0.5, text="descent at the end", unit="m/s", minimum=0.1)
    lost_m: float = parameter(
        3.0, text="position error at which the flight is given up", unit="m", minimum=0.1
    )


class Hold:
    """A constant reference: one state for a duration."""

    def __init__(self, state: FlatState, duration: float) -> None:
        self._state, self.duration = state, duration

    def at(self, t: float) -> FlatState:
        """Return the state, whatever the time."""
        return self._state


class Descent:
    """Straight down from a hover, without end: the speed rises as 1 - exp(-t / tau)."""

    duration = np.inf
    tau = 0.5

    def __init__(self, above: FlatState, speed: float) -> None:
        self._above, self._speed = above, speed

    def at(self, t: float) -> FlatState:
        """Return the state at t [s]."""
        left = float(np.exp(-t / self.tau))
        z = [t - self.tau * (1.0 - left), 1.0 - left, left / self.tau]
        z += [-left / self.tau**2, left / self.tau**3]
        rows = self._above.p_derivatives_map.copy()
        rows[:, 2] -= self._speed * np.array(z)
        return replace(self._above, p_derivatives_map=rows)


class TrackingController(ABC):
    """Flies references in order, with the geometric controller.

    Attributes
    ----------
    phase, progress : str, float
        Current phase; elapsed share of the planned time, in [0, 1].
    is_finished, failure : bool, str or None
        Whether it has landed with its motors off; reason for which the flight was aborted.
    setpoint : FlatState or None
        Current reference.
    """

    def __init__(self, context: ControllerContext, options: FlightOptions) -> None:
        self.options = options
        known = load_airframe(options.known_airframe) if options.known_airframe else None
        self.control = GeometricController(known or context.airframe, options.control)
        self.phase = "waiting"
        self.progress = 0.0
        self.is_finished = False
        self.failure: str | None = None
        self.setpoint: FlatState | None = None
        self._off = np.zeros(len(context.airframe.rotors))
        self._begin_ns: int | None = None
        self._phases: list[str] = []
        self._plan: Sequel | None = None

    @abstractmethod
    def plan(self, p_map: FloatArray, yaw: float) -> list[tuple[str, Reference]]:
        """Return names and references from standing at p_map (3,) [m] with a yaw [rad] on.

        A descent to the ground follows the last one.
        """

    def begin_ns(self, phase: str) -> int | None:
        """Return the simulated time [ns] at which a phase begins, None before it is planned."""
        if self._plan is None or self._begin_ns is None or phase not in self._phases:
            return None
        t = self.options.wait_s + self._plan.begins[self._phases.index(phase)]
        return self._begin_ns + round(t / _NS)

    def step(self, sample: ControllerSample) -> FloatArray:
        """Return the rotor speeds (n,) [rad/s] to command now."""
        if self._begin_ns is None:
            self._begin_ns = sample.stamp_ns
        t = (sample.stamp_ns - self._begin_ns) * _NS - self.options.wait_s
        if self.is_finished or self.failure is not None or t < 0.0:
            return self._off
        plan = self._plan or self._make_plan(sample)
        self.setpoint = reference = plan.at(t)
        self.phase = self._phases[plan.index(t)]
        self.progress = min(t / plan.begins[-1], 1.0)
        if self._has_ended(sample, reference):
            return self._off
        return self.control.rotor_speeds(_body_state(sample), reference, sample.dt)

    def _make_plan(self, sample: ControllerSample) -> Sequel:
        rotation = rotation_from_quaternion(sample.q_map_body)
        named = self.plan(np.array(sample.p_map_body), yaw_from_rotation(rotation))
        last = named[-1][1]
        end = last.at(last.duration)
        descent = Descent(at_rest(end.p_map, end.yaw), self.options.landing_speed_m_s)
        self._phases = [*(name for name, _ in named), "landing"]
        self._plan = Sequel([*(reference for _, reference in named), descent])
        return self._plan

    def _has_ended(self, sample: ControllerSample, reference: FlatState) -> bool:
        """Record a touch-down or a lost vehicle; return whether the flight is over."""
        error = sample.p_map_body - reference.p_map
        is_still = float(np.linalg.norm(sample.v_map_body)) < _STILL_M_S
        if self.phase == "landing" and error[2] > _TOUCHED_M and is_still:
            self.is_finished, self.phase, self.setpoint = True, "landed", None
        elif float(np.linalg.norm(error)) > self.options.lost_m:
            self.failure = (
                f"{np.linalg.norm(error):.1f} m off its trajectory while {self.phase} at "
                f"t = {sample.stamp_ns * _NS:.2f} s; choose gentler limits or other gains"
            )
        return self.is_finished or self.failure is not None


def _body_state(sample: ControllerSample) -> BodyState:
    return BodyState(
        p_map=sample.p_map_body,
        v_map=sample.v_map_body,
        R_map_body=rotation_from_quaternion(sample.q_map_body),
        omega_in_body=sample.omega_map_body_in_body,
        rotor_speed_rad_s=sample.rotor_speed_rad_s,
    )
