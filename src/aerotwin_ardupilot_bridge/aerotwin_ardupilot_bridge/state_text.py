# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The text of a state for ArduPilot, written by compiled code: the message of every step.

It is the only module with ArduPilot's axes, NED and FRD, and its flat earth. `state_text` in its
test is the same in plain Python.

References: ArduPilot libraries/SITL/SIM_JSON.cpp (keys; a search for text finds them, so that no
blank may stand before a bracket, and `velocity` before what begins with it), SIM_Aircraft.cpp
(`update_position`), libraries/AP_Common/Location.cpp (`offset_latlng`, `longitude_scale`),
libraries/AP_Math/definitions.h (LATLON_TO_M).
"""

import math

import numpy as np
from numba import float64, int64, types, uint8

from aerotwin_core.angles import wrap_deg
from aerotwin_core.geodesy import geodetic_from_xyz
from aerotwin_core.kernel_cache import njit

METRES_PER_UNIT = 0.011131884502145034
"""LATLON_TO_M: of 1e-7 degrees of latitude, on ArduPilot's sphere."""
UNITS_PER_DEGREE = 1e7
LEAST_LONGITUDE_SCALE = 0.01
N_MOTION, N_IMU, N_HOME = 10, 6, 15
MALFORMED = -1
"""Returned for a value that is not finite or does not fit."""
LONGEST = 640
"""Bytes of the longest text: 17 numbers of up to 20 characters, and what is between them."""
_TOO_LARGE = 1e9  # with nine decimals an int64 holds what is below
_ZERO, _MINUS, _POINT = 48, 45, 46
_PIECES = (
    '\n{"timestamp":', ',"imu":{"gyro":[', ",", ",", '],"accel_body":[', ",", ",",
    ']},"position":[', ",", ",", '],"velocity":[', ",", ",", '],"quaternion":[', ",", ",", ",", "]",
)  # fmt: skip
"""The text before each number, and behind the last."""
_TEXT = np.frombuffer("".join(_PIECES).encode("ascii"), dtype=np.uint8).copy()
_ENDS = np.cumsum([len(piece) for piece in _PIECES])
_DECIMALS = np.array([6] + [8] * 3 + [7] * 3 + [4] * 3 + [6] * 3 + [9] * 4)
_N_NUMBERS = len(_DECIMALS)

_geodetic, _wrap = njit(geodetic_from_xyz), njit(wrap_deg)


@njit
def _whole(units):
    """Return units that are the nearest whole number when they are cut off."""
    nearest = float(round(units))
    if nearest == 0.0:
        return 0.0
    return nearest + (0.5 if nearest > 0.0 else -0.5)


@njit(types.UniTuple(float64, 3)(float64[::1], float64[::1]), cache=True, error_model="numpy")
def north_east_down(p_map, home):
    """Return the position [m] from which ArduPilot computes the place of p_map (3,) [m].

    `home` (15,) is the map's origin in Earth-centred axes, its axes (3, 3) there row by row, and
    ArduPilot's home: latitude, longitude [deg], altitude [m].
    """
    x, y, z = home[0], home[1], home[2]
    for k in range(3):
        x += home[3 + k] * p_map[k]
        y += home[6 + k] * p_map[k]
        z += home[9 + k] * p_map[k]
    latitude, longitude, altitude = _geodetic(x, y, z)
    north = _whole((latitude - home[12]) * UNITS_PER_DEGREE)
    east = _whole(_wrap(longitude - home[13]) * UNITS_PER_DEGREE)
    middle = home[12] + 0.5 * north / UNITS_PER_DEGREE
    scale = max(math.cos(math.radians(middle)), LEAST_LONGITUDE_SCALE)
    return north * METRES_PER_UNIT, east * METRES_PER_UNIT * scale, home[14] - altitude


@njit
def _put_number(text, at, value, decimals):
    """Write a number with fixed decimals; return the place behind it."""
    if value < 0.0:
        text[at] = _MINUS
        at += 1
        value = -value
    scale = 1
    for _ in range(decimals):
        scale *= 10
    units = int64(value * scale + 0.5)
    whole = units // scale
    digits = 1
    while whole >= 10:
        whole //= 10
        digits += 1
    end = at + digits + 1 + decimals
    for place in range(end - 1, at - 1, -1):
        if place == at + digits:
            text[place] = _POINT
        else:
            text[place] = _ZERO + units % 10
            units //= 10
    return end


@njit(
    int64(uint8[::1], float64, float64[::1], float64[::1], float64[::1]),
    cache=True,
    error_model="numpy",
)
def write_state(text, time_s, motion, imu, home):
    """Write what ArduPilot must get after a step, without the closing brace; return its length.

    Parameters
    ----------
    text : (>= LONGEST,) array of uint8
        Written to.
    time_s : float
        ArduPilot's clock, which steps by it.
    motion : (>= 10,) array
        Position [m], attitude xyzw, velocity [m/s] of the body in map.
    imu : (6,) array
        Specific force [m/s^2] and angular velocity [rad/s] in body axes, FLU.
    home : (15,) array
        As for `north_east_down`.

    Returns
    -------
    int
        Bytes; MALFORMED if a value is not finite or too large.
    """
    total = time_s
    for k in range(N_MOTION):
        total += motion[k]
    for k in range(N_IMU):
        total += imu[k]
    if not math.isfinite(total):
        return MALFORMED
    north, east, down = north_east_down(motion, home)
    # As aerotwin_core.frames.quat_wxyz_ned_frd_from_map_body.
    x, y, z, w = motion[3], motion[4], motion[5], motion[6]
    half = math.sqrt(0.5) if w + z >= 0.0 else -math.sqrt(0.5)
    values = (
        time_s,
        imu[3], -imu[4], -imu[5],
        imu[0], -imu[1], -imu[2],
        north, east, down,
        motion[8], motion[7], -motion[9],
        half * (w + z), half * (x + y), half * (x - y), half * (w - z),
    )  # fmt: skip
    at = begin = 0
    for k in range(_N_NUMBERS + 1):
        for place in range(begin, _ENDS[k]):
            text[at] = _TEXT[place]
            at += 1
        begin = _ENDS[k]
        if k < _N_NUMBERS:
            if not abs(values[k]) < _TOO_LARGE:
                return MALFORMED
            at = _put_number(text, at, values[k], _DECIMALS[k])
    return at
