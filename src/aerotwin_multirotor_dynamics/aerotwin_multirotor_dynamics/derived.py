# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Quantities derived from an airframe: hover, strength, allocation of its rotors."""

import dataclasses
import math

import numpy as np

from aerotwin_multirotor_dynamics.aerodynamics import density_ratio
from aerotwin_multirotor_dynamics.airframe import (
    GRAVITY,
    SEA_LEVEL,
    STANDARD_ATMOSPHERE,
    Airframe,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DerivedQuantities:
    """Hover and strength of an airframe in still air, far from the ground, battery full.

    Attributes
    ----------
    weight_n : float
        Mass times gravity [N].
    hover_speed_rad_s, maximum_speed_rad_s : float
        Rotor speed that carries the weight, and at full command [rad/s].
    hover_command : float
        Motor command of the hover speed, in [0, 1] if it can hover.
    maximum_thrust_n, thrust_to_weight : float
        Thrust of all rotors at the maximum speed [N], and over the weight.
    hover_shaft_power_w : float
        Power of all rotors against their reaction torque in hover [W].
    """

    weight_n: float
    hover_speed_rad_s: float
    hover_command: float
    maximum_speed_rad_s: float
    maximum_thrust_n: float
    thrust_to_weight: float
    hover_shaft_power_w: float


def air_density_ratio(airframe: Airframe, altitude_m: float) -> float:
    """Return the air density for an airframe over that at sea level.

    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> round(air_density_ratio(load_airframe("iris"), 1000.0), 4)
    0.9075
    """
    is_standard = airframe.air_density == STANDARD_ATMOSPHERE
    return float(density_ratio(altitude_m)) if is_standard else 1.0


def at_altitude(airframe: Airframe, altitude_m: float) -> Airframe:
    """Return an airframe with its coefficients in the air of an altitude above sea level.

    A controller trimmed at that altitude knows these.

    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> iris = load_airframe("iris")
    >>> high = at_altitude(iris, 1000.0)
    >>> round(hover_speed_rad_s(high) / hover_speed_rad_s(iris), 3)
    1.05
    """
    density = air_density_ratio(airframe, altitude_m)
    names = (
        "thrust_coefficient_n_s2",
        "drag_coefficient_n_s2_per_m",
        "rolling_coefficient_n_s2",
        "axial_drag_coefficient_n_s2_per_m",
        "translational_lift_n_s2_per_m2",
    )
    propeller = airframe.propeller
    scaled = {name: density * getattr(propeller, name) for name in names}
    drags = airframe.linear_drag_n_s_per_m, airframe.quadratic_drag_n_s2_per_m2
    linear, quadratic = ((density * x, density * y, density * z) for x, y, z in drags)
    return dataclasses.replace(
        airframe,
        propeller=dataclasses.replace(propeller, **scaled),
        linear_drag_n_s_per_m=linear,
        quadratic_drag_n_s2_per_m2=quadratic,
        air_density=SEA_LEVEL,
    )


def derived_quantities(
    airframe: Airframe, *, gravity: float = GRAVITY, altitude_m: float = 0.0
) -> DerivedQuantities:
    """Return hover and strength by the built-in thrust law, at an altitude above sea level.

    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> x500 = derived_quantities(load_airframe("x500"))
    >>> round(x500.hover_speed_rad_s, 1), round(x500.thrust_to_weight, 2)
    (769.6, 1.69)
    """
    motor, propeller = airframe.motor, airframe.propeller
    weight = airframe.mass_kg * gravity
    density = air_density_ratio(airframe, altitude_m)
    lift_per_speed2 = density * len(airframe.rotors) * propeller.thrust_coefficient_n_s2
    hover = math.sqrt(weight / lift_per_speed2)
    at_full = motor.speed_per_command_rad_s + motor.armed_speed_rad_s
    fastest = min(at_full, motor.maximum_speed_rad_s)
    return DerivedQuantities(
        weight_n=weight,
        hover_speed_rad_s=hover,
        hover_command=(hover - motor.armed_speed_rad_s) / motor.speed_per_command_rad_s,
        maximum_speed_rad_s=fastest,
        maximum_thrust_n=lift_per_speed2 * fastest**2,
        thrust_to_weight=(fastest / hover) ** 2,
        hover_shaft_power_w=weight * propeller.torque_per_thrust_m * hover,
    )


def hover_speed_rad_s(airframe: Airframe, *, gravity: float = GRAVITY) -> float:
    """Return the common rotor speed at which the thrust carries the weight.

    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> round(hover_speed_rad_s(load_airframe("iris")), 1)
    806.8
    """
    return derived_quantities(airframe, gravity=gravity).hover_speed_rad_s


def hover_command(
    airframe: Airframe, *, gravity: float = GRAVITY, altitude_m: float = 0.0
) -> float:
    """Return the motor command in [0, 1] that hovers in still air at an altitude above sea level.

    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> round(hover_command(load_airframe("iris")), 3)
    0.707
    """
    return derived_quantities(airframe, gravity=gravity, altitude_m=altitude_m).hover_command


def thrust_to_weight(airframe: Airframe, *, gravity: float = GRAVITY) -> float:
    """Return the largest static thrust over the weight.

    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> round(thrust_to_weight(load_airframe("iris")), 2)
    1.86
    """
    return derived_quantities(airframe, gravity=gravity).thrust_to_weight


def allocation_matrix(airframe: Airframe) -> np.ndarray:
    """Return the (4, n) matrix from the thrusts of the rotors to the wrench on the body.

    `(F, M_x, M_y, M_z) = A @ thrusts` in body axes (FLU): the total thrust along z [N], and the
    moments about the centre of mass [N m] by the arms of the thrusts, r x (0, 0, T), and by the
    reaction torques, -spin C_M T (Pegasus eq. 5-6, XTDrone eq. 2 and 6). The thrust of a rotor in
    still air is C_T omega^2.

    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> allocation_matrix(load_airframe("iris"))[:, 0]  # front right, counter-clockwise
    array([ 1.  , -0.22, -0.13, -0.06])
    """
    place = np.array([rotor.position_m for rotor in airframe.rotors], float)
    spin = np.array([rotor.spin for rotor in airframe.rotors], float)
    torque = -spin * airframe.propeller.torque_per_thrust_m
    return np.array([np.ones(len(spin)), place[:, 1], -place[:, 0], torque])
