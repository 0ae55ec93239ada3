# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages that this autopilot sends, and those that it reads without pymavlink's objects.

A pymavlink message costs about 20 us to build and pack; at hundreds of messages per second and
twenty times real time that is the whole time budget of the flight.
"""

from aerotwin_px4_bridge import mavlink2
from aerotwin_px4_bridge.mavlink2 import UNFINISHED, MessageLayout

FREQUENT = (
    mavlink2.SET_ATTITUDE_TARGET,
    mavlink2.SET_POSITION_TARGET_LOCAL_NED,
    mavlink2.SET_POSITION_TARGET_GLOBAL_INT,
    mavlink2.ODOMETRY,
)
"""Messages that a companion sends at 50 Hz."""

NAMES = (
    "HEARTBEAT", "SYS_STATUS", "SYSTEM_TIME", "PING", "PARAM_VALUE", "GPS_RAW_INT", "ATTITUDE",
    "ATTITUDE_QUATERNION", "LOCAL_POSITION_NED", "GLOBAL_POSITION_INT", "MISSION_COUNT",
    "MISSION_ACK", "GPS_GLOBAL_ORIGIN", "VFR_HUD", "COMMAND_ACK", "POSITION_TARGET_LOCAL_NED",
    "HIGHRES_IMU", "TIMESYNC", "ALTITUDE", "BATTERY_STATUS", "AUTOPILOT_VERSION",
    "ESTIMATOR_STATUS", "HOME_POSITION", "MESSAGE_INTERVAL", "EXTENDED_SYS_STATE", "STATUSTEXT",
    "ODOMETRY", "MISSION_REQUEST_INT", "MISSION_ITEM_INT", "MISSION_CURRENT",
    "MISSION_ITEM_REACHED", "NAMED_VALUE_FLOAT", "MISSION_ITEM", "PARAM_ERROR", "LOG_ENTRY",
    "LOG_DATA", "FILE_TRANSFER_PROTOCOL", "ORBIT_EXECUTION_STATUS", "SERVO_OUTPUT_RAW",
    "SCALED_PRESSURE", "FLIGHT_INFORMATION", "STORAGE_INFORMATION",
    *UNFINISHED,
)  # fmt: skip
LAYOUTS = {name: MessageLayout(name) for name in NAMES}
NAME_OF_ID = {layout.id: name for name, layout in LAYOUTS.items()}


def clipped(value: float, bits: int) -> int:
    """Return the nearest whole number that a signed field holds; its minimum means unknown."""
    limit = (1 << bits - 1) - 1
    return min(max(round(value), -limit), limit)
