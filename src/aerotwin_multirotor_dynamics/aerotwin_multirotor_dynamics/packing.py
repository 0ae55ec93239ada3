# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An airframe as the compiled kernel reads it: its constants, and the length of its state."""

import dataclasses

import numpy as np

from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.airframe import Airframe, Contact

SECONDS_PER_HOUR = 3600.0
_SAME = {*at.CONSTANTS.names} - {"rotors", "model_parameters"}
"""Constants that are parameters of the airframe, under the same name, and others."""


def pack_constants(
    airframe: Airframe, *, gravity: float, origin_altitude_m: float | None = None
) -> np.ndarray:
    """Return the memory of an airframe's `layout.CONSTANTS`, as the kernel reads it."""
    constants = np.zeros(1, at.CONSTANTS)
    c = constants[0]
    for part in (airframe, airframe.propeller, airframe.motor, airframe.battery, airframe.contact):
        for field in dataclasses.fields(part):
            if field.name in _SAME:
                c[field.name] = getattr(part, field.name)
    c["per_mass_1_kg"], c["gravity_m_s2"] = 1.0 / airframe.mass_kg, gravity
    c["per_inertia_1_kg_m2"] = 1.0 / np.array(airframe.inertia_kg_m2)
    has_altitude = airframe.air_density == "standard_atmosphere" and origin_altitude_m is not None
    c["datum_altitude_m"] = origin_altitude_m if has_altitude else np.nan
    c["model_parameters"][: len(airframe.model_parameters)] = airframe.model_parameters
    _pack_propulsion(airframe, c)
    _pack_contact(airframe.contact, c)
    return constants.view(np.float64)


def _pack_propulsion(airframe: Airframe, c: np.void) -> None:
    propeller, battery = airframe.propeller, airframe.battery
    axial = propeller.zero_thrust_axial_speed_m_s
    c["per_zero_thrust_axial_speed_s_m"] = 1.0 / axial if axial > 0.0 else 0.0
    c["capacity_c"] = battery.capacity_ah * SECONDS_PER_HOUR
    c["full_voltage_v"], c["empty_voltage_v"] = battery.full_voltage_v, battery.empty_voltage_v
    c["cell_share"] = 1.0
    c["per_motor_efficiency"] = 1.0 / battery.motor_efficiency
    torque = battery.shaft_torque_per_thrust_m or propeller.torque_per_thrust_m
    c["shaft_torque_per_thrust_m"] = torque
    c["n_rotors"] = len(airframe.rotors)
    for row, rotor in zip(c["rotors"], airframe.rotors, strict=False):
        turn = rotor.spin if propeller.rolling_moment_follows_spin else 1
        row["x_m"], row["y_m"], row["z_m"] = rotor.position_m
        row["spin"], row["rolling_n_s2"] = rotor.spin, turn * propeller.rolling_coefficient_n_s2
        row["speed_share"] = row["thrust_share"] = 1.0


def _pack_contact(contact: Contact, c: np.void) -> None:
    points = [*contact.feet_m, *contact.hull_m]
    c["per_damping_depth_1_m"] = 1.0 / contact.damping_depth_m
    c["crash_cos_tilt"] = np.cos(np.radians(contact.crash_tilt_deg))
    c["reach_m"] = max((np.linalg.norm(p) for p in points), default=0.0)
    c["n_feet"], c["n_points"] = len(contact.feet_m), len(points)
    c["points_m"][: len(points)] = points


def state_length(airframe: Airframe) -> int:
    """Return the length of the state array of an airframe."""
    n_points = len(airframe.contact.feet_m) + len(airframe.contact.hull_m)
    return at.N_HEAD + 2 * len(airframe.rotors) + 4 * n_points
