# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a vehicle does not arm or fly, from the messages on its link: mode, power, estimator."""

from collections.abc import Sequence

from pymavlink.dialects.v20 import common as mavlink

from aerotwin_doctor.ardupilot_checks import ekf3_checks
from aerotwin_doctor.check import Check, fail, ok, warn
from aerotwin_doctor.innovations import INNOVATIONS, innovations_check
from aerotwin_doctor.link_record import WARNING, LinkRecord, is_known

LOW_BATTERY_PERCENT = 20
"""BAT_LOW_THR of PX4 is 15 %; a flight should not begin there."""
SLOW_FACTOR = 0.5
EXPECTED_HZ = {"ATTITUDE": 4.0, "GLOBAL_POSITION_INT": 1.0, "SYS_STATUS": 0.5}
"""Lowest rates in simulated time: half of those that autopilots stream to a ground station."""
RATE_MARGIN = 0.5
LANDED_STATES = {1: "on the ground", 2: "in the air", 3: "taking off", 4: "landing"}
PREARM = mavlink.MAV_SYS_STATUS_PREARM_CHECK

_FLAGS = {
    mavlink.ESTIMATOR_ATTITUDE: "attitude",
    mavlink.ESTIMATOR_VELOCITY_HORIZ: "horizontal velocity",
    mavlink.ESTIMATOR_VELOCITY_VERT: "vertical velocity",
    mavlink.ESTIMATOR_POS_HORIZ_ABS: "horizontal position",
    mavlink.ESTIMATOR_POS_VERT_ABS: "height",
}
_ALARMS = {
    mavlink.ESTIMATOR_GPS_GLITCH: "a GNSS jump",
    mavlink.ESTIMATOR_ACCEL_ERROR: "an accelerometer error",
}
_RATIOS = {
    "vel_ratio": "GNSS velocity",
    "pos_horiz_ratio": "GNSS position",
    "pos_vert_ratio": "height (barometer or GNSS)",
    "mag_ratio": "magnetometer",
}
_NAV_STATES = {
    (1, 0): 0, (2, 0): 1, (3, 0): 2, (4, 4): 3, (4, 3): 4, (4, 5): 5, (5, 0): 10, (6, 0): 14,
    (7, 0): 15, (4, 2): 17, (4, 6): 18, (4, 8): 19, (4, 9): 20, (3, 1): 21,
}  # fmt: skip
"""Main and sub mode of PX4 -> nav_state in arming checks.

PX4 1.14, px4_custom_mode.h and vehicle_status.msg.
"""


def link_checks(record: LinkRecord, ports: Sequence[int], *, is_connected: bool) -> list[Check]:
    """Return the checks of the senders on the link, their rate and mode.

    `ports` are those of the record; `is_connected` means that an autopilot is on the HIL link.
    """
    if not record.is_heard:
        return [_silence(record, ports, is_connected=is_connected)]
    return [_speaks(record), _pace(record), _rates(record), _state(record)]


def flight_checks(record: LinkRecord) -> list[Check]:
    """Return what prevents flight, if its sensors are well."""
    if not record.is_heard:
        return []
    return [
        _battery(record),
        *_filter(record),
        _arming(record),
        *_texts(record),
    ]


def _silence(record: LinkRecord, ports: Sequence[int], *, is_connected: bool) -> Check:
    where = f"UDP {', '.join(map(str, ports))}"
    if record.others:
        ids = ", ".join(str(system_id) for system_id in sorted(record.others))
        return fail(
            "link.heartbeat",
            f"system {record.system_id} is silent on {where}, but system {ids} speaks there",
            f"give --instance {min(record.others) - 1} (system id - 1)",
        )
    silent = f"nothing heard of system {record.system_id} on {where} in {record.wall_s:.1f} s"
    if is_connected:
        return fail(
            "link.heartbeat",
            f"{silent}, though an autopilot is on the HIL link",
            "paused? Or a PX4 that flies faster than real time: it opens only its mission's link, "
            "fly it with speed:=1.0 to hear it",
        )
    return fail("link.heartbeat", silent, "is the autopilot running, with this instance?")


def _speaks(record: LinkRecord) -> Check:
    heartbeat = record.heartbeat
    if heartbeat is None:
        return fail(
            "link.heartbeat",
            f"system {record.system_id} speaks, but sends no HEARTBEAT",
            "listen longer (--duration-s 20); else its link is mis-configured",
        )
    kind = record.dialect.name if is_known(heartbeat) else f"autopilot {heartbeat.autopilot}"
    version = record.last.get("AUTOPILOT_VERSION")
    if version is not None:
        parts = [version.flight_sw_version >> shift & 0xFF for shift in (24, 16, 8)]
        kind += " " + ".".join(map(str, parts))
    n, seconds = record.counts.total(), max(record.wall_s, 1e-3)
    return ok(
        "link.heartbeat",
        f"system {record.system_id} ({kind}), {n / seconds:.0f} messages a second of wall time",
    )


