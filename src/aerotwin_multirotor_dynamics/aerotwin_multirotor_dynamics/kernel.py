# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled step: Newton, Euler, motors and battery, by fourth-order Runge-Kutta.

One step of at most 4 ms in free flight; sub-steps of at most 1 ms when a contact point could
reach the ground, whose springs are stiff. Nothing allocates memory: stages are tuples of numbers.
"""

import functools
import importlib
import math
from collections.abc import Callable
from typing import NamedTuple

from numba import float64, int64, prange, void

from aerotwin_core.errors import ParameterError
from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.aerodynamics import (
    LEAN,
    body_drag,
    density_ratio,
    lagged_speed,
    make_air_wrench,
    part,
    quadratic_thrust,
    rotation_from_quaternion,
    to_body,
    to_map,
)
from aerotwin_multirotor_dynamics.airframe import Airframe
from aerotwin_multirotor_dynamics.contact import (
    forget_contacts,
    ground_wrench,
    is_clear_of_ground,
    settle_contacts,
)

MAXIMUM_STEP = 4e-3
"""Largest step of Runge-Kutta in free flight [s]."""
MAXIMUM_CONTACT_STEP = 1e-3
"""Largest step where a contact point could reach the ground [s]."""
A_LITTLE = 1e-6  # so that 0.004 / 0.001 does not round up to five


@part
def moving_part(s):
    """Return the integrated part of the state as a tuple."""
    return (s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12])


@part
def advanced(y, k, h):
    """Return y + h k."""
    return (
        y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2], y[3] + h * k[3], y[4] + h * k[4],
        y[5] + h * k[5], y[6] + h * k[6], y[7] + h * k[7], y[8] + h * k[8], y[9] + h * k[9],
        y[10] + h * k[10], y[11] + h * k[11], y[12] + h * k[12],
    )  # fmt: skip


def make_derivative(air_wrench):
    """Return the equations of motion under the forces of an air model."""

    @part
    def derivative(y, state, c, u, up, down, is_clear):
        """Return the rate of (position, quaternion, velocity, angular velocity).

        Newton in map axes, Euler in body axes (XTDrone eq. 1-2 with gravity and one body drag). The
        rotor speeds are those of the state's, led by up and down towards their set-points.
        """
        R = rotation_from_quaternion(y[3], y[4], y[5], y[6])
        fx, fy, fz, mx, my, mz = air_wrench(y, R, state, c, u, up, down)
        ax, ay, az = to_map(R, fx, fy, fz)
        if not is_clear:
            gx, gy, gz, cx, cy, cz = ground_wrench(y, R, state, c, u)
            ax, ay, az = ax + gx, ay + gy, az + gz
            mx, my, mz = mx + cx, my + cy, mz + cz
        p, q, r = y[10], y[11], y[12]
        ix, iy, iz = c.inertia_kg_m2[0], c.inertia_kg_m2[1], c.inertia_kg_m2[2]
        return (
            y[7],
            y[8],
            y[9],
            0.5 * (y[6] * p + y[4] * r - y[5] * q),
            0.5 * (y[6] * q + y[5] * p - y[3] * r),
            0.5 * (y[6] * r + y[3] * q - y[4] * p),
            -0.5 * (y[3] * p + y[4] * q + y[5] * r),
            ax * c.per_mass_1_kg,
            ay * c.per_mass_1_kg,
            az * c.per_mass_1_kg - c.gravity_m_s2,
            (mx - (iz - iy) * q * r) * c.per_inertia_1_kg_m2[0],
            (my - (ix - iz) * r * p) * c.per_inertia_1_kg_m2[1],
            (mz - (iy - ix) * p * q) * c.per_inertia_1_kg_m2[2],
        )

    return derivative


@part
def decay(h, tau):
    """Return the remaining share of a first-order lag after h seconds; 0 if tau is zero."""
    return math.exp(-h / tau) if tau > 0.0 else 0.0


def make_runge_kutta(derivative):
    """Return the integrator of equations of motion."""

    @part
    def runge_kutta(state, c, u, h, up, down, is_clear):
        """Advance what moves by h; up and down are the motors' decays over half of it."""
        y = moving_part(state)
        first_up = 1.0 if c.time_constant_up_s > 0.0 else 0.0
        first_down = 1.0 if c.time_constant_down_s > 0.0 else 0.0
        k1 = derivative(y, state, c, u, first_up, first_down, is_clear)
        stage = advanced(y, k1, 0.5 * h)
        k2 = derivative(stage, state, c, u, up, down, is_clear)
        stage = advanced(y, k2, 0.5 * h)
        k3 = derivative(stage, state, c, u, up, down, is_clear)
        stage = advanced(y, k3, h)
        k4 = derivative(stage, state, c, u, up * up, down * down, is_clear)
        slopes = advanced(advanced(advanced(k1, k2, 2.0), k3, 2.0), k4, 1.0)
        y = advanced(y, slopes, h / 6.0)
        n = 1.0 / math.sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
        return (
            y[0], y[1], y[2], n * y[3], n * y[4], n * y[5], n * y[6],
            y[7], y[8], y[9], y[10], y[11], y[12],
        )  # fmt: skip

    return runge_kutta


