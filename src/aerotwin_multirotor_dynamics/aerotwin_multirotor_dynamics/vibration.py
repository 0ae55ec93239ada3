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
from numba import float64, void
from numpy.typing import ArrayLike

from aerotwin_core.kernel_cache import njit
from aerotwin_core.seeds import seed_sequence
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.aerodynamics import LEAN, part
from aerotwin_multirotor_dynamics.airframe import Airframe

_ROTOR = np.dtype(
    [
        ("speed_rad_s", "f8"),  # the first six are of the last sample
        ("half_turns", "f8"),
        ("sine", "f8"),
        ("cosine", "f8"),
        ("blade_sine", "f8"),
        ("blade_cosine", "f8"),
        ("imbalance_kg_m", "f8"),
        ("axial_kg_m", "f8"),
        ("position_m", "f8", 3),
        ("spin", "f8"),
    ],
    align=True,
)
VIBRATION = np.dtype(
    [
        ("per_mass_1_kg", "f8"),
        ("per_inertia_1_kg_m2", "f8", 3),
        ("n_blades", "i8"),
        ("ripple_n_s2", "f8"),
        ("n_rotors", "i8"),
        ("felt", "f8", (3, 3)),  # specific force, angular velocity, its rate; SI, body axes
        ("rotors", _ROTOR, at.MAXIMUM_ROTORS),
    ],
    align=True,
)
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


@part
def shake(vibration, state, dt):
    """Write the sensed motion: that of the state array, plus the vibration averaged over dt [s].

    With the angle a = omega t of a rotor, the mean of cos a over dt is (sin a_1 - sin a_0) /
    (omega dt), and that of the rate that a moment of cos a makes, (cos a_0 - cos a_1) / (omega^2
    dt): no division by the speed is left. dt is the time since the last sample.
    """
    per_dt, n = 1.0 / dt, vibration.n_blades
    ripple = vibration.ripple_n_s2 * state[at.AIR_DENSITY] / n
    fx = fy = fz = 0.0  # force, and moment
    mx = my = mz = 0.0
    wx = wy = wz = 0.0  # the moment's integral
    for i in range(vibration.n_rotors):
        r = vibration.rotors[i]
        now = state[at.N_HEAD + i]
        speed = 0.5 * (r.speed_rad_s + now)
        turned = r.half_turns + speed * dt * _PER_PI
        turned -= 2.0 * math.floor(0.5 * turned + 0.5)
        sine = sine_of_half_turns(turned)
        cosine = sine_of_half_turns(turned + 0.5 if turned < 0.5 else turned - 1.5)
        blade_sine, blade_cosine = blade_angle(sine, cosine, n)
        ds = per_dt * (sine - r.sine)
        dc = per_dt * (cosine - r.cosine)
        me, axial, spin = r.imbalance_kg_m, r.axial_kg_m, r.spin
        passing = ripple * per_dt * (blade_sine - r.blade_sine)
        passed = -ripple * per_dt * (blade_cosine - r.blade_cosine) / n
        px, py, pz = me * speed * ds, -spin * me * speed * dc, speed * (axial * ds + passing)
        ix, iy, iz = -me * dc, -spin * me * ds, -axial * dc + passed
        x, y, z = r.position_m[0], r.position_m[1], r.position_m[2]
        fx, fy, fz = fx + px, fy + py, fz + pz
        mx, my, mz = mx + y * pz - z * py, my + z * px - x * pz, mz + x * py - y * px
        wx, wy, wz = wx + y * iz - z * iy, wy + z * ix - x * iz, wz + x * iy - y * ix
        r.speed_rad_s, r.half_turns = now, turned
        r.sine, r.cosine = sine, cosine
        r.blade_sine, r.blade_cosine = blade_sine, blade_cosine
    per_mass, j, felt = vibration.per_mass_1_kg, vibration.per_inertia_1_kg_m2, vibration.felt
    felt[0, 0] = state[19] + per_mass * fx
    felt[0, 1] = state[20] + per_mass * fy
    felt[0, 2] = state[21] + per_mass * fz
    felt[1, 0] = state[10] + j[0] * wx
    felt[1, 1] = state[11] + j[1] * wy
    felt[1, 2] = state[12] + j[2] * wz
    felt[2, 0] = state[16] + j[0] * mx
    felt[2, 1] = state[17] + j[1] * my
    felt[2, 2] = state[18] + j[2] * mz


