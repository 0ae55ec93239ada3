# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Set-points of a path as MAVLink: position, velocity, acceleration, yaw and yaw rate, in NED.

References
----------
MAVLink common.xml, messages 84 and 86; nothing is masked out.
"""

import struct

from aerotwin_core.frames import FloatArray
from aerotwin_px4_bridge.messages import ned_from_enu, yaw_ned_from_map
from aerotwin_px4_bridge.path import Setpoint

FRAME_LOCAL_NED, FRAME_GLOBAL_INT = 1, 5
AUTOPILOT = 1  # component

_LOCAL = struct.Struct("<I11fHBBB")
_GLOBAL = struct.Struct("<Iii9fHBBB")
_32_BITS = 0xFFFFFFFF


def local_target(setpoint: Setpoint, p_map: FloatArray, time_boot_ms: int, system_id: int) -> bytes:
    """Return the payload of a SET_POSITION_TARGET_LOCAL_NED at p_map (3,) [m]."""
    place = ned_from_enu(p_map)
    derivatives = _derivatives(setpoint)
    return _LOCAL.pack(
        time_boot_ms & _32_BITS, *place, *derivatives, 0, system_id, AUTOPILOT, FRAME_LOCAL_NED
    )


def global_target(
    setpoint: Setpoint, place: tuple[float, float, float], time_boot_ms: int, system_id: int
) -> bytes:
    """Return the payload of a SET_POSITION_TARGET_GLOBAL_INT at latitude, longitude, altitude."""
    latitude_deg, longitude_deg, altitude_m = place
    return _GLOBAL.pack(
        time_boot_ms & _32_BITS,
        round(latitude_deg * 1e7),
        round(longitude_deg * 1e7),
        altitude_m,
        *_derivatives(setpoint),
        0,
        system_id,
        AUTOPILOT,
        FRAME_GLOBAL_INT,
    )


def _derivatives(setpoint: Setpoint) -> tuple[float, ...]:
    return (
        *ned_from_enu(setpoint.v_map),
        *ned_from_enu(setpoint.a_map),
        yaw_ned_from_map(setpoint.yaw),
        -setpoint.yaw_rate,
    )
