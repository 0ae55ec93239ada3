# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The datagram of a state for ArduPilot: what it must get after a step, and what it may get.

Reference: ArduPilot libraries/SITL/SIM_JSON.h (keys). A version that does not know an optional key
ignores it; 4.7.0-dev knows range finders and airspeed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from aerotwin_ardupilot_bridge.state_text import (
    LONGEST,
    MALFORMED,
    N_IMU,
    N_MOTION,
    UNITS_PER_DEGREE,
    north_east_down,
    write_state,
)
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane, ecef_from_geodetic

CENTIMETRE = 0.01
MOST_RANGEFINDERS, MOST_CHANNELS = 6, 12
_END = b"}\n"
_LONGEST_EXTRAS = 1024


@dataclass(frozen=True, kw_only=True)
class JsonExtras:
    """What ArduPilot may get besides the motion. Every state repeats it until it is set again.

    Attributes
    ----------
    ranges_m : sequence of float
        Of its range finders 1 to 6 at most.
    wind_map_m_s : (3,) sequence, optional
        Velocity of the air, ENU.
    airspeed_m_s : float, optional
        Of a sensor.
    battery : (voltage [V], current [A]), optional
        At its terminals.
    rc_us : sequence of int
        Pulses of the radio's channels from 1, 12 at most; empty for none.
    """

    ranges_m: Sequence[float] = ()
    wind_map_m_s: Sequence[float] | None = None
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

    Attributes
    ----------
    constants : (15,) array
        Of `state_text`.
    """

    def __init__(self, point: GeodeticPoint, plane: LocalTangentPlane) -> None:
        self.latitude_deg = round(point.latitude_deg * UNITS_PER_DEGREE) / UNITS_PER_DEGREE
        self.longitude_deg = round(point.longitude_deg * UNITS_PER_DEGREE) / UNITS_PER_DEGREE
        self.altitude_m = round(point.altitude_m / CENTIMETRE) * CENTIMETRE
        home = self.latitude_deg, self.longitude_deg, self.altitude_m
        origin = plane.origin
        p_ecef = ecef_from_geodetic(origin.latitude_deg, origin.longitude_deg, origin.altitude_m)
        self.constants = np.array([*p_ecef, *plane.R_ecef_map.ravel(), *home])

    def north_east_down(self, p_map: np.ndarray) -> tuple[float, float, float]:
        """Return the position [m] from which ArduPilot computes the place of p_map (3,)."""
        north, east, down = north_east_down(np.asarray(p_map, dtype=np.float64), self.constants)
        return north, east, down


class StateDatagram:
    """Packs states into one buffer; what `pack` returns holds until the next call."""

    def __init__(self, home: ArduPilotHome) -> None:
        self._home = home.constants
        self._text = np.zeros(LONGEST + _LONGEST_EXTRAS, dtype=np.uint8)
        self._bytes = memoryview(self._text)  # type: ignore[arg-type]  # numpy 2.4 has no stub for it
        self._extras = _END

    def set_extras(self, extras: JsonExtras) -> None:
        """Set what further states repeat. Raises ValueError if a number is not finite."""
        wind, battery = extras.wind_map_m_s, extras.battery
        numbers = (*extras.ranges_m, extras.airspeed_m_s or 0.0, *_each(wind), *_each(battery))
        if not all(map(isfinite, numbers)):
            raise ValueError(f"extras must hold finite values, got {extras}")
        self._extras = _extras_text(extras).encode("ascii") + _END

    def pack(self, time_s: float, motion: np.ndarray, imu: np.ndarray) -> memoryview:
        """Return the datagram of a state; arguments as those of `state_text.write_state`.

        Raises
        ------
        ValueError
            If a value is not finite, or 1e9 or more.
        """
        length = write_state(self._text, time_s, motion, imu, self._home)
        if length == MALFORMED:
            values = [time_s, *motion[:N_MOTION], *imu[:N_IMU]]
            raise ValueError(f"a state must hold finite values below 1e9, got {values}")
        end = length + len(self._extras)
        self._bytes[length:end] = self._extras
        return self._bytes[:end]


def _each(values: Sequence[float] | None) -> Sequence[float]:
    return () if values is None else values


def _extras_text(extras: JsonExtras) -> str:
    parts = []
    for k, distance in enumerate(extras.ranges_m[:MOST_RANGEFINDERS], 1):
        parts.append(f',"rng_{k}":{distance:.3f}')
    if extras.airspeed_m_s is not None:
        parts.append(f',"airspeed":{extras.airspeed_m_s:.3f}')
    if extras.wind_map_m_s is not None:
        east, north, up = extras.wind_map_m_s
        parts.append(f',"velocity_wind":[{north:.4f},{east:.4f},{-up:.4f}]')
    if extras.battery is not None:
        voltage, current = extras.battery
        parts.append(f',"battery":{{"voltage":{voltage:.4f},"current":{current:.4f}}}')
    if extras.rc_us:
        pulses = enumerate(extras.rc_us[:MOST_CHANNELS], 1)
        parts.append(',"rc":{' + ",".join(f'"rc_{k}":{pulse:d}' for k, pulse in pulses) + "}")
    return "".join(parts)
