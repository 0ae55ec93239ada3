# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Payloads of the vehicle's condition: health, power, GNSS, home, versions."""

import math
from typing import Any

import numpy as np

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.estimator import layout as at
from aerotwin_autopilot.mavlink.codec import clipped
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_px4_bridge.messages import ned_from_enu

NAN = math.nan
AUTOPILOT_PX4, MAVLINK_VERSION = 12, 3
TYPE_QUADROTOR, TYPES = 2, {4: 2, 6: 13, 8: 14}
"""MAV_TYPE by the number of rotors: quadrotor, hexarotor, octorotor."""
STATE_STANDBY, STATE_ACTIVE = 3, 4
CELL_MV, N_CELLS = 4050, 4
EMPTY_CELL_MV = 3500
UNKNOWN_U16 = 65535
UNKNOWN_U32 = 0
PRESSURE_FIELD = 0x200  # bit of HIL_SENSOR.fields_updated
DISARMED_US, IDLE_US, FULL_US = 900, 1000, 2000
"""Pulse widths of PX4's PWM outputs: PWM_MAIN_DIS, _MIN, _MAX."""

GYRO, ACCEL, MAG, ABSOLUTE_PRESSURE, GPS = 0x01, 0x02, 0x04, 0x08, 0x20
MOTORS, AHRS, BATTERY, PREARM = 0x8000, 0x200000, 0x2000000, 0x10000000
RATE_CONTROL, ATTITUDE, YAW, ALTITUDE, POSITION = 0x400, 0x800, 0x1000, 0x2000, 0x4000
PRESENT = (
    GYRO | ACCEL | MAG | ABSOLUTE_PRESSURE | GPS | MOTORS | AHRS | BATTERY | PREARM
    | RATE_CONTROL | ATTITUDE | YAW | ALTITUDE | POSITION
)  # fmt: skip
"""Bits of MAV_SYS_STATUS_SENSOR."""


def _heartbeat(a: Autopilot, _: Any) -> tuple[Any, ...]:
    modes = a.modes
    armed = 128 if modes.is_armed else 0
    state = STATE_ACTIVE if modes.is_armed else STATE_STANDBY
    kind = TYPES.get(a.parameters.airframe.n_rotors, TYPE_QUADROTOR)
    return (
        modes.mode.custom_mode, kind, AUTOPILOT_PX4, modes.mode.base_mode | armed,
        state, MAVLINK_VERSION,
    )  # fmt: skip


def _sys_status(a: Autopilot, _: Any) -> tuple[Any, ...]:
    is_position_valid = a.estimator.is_position_valid
    health = PRESENT
    if not is_position_valid:
        health &= ~(GPS | POSITION)
    if not a.estimator.is_initialised:
        health &= ~(AHRS | ALTITUDE | ATTITUDE | YAW)
    if a.modes.refusals():
        health &= ~PREARM
    share, voltage, current = _charge(a)
    return (
        PRESENT, PRESENT, health, 0, round(voltage * 1e3), round(current * 100.0), 0, 0, 0, 0, 0, 0,
        round(share * 100.0), 0, 0, 0,
    )  # fmt: skip


def _charge(a: Autopilot) -> tuple[float, float, float]:
    """Return charge, voltage [V] and current [A]; the last two by a guess where unknown."""
    battery, share = a.modes.battery, a.battery_share
    guess = N_CELLS * (EMPTY_CELL_MV + (CELL_MV - EMPTY_CELL_MV) * share) * 1e-3
    voltage = battery.voltage_v if math.isfinite(battery.voltage_v) else guess
    current = battery.current_a if math.isfinite(battery.current_a) else -0.01
    return share, min(max(voltage, 0.0), 65.0), min(max(current, -0.01), 327.0)


