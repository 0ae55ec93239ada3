# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vibration by the rotors: its effect on an inertial sensor.

Each rotor has an imbalance, a force of m e omega^2 in its plane (and a share of it along its axis),
and its thrust ripples as its blades pass. The forces act at the hub on a rigid body, whose path
they do not change (it would be micrometres).

A sensor integrates between samples, so the output is the mean over that time, in closed form: a
vibration of frequency f is scaled by sin(pi f dt) / (pi f dt), and frequencies above half the
sampling rate alias with that factor.
"""

import math
from collections.abc import Sequence

import numpy as np
from numba import float64, int64, void
from numpy.typing import ArrayLike

from aerotwin_core.kernel_cache import njit
from aerotwin_core.seeds import seed_sequence
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.aerodynamics import LEAN, part
from aerotwin_multirotor_dynamics.airframe import Airframe

PER_MASS, PER_INERTIA, N_BLADES, RIPPLE, N_ROTORS = 0, 1, 4, 5, 6
FELT = 7
"""Sensed specific force [m/s^2], angular velocity [rad/s], its rate [rad/s^2], body axes."""
ROTORS = FELT + 9
SPEED, HALF_TURNS, SINE, COSINE, BLADE_SINE, BLADE_COSINE = range(6)
IMBALANCE, AXIAL, X, Y, Z, SPIN, PER_ROTOR = range(6, 13)
"""Layout of each rotor, one after the other; speed and angle are of the last sample."""
_PER_PI = 1.0 / math.pi


@part
def sine_of_half_turns(u):
    """Return sin(pi u) for u in [-1, 1], within 1e-8: four times as fast as the library's."""
    y = u * u
    p = -0.07518726420291978 + y * (0.006860188416121109 - y * 0.00038593819334764226)
    p = 3.1415926444238784 + y * (-2.0261194642907867 + y * (0.5240361516388563 + y * p))
    return u * (1.0 - y) * p  # the fraction sin(pi u) / (u (1 - u^2)), fitted over u^2


@part
def blade_angle(sine, cosine, n):
    """Return sine and cosine of n times an angle."""
    s, c = sine, cosine
    for _ in range(n - 1):
        s, c = s * cosine + c * sine, c * cosine - s * sine
    return s, c


@njit(void(float64[::1], int64, int64, float64), cache=True, **LEAN)
def feel(arena, block, state, dt):
    """Write the sensed motion at `FELT`: that of the state, plus the vibration averaged over dt.

    With the angle a = omega t of a rotor, the mean of cos a over dt is (sin a_1 - sin a_0) /
    (omega dt), and that of the rate that a moment of cos a makes, (cos a_0 - cos a_1) / (omega^2
    dt): no division by the speed is left.

    `block` and `state` are the start indices of vibration and state (see `layout`) in the arena;
    dt is the time since the last sample [s].
    """
    per_dt, n = 1.0 / dt, int(arena[block + N_BLADES])
    ripple = arena[block + RIPPLE] * arena[state + at.AIR_DENSITY] / n
    fx = fy = fz = 0.0  # force, and moment
    mx = my = mz = 0.0
    wx = wy = wz = 0.0  # the moment's integral
    for i in range(int(arena[block + N_ROTORS])):
        r = block + ROTORS + PER_ROTOR * i
        now = arena[state + at.N_HEAD + i]
        speed = 0.5 * (arena[r + SPEED] + now)
        turned = arena[r + HALF_TURNS] + speed * dt * _PER_PI
        turned -= 2.0 * math.floor(0.5 * turned + 0.5)
        sine = sine_of_half_turns(turned)
        cosine = sine_of_half_turns(turned + 0.5 if turned < 0.5 else turned - 1.5)
        blade_sine, blade_cosine = blade_angle(sine, cosine, n)
        ds = per_dt * (sine - arena[r + SINE])
        dc = per_dt * (cosine - arena[r + COSINE])
        me, axial, spin = arena[r + IMBALANCE], arena[r + AXIAL], arena[r + SPIN]
        passing = ripple * per_dt * (blade_sine - arena[r + BLADE_SINE])
        passed = -ripple * per_dt * (blade_cosine - arena[r + BLADE_COSINE]) / n
        px, py, pz = me * speed * ds, -spin * me * speed * dc, speed * (axial * ds + passing)
        ix, iy, iz = -me * dc, -spin * me * ds, -axial * dc + passed
        x, y, z = arena[r + X], arena[r + Y], arena[r + Z]
        fx, fy, fz = fx + px, fy + py, fz + pz
        mx, my, mz = mx + y * pz - z * py, my + z * px - x * pz, mz + x * py - y * px
        wx, wy, wz = wx + y * iz - z * iy, wy + z * ix - x * iz, wz + x * iy - y * ix
        arena[r + SPEED], arena[r + HALF_TURNS] = now, turned
        arena[r + SINE], arena[r + COSINE] = sine, cosine
        arena[r + BLADE_SINE], arena[r + BLADE_COSINE] = blade_sine, blade_cosine
    per_mass = arena[block + PER_MASS]
    jx, jy, jz = block + PER_INERTIA, block + PER_INERTIA + 1, block + PER_INERTIA + 2
    felt = block + FELT
    arena[felt] = arena[state + 19] + per_mass * fx
    arena[felt + 1] = arena[state + 20] + per_mass * fy
    arena[felt + 2] = arena[state + 21] + per_mass * fz
    arena[felt + 3] = arena[state + 10] + arena[jx] * wx
    arena[felt + 4] = arena[state + 11] + arena[jy] * wy
    arena[felt + 5] = arena[state + 12] + arena[jz] * wz
    arena[felt + 6] = arena[state + 16] + arena[jx] * mx
    arena[felt + 7] = arena[state + 17] + arena[jy] * my
    arena[felt + 8] = arena[state + 18] + arena[jz] * mz


