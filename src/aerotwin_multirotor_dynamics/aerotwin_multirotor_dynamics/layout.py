# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the compiled kernel works on: the state and input arrays, and the airframe's `CONSTANTS`.

The state array holds truth at one instant. The slices are the public way to read it; after
`N_HEAD` come the rotor speeds and their set-points (one per rotor each), then the anchors of the
contact points (four numbers per point: 1 if it sticks, then the position in map where it sticks).
"""

import numpy as np

POSITION = slice(0, 3)
"""p_map_body: the centre of mass in map [m]."""
QUATERNION = slice(3, 7)
"""q_map_body, xyzw, of unit length."""
VELOCITY = slice(7, 10)
"""v_map_body in map axes [m/s]."""
ANGULAR_VELOCITY = slice(10, 13)
"""omega_map_body_in_body [rad/s]."""
ACCELERATION = slice(13, 16)
"""a_map_body in map axes [m/s^2]."""
ANGULAR_ACCELERATION = slice(16, 19)
"""alpha_in_body, the rate of the angular velocity [rad/s^2]."""
SPECIFIC_FORCE = slice(19, 22)
"""Reading of a perfect accelerometer at the centre of mass, body axes [m/s^2]."""
ROTATION = slice(22, 31)
"""R_map_body, row by row."""
IS_CRASHED = 31
"""1 after a crash, latched."""
IMPACT_SPEED = 32
"""Speed into the ground at the last touch of a point [m/s]."""
N_CONTACTS = 33
"""Number of points that touch the ground."""
BATTERY_CHARGE = 34
"""Remaining charge of the battery, 0 to 1; 1 without a battery."""
BATTERY_VOLTAGE = 35
"""Voltage at the battery's terminals [V]; that of a full one without a battery."""
BATTERY_CURRENT = 36
"""Current out of the battery [A]; 0 without a battery."""
AIR_DENSITY = 37
"""Density of the air over that at sea level; it holds for the step that follows."""
N_HEAD = 38
"""Length of the part above; rotor speeds [rad/s], their set-points and the anchors follow."""

N_MOVING = 13  # position, quaternion, velocity, angular velocity: what the integrator carries

# inputs of a step
WIND = 0
GROUND_POINT = 3
GROUND_NORMAL = 6
IS_ARMED = 9
"""0: the motors stop; ARMED: commands in [0, 1]; ARMED_BY_SPEED: rotor speeds [rad/s]."""
COMMAND = 10
"""First of the motor commands, one per rotor."""

DISARMED, ARMED, ARMED_BY_SPEED = 0.0, 1.0, 2.0

N_MODEL_PARAMETERS = 8
MAXIMUM_ROTORS = 32
MAXIMUM_CONTACT_POINTS = 64

_ROTOR = np.dtype(
    [
        ("x_m", "f8"),  # hub in body axes
        ("y_m", "f8"),
        ("z_m", "f8"),
        ("spin", "f8"),
        ("rolling_n_s2", "f8"),  # coefficient of its rolling moment
        ("speed_share", "f8"),  # of the commanded speed, that its motor reaches: 1 when sound
        ("thrust_share", "f8"),  # of its thrust, that its propeller makes: 1 when sound
    ],
    align=True,
)
CONSTANTS = np.dtype(
    [
        ("per_mass_1_kg", "f8"),
        ("inertia_kg_m2", "f8", 3),
        ("per_inertia_1_kg_m2", "f8", 3),
        ("gravity_m_s2", "f8"),
        ("linear_drag_n_s_per_m", "f8", 3),
        ("quadratic_drag_n_s2_per_m2", "f8", 3),
        ("datum_altitude_m", "f8"),  # of the origin of map above sea level; NaN: sea level's air
        ("model_parameters", "f8", N_MODEL_PARAMETERS),  # of custom models
        ("speed_per_command_rad_s", "f8"),
        ("armed_speed_rad_s", "f8"),
        ("maximum_speed_rad_s", "f8"),
        ("time_constant_up_s", "f8"),
        ("time_constant_down_s", "f8"),
        ("thrust_coefficient_n_s2", "f8"),
        ("torque_per_thrust_m", "f8"),
        ("drag_coefficient_n_s2_per_m", "f8"),
        ("per_zero_thrust_axial_speed_s_m", "f8"),
        ("axial_drag_coefficient_n_s2_per_m", "f8"),
        ("translational_lift_n_s2_per_m2", "f8"),
        ("rotor_inertia_kg_m2", "f8"),
        ("ground_effect", "f8"),
        ("radius_m", "f8"),
        ("capacity_c", "f8"),
        ("full_voltage_v", "f8"),
        ("empty_voltage_v", "f8"),
        ("cell_share", "f8"),  # of its cells that are sound: 1 without a fault
        ("resistance_ohm", "f8"),
        ("per_motor_efficiency", "f8"),
        ("idle_power_w", "f8"),
        ("shaft_torque_per_thrust_m", "f8"),  # what the battery pays for
        ("normal_stiffness_n_per_m", "f8"),
        ("normal_damping_n_s_per_m", "f8"),
        ("tangential_stiffness_n_per_m", "f8"),
        ("tangential_damping_n_s_per_m", "f8"),
        ("friction", "f8"),
        ("per_damping_depth_1_m", "f8"),
        ("crash_speed_m_s", "f8"),
        ("crash_cos_tilt", "f8"),
        ("reach_m", "f8"),  # distance of the farthest contact point
        ("n_rotors", "i8"),
        ("n_points", "i8"),
        ("n_feet", "i8"),  # the first of the points; a touch of another one is a crash
        ("rotors", _ROTOR, MAXIMUM_ROTORS),
        ("points_m", "f8", (MAXIMUM_CONTACT_POINTS, 3)),
    ],
    align=True,
)
"""Constants of an airframe: the compiled step reads them by name."""


def rotor_speeds(n_rotors: int) -> slice:
    """Return the slice of the rotor speeds in a state array [rad/s]."""
    return slice(N_HEAD, N_HEAD + n_rotors)


def rotor_setpoints(n_rotors: int) -> slice:
    """Return the slice of the rotor speed set-points in a state array [rad/s]."""
    return slice(N_HEAD + n_rotors, N_HEAD + 2 * n_rotors)