def _battery(a: Autopilot, _: Any) -> tuple[Any, ...]:
    share, voltage, current = _charge(a)
    cell = round(voltage * 1e3 / N_CELLS)
    voltages = [cell] * N_CELLS + [UNKNOWN_U16] * (10 - N_CELLS)
    return (
        -1, -1, 32767, *voltages, round(current * 100.0), 0, 0, 1, round(share * 100.0), 0, 1,
        0, 0, 0, 0, 0, 0,
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
        round(latitude * 1e7), round(longitude * 1e7), clipped(altitude * 1e3, 32),
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


def _system_time(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    """Return the time of GNSS; nothing before the first fix (as PX4 while it has none)."""
    return (a.unix_us, a.time_us // 1000 & 0xFFFFFFFF) if a.unix_us else None


def _estimator_status(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    estimator = a.estimator
    if not estimator.is_initialised:
        return None
    gate, m = estimator.parameters.gate_sigma, estimator.monitor
    # a ratio of 1 is the edge of the gate (as in PX4)
    velocity, horizontal, vertical, heading = (
        math.sqrt(float(m[group])) / gate
        for group in (at.M_VELOCITY, at.M_HORIZONTAL, at.M_BARO, at.M_HEADING)
    )
    if not estimator.uses_gnss:
        horizontal = math.sqrt(float(m[at.M_VISION])) / gate
    variance = np.diagonal(estimator.covariance).tolist()
    flags = 0x001
    if estimator.is_position_valid:
        flags |= 0x16E if estimator.plane is None else 0x37E
    return (
        a.time_us, velocity, horizontal, vertical, heading, 0.0, 0.0,
        math.sqrt(variance[0] + variance[1]), math.sqrt(variance[2]), flags,
    )  # fmt: skip


def _innovations(a: Autopilot, _: Any) -> list[tuple[Any, ...]]:
    """Return one NAMED_VALUE_FLOAT per group of measurements that is in use."""
    time_ms = a.time_us // 1000 & 0xFFFFFFFF
    return [
        (time_ms, value, f"nis_{name}".encode())
        for name, value in a.estimator.innovations().items()
        if value > 0.0
    ]


def mission_current(autopilot: Autopilot) -> tuple[int, int, int, int]:
    """Return the fields of MISSION_CURRENT: item, total, state, whether in mission mode."""
    modes = autopilot.modes
    mission, is_flying = modes.mission, modes.mode is Mode.MISSION
    total = len(mission.items)
    if total == 0:
        state = 1  # MISSION_STATE_NO_MISSION
    elif mission.is_finished:
        state = 5  # COMPLETE
    else:
        state = 3 if is_flying and modes.is_armed else (2 if mission.current == 0 else 4)
    return min(mission.current, max(total - 1, 0)), total or 65535, state, 1 if is_flying else 2


def _highres_imu(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    """Return the last HIL_SENSOR again: it is already in these units and axes."""
    if not a.time_us:
        return None
    *values, _, altitude, temperature = a.sensor_values.tolist()
    fields = a.sensor_fields & 0x1FFF
    return a.time_us, *values, 0.0, altitude, temperature, fields, 0


def _scaled_pressure(a: Autopilot, _: Any) -> tuple[Any, ...] | None:
    if not a.sensor_fields & PRESSURE_FIELD:
        return None
    *_, pressure, _difference, _altitude, temperature = a.sensor_values.tolist()
    centi_c = clipped(temperature * 100.0, 16)
    return a.time_us // 1000 & 0xFFFFFFFF, pressure, 0.0, centi_c, 0


def _servo_output(a: Autopilot, _: Any) -> tuple[Any, ...]:
    """Return the rotor commands as pulse widths."""
    idle, full = (IDLE_US, FULL_US) if a.modes.is_armed else (DISARMED_US, DISARMED_US)
    pulses = [round(idle + (full - idle) * command) for command in a.outputs.tolist()]
    pulses += [0] * (16 - len(pulses))
    return (a.time_us & 0xFFFFFFFF, *pulses[:8], 0, *pulses[8:])


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
    "HIGHRES_IMU": _highres_imu,
    "SCALED_PRESSURE": _scaled_pressure,
    "SERVO_OUTPUT_RAW": _servo_output,
    "MISSION_CURRENT": lambda a, _: mission_current(a),
    "NAMED_VALUE_FLOAT": _innovations,
}
