# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Set-points of a path as MAVLink: position, velocity, acceleration, yaw and yaw rate, in NED.

References
----------
MAVLink common.xml, message 86; nothing is masked out.
"""

from aerotwin_px4_bridge.mavlink2 import SET_POSITION_TARGET_GLOBAL_INT, wire_format
from aerotwin_px4_bridge.messages import ned_from_enu, yaw_ned_from_map
from aerotwin_px4_bridge.path import PathSetpoint

FRAME_GLOBAL_INT = 5
AUTOPILOT = 1  # component

_GLOBAL = wire_format(SET_POSITION_TARGET_GLOBAL_INT)
_32_BITS = 0xFFFFFFFF


def global_target(
    setpoint: PathSetpoint, place: tuple[float, float, float], time_boot_ms: int, system_id: int
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


def _derivatives(setpoint: PathSetpoint) -> tuple[float, ...]:
    return (
        *ned_from_enu(setpoint.v_map),
        *ned_from_enu(setpoint.a_map),
        yaw_ned_from_map(setpoint.yaw),
        -setpoint.yaw_rate,
    )