@njit(void(float64[::1], float64[::1], float64), cache=True, **LEAN)
def feel(memory, state, dt):
    """Write the sensed motion into the memory of a `VIBRATION`; see `shake`."""
    shake(memory.view(VIBRATION)[0], state, dt)


class RotorVibration:
    """The vibration of one vehicle; its rotor angles advance over time.

    `rng` draws the initial direction of each imbalance; `level` scales imbalance, damage and ripple
    of the airframe's `vibration`.
    """

    def __init__(self, airframe: Airframe, rng: np.random.Generator, *, level: float = 1.0) -> None:
        v, n_rotors = airframe.vibration, len(airframe.rotors)
        self._axial_share = v.axial_share
        self._use(np.zeros(1, VIBRATION))
        own = self._record
        own["per_mass_1_kg"] = 1.0 / airframe.mass_kg
        own["per_inertia_1_kg_m2"] = 1.0 / np.array(airframe.inertia_kg_m2)
        own["n_blades"], own["n_rotors"] = v.n_blades, n_rotors
        thrust = airframe.propeller.thrust_coefficient_n_s2
        own["ripple_n_s2"] = level * v.thrust_ripple * thrust
        damage: Sequence[float] = v.damage_kg_m or (0.0,) * n_rotors
        half_turns = rng.uniform(-1.0, 1.0, n_rotors)
        rows = own["rotors"][:n_rotors]
        for row, rotor, u, lost in zip(rows, airframe.rotors, half_turns, damage, strict=True):
            imbalance = level * (v.imbalance_kg_m + lost)
            sine, cosine = math.sin(math.pi * u), math.cos(math.pi * u)
            row["half_turns"], row["sine"], row["cosine"] = u, sine, cosine
            row["blade_sine"], row["blade_cosine"] = blade_angle(sine, cosine, v.n_blades)
            row["position_m"], row["spin"] = rotor.position_m, rotor.spin
            row["imbalance_kg_m"], row["axial_kg_m"] = imbalance, v.axial_share * imbalance
        self._sound_kg_m = rows["imbalance_kg_m"].copy()

    def _use(self, array: np.ndarray) -> None:
        self._record, self._memory = array[0], array.view(np.float64)

    def move(self, array: np.ndarray) -> None:
        """Move into another array of one `VIBRATION`."""
        array[0] = self._record
        self._use(array)

    def damage_rotor(self, rotor: int, imbalance_kg_m: float) -> None:
        """Set the imbalance [kg m] that a damaged rotor has beside that of a sound one."""
        row = self._record["rotors"][rotor]
        row["imbalance_kg_m"] = self._sound_kg_m[rotor] + imbalance_kg_m
        row["axial_kg_m"] = self._axial_share * row["imbalance_kg_m"]

    def felt(self, dt: float, state: ArrayLike) -> np.ndarray:
        """Return the sensed motion (9,) over the last dt [s], for a state array at its end.

        Specific force [m/s^2], angular velocity [rad/s] and its rate [rad/s^2], body axes.
        """
        feel(self._memory, np.asarray(state, float), dt)
        return self._record["felt"].flatten()


def seeded_vibration(
    airframe: Airframe, seed: int, vehicle: int, level: float
) -> RotorVibration | None:
    """Return the vibration of one vehicle of a run, None if level or airframe disable it."""
    if level == 0.0 or airframe.vibration.is_off:
        return None
    return RotorVibration(airframe, seed_sequence(seed, vehicle, "vibration"), level=level)
