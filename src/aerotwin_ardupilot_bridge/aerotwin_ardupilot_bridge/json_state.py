# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The state that a simulator sends to ArduPilot: the only module with its NED, FRD and flat earth.

References: ArduPilot libraries/SITL/SIM_JSON.cpp (keys; a search for text finds them, so that no
blank may stand before a bracket, and `velocity` before what begins with it), SIM_Aircraft.cpp
(`update_position`), libraries/AP_Common/Location.cpp (`offset_latlng`, `longitude_scale`),
libraries/AP_Math/definitions.h (LATLON_TO_M).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, isfinite, radians

import numpy as np

from aerotwin_core.angles import wrap_deg
from aerotwin_core.frames import quat_wxyz_ned_frd_from_map_body
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane

METRES_PER_UNIT = 0.011131884502145034
"""LATLON_TO_M: of 1e-7 degrees of latitude, on ArduPilot's sphere."""
UNITS_PER_DEGREE = 1e7
CENTIMETRE = 0.01
_HALF = 0.5
_LEAST_LONGITUDE_SCALE = 0.01
MOST_RANGEFINDERS = 6
_REQUIRED = (
    '\n{{"timestamp":{:.6f},'
    '"imu":{{"gyro":[{:.8f},{:.8f},{:.8f}],"accel_body":[{:.7f},{:.7f},{:.7f}]}},'
    '"position":[{:.4f},{:.4f},{:.4f}],"velocity":[{:.6f},{:.6f},{:.6f}],'
    '"quaternion":[{:.9f},{:.9f},{:.9f},{:.9f}]'
)


@dataclass(frozen=True, kw_only=True)
class JsonState:
    """What ArduPilot gets after a step.

    Attributes
    ----------
    p_map_body, v_map_body : (3,) array
        Position and velocity, ENU [m], [m/s].
    q_map_body : (4,) array
        Attitude, xyzw.
    specific_force_body, omega_body : (3,) array
        Readings of the IMU in body axes, FLU [m/s^2], [rad/s].
    ranges_m : sequence of float
        Of its range finders 1 to 6 at most.
    wind_map_m_s : (3,) array, optional
        Velocity of the air, ENU.
    airspeed_m_s : float, optional
        Of a sensor.
    battery : (voltage [V], current [A]), optional
        At its terminals.
    rc_us : sequence of int
        Pulses of the radio's channels from 1, 12 at most; empty for none.
    """

    p_map_body: np.ndarray
    v_map_body: np.ndarray
    q_map_body: np.ndarray
    specific_force_body: np.ndarray
    omega_body: np.ndarray
    ranges_m: Sequence[float] = ()
    wind_map_m_s: np.ndarray | None = None
    airspeed_m_s: float | None = None
    battery: tuple[float, float] | None = None
    rc_us: Sequence[int] = ()


class ArduPilotHome:
    """The home that ArduPilot is started with, and positions as it reckons them from there.

    It computes latitude and longitude from metres on a sphere, 0.14 % longer than WGS84 at 47
    degrees north; `north_east_down` inverts that, so that the latitude and longitude it finds are
    those of the map frame, to its resolution of 1 cm.

    Parameters
    ----------
    point : GeodeticPoint
        Where the vehicle starts.
    plane : LocalTangentPlane
        The map frame.
    """

    def __init__(self, point: GeodeticPoint, plane: LocalTangentPlane) -> None:
        self._plane = plane
        self.latitude_deg = round(point.latitude_deg * UNITS_PER_DEGREE) / UNITS_PER_DEGREE
        self.longitude_deg = round(point.longitude_deg * UNITS_PER_DEGREE) / UNITS_PER_DEGREE
        self.altitude_m = round(point.altitude_m / CENTIMETRE) * CENTIMETRE

    def north_east_down(self, p_map: np.ndarray) -> tuple[float, float, float]:
        """Return the position [m] from which ArduPilot computes the place of p_map (3,)."""
        latitude, longitude, altitude = self._plane.to_geodetic(p_map)
        north = _whole((latitude - self.latitude_deg) * UNITS_PER_DEGREE)
        across = wrap_deg(longitude - self.longitude_deg)
        east = _whole(across * UNITS_PER_DEGREE)
        middle = self.latitude_deg + 0.5 * north / UNITS_PER_DEGREE
        scale = max(cos(radians(middle)), _LEAST_LONGITUDE_SCALE)
        return (
            north * METRES_PER_UNIT,
            east * METRES_PER_UNIT * scale,
            self.altitude_m - float(altitude),
        )


def _whole(units: float) -> float:
    """Return units that are the nearest whole number when they are cut off."""
    nearest = float(round(units))
    if nearest == 0.0:
        return 0.0
    return nearest + (_HALF if nearest > 0.0 else -_HALF)


def pack_state(time_s: float, state: JsonState, home: ArduPilotHome) -> bytes:
    """Return the datagram of a state; `time_s` is ArduPilot's clock, which steps by it.

    Raises
    ------
    ValueError
        If a value is not finite.
    """
    w, x, y, z = quat_wxyz_ned_frd_from_map_body(state.q_map_body)
    fx, fy, fz = state.specific_force_body
    p, q, r = state.omega_body
    north, east, down = home.north_east_down(state.p_map_body)
    ve, vn, vu = state.v_map_body
    values = (time_s, p, -q, -r, fx, -fy, -fz, north, east, down, vn, ve, -vu, w, x, y, z)
    if not isfinite(sum(values)):
        raise ValueError(f"a state must hold finite values, got {values}")
    text = _REQUIRED.format(*values)
    return (text + _options(state) + "}\n").encode("ascii")


def _options(state: JsonState) -> str:
    parts = []
    for k, distance in enumerate(state.ranges_m[:MOST_RANGEFINDERS], 1):
        parts.append(f',"rng_{k}":{distance:.3f}')
    if state.airspeed_m_s is not None:
        parts.append(f',"airspeed":{state.airspeed_m_s:.3f}')
    if state.wind_map_m_s is not None:
        east, north, up = state.wind_map_m_s
        parts.append(f',"velocity_wind":[{north:.4f},{east:.4f},{-up:.4f}]')
    if state.battery is not None:
        voltage, current = state.battery
        parts.append(f',"battery":{{"voltage":{voltage:.4f},"current":{current:.4f}}}')
    if state.rc_us:
        channels = ",".join(f'"rc_{k}":{pulse}' for k, pulse in enumerate(state.rc_us, 1))
        parts.append(f',"rc":{{{channels}}}')
    return "".join(parts)
