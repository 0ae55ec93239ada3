# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a multirotor as a record, and interpolation between two states."""

import dataclasses
import math

import numpy as np
from numba import float64, void

from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.aerodynamics import rotation_from_quaternion


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultirotorState:
    """Truth at one instant; map is ENU, body is FLU with its origin at the centre of mass.

    Attributes
    ----------
    p_map_body, v_map_body, a_map_body : (3,) array
        Position [m], velocity [m/s], acceleration [m/s^2] in map axes.
    q_map_body : (4,) array
        Attitude, quaternion xyzw.
    omega_map_body_in_body, alpha_in_body, specific_force_in_body : (3,) array
        Angular velocity [rad/s], its rate [rad/s^2], and reading of a perfect accelerometer at the
        centre of mass [m/s^2] in body axes.
    rotor_speed_rad_s : (n,) array
        In the order of the motor outputs.
    is_crashed, n_contacts, impact_speed_m_s
        Crash flag (latched), points on the ground, speed of the last touch into the ground.
    battery_charge, battery_voltage_v, battery_current_a, air_density
        Remaining charge, 0 to 1; voltage at the terminals [V]; current out of it [A]; density of
        the air over that at sea level.
    """

    p_map_body: np.ndarray
    q_map_body: np.ndarray
    v_map_body: np.ndarray
    omega_map_body_in_body: np.ndarray
    a_map_body: np.ndarray
    alpha_in_body: np.ndarray
    specific_force_in_body: np.ndarray
    rotor_speed_rad_s: np.ndarray
    is_crashed: bool = False
    n_contacts: int = 0
    impact_speed_m_s: float = 0.0
    battery_charge: float = 1.0
    battery_voltage_v: float = 0.0
    battery_current_a: float = 0.0
    air_density: float = 1.0

    @property
    def R_map_body(self) -> np.ndarray:
        """Return the attitude as a (3, 3) rotation matrix."""
        return np.array(rotation_from_quaternion(*self.q_map_body)).reshape(3, 3)

    @classmethod
    def from_vector(cls, vector: np.ndarray, n_rotors: int) -> "MultirotorState":
        """Return the record of a copy of a state array (see `layout`)."""
        v = np.array(vector, float)
        return cls(
            p_map_body=v[at.POSITION],
            q_map_body=v[at.QUATERNION],
            v_map_body=v[at.VELOCITY],
            omega_map_body_in_body=v[at.ANGULAR_VELOCITY],
            a_map_body=v[at.ACCELERATION],
            alpha_in_body=v[at.ANGULAR_ACCELERATION],
            specific_force_in_body=v[at.SPECIFIC_FORCE],
            rotor_speed_rad_s=v[at.N_HEAD : at.N_HEAD + n_rotors],
            is_crashed=bool(v[at.IS_CRASHED]),
            n_contacts=int(v[at.N_CONTACTS]),
            impact_speed_m_s=float(v[at.IMPACT_SPEED]),
            battery_charge=float(v[at.BATTERY_CHARGE]),
            battery_voltage_v=float(v[at.BATTERY_VOLTAGE]),
            battery_current_a=float(v[at.BATTERY_CURRENT]),
            air_density=float(v[at.AIR_DENSITY]),
        )

    def to_vector(self) -> np.ndarray:
        """Return the state array up to the rotor speeds: without set-points and anchors."""
        moving = (self.p_map_body, self.q_map_body, self.v_map_body, self.omega_map_body_in_body)
        rates = (self.a_map_body, self.alpha_in_body, self.specific_force_in_body)
        contact = (self.is_crashed, self.impact_speed_m_s, self.n_contacts)
        rotation = self.R_map_body.ravel()
        battery = (self.battery_charge, self.battery_voltage_v, self.battery_current_a)
        air = (self.air_density,)
        parts = (*moving, *rates, rotation, contact, battery, air, self.rotor_speed_rad_s)
        return np.concatenate([np.asarray(part, float) for part in parts])


@njit(cache=True)
def _hermite(x0, x1, rate0, rate1, s, dt):
    a, b = s * s * (3.0 - 2.0 * s), s * (1.0 - s)
    return x0 + a * (x1 - x0) + dt * b * ((1.0 - s) * rate0 - s * rate1)


@njit(cache=True)
def _quaternion_rate(v, i):
    x, y, z, w, p, q, r = v[3], v[4], v[5], v[6], v[10], v[11], v[12]
    if i == 3:
        return 0.5 * (w * p + y * r - z * q)
    if i == 4:
        return 0.5 * (w * q + z * p - x * r)
    if i == 5:
        return 0.5 * (w * r + x * q - y * p)
    return -0.5 * (x * p + y * q + z * r)


@njit(void(float64[::1], float64[::1], float64, float64, float64[::1]), cache=True)
def interpolate_into(v0, v1, s, dt, out):
    """Write the state at a fraction of the interval dt; see `interpolate_vector`."""
    sign = 1.0 if v0[3] * v1[3] + v0[4] * v1[4] + v0[5] * v1[5] + v0[6] * v1[6] >= 0.0 else -1.0
    norm = 0.0
    for i in range(3, 7):
        rate0, rate1 = _quaternion_rate(v0, i), sign * _quaternion_rate(v1, i)
        out[i] = _hermite(v0[i], sign * v1[i], rate0, rate1, s, dt)
        norm += out[i] * out[i]
    norm = math.sqrt(norm)
    for i in range(3):
        out[i] = _hermite(v0[i], v1[i], v0[7 + i], v1[7 + i], s, dt)
        out[7 + i] = _hermite(v0[7 + i], v1[7 + i], v0[13 + i], v1[13 + i], s, dt)
        out[10 + i] = _hermite(v0[10 + i], v1[10 + i], v0[16 + i], v1[16 + i], s, dt)
    for i in range(3, 7):
        out[i] /= norm
    for i in range(13, out.shape[0]):
        out[i] = v0[i] + s * (v1[i] - v0[i])
    for i in range(at.IS_CRASHED, at.N_HEAD):  # flags, counts, battery: of the later state
        out[i] = v1[i]
    R = rotation_from_quaternion(out[3], out[4], out[5], out[6])
    for i in range(9):
        out[22 + i] = R[i]


def interpolate_vector(
    vector0: np.ndarray, vector1: np.ndarray, fraction: float, *, dt: float
) -> np.ndarray:
    """Return the state array at a fraction of the interval dt between two.

    Position, attitude, velocity and angular velocity follow cubics through values and rates at
    both ends (error of fourth order in dt); accelerations, specific force and rotor speeds are
    linear.

    Raises
    ------
    ValueError
        If the fraction is outside [0, 1] or dt is not positive.
    """
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"fraction must be in [0, 1], got {fraction}; interpolate, not beyond")
    if not dt > 0.0:
        raise ValueError(f"dt must be positive, got {dt}")
    out = np.empty_like(vector0)
    interpolate_into(vector0, vector1, fraction, dt, out)
    return out


def interpolate(
    state0: MultirotorState, state1: MultirotorState, fraction: float, *, dt: float
) -> MultirotorState:
    """Return the state at a fraction of the interval dt between two; see `interpolate_vector`."""
    vector = interpolate_vector(state0.to_vector(), state1.to_vector(), fraction, dt=dt)
    return MultirotorState.from_vector(vector, len(state0.rotor_speed_rad_s))
