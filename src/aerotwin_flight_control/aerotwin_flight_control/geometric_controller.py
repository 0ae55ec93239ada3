# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The geometric tracking controller of Mellinger and Kumar, with drag and lag fed forward.

D. Mellinger and V. Kumar, "Minimum snap trajectory generation and control for quadrotors", ICRA
2011, sec. IV; the rates of the desired attitude follow Lee, Leok and McClamroch (CDC 2010), drag
Faessler et al. (2018, see `flatness`). Errors are reference minus state; gains are accelerations,
independent of mass and inertia.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_flight_control.allocation import Allocation
from aerotwin_flight_control.flatness import FlatAttitude, attitude_of_motion, cross, vee
from aerotwin_flight_control.reference import FlatState
from aerotwin_multirotor_dynamics import GRAVITY, Airframe

_LEAST_LIFT = 0.2  # of gravity: the vehicle is never commanded to fall freely or turn over
_UP = np.array([0.0, 0.0, 1.0])
Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class GeometricParameters:
    """Gains, limits, and the controller's knowledge of the vehicle."""

    position_gain_1_s2: float = parameter(
        16.0, text="acceleration per position error", unit="1/s^2", minimum=0.0
    )
    velocity_gain_1_s: float = parameter(
        7.0, text="acceleration per velocity error", unit="1/s", minimum=0.0
    )
    integral_gain_1_s3: float = parameter(
        0.0, text="acceleration per integrated position error; 0 is off", unit="1/s^3", minimum=0.0
    )
    attitude_gain_1_s2: Vector = parameter(
        (300.0, 300.0, 80.0),
        text="angular acceleration per attitude error, body axes",
        unit="1/s^2",
        minimum=0.0,
    )
    rate_gain_1_s: Vector = parameter(
        (20.0, 20.0, 10.0),
        text="angular acceleration per rate error, body axes",
        unit="1/s",
        minimum=0.0,
    )
    feedback_limit_m_s2: float = parameter(
        8.0, text="largest acceleration that errors may ask for", unit="m/s^2", minimum=0.1
    )
    integral_limit_m_s2: float = parameter(
        3.0, text="largest part of it from the integral", unit="m/s^2", minimum=0.0
    )
    feed_forward: str = parameter(
        "full",
        text="from the trajectory's jerk and snap: nothing, body rates, also their change",
        choices=("none", "rates", "full"),
    )
    compensate_drag: bool = parameter(True, text="body drag of the airframe is known")
    compensate_rotor_drag: bool = parameter(True, text="H-force of the rotors is known")
    compensate_axial_loss: bool = parameter(True, text="loss of thrust in axial inflow is known")
    motor_lead: float = parameter(
        0.0,
        text="share of the motors' lag that is inverted; 0 is off",
        minimum=0.0,
        maximum=1.0,
    )


@dataclass(frozen=True, kw_only=True)
class BodyState:
    """Pose and motion of a body.

    Attributes
    ----------
    p_map, v_map : (3,) array
        Position [m] and velocity [m/s] in map axes.
    R_map_body, omega_in_body : (3, 3), (3,) array
        Attitude; angular velocity in body axes [rad/s].
    """

    p_map: FloatArray
    v_map: FloatArray
    R_map_body: FloatArray
    omega_in_body: FloatArray
    rotor_speed_rad_s: FloatArray


