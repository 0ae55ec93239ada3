# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The payloads that tell the vehicle's condition: health, power, GNSS, home, versions."""

import math
from typing import Any

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.estimator import layout as at
from aerotwin_px4_bridge.messages import ned_from_enu

NAN = math.nan
TYPE_QUADROTOR, AUTOPILOT_PX4, MAVLINK_VERSION = 2, 12, 3
STATE_STANDBY, STATE_ACTIVE = 3, 4
CELL_MV, N_CELLS = 4050, 4
EMPTY_CELL_MV = 3500
UNKNOWN_U16 = 65535
UNKNOWN_U32 = 0
LOCKED_3D = 3

GYRO, ACCEL, MAG, ABSOLUTE_PRESSURE, GPS = 0x01, 0x02, 0x04, 0x08, 0x20
MOTORS, AHRS, BATTERY, PREARM = 0x8000, 0x200000, 0x2000000, 0x10000000
RATE_CONTROL, ATTITUDE, YAW, ALTITUDE, POSITION = 0x400, 0x800, 0x1000, 0x2000, 0x4000
PRESENT = (
    GYRO | ACCEL | MAG | ABSOLUTE_PRESSURE | GPS | MOTORS | AHRS | BATTERY | PREARM
    | RATE_CONTROL | ATTITUDE | YAW | ALTITUDE | POSITION
)  # fmt: skip
"""Bits of MAV_SYS_STATUS_SENSOR."""

# MAV_PROTOCOL_CAPABILITY: float parameters, COMMAND_INT, bytewise parameters, set attitude target,
# local and global position targets, MAVLink 2.
CAPABILITIES = 0x0002 | 0x0008 | 0x0040 | 0x0080 | 0x0100 | 0x2000
FIRMWARE_VERSION = 1 << 24 | 14 << 16 | 3 << 8 | 255
"""Says PX4 1.14.3 (release): clients read behaviour from it, and that is the one met here."""


def heartbeat_values(autopilot: Autopilot) -> tuple[Any, ...]:
    """Return the fields of HEARTBEAT in wire order."""
    modes = autopilot.modes
    armed = 128 if modes.is_armed else 0
    state = STATE_ACTIVE if modes.is_armed else STATE_STANDBY
    return (
        modes.mode.custom_mode, TYPE_QUADROTOR, AUTOPILOT_PX4, modes.mode.base_mode | armed,
        state, MAVLINK_VERSION,
    )  # fmt: skip


def _heartbeat(a: Autopilot, _: Any) -> tuple[Any, ...]:
    return heartbeat_values(a)


def _sys_status(a: Autopilot, _: Any) -> tuple[Any, ...]:
    is_position_valid = a.estimator.is_position_valid
    health = PRESENT
    if not is_position_valid:
        health &= ~(GPS | POSITION)
    if not a.estimator.is_initialised:
        health &= ~(AHRS | ALTITUDE | ATTITUDE | YAW)
    if a.modes.refusals():
        health &= ~PREARM
    share = a.battery_share
    voltage = N_CELLS * round(EMPTY_CELL_MV + (CELL_MV - EMPTY_CELL_MV) * share)
    return (
        PRESENT, PRESENT, health, 0, voltage, -1, 0, 0, 0, 0, 0, 0, round(share * 100.0), 0, 0, 0
    )  # fmt: skip


def _battery(a: Autopilot, _: Any) -> tuple[Any, ...]:
    share = a.battery_share
    cell = round(EMPTY_CELL_MV + (CELL_MV - EMPTY_CELL_MV) * share)
    voltages = [cell] * N_CELLS + [UNKNOWN_U16] * (10 - N_CELLS)
    return (
        -1, -1, 32767, *voltages, -1, 0, 0, 1, round(share * 100.0), 0, 1, 0, 0, 0, 0, 0, 0,
    )  # fmt: skip


def _extended_state(a: Autopilot, _: Any) -> tuple[Any, ...]:
    return 0, a.modes.state_of_landing()