def _pace(record: LinkRecord) -> Check:
    if record.elapsed_s <= 0.0:
        return warn(
            "link.pace",
            "its clock cannot be seen to move",
            "listen longer (--duration-s 20), or look whether the simulation is paused",
        )
    factor = record.elapsed_s / max(record.wall_s, 1e-3)
    text = f"simulated time runs at {factor:.2f} of real time"
    if factor < SLOW_FACTOR:
        return warn(
            "link.pace",
            text,
            "clients that count wall time (MAVSDK, ground stations) may give up; free the cpu",
        )
    return ok("link.pace", text)


def _rates(record: LinkRecord) -> Check:
    if record.is_ardupilot:
        return ok("link.rates", "not judged: ArduPilot streams what a ground station asks for")
    if record.elapsed_s <= 0.0:
        return warn("link.rates", "no rates without a clock that moves")
    rates = {name: record.counts[name] / record.elapsed_s for name in EXPECTED_HZ}
    slow = [
        f"{name} {rates[name]:.1f} Hz (expected {requested:g})"
        for name, requested in EXPECTED_HZ.items()
        if rates[name] < RATE_MARGIN * requested
    ]
    if slow:
        return warn(
            "link.rates",
            f"too slow in simulated time: {', '.join(slow)}",
            "the estimator gives none before it has begun; else the link is full: stop streams "
            "with SET_MESSAGE_INTERVAL",
        )
    stated = ", ".join(f"{name} {rate:.0f} Hz" for name, rate in rates.items())
    return ok("link.rates", f"{stated} in simulated time, all links together")


def _state(record: LinkRecord) -> Check:
    heartbeat = record.heartbeat
    if heartbeat is None:
        return warn("link.state", "mode and arming are not known without a HEARTBEAT")
    extended = record.last.get("EXTENDED_SYS_STATE")
    landed = LANDED_STATES.get(extended.landed_state if extended else 0, "landing state not known")
    armed = "armed" if record.is_armed else "disarmed"
    text = f"mode {record.dialect.mode_name(heartbeat.custom_mode)}, {armed}, {landed}"
    if heartbeat.system_status >= mavlink.MAV_STATE_CRITICAL:
        state = mavlink.enums["MAV_STATE"][heartbeat.system_status].name
        return fail("link.state", f"{text}; {state}", "a fail-safe acts: see its texts below")
    return ok("link.state", text)


def _battery(record: LinkRecord) -> Check:
    status = record.last.get("SYS_STATUS")
    if status is None or status.battery_remaining < 0:
        return warn("power.battery", "the charge is not known")
    volts = status.voltage_battery * 1e-3
    text = f"{status.battery_remaining} % left, {volts:.1f} V"
    if status.battery_remaining < LOW_BATTERY_PERCENT:
        return fail(
            "power.battery",
            text,
            "restart the autopilot for a full one, or raise battery capacity or SIM_BAT_MIN_PCT",
        )
    return ok("power.battery", text)


def _filter(record: LinkRecord) -> list[Check]:
    if record.is_ardupilot:
        return ekf3_checks(record)
    return [_estimator(record), _innovations(record)]


def _estimator(record: LinkRecord) -> Check:
    status = record.last.get("ESTIMATOR_STATUS")
    if status is None:
        return fail(
            "estimator.state",
            "it has not begun: no ESTIMATOR_STATUS",
            "it needs a vehicle at rest, IMU, magnetometer, barometer and GNSS for some seconds",
        )
    lacking = [name for flag, name in _FLAGS.items() if not status.flags & flag]
    alarms = [name for flag, name in _ALARMS.items() if status.flags & flag]
    if lacking or alarms:
        parts = [f"no valid {', '.join(lacking)}"] if lacking else []
        parts += [f"it reports {', '.join(alarms)}"] if alarms else []
        return fail(
            "estimator.state",
            "; ".join(parts),
            "see the sensors above; after a repaired sensor it needs some 10 s of simulated time",
        )
    return ok("estimator.state", "attitude, velocity, position and height are valid")


def _innovations(record: LinkRecord) -> Check:
    status = record.last.get("ESTIMATOR_STATUS")
    if status is None:
        return warn(INNOVATIONS, "not known: the estimator has not begun")
    return innovations_check({name: getattr(status, field) for field, name in _RATIOS.items()})


def _arming(record: LinkRecord) -> Check:
    heartbeat, status = record.heartbeat, record.last.get("SYS_STATUS")
    if record.is_armed:
        return ok("arming", "armed")
    mode = None if heartbeat is None else nav_state(heartbeat.custom_mode)
    reasons = [reason.text for reason in record.reasons if reason.forbids(mode)]
    is_ready = status is not None and status.onboard_control_sensors_health & PREARM
    if is_ready:
        return ok("arming", "it would arm now (PREARM_CHECK)")
    if not reasons:
        reasons = [text for severity, text in record.texts if severity <= WARNING]
    said = " | ".join(reasons) or "it gives no reason; see what failed above"
    return fail("arming", f"it will not arm: {said}", "repair what it names, from the sensors up")


def _texts(record: LinkRecord) -> list[Check]:
    """Return its recent warnings; texts of information are left out."""
    warnings = [text for severity, text in record.texts if severity <= WARNING]
    return [warn("autopilot.says", text) for text in warnings]


def nav_state(custom_mode: int) -> int | None:
    """Return the number of a mode of PX4 in arming checks, None if it is unknown."""
    return _NAV_STATES.get((custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF))