@part
def desired_speed(command, limit, c, u):
    """Return the requested speed of a motor; 0 if disarmed or the command is NaN."""
    if u[at.IS_ARMED] <= at.DISARMED or math.isnan(command):
        return 0.0
    if u[at.IS_ARMED] == at.ARMED_BY_SPEED:
        return min(limit, max(0.0, command))
    limited = min(1.0, max(0.0, command))
    return min(limit, c.speed_per_command_rad_s * limited + c.armed_speed_rad_s)


@part
def set_motors(state, c, u):
    """Write the rotor speed set-points; a low voltage limits them, an empty battery stops them."""
    limit = c.maximum_speed_rad_s
    if c.capacity_c > 0.0:
        limit *= min(1.0, state[at.BATTERY_VOLTAGE] / c.full_voltage_v)
        if state[at.BATTERY_CHARGE] <= 0.0:
            limit = 0.0
    n_rotors = c.n_rotors
    for i in range(n_rotors):
        desired = desired_speed(u[at.COMMAND + i], limit, c, u)
        state[at.N_HEAD + n_rotors + i] = c.rotors[i].speed_share * desired


@part
def turn_motors(state, c, up, down):
    """Advance the rotor speeds to the end of a step; up and down are the decays over half of it."""
    n_rotors = c.n_rotors
    for i in range(at.N_HEAD, at.N_HEAD + n_rotors):
        state[i] = lagged_speed(state[i], state[i + n_rotors], up * up, down * down)


@part
def drain(state, c, h):
    """Discharge the battery by h seconds of the present power of motors and idle load.

    The terminals lie behind a resistance: V = V_0 - R I with V I = P, V_0 linear in the charge.
    """
    if c.capacity_c <= 0.0:
        return
    if state[at.BATTERY_CHARGE] <= 0.0:
        state[at.BATTERY_CURRENT] = 0.0
        state[at.BATTERY_VOLTAGE] = c.cell_share * c.empty_voltage_v
        return
    power = c.idle_power_w
    for i in range(at.N_HEAD, at.N_HEAD + c.n_rotors):
        torque = c.shaft_torque_per_thrust_m * c.thrust_coefficient_n_s2 * state[i] * state[i]
        power += state[at.AIR_DENSITY] * torque * state[i] * c.per_motor_efficiency
    span = c.full_voltage_v - c.empty_voltage_v
    open_circuit = c.cell_share * (c.empty_voltage_v + span * state[at.BATTERY_CHARGE])
    # the smaller root of R I^2 - V_0 I + P = 0, written so that R may be zero; at most V_0 / 2R
    root = math.sqrt(max(0.0, open_circuit * open_circuit - 4.0 * c.resistance_ohm * power))
    current = 2.0 * power / (open_circuit + root)
    if root == 0.0:
        current = 0.5 * open_circuit / c.resistance_ohm
    state[at.BATTERY_CURRENT] = current
    state[at.BATTERY_VOLTAGE] = open_circuit - c.resistance_ohm * current
    charge = state[at.BATTERY_CHARGE] - current * h / c.capacity_c
    state[at.BATTERY_CHARGE] = max(0.0, charge)


def make_small_step(runge_kutta):
    """Return the function that takes one step with motors, battery and contacts."""

    @part
    def small_step(state, c, u, h, up, down, is_clear):
        """Advance everything by one step of Runge-Kutta."""
        set_motors(state, c, u)
        before = moving_part(state)
        y = runge_kutta(state, c, u, h, up, down, is_clear)
        for i in range(at.N_MOVING):
            state[i] = y[i]
        turn_motors(state, c, up, down)
        drain(state, c, h)
        if not is_clear:
            settle_contacts(y, before, state, c, u)

    return small_step


def make_refresh(derivative):
    """Return the function that computes the derived part of the state."""

    @part
    def refresh(state, c, u):
        """Write air density, accelerations, specific force and rotation of the present state."""
        state[at.AIR_DENSITY] = density_ratio(c.datum_altitude_m + state[2])
        y = moving_part(state)
        rate = derivative(y, state, c, u, 1.0, 1.0, False)
        R = rotation_from_quaternion(y[3], y[4], y[5], y[6])
        for i in range(3):
            state[13 + i] = rate[7 + i]
            state[16 + i] = rate[10 + i]
        fx, fy, fz = to_body(R, rate[7], rate[8], rate[9] + c.gravity_m_s2)
        state[19], state[20], state[21] = fx, fy, fz
        for i in range(9):
            state[22 + i] = R[i]

    return refresh


