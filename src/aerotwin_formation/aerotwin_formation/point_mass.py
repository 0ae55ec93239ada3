# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles as point masses whose velocity follows commands: first or second order, with limits.

First order, with a time constant T and the commanded velocity u:

    p' = v,   v' = (u - v) / T + c (w - b),   b' = (w - b) / T_b                                (1)

The wind w pushes the vehicle, until the integrator of its autopilot, b, has learned to lean against
it: gusts disturb it, a steady wind does not. Second order, with the natural frequency W and the
damping Z of the velocity's response:

    p' = v,   v' = a + c (w - b),   a' = W^2 (u - v) - 2 Z W a,   b' = (w - b) / T_b            (2)

Both are linear between two commands and solved exactly by the matrix exponential: the step does not
change what happens. The acceleration of the command, (u - v) / T or a, has a limit; so has u. What
is left out: attitude, rotors, ground. A thousand vehicles cost about 0.1 ms a step.
"""

import functools
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_formation.limits import limited


@dataclass(frozen=True, kw_only=True)
class PointMassParameters:
    """The response of a vehicle's velocity to commands and wind."""

    order: int = parameter(1, choices=(1, 2), text="of the velocity's response")
    time_constant_s: float = parameter(
        0.3, unit="s", minimum=0.01, maximum=10.0, text="T of the first order"
    )
    natural_frequency_rad_s: float = parameter(
        5.0, unit="rad/s", minimum=0.1, maximum=100.0, text="W of the second order"
    )
    damping: float = parameter(0.8, minimum=0.05, maximum=5.0, text="Z of the second order")
    wind_response_1_s: float = parameter(
        0.3,
        unit="1/s",
        minimum=0.0,
        maximum=10.0,
        text="c: acceleration by the wind before the autopilot acts",
    )
    wind_rejection_s: float = parameter(
        3.0, unit="s", minimum=0.1, maximum=1e6, text="T_b: in which the autopilot learns the wind"
    )
    maximum_speed_m_s: float = parameter(
        8.0, unit="m/s", minimum=0.01, maximum=100.0, text="of commands"
    )
    maximum_acceleration_m_s2: float = parameter(
        4.0, unit="m/s^2", minimum=0.01, maximum=100.0, text="by commands"
    )


@dataclass(frozen=True, kw_only=True)
class PointMassState:
    """Of n vehicles: position [m], velocity [m/s], acceleration by commands [m/s^2], (n, 3).

    `learned_wind` is what their autopilots lean against [m/s].
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    learned_wind: FloatArray


def at_rest(position: FloatArray, *, wind: FloatArray | float = 0.0) -> PointMassState:
    """Return vehicles that hover at positions (n, 3) in a wind (3,) that they have learned."""
    places = np.array(position, dtype=np.float64)
    zero = np.zeros_like(places)
    return PointMassState(
        position=places, velocity=zero, acceleration=zero, learned_wind=zero + wind
    )


def point_mass_step(
    parameters: PointMassParameters,
    state: PointMassState,
    command: FloatArray,
    dt: float,
    *,
    wind: FloatArray | float = 0.0,
) -> PointMassState:
    """Return the state after dt [s] under commanded velocities (n, 3) and wind (n, 3) [m/s].

    Both are constant during the step. The limit of the acceleration of the first order is that at
    the step's beginning, where it is greatest; of the second order that at its end.
    """
    p, shape = parameters, state.position.shape
    target = limited(command, p.maximum_speed_m_s)
    air = np.broadcast_to(wind, shape)
    if p.order == 1:
        lag, most = p.time_constant_s, p.maximum_acceleration_m_s2
        reached = state.velocity + lag * limited((target - state.velocity) / lag, most)
        inputs = np.array([state.velocity, state.learned_wind, reached, air])
        way, velocity, learned = _stepped(_response(p, dt), inputs)
        after = limited((target - velocity) / lag, most)
    else:
        inputs = np.array([state.velocity, state.acceleration, state.learned_wind, target, air])
        way, velocity, after, learned = _stepped(_response(p, dt), inputs)
        after = limited(after, p.maximum_acceleration_m_s2)
    return PointMassState(
        position=state.position + way, velocity=velocity, acceleration=after, learned_wind=learned
    )


def _stepped(response: FloatArray, inputs: FloatArray) -> FloatArray:
    """Return a matrix (r, k) times k vectors of all vehicles (k, n, 3)."""
    return (response @ inputs.reshape(len(inputs), -1)).reshape(-1, *inputs.shape[1:])


@functools.lru_cache(maxsize=64)
def _response(p: PointMassParameters, dt: float) -> FloatArray:
    """Return the matrix from the state but the position and the inputs u, w to the next.

    Rows: the way since, then the state; equations 1 and 2 with constant inputs, by exp(A dt).
    """
    push, learn = p.wind_response_1_s, 1.0 / p.wind_rejection_s
    if p.order == 1:
        lag = 1.0 / p.time_constant_s
        rows = [  # of p, v, b, u, w
            [0.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, -lag, -push, lag, push],
            [0.0, 0.0, -learn, 0.0, learn],
        ]
    else:
        square = p.natural_frequency_rad_s**2
        brake = 2.0 * p.damping * p.natural_frequency_rad_s
        rows = [  # of p, v, a, b, u, w
            [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, -push, 0.0, push],
            [0.0, -square, -brake, 0.0, square, 0.0],
            [0.0, 0.0, 0.0, -learn, 0.0, learn],
        ]
    system = np.zeros((len(rows[0]), len(rows[0])))
    system[: len(rows)] = rows
    return np.ascontiguousarray(expm(dt * system)[: len(rows), 1:])
