# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""HIL messages besides the inertial ones: truth, range finder, flow, airspeed, radio.

Converts to FRD, NED, centimetres and PWM microseconds, as `messages` does for the others.

References: MAVLink common.xml, messages 65, 114, 115, 132; PX4 v1.14 SimulatorMavlink.cpp for what
PX4 reads.
"""

from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import quat_wxyz_ned_frd_from_map_body
from aerotwin_px4_bridge.mavlink2 import (
    DISTANCE_SENSOR,
    HIL_OPTICAL_FLOW,
    HIL_SENSOR,
    HIL_STATE_QUATERNION,
    RC_CHANNELS,
)
from aerotwin_px4_bridge.messages import PASCAL_PER_HPA, ned_from_enu, simulator_frame

_DIFFERENTIAL_PRESSURE = 10
FIELDS_DIFFERENTIAL_PRESSURE = 1 << 10
LASER = 0  # MAV_DISTANCE_SENSOR
_ORIENTATIONS = {  # MAV_SENSOR_ORIENTATION of a beam along each axis of the body, FLU
    (1, 0, 0): 0,
    (0, 1, 0): 6,
    (-1, 0, 0): 12,  # rotated about y, which PX4 reads as backward; a rotation about z is not
    (0, -1, 0): 2,
    (0, 0, 1): 24,
    (0, 0, -1): 25,
}
_INT16, _UINT16 = 32767, 65535
_RC_CHANNELS, _RC_UNUSED = 18, 65535
RC_CENTRE_US, RC_SPAN_US = 1500.0, 500.0
RC_FULL_STRENGTH = 254


def pack_hil_state(
    time_us: int,
    place: tuple[float, float, float],
    q_map_body: ArrayLike,
    v_map_body: Iterable[float],
    omega_map_body_in_body: Iterable[float],
    a_map_body: Iterable[float],
) -> bytes:
    """Return a HIL_STATE_QUATERNION: the truth, which PX4 writes to its log as ground truth.

    `place`: latitude, longitude [deg] and altitude above mean sea level [m]. `q_map_body` (4,):
    attitude, xyzw. `v_map_body`, `a_map_body` (3,): velocity [m/s] and acceleration [m/s^2] in map
    axes. The acceleration is sent as PX4 and Gazebo read the field, in mm/s^2 along NED, and
    saturates at 32.8 m/s^2. `omega_map_body_in_body` (3,): angular velocity in body axes [rad/s].
    Raises ValueError if a value is not finite.
    """
    latitude_deg, longitude_deg, altitude_m = place
    p, q, r = omega_map_body_in_body
    values = [*quat_wxyz_ned_frd_from_map_body(q_map_body).tolist(), p, -q, -r]
    velocity = [_int16(100.0 * v) for v in ned_from_enu(v_map_body)]
    acceleration = [_int16(1e3 * a) for a in ned_from_enu(a_map_body)]
    return simulator_frame(
        HIL_STATE_QUATERNION, time_us, *values,
        round(latitude_deg * 1e7), round(longitude_deg * 1e7), round(altitude_m * 1e3),
        *velocity, _UINT16, _UINT16, *acceleration,
    )  # fmt: skip


def pack_distance_sensor(
    time_us: int,
    distance_m: float,
    *,
    least_m: float,
    most_m: float,
    direction_body: Sequence[float],
    std_m: float = 0.0,
) -> bytes:
    """Return a DISTANCE_SENSOR.

    `distance_m`, `std_m`: reading and its standard deviation. An infinite reading (nothing in
    range) is sent as `most_m` plus one centimetre with signal quality 1 (invalid). `least_m`,
    `most_m`: measurement range. `direction_body` (3,): direction of the beam in body axes FLU:
    along one of the six axes. Raises ValueError if the beam is not along an axis, or a value does
    not fit its field.
    """
    axis = tuple(round(float(value)) for value in direction_body)
    if axis not in _ORIENTATIONS or not np.allclose(axis, direction_body, atol=1e-6):
        raise ValueError(f"direction_body must be along an axis of the body, got {direction_body}")
    is_there = isfinite(distance_m) and least_m <= distance_m <= most_m
    most_cm = round(100.0 * most_m)
    reading_cm = round(100.0 * distance_m) if isfinite(distance_m) else most_cm + 1
    variance_cm2 = min(max(round((100.0 * std_m) ** 2), 1), 254)
    return simulator_frame(
        DISTANCE_SENSOR, time_us // 1000, round(100.0 * least_m), most_cm,
        min(max(reading_cm, 0), _UINT16), LASER, 0, _ORIENTATIONS[axis], variance_cm2,
        *[0.0] * 6, 100 if is_there else 1,
    )  # fmt: skip


def pack_optical_flow(
    time_us: int,
    interval_s: float,
    flow_body_rad: Iterable[float],
    turn_body_rad: Iterable[float],
    quality: int,
    distance_m: float = -1.0,
) -> bytes:
    """Return a HIL_OPTICAL_FLOW of a sensor that looks down.

    `time_us`: simulated time at the end of the interval. `interval_s`: integration time of flow and
    turn. `flow_body_rad` (2,): rotation of the image about the body's x and y axes, FLU: a sensor
    that turns about +x has a positive flow about x. `turn_body_rad` (3,): integral of the sensor's
    own gyroscope, FLU. `quality`: 0 (no flow) to 255. `distance_m`: to the ground, negative when
    not known. Raises ValueError if a value is not finite or does not fit its field.
    """
    about_x, about_y = flow_body_rad
    x, y, z = turn_body_rad
    return simulator_frame(
        HIL_OPTICAL_FLOW, time_us, round(1e6 * interval_s), about_x, -about_y, x, -y, -z, 0,
        distance_m, 0, 0, quality,
    )  # fmt: skip


def pack_differential_pressure(time_us: int, pressure_pa: float) -> bytes:
    """Return a HIL_SENSOR of a second unit with only the pressure of a Pitot tube.

    PX4 answers, and sets its clock from, the first unit only. Raises ValueError if the pressure is
    not finite.
    """
    values = [0.0] * 13
    values[_DIFFERENTIAL_PRESSURE] = pressure_pa / PASCAL_PER_HPA
    return simulator_frame(HIL_SENSOR, time_us, *values, FIELDS_DIFFERENTIAL_PRESSURE, 1)


def pack_rc_channels(time_us: int, sticks: Sequence[float]) -> bytes:
    """Return an RC_CHANNELS with these positions of sticks and switches.

    At most 18, each in [-1, 1] (1000 to 2000 us); roll right, pitch forward, throttle up and yaw
    right are positive, as in PX4's defaults. Raises ValueError if there are more than 18, or a
    value is not finite.
    """
    pulses_us = stick_pulses_us(sticks, at_most=_RC_CHANNELS)
    unused = [_RC_UNUSED] * (_RC_CHANNELS - len(pulses_us))
    return simulator_frame(
        RC_CHANNELS, time_us // 1000, *pulses_us, *unused, len(pulses_us), RC_FULL_STRENGTH
    )


def stick_pulses_us(sticks: Sequence[float], *, at_most: int) -> list[int]:
    """Return the pulses [us] of positions in [-1, 1]; those beyond are limited.

    Raises ValueError if there are too many, or one is not finite.
    """
    if len(sticks) > at_most:
        raise ValueError(f"sticks must be at most {at_most}, got {len(sticks)}")
    if not isfinite(sum(sticks)):
        raise ValueError(f"sticks must be finite, got {list(sticks)}")
    return [round(RC_CENTRE_US + RC_SPAN_US * min(max(s, -1.0), 1.0)) for s in sticks]


def _int16(value: float) -> int:
    if not isfinite(value):
        raise ValueError(f"truth must be finite, got {value}")
    return round(min(max(value, -_INT16), _INT16))
