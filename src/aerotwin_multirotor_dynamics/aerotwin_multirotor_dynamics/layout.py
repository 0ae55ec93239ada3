# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Indices of each number in the flat float64 arrays of the compiled kernel.

The state array holds truth at one instant. The slices are the public way to read it; after
`N_HEAD` come the rotor speeds and their set-points (one per rotor each), then the anchors of the
contact points (four numbers per point: 1 if it sticks, then the position in map where it sticks).
"""

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

# constants of an airframe
PER_MASS, INERTIA, DRAG, GRAVITY_PLACE = 0, 1, 4, 7
SPEED_PER_COMMAND, ARMED_SPEED, MAXIMUM_SPEED, TAU_UP, TAU_DOWN = 8, 9, 10, 11, 12
C_THRUST, C_TORQUE, C_DRAG, PER_AXIAL_SPEED = 13, 14, 15, 16
C_AXIAL, C_LIFT, ROTOR_INERTIA, GROUND_EFFECT, ROTOR_RADIUS = 17, 18, 19, 20, 21
QUADRATIC_DRAG = 22
K_NORMAL, D_NORMAL, K_TANGENT, D_TANGENT, FRICTION, PER_DAMPING_DEPTH = 25, 26, 27, 28, 29, 30
CRASH_SPEED, CRASH_COS_TILT, REACH = 31, 32, 33
CAPACITY, FULL_VOLTAGE, EMPTY_VOLTAGE, RESISTANCE, PER_EFFICIENCY, IDLE_POWER = range(34, 40)
N_ROTORS, N_POINTS, N_FEET = 40, 41, 42
PER_INERTIA = 43
DATUM_ALTITUDE = 46
"""Altitude of the origin of map above sea level [m]; NaN: air of sea level everywhere."""
SHAFT_TORQUE = 47  # per thrust, what the battery pays for
MODEL_PARAMETERS = 48
"""First of an airframe's numbers for custom models."""
N_MODEL_PARAMETERS = 8
ROTORS = MODEL_PARAMETERS + N_MODEL_PARAMETERS  # each rotor: x y z spin and its rolling moment
PER_ROTOR = 5  # then x y z of each contact point


def rotor_speeds(n_rotors: int) -> slice:
    """Return the slice of the rotor speeds in a state array [rad/s]."""
    return slice(N_HEAD, N_HEAD + n_rotors)


def rotor_setpoints(n_rotors: int) -> slice:
    """Return the slice of the rotor speed set-points in a state array [rad/s]."""
    return slice(N_HEAD + n_rotors, N_HEAD + 2 * n_rotors)