class RotorVibration:
    """The vibration of one vehicle; its rotor angles advance over time.

    `rng` draws the initial direction of each imbalance; `level` scales imbalance, damage and ripple
    of the airframe's `vibration`; `length` is the number of indices in an arena.
    """

    def __init__(self, airframe: Airframe, rng: np.random.Generator, *, level: float = 1.0) -> None:
        v, n_rotors = airframe.vibration, len(airframe.rotors)
        self.length = ROTORS + PER_ROTOR * n_rotors
        self.block = np.zeros(self.length)
        self.block[PER_MASS] = 1.0 / airframe.mass_kg
        self.block[PER_INERTIA : PER_INERTIA + 3] = 1.0 / np.array(airframe.inertia_kg_m2)
        self.block[N_BLADES], self.block[N_ROTORS] = v.n_blades, n_rotors
        thrust = airframe.propeller.thrust_coefficient_n_s2
        self.block[RIPPLE] = level * v.thrust_ripple * thrust
        damage: Sequence[float] = v.damage_kg_m or (0.0,) * n_rotors
        half_turns = rng.uniform(-1.0, 1.0, n_rotors)
        rows = self.block[ROTORS:].reshape(n_rotors, PER_ROTOR)
        for row, rotor, u, lost in zip(rows, airframe.rotors, half_turns, damage, strict=True):
            imbalance = level * (v.imbalance_kg_m + lost)
            row[HALF_TURNS : COSINE + 1] = u, math.sin(math.pi * u), math.cos(math.pi * u)
            row[BLADE_SINE : BLADE_COSINE + 1] = blade_angle(row[SINE], row[COSINE], v.n_blades)
            row[IMBALANCE : AXIAL + 1] = imbalance, v.axial_share * imbalance
            row[X:SPIN] = rotor.position_m
            row[SPIN] = rotor.spin

    def move(self, arena: np.ndarray, start: int) -> None:
        """Move into an arena, from an index on."""
        arena[start : start + self.length] = self.block
        self.block = arena[start : start + self.length]

    def felt(self, dt: float, state: ArrayLike) -> np.ndarray:
        """Return the sensed motion (9,) over the last dt [s], for a state array at its end.

        Specific force [m/s^2], angular velocity [rad/s] and its rate [rad/s^2], body axes.
        """
        arena = np.concatenate([self.block, np.asarray(state, float)])
        feel(arena, 0, self.length, dt)
        self.block[:] = arena[: self.length]
        return self.block[FELT : FELT + 9].copy()


def seeded_vibration(
    airframe: Airframe, seed: int, vehicle: int, level: float
) -> RotorVibration | None:
    """Return the vibration of one vehicle of a run, None if level or airframe disable it."""
    if level == 0.0 or airframe.vibration.is_off:
        return None
    return RotorVibration(airframe, seed_sequence(seed, vehicle, "vibration"), level=level)