def _gps_raw(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    fix = a.fix
    if fix is None:
        return None
    north, east, _down = ned_from_enu(fix.v_map)
    speed = math.hypot(north, east)
    course = math.degrees(math.atan2(east, north)) % 360.0
    return (
        a.time_us, round(fix.latitude_deg * 1e7), round(fix.longitude_deg * 1e7),
        round(fix.altitude_m * 1e3), min(round(fix.eph_m * 100.0), 65534),
        min(round(fix.epv_m * 100.0), 65534), min(round(speed * 100.0), 65534),
        round(course * 100.0) % 36000 if speed > 0.1 else UNKNOWN_U16,
        fix.fix_type, min(fix.n_satellites, 255), round(fix.altitude_m * 1e3),
        round(fix.eph_m * 1e3), round(fix.epv_m * 1e3), 100, UNKNOWN_U32, 0,
    )  # fmt: skip


def _home(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    plane, home = a.estimator.plane, a.modes.home
    if plane is None or home is None:
        return None
    latitude, longitude, altitude = plane.to_geodetic(home)
    yaw = 0.5 * (math.pi / 2.0 - a.modes.home_yaw)
    return (
        round(latitude * 1e7), round(longitude * 1e7), round(altitude * 1e3),
        *ned_from_enu(home.tolist()), math.cos(yaw), 0.0, 0.0, math.sin(yaw),
        NAN, NAN, NAN, a.time_us,
    )  # fmt: skip


def _origin(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    plane = a.estimator.plane
    if plane is None:
        return None
    o = plane.origin
    return (
        round(o.latitude_deg * 1e7), round(o.longitude_deg * 1e7), round(o.altitude_m * 1e3),
        a.time_us,
    )  # fmt: skip


def _system_time(a: Autopilot, _: Any) -> tuple[Any, ...]:
    return a.time_us, a.time_us // 1000 & 0xFFFFFFFF


def _estimator_status(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    estimator = a.estimator
    if not estimator.is_initialised:
        return None
    std, m = estimator.standard_deviations(), estimator.monitor
    gate = estimator.parameters.gate_sigma
    ratios = [
        math.sqrt(float(m[group])) / gate
        for group in (at.M_VELOCITY, at.M_HORIZONTAL, at.M_BARO, at.M_HEADING)
    ]
    # attitude, velocities, relative and absolute positions, heights, predictions
    flags = 0x37F if estimator.is_position_valid else 0x001
    h, v = (math.hypot(std["position"], s) for s in estimator.parameters.gnss_bias_std_m)
    return a.time_us, *ratios, 0.0, 0.0, h, v, flags


def _autopilot_version(a: Autopilot, _: Any) -> tuple[Any, ...]:
    return (
        CAPABILITIES, a.instance + 1, FIRMWARE_VERSION, FIRMWARE_VERSION, 0, 0, 0, 0,
        *[0] * 8, *[0] * 8, *[0] * 8, a.instance + 1, *[0] * 17,
    )  # fmt: skip


def _highres_imu(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    s = a.sensor
    if s is None:
        return None
    fx, fy, fz = s.specific_force_body
    wx, wy, wz = s.angular_velocity_body
    mx, my, mz = (1e4 * v for v in s.magnetic_field_body_tesla or (0.0, 0.0, 0.0))
    pressure = (s.pressure_pa or 0.0) * 0.01
    return (
        a.time_us, fx, -fy, -fz, wx, -wy, -wz, mx, -my, -mz, pressure, 0.0, 0.0,
        (s.temperature_k or 273.15) - 273.15, 0x13F, 0,
    )  # fmt: skip


STATUS_BUILDERS = {
    "HEARTBEAT": _heartbeat,
    "SYS_STATUS": _sys_status,
    "BATTERY_STATUS": _battery,
    "EXTENDED_SYS_STATE": _extended_state,
    "GPS_RAW_INT": _gps_raw,
    "HOME_POSITION": _home,
    "GPS_GLOBAL_ORIGIN": _origin,
    "SYSTEM_TIME": _system_time,
    "ESTIMATOR_STATUS": _estimator_status,
    "AUTOPILOT_VERSION": _autopilot_version,
    "HIGHRES_IMU": _highres_imu,
}