def make_advance(small_step, refresh):
    """Return the function that divides a step into sub-steps."""

    @part
    def advance(state, c, u, dt):
        """Advance a state array by dt; see `step_state`."""
        n_steps = max(1, math.ceil(dt / MAXIMUM_STEP - A_LITTLE))
        for _ in range(n_steps):
            h = dt / n_steps
            is_clear = is_clear_of_ground(state, c, u, h)
            n_parts = 1
            if is_clear and state[at.N_CONTACTS] > 0.0:
                forget_contacts(state, c)
            if not is_clear:
                n_parts = max(1, math.ceil(h / MAXIMUM_CONTACT_STEP - A_LITTLE))
                h /= n_parts
            up, down = decay(0.5 * h, c.time_constant_up_s), decay(0.5 * h, c.time_constant_down_s)
            for _ in range(n_parts):
                small_step(state, c, u, h, up, down, is_clear)
        refresh(state, c, u)
        total = 0.0
        for i in range(at.N_MOVING):
            total += state[i]
        return 1 if math.isfinite(total) else 0

    return advance


def assemble(thrust_model, drag_model):
    """Return `advance` and `refresh` for a thrust and a drag model.

    The models are bound by closure: functions passed as arguments prevent numba's caching.
    """
    derivative = make_derivative(make_air_wrench(thrust_model, drag_model))
    refresh = make_refresh(derivative)
    return make_advance(make_small_step(make_runge_kutta(derivative)), refresh), refresh


ADVANCE, REFRESH = assemble(quadratic_thrust, body_drag)
ONE = (float64[::1], float64[::1], float64[::1])
MANY = (float64[:, ::1], float64[:, ::1], float64[:, ::1])


@njit(int64(*ONE, float64), cache=True, **LEAN)
def step_state(state, inputs, constants, dt):
    """Advance a `layout` state array in place by dt [s]; return 1 if it stays finite, else 0.

    `constants` is the memory of a `layout.CONSTANTS`: an array of records as an argument would
    cost 0.1 us more per call.
    """
    return ADVANCE(state, constants.view(at.CONSTANTS)[0], inputs, dt)


@njit(int64(*MANY, float64), cache=True, parallel=True, error_model="numpy")
def step_batch(states, inputs, constants, dt):
    """Advance n vehicles in place by dt [s], on all cores; row by row as `step_state`, bit for bit.

    `states` and `inputs` have n rows, `constants` n or 1. Returns the number of finite new states.
    Set OMP_WAIT_POLICY to PASSIVE (`make` does): the threads otherwise spin between calls.
    """
    n_finite = 0
    one = min(1, constants.shape[0] - 1)
    for i in prange(states.shape[0]):
        n_finite += step_state(states[i], inputs[i], constants[i * one], dt)
    return n_finite


@njit(void(*ONE), cache=True, **LEAN)
def refresh_state(state, inputs, constants):
    """Recompute the derived part of a state array."""
    REFRESH(state, constants.view(at.CONSTANTS)[0], inputs)


class Kernels(NamedTuple):
    """The compiled functions of one pair of thrust and drag models."""

    step_state: Callable[..., int]
    refresh_state: Callable[..., None]


BUILT_IN = Kernels(step_state, refresh_state)


def compile_kernels(thrust_model=quadratic_thrust, drag_model=body_drag) -> Kernels:
    """Return `step_state` and `refresh_state` for custom models.

    The signatures are those of `aerodynamics.quadratic_thrust` and `body_drag`; both must compile
    with numba, which takes seconds, once per process.
    """
    own = (m if hasattr(m, "py_func") else part(m) for m in (thrust_model, drag_model))
    advance, refresh = assemble(*own)

    @njit(int64(*ONE, float64), **LEAN)
    def step(state, inputs, constants, dt):
        return advance(state, constants.view(at.CONSTANTS)[0], inputs, dt)

    @njit(void(*ONE), **LEAN)
    def renew(state, inputs, constants):
        refresh(state, constants.view(at.CONSTANTS)[0], inputs)

    return Kernels(step, renew)


def kernels(airframe: Airframe) -> Kernels:
    """Return the compiled functions of an airframe's models; ParameterError if not importable."""
    if not airframe.thrust_model and not airframe.drag_model:
        return BUILT_IN
    return _compiled(airframe.thrust_model, airframe.drag_model)


@functools.cache
def _compiled(thrust_model: str, drag_model: str) -> Kernels:
    named = {"thrust_model": thrust_model, "drag_model": drag_model}
    own = {name: _function(text, name) for name, text in named.items() if text}
    return compile_kernels(**own)


def _function(text: str, name: str) -> Callable:
    module, colon, function = text.partition(":")
    if not (module and colon and function):
        raise ParameterError(f"{name}: expected 'module:function', found '{text}'")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ParameterError(
            f"{name}: '{text}' cannot be imported ({error}); check its name and PYTHONPATH"
        ) from error