class GeometricController:
    """Follows flat references with rotor speeds, for the airframe as the controller knows it.

    Attributes
    ----------
    attitude : FlatAttitude or None
        Desired attitude of the last call.
    is_saturated : bool
        Whether the last wrench exceeded the rotors' limits.
    """

    def __init__(self, airframe: Airframe, parameters: GeometricParameters) -> None:
        self.parameters = parameters
        self.allocation = Allocation(airframe)
        self.attitude: FlatAttitude | None = None
        self.is_saturated = False
        self._mass = airframe.mass_kg
        self._inertia = np.array(airframe.inertia_kg_m2)
        self._body_drag = np.array(airframe.linear_drag_n_s_per_m) * parameters.compensate_drag
        self._rotor_drag = (
            airframe.propeller.drag_coefficient_n_s2_per_m * parameters.compensate_rotor_drag
        )
        self._thrust_coefficient = airframe.propeller.thrust_coefficient_n_s2
        self._motor = airframe.motor
        self._attitude_gain = np.array(parameters.attitude_gain_1_s2)
        self._rate_gain = np.array(parameters.rate_gain_1_s)
        self._integral = np.zeros(3)

    def reset(self) -> None:
        """Reset the integral."""
        self._integral[:] = 0.0

    def rotor_speeds(self, state: BodyState, reference: FlatState, dt: float) -> FloatArray:
        """Return the rotor speeds (n,) [rad/s] to command for the next dt [s]."""
        drag = self._drag(state)
        acceleration = self._acceleration(state, drag)
        desired = self._desired_acceleration(state, acceleration, reference, dt)
        velocity = np.array([state.v_map, acceleration, desired[1]])
        force = self._mass * desired
        force[0] += self._mass * GRAVITY * _UP
        self.attitude = attitude_of_motion(force, velocity, reference.yaw_derivatives, drag)
        wrench = np.empty(4)
        wrench[0] = self._thrust(state, force[0], drag)
        wrench[1:] = self._moment(state, self.attitude)
        thrusts, is_met = self.allocation.thrusts(wrench)
        self.is_saturated = not is_met
        v_air, omega = self._inflow(state)
        speeds = self.allocation.speeds(thrusts, v_air_in_body=v_air, omega_in_body=omega)
        return self._lead(state, speeds, dt)

    # -- translation --------------------------------------------------------------------------

    def _drag(self, state: BodyState) -> FloatArray:
        """Return linear drag per body axis (3,) [N/(m/s)]: body, and rotors at their speed."""
        rotors = self._rotor_drag * float(state.rotor_speed_rad_s.sum())
        return self._body_drag + np.array([rotors, rotors, 0.0])

    def _acceleration(self, state: BodyState, drag: FloatArray) -> FloatArray:
        """Return the present acceleration (3,) by the known forces [m/s^2]."""
        gain = self.allocation.thrust_gain(*self._inflow(state))
        thrust = self._thrust_coefficient * float(np.sum(gain * state.rotor_speed_rad_s**2))
        force_body = -drag * (state.R_map_body.T @ state.v_map)
        force_body[2] += thrust
        return state.R_map_body @ force_body / self._mass - GRAVITY * _UP

    def _desired_acceleration(
        self, state: BodyState, acceleration: FloatArray, reference: FlatState, dt: float
    ) -> FloatArray:
        """Return the desired acceleration with two derivatives (3, 3), map axes.

        a = a_ref + k_p e_p + k_v e_v + k_i int e_p; the errors' own rates follow from the known
        forces.
        """
        gains = self.parameters
        p, v, a, jerk, snap = reference.p_derivatives_map
        e_p, e_v, e_a = p - state.p_map, v - state.v_map, a - acceleration
        self._integrate(e_p, dt)
        k_p, k_v = gains.position_gain_1_s2, gains.velocity_gain_1_s
        feedback = k_p * e_p + k_v * e_v + self._integral
        size = float(np.linalg.norm(feedback))
        share = min(1.0, gains.feedback_limit_m_s2 / size) if size > 0.0 else 1.0
        desired = np.array([a + share * feedback, jerk, snap])
        if share == 1.0:  # at the limit the feedback does not change with the errors
            desired[1] += k_p * e_v + k_v * e_a
            desired[2] += k_p * e_a
        desired[0, 2] = max(desired[0, 2], (_LEAST_LIFT - 1.0) * GRAVITY)
        return desired

    def _integrate(self, e_p: FloatArray, dt: float) -> None:
        """Add to the integral [m/s^2], but not while the rotors cannot follow."""
        if self.is_saturated:
            return
        self._integral += self.parameters.integral_gain_1_s3 * dt * e_p
        limit = self.parameters.integral_limit_m_s2
        np.clip(self._integral, -limit, limit, out=self._integral)

    def _thrust(self, state: BodyState, force: FloatArray, drag: FloatArray) -> float:
        """Return the thrust [N] along the present body z that is nearest to the force."""
        z_body = state.R_map_body[:, 2]
        return float(z_body @ force + drag[2] * (z_body @ state.v_map))

    # -- rotation -----------------------------------------------------------------------------

    def _moment(self, state: BodyState, desired: FlatAttitude) -> FloatArray:
        """Return the moment (3,) in body axes [N m] (Mellinger and Kumar, eq. 10-12; Lee, eq. 16).

        The desired rates are rotated into the present body axes.
        """
        R_body_desired = state.R_map_body.T @ desired.R_map_body
        e_R = vee(R_body_desired)  # half of vee(R^T R_d - R_d^T R)
        omega = state.omega_in_body
        omega_desired, alpha = np.zeros(3), np.zeros(3)
        if self.parameters.feed_forward != "none":
            omega_desired = R_body_desired @ desired.omega_in_body
        if self.parameters.feed_forward == "full":
            alpha = R_body_desired @ desired.alpha_in_body - cross(omega, omega_desired)
        alpha = alpha + self._attitude_gain * e_R + self._rate_gain * (omega_desired - omega)
        return self._inertia * alpha + cross(omega, self._inertia * omega)

    # -- rotors -------------------------------------------------------------------------------

    def _inflow(self, state: BodyState) -> tuple[FloatArray | None, FloatArray | None]:
        if not self.parameters.compensate_axial_loss:
            return None, None
        return state.R_map_body.T @ state.v_map, state.omega_in_body

    def _lead(self, state: BodyState, speeds: FloatArray, dt: float) -> FloatArray:
        """Return set-points that bring lagging motors to their speeds within the step.

        After dt a first-order lag has covered 1 - exp(-dt / tau) of the step.
        """
        share = self.parameters.motor_lead
        if share == 0.0:
            return speeds
        motor, now = self._motor, state.rotor_speed_rad_s
        up, down = _gone(dt, motor.time_constant_up_s), _gone(dt, motor.time_constant_down_s)
        exact = now + (speeds - now) / np.where(speeds > now, up, down)
        led = speeds + share * (exact - speeds)
        return np.clip(led, 0.0, motor.maximum_speed_rad_s)


def _gone(dt: float, time_constant: float) -> float:
    """Return the share of a step that a first-order lag has covered after dt."""
    return float(-np.expm1(-dt / time_constant)) if time_constant > 0.0 else 1.0
