# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An airframe as the flat arrays of `layout`: its constants, and the length of its state."""

import numpy as np

from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.airframe import Airframe

SECONDS_PER_HOUR = 3600.0


def pack_constants(
    airframe: Airframe, *, gravity: float, origin_altitude_m: float | None = None
) -> np.ndarray:
    """Return the constants of an airframe as the kernel reads them."""
    contact = airframe.contact
    points = [*contact.feet_m, *contact.hull_m]
    c = np.zeros(at.ROTORS + at.PER_ROTOR * len(airframe.rotors) + 3 * len(points))
    c[at.PER_MASS], c[at.GRAVITY_PLACE] = 1.0 / airframe.mass_kg, gravity
    c[at.INERTIA : at.INERTIA + 3] = airframe.inertia_kg_m2
    c[at.PER_INERTIA : at.PER_INERTIA + 3] = 1.0 / np.array(airframe.inertia_kg_m2)
    c[at.DRAG : at.DRAG + 3] = airframe.linear_drag_n_s_per_m
    c[at.QUADRATIC_DRAG : at.QUADRATIC_DRAG + 3] = airframe.quadratic_drag_n_s2_per_m2
    c[at.N_ROTORS], c[at.N_POINTS] = len(airframe.rotors), len(points)
    has_altitude = airframe.air_density == "standard_atmosphere" and origin_altitude_m is not None
    c[at.DATUM_ALTITUDE] = origin_altitude_m if has_altitude else np.nan
    own = airframe.model_parameters
    c[at.MODEL_PARAMETERS : at.MODEL_PARAMETERS + len(own)] = own
    _pack_propulsion(airframe, c)
    _pack_contact(airframe, points, c)
    return c


def _pack_propulsion(airframe: Airframe, c: np.ndarray) -> None:
    propeller, motor, battery = airframe.propeller, airframe.motor, airframe.battery
    axial = propeller.zero_thrust_axial_speed_m_s
    c[at.SPEED_PER_COMMAND : at.TAU_DOWN + 1] = (
        motor.speed_per_command_rad_s,
        motor.armed_speed_rad_s,
        motor.maximum_speed_rad_s,
        motor.time_constant_up_s,
        motor.time_constant_down_s,
    )
    c[at.C_THRUST : at.ROTOR_RADIUS + 1] = (
        propeller.thrust_coefficient_n_s2,
        propeller.torque_per_thrust_m,
        propeller.drag_coefficient_n_s2_per_m,
        1.0 / axial if axial > 0.0 else 0.0,
        propeller.axial_drag_coefficient_n_s2_per_m,
        propeller.translational_lift_n_s2_per_m2,
        propeller.rotor_inertia_kg_m2,
        propeller.ground_effect,
        propeller.radius_m,
    )
    c[at.CAPACITY : at.IDLE_POWER + 1] = (
        battery.capacity_ah * SECONDS_PER_HOUR,
        battery.full_voltage_v,
        battery.empty_voltage_v,
        battery.resistance_ohm,
        1.0 / battery.motor_efficiency,
        battery.idle_power_w,
    )
    c[at.SHAFT_TORQUE] = battery.shaft_torque_per_thrust_m or propeller.torque_per_thrust_m
    for i, rotor in enumerate(airframe.rotors):
        turn = rotor.spin if propeller.rolling_moment_follows_spin else 1
        rolling = turn * propeller.rolling_coefficient_n_s2
        j = at.ROTORS + at.PER_ROTOR * i
        c[j : j + at.PER_ROTOR] = (*rotor.position_m, rotor.spin, rolling)


def _pack_contact(airframe: Airframe, points: list, c: np.ndarray) -> None:
    contact = airframe.contact
    c[at.K_NORMAL : at.REACH + 1] = (
        contact.normal_stiffness_n_per_m,
        contact.normal_damping_n_s_per_m,
        contact.tangential_stiffness_n_per_m,
        contact.tangential_damping_n_s_per_m,
        contact.friction,
        1.0 / contact.damping_depth_m,
        contact.crash_speed_m_s,
        np.cos(np.radians(contact.crash_tilt_deg)),
        max((np.linalg.norm(p) for p in points), default=0.0),
    )
    c[at.N_FEET] = len(contact.feet_m)
    if points:
        c[at.ROTORS + at.PER_ROTOR * len(airframe.rotors) :] = np.ravel(points)


def state_length(airframe: Airframe) -> int:
    """Return the length of the state array of an airframe."""
    n_points = len(airframe.contact.feet_m) + len(airframe.contact.hull_m)
    return at.N_HEAD + 2 * len(airframe.rotors) + 4 * n_points
