# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wakes of rotors: the air that blows down on a vehicle below another one.

Near a rotor the air speeds up as in the momentum theory of an actuator disc: from v_i = sqrt(T / (2
rho A)) to 2 v_i far below, while the wake contracts (Leishman, Principles of Helicopter
Aerodynamics, 2nd ed., 2006, 2.2; along the axis the flow of a uniform vortex tube, v_i (1 + z /
sqrt(R^2 + z^2)); McCormick, Aerodynamics of V/STOL Flight, 1967). Where that is faster than a
turbulent round jet of the same thrust, the jet holds: its half radius is 0.094 z, and its momentum
flux the thrust (Pope, Turbulent Flows, 2000, 5.1). Both regions are those that Khan and Nahon
measured behind propellers (ICUAS 2015). Profiles are Gaussian.

Several wakes add up their momentum fluxes: speeds by their squares (Reichardt 1942). Left out: the
time that air takes on its way, the ground, swirl, and inflow above a rotor.
"""

import math

import numpy as np
from numba import float64, int64, void

from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics.airframe import Airframe
from aerotwin_multirotor_dynamics.propeller import AIR_DENSITY

HALF_RADIUS_PER_M = 0.094
"""Spreading rate of a round jet: where its speed is half, over the distance (Pope, table 5.1)."""
_WIDTH_PER_M = HALF_RADIUS_PER_M / math.sqrt(math.log(2.0))
_WIDEST = 4.0
"""Widths from the axis beyond which a wake is left out: exp(-16)."""


def induced_speed_per_rad(airframe: Airframe) -> float:
    """Return v_i over the rotor speed [m]: T is C_T omega^2, so that the density cancels.

    Raises ValueError if the airframe states no radius of its propellers.

    Examples
    --------
    >>> from aerotwin_multirotor_dynamics import hover_speed_rad_s, load_airframe
    >>> iris = load_airframe("iris")
    >>> f"{hover_speed_rad_s(iris) * induced_speed_per_rad(iris):.2f} m/s"
    '5.82 m/s'
    """
    propeller = airframe.propeller
    if not propeller.radius_m > 0.0:
        raise ValueError(
            f"airframe '{airframe.name}' must have a propeller.radius_m for a wake, got 0; add it"
        )
    area = math.pi * propeller.radius_m**2
    return math.sqrt(propeller.thrust_coefficient_n_s2 / (2.0 * AIR_DENSITY * area))


@njit(cache=True, error_model="numpy")
def wake_on_axis(z, induced, radius):
    """Return speed on the axis and width b of a wake, z below the disc; u(r) = u exp(-(r / b)^2).

    ``induced`` is v_i [m/s]. In the jet u b = sqrt(2 T / (pi rho)) = 2 R v_i.
    """
    near = induced * (1.0 + z / math.sqrt(radius * radius + z * z))
    width = _WIDTH_PER_M * z
    contracted = radius * math.sqrt(2.0 * induced / near)
    if width <= 0.0:
        return near, contracted
    return min(near, 2.0 * radius * induced / width), max(contracted, width)


_VECTOR, _VECTORS = float64[::1], float64[:, ::1]


# Compiled when it is loaded: a flight that shares one processor with autopilots cannot compile.
@njit(
    void(int64[::1], _VECTORS, _VECTORS, _VECTORS, _VECTOR, _VECTOR, _VECTORS),
    cache=True,
    error_model="numpy",
)
def wake_winds(owners, hubs, axes, ways, induced, radii, winds):
    """Add the mean wind at a vehicle's hubs from the wakes of others to ``winds`` (n, 3) [m/s].

    Of each rotor: the vehicle's index ``owners`` (m,), in the order of these; ``hubs`` (m, 3) in
    map; unit vectors ``axes`` of the thrust and ``ways`` of the wake (m, 3); ``induced`` speeds and
    ``radii`` (m,). The wind is against the thrust.
    """
    m = len(owners)
    n_rotors = np.zeros(len(winds))
    for j in range(m):
        n_rotors[owners[j]] += 1.0
    for j in range(m):
        mx, my, mz = 0.0, 0.0, 0.0  # momentum flux over density and area
        for i in range(m):
            x, y, z = hubs[j, 0] - hubs[i, 0], hubs[j, 1] - hubs[i, 1], hubs[j, 2] - hubs[i, 2]
            along = x * ways[i, 0] + y * ways[i, 1] + z * ways[i, 2]
            if owners[i] == owners[j] or along <= 0.0 or induced[i] <= 0.0:
                continue
            across2 = x * x + y * y + z * z - along * along
            reach = _WIDEST * max(math.sqrt(2.0) * radii[i], _WIDTH_PER_M * along)
            if across2 > reach * reach:
                continue
            speed, width = wake_on_axis(along, induced[i], radii[i])
            flux = (speed * math.exp(-across2 / (width * width))) ** 2
            mx, my, mz = mx - flux * axes[i, 0], my - flux * axes[i, 1], mz - flux * axes[i, 2]
        size = math.sqrt(math.sqrt(mx * mx + my * my + mz * mz))
        if size > 0.0:
            share = 1.0 / (size * n_rotors[owners[j]])
            winds[owners[j], 0] += share * mx
            winds[owners[j], 1] += share * my
            winds[owners[j], 2] += share * mz


def wake_ways(axes: np.ndarray, induced: np.ndarray, drift: np.ndarray) -> np.ndarray:
    """Return the directions (m, 3) in which wakes leave: against the thrust, and with the air.

    Far below, a wake moves at 2 v_i against ``axes`` (m, 3) through air that passes its vehicle
    with ``drift`` (m, 3) [m/s].
    """
    ways = drift - 2.0 * induced[:, None] * axes
    return ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-9)
