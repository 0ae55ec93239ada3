# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where each number stands in the flat float64 arrays that the compiled kernel works on.

The state array holds truth at one instant. The slices are the public way to read it; the part
after `N_HEAD` is the rotor speeds (one per rotor) and the anchors of the contact points (four
numbers per point: 1 if it sticks, then the place in map where it sticks). A change here calls for
touching `kernel`, whose compiled form numba keeps until that file changes.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from aerotwin_multirotor_dynamics.airframe import Airframe

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
"""What a perfect accelerometer at the centre of mass reads, body axes [m/s^2]."""
ROTATION = slice(22, 31)
"""R_map_body, row by row."""
IS_CRASHED = 31
"""1 after a crash, for good."""
IMPACT_SPEED = 32
"""Speed into the ground at the last touch of a point [m/s]."""
N_CONTACTS = 33
"""Number of points that touch the ground."""
N_HEAD = 34
"""Length of the part above; rotor speeds [rad/s] follow, then the anchors."""

N_MOVING = 13  # position, quaternion, velocity, angular velocity: what the integrator carries

# inputs of a step
WIND = 0
GROUND_POINT = 3
GROUND_NORMAL = 6
IS_ARMED = 9
COMMAND = 10

# constants of an airframe
MASS, INERTIA, DRAG, GRAVITY_PLACE = 0, 1, 4, 7
SPEED_PER_COMMAND, ARMED_SPEED, MAXIMUM_SPEED, TAU_UP, TAU_DOWN = 8, 9, 10, 11, 12
C_THRUST, C_TORQUE, C_DRAG, C_ROLLING, PER_AXIAL_SPEED = 13, 14, 15, 16, 17
K_NORMAL, D_NORMAL, K_TANGENT, D_TANGENT, FRICTION, PER_DAMPING_DEPTH = 18, 19, 20, 21, 22, 23
CRASH_SPEED, CRASH_COS_TILT, N_ROTORS, N_POINTS, N_FEET, REACH = 24, 25, 26, 27, 28, 29
ROTORS = 30  # x y z spin of each rotor, then x y z of each contact point


def pack_constants(airframe: "Airframe", *, gravity: float) -> np.ndarray:
    """Return the constants of an airframe as the kernel reads them."""
    propeller, motor, contact = airframe.propeller, airframe.motor, airframe.contact
    points = [*contact.feet_m, *contact.hull_m]
    axial = propeller.zero_thrust_axial_speed_m_s
    head = [airframe.mass_kg, *airframe.inertia_kg_m2, *airframe.linear_drag_n_s_per_m, gravity]
    head += [motor.speed_per_command_rad_s, motor.armed_speed_rad_s, motor.maximum_speed_rad_s]
    head += [motor.time_constant_up_s, motor.time_constant_down_s]
    head += [propeller.thrust_coefficient_n_s2, propeller.torque_per_thrust_m]
    head += [propeller.drag_coefficient_n_s2_per_m, propeller.rolling_coefficient_n_s2]
    head += [1.0 / axial if axial > 0.0 else 0.0]
    head += [contact.normal_stiffness_n_per_m, contact.normal_damping_n_s_per_m]
    head += [contact.tangential_stiffness_n_per_m, contact.tangential_damping_n_s_per_m]
    head += [contact.friction, 1.0 / contact.damping_depth_m, contact.crash_speed_m_s]
    head += [np.cos(np.radians(contact.crash_tilt_deg)), len(airframe.rotors), len(points)]
    head += [len(contact.feet_m), max((np.linalg.norm(p) for p in points), default=0.0)]
    rotors = [number for rotor in airframe.rotors for number in (*rotor.position_m, rotor.spin)]
    return np.array([*head, *rotors, *(number for point in points for number in point)], float)


def state_length(airframe: "Airframe") -> int:
    """Return the length of the state array of an airframe."""
    n_points = len(airframe.contact.feet_m) + len(airframe.contact.hull_m)
    return N_HEAD + len(airframe.rotors) + 4 * n_points
