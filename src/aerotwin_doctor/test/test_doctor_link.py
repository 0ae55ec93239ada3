# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Each diagnosis of a link on messages made by pymavlink, an independent packer."""

import json
import os
import struct
from argparse import ArgumentParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_doctor import doctor_command, events, geometry
from aerotwin_doctor.check import FAIL, OK, WARN
from aerotwin_doctor.link_checks import flight_checks, link_checks, nav_state
from aerotwin_doctor.link_record import LinkRecord
from aerotwin_doctor.link_watch import listening_ports
from aerotwin_doctor.sensor_checks import sensor_checks
from aerotwin_doctor.topic_checks import topic_checks

SYSTEM = 3
PORTS = [14542, 14550]
HOLD = 4 << 16 | 3 << 24
ALL_SENSORS = 0x01 | 0x04 | 0x08 | 0x8000 | 0x2000000
PREARM = 0x10000000
ALTITUDE_M = 488.0
PRESSURE_HPA = 955.97  # ISO 2533 at 488 m
MAG_BITS, BARO_BITS, IMU_BITS = 0x1C0, 0x1A00, 0x3F
MAG_MISSING, SUMMARY, NO_OFFBOARD = 15388760, 11047904, 3087815
"""Numbers of check_mag_missing, commander_arming_check_summary and check_modes_offboard_signal in
the event metadata that PX4 1.14.3 builds."""


def received(*messages: mavlink.MAVLink_message, system_id: int = SYSTEM) -> LinkRecord:
    """Send messages through the wire format and return what is kept of them."""
    record = LinkRecord(SYSTEM)
    add(record, *messages, system_id=system_id)
    record.wall_s = 5.0
    return record


def add(record: LinkRecord, *messages, system_id: int = SYSTEM) -> None:
    sender, receiver = mavlink.MAVLink(None, system_id, 1), mavlink.MAVLink(None)
    for message in messages:
        for parsed in receiver.parse_buffer(message.pack(sender)) or []:
            record.on_message(parsed)


def heartbeat(mode: int = HOLD, armed: bool = False, state: int = 3):
    base = 1 | (128 if armed else 0)
    return mavlink.MAVLink_heartbeat_message(2, 12, base, mode, state, 3)


def status(health: int = ALL_SENSORS | PREARM, present: int = ALL_SENSORS, battery: int = 90):
    return mavlink.MAVLink_sys_status_message(
        present, present, health, 0, 16200, -1, battery, 0, 0, 0, 0, 0, 0
    )


def gps(fix: int = 3, satellites: int = 10):
    return mavlink.MAVLink_gps_raw_int_message(
        1000, fix, 474000000, 85000000, round(ALTITUDE_M * 1e3), 0, 0, 0, 0, satellites,
        h_acc=300, v_acc=400,
    )  # fmt: skip


def estimator(flags: int = 831, velocity: float = 0.1):
    return mavlink.MAVLink_estimator_status_message(
        1000, flags, velocity, 0.1, 0.1, 0.1, 0.0, 0.0, 0.3, 0.4
    )


def imu(
    time_us: int, *, force=(0.0, 0.0, -9.81), rate=(0.0, 0.0, 0.0), field=(0.2, 0.0, 0.43),
    pressure=PRESSURE_HPA, noise=1e-3, bits=IMU_BITS | MAG_BITS | BARO_BITS,
):  # fmt: skip
    n = noise * np.random.default_rng(time_us).standard_normal(10)
    return mavlink.MAVLink_highres_imu_message(
        time_us, *(np.array(force) + n[:3]), *(np.array(rate) + n[3:6]),
        *(np.array(field) + n[6:9]), pressure + n[9], 0.0, ALTITUDE_M, 12.0, bits,
    )  # fmt: skip


def healthy(**imu_changes) -> LinkRecord:
    samples = [imu(1000 * k, **imu_changes) for k in range(1, 11)]
    record = received(heartbeat(), status(), gps(), estimator(), *samples)
    record.first_ms, record.last_ms = 1000, 6000
    record.counts.update({"ATTITUDE": 100, "GLOBAL_POSITION_INT": 50, "SYS_STATUS": 9})
    return record


def by_name(checks) -> dict:
    return {check.name: check for check in checks}


def all_checks(record: LinkRecord) -> dict:
    return by_name(
        [
            *link_checks(record, PORTS, is_connected=True),
            *sensor_checks(record),
            *flight_checks(record),
        ]
    )


def test_a_healthy_link_has_nothing_to_repair():
    checks = all_checks(healthy())
    assert {check.status for check in checks.values()} == {OK}
    assert "mode HOLD, disarmed" in checks["link.state"].message
    assert checks["link.pace"].message.endswith("1.00 of real time")


def test_silence_names_the_ports_and_who_speaks_instead():
    record = received()
    (check,) = link_checks(record, PORTS, is_connected=False)
    assert check.status == FAIL and "14542, 14550" in check.message
    (check,) = link_checks(record, PORTS, is_connected=True)
    assert "though an autopilot is on the HIL link" in check.message
    other = received(heartbeat(), system_id=1)
    (check,) = link_checks(other, PORTS, is_connected=True)
    assert "system 1 speaks" in check.message and "--instance 0" in check.way_out


def test_a_clock_slower_than_the_wall_is_a_warning():
    record = healthy()
    record.last_ms = 2000
    assert all_checks(record)["link.pace"].status == WARN
    record.last_ms = record.first_ms
    assert all_checks(record)["link.pace"].status == WARN


def test_slow_streams_are_named():
    record = healthy()
    record.counts["ATTITUDE"] = 1
    check = all_checks(record)["link.rates"]
    assert check.status == WARN and "ATTITUDE 0.2 Hz" in check.message


@pytest.mark.parametrize(
    ("changes", "name", "said"),
    [
        ({"force": (0.0, 0.0, 9.81)}, "accelerometer", "on its head"),
        ({"force": (0.0, 0.0, -1.0)}, "accelerometer", "at rest it must read 9.8"),
        ({"rate": (0.3, 0.0, 0.0)}, "gyroscope", "0.300 rad/s while disarmed"),
        ({"field": (2e-5, 0.0, 4.3e-5), "noise": 1e-9}, "magnetometer", "on Earth 0.2 to 0.7"),
        ({"field": (0.0, 0.0, 0.0), "noise": 0.0}, "magnetometer", "no field reaches"),
        ({"bits": IMU_BITS | BARO_BITS}, "magnetometer", "came and has stopped"),
        ({"bits": IMU_BITS | MAG_BITS}, "barometer", "came and has stopped"),
        ({"pressure": 0.0, "noise": 0.0}, "barometer", "no pressure reaches"),
        ({"pressure": 800.0}, "barometer", "but GNSS says 488 m"),
        ({"noise": 0.0}, "barometer", "the same to the last digit"),
        ({"noise": 0.0}, "magnetometer", "the same to the last digit"),
        ({"noise": 0.0}, "accelerometer", "the same to the last digit"),
    ],
)  # fmt: skip
def test_a_wrong_sensor_is_named_with_what_is_wrong(changes, name, said):
    check = all_checks(healthy(**changes))[f"sensors.{name}"]
    assert check.status == FAIL
    assert said in check.message


def test_pressure_in_pascal_as_px4_sends_it_is_understood():
    record = healthy(pressure=100.0 * PRESSURE_HPA, noise=0.02)
    assert all_checks(record)["sensors.barometer"].status == OK


def test_an_absent_and_an_ill_sensor_are_distinguished():
    record = healthy()
    add(record, status(present=ALL_SENSORS & ~0x04, health=ALL_SENSORS & ~0x0C))
    check = all_checks(record)["sensors.health"]
    assert check.status == FAIL
    assert "absent: magnetometer" in check.message and "unhealthy: barometer" in check.message


@pytest.mark.parametrize("message", [gps(fix=1), gps(satellites=3)])
def test_a_poor_fix_fails(message):
    record = healthy()
    add(record, message)
    assert all_checks(record)["sensors.gnss"].status == FAIL


def test_no_gnss_at_all_fails():
    record = healthy()
    del record.last["GPS_RAW_INT"]
    assert "no GNSS reading" in all_checks(record)["sensors.gnss"].message


def test_an_empty_battery_fails():
    record = healthy()
    add(record, status(battery=10))
    assert all_checks(record)["power.battery"].status == FAIL


def test_the_estimators_flags_and_ratios_are_reported():
    record = healthy()
    add(record, estimator(flags=831 & ~16, velocity=1.7))
    checks = all_checks(record)
    assert checks["estimator.state"].message == "no valid horizontal position"
    assert "GNSS velocity 1.70" in checks["estimator.innovations"].message
    add(record, estimator(flags=831 | 1024, velocity=float("nan")))
    checks = all_checks(record)
    assert "a GNSS jump" in checks["estimator.state"].message
    assert checks["estimator.innovations"].status == OK
    del record.last["ESTIMATOR_STATUS"]
    assert "has not begun" in all_checks(record)["estimator.state"].message


def event(number: int, *, level: int, modes: int = 0xFFFFFFFF) -> bytes:
    """Return a MAVLink 2 frame of message 410, which pymavlink does not know."""
    payload = struct.pack("<IIHBBBIB", 1 << 24 | number, 1000, 0, 0, 0, level, modes, 0)
    return (
        bytes([0xFD, len(payload), 0, 0, 0, SYSTEM, 1, 410 & 0xFF, 410 >> 8, 0]) + payload + b"cc"
    )


def test_px4s_reasons_are_reported_for_the_mode_it_is_in():
    record = healthy()
    add(record, status(health=ALL_SENSORS))
    receiver = mavlink.MAVLink(None)
    receiver.robust_parsing = True
    offboard_only = 1 << 14
    for frame in (
        event(SUMMARY, level=8),
        event(MAG_MISSING, level=3),
        event(NO_OFFBOARD, level=3, modes=offboard_only),
    ):
        for message in receiver.parse_buffer(frame) or []:
            record.on_message(message)
    check = all_checks(record)["arming"]
    assert check.status == FAIL
    assert "no magnetometer data" in check.message and "offboard" not in check.message
    add(record, heartbeat(mode=6 << 16))
    assert "no offboard set-points" in all_checks(record)["arming"].message


def test_a_new_report_replaces_the_reasons_before_it():
    reasons = events.ArmingReasons()
    for number, level in ((SUMMARY, 8), (MAG_MISSING, 3), (SUMMARY, 8)):
        reasons.on_event(struct.pack("<IIHBBB", number, 0, 0, 0, 0, level))
    assert reasons.has_report and not list(reasons)


def test_events_have_the_numbers_of_px4s_own_metadata():
    assert events.event_id("check_mag_missing") == MAG_MISSING
    assert events.event_id("commander_arming_check_summary") == SUMMARY
    assert events.event_id("check_modes_offboard_signal") == NO_OFFBOARD


@pytest.mark.skipif("PX4_DIR" not in os.environ, reason="real PX4 not present: set PX4_DIR")
def test_every_listed_event_is_in_the_metadata_of_the_real_px4():
    path = Path(os.environ["PX4_DIR"], "build/px4_sitl_default/events/all_events.json")
    groups = json.loads(path.read_text())["components"]["1"]["event_groups"]
    known = {int(number) for group in groups.values() for number in group["events"]}
    assert set(events._NAME_OF_ID) <= known


def test_texts_of_warning_are_reported_and_stand_for_missing_reasons():
    record = healthy()
    add(
        record,
        status(health=ALL_SENSORS),
        mavlink.MAVLink_statustext_message(4, b"Arming denied: waiting for GNSS"),
        mavlink.MAVLink_statustext_message(6, b"Ready for takeoff!"),
    )
    checks = all_checks(record)
    assert "waiting for GNSS" in checks["arming"].message
    assert checks["autopilot.says"].status == WARN
    assert "Ready" not in checks["autopilot.says"].message


def test_an_armed_vehicle_in_a_fail_safe_fails():
    record = healthy()
    add(record, heartbeat(armed=True, state=mavlink.MAV_STATE_CRITICAL))
    checks = all_checks(record)
    assert checks["arming"].status == OK
    assert checks["link.state"].status == FAIL


def test_modes_have_px4s_names():
    """Custom modes of PX4 as seen on its HEARTBEAT: 0x03040000 is AUTO.LOITER."""
    assert [nav_state(mode) for mode in (0x03040000, 0x00060000, 9 << 16)] == [4, 14, None]


def test_vehicles_above_9_are_listened_for_where_each_kind_sends():
    assert listening_ports(0) == [14540, 14550]
    assert listening_ports(12) == [24552, 14552, 14550, 14670, 14549]  # 14670: ArduPilot's


IRIS = geometry.expected_parameters("iris")
# ROMFS/px4fmu_common/init.d-posix/airframes/10016_none_iris of PX4 1.14.3
NONE_IRIS = {
    "CA_ROTOR_COUNT": 4.0,
    "CA_ROTOR0_PX": 0.1515, "CA_ROTOR0_PY": 0.245, "CA_ROTOR0_KM": 0.05,
    "CA_ROTOR1_PX": -0.1515, "CA_ROTOR1_PY": -0.1875, "CA_ROTOR1_KM": 0.05,
    "CA_ROTOR2_PX": 0.1515, "CA_ROTOR2_PY": -0.245, "CA_ROTOR2_KM": -0.05,
    "CA_ROTOR3_PX": -0.1515, "CA_ROTOR3_PY": 0.1875, "CA_ROTOR3_KM": -0.05,
}  # fmt: skip


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        (IRIS, OK, "4 rotors of iris"),
        ({**IRIS, "CA_ROTOR0_PX": 0.1301}, OK, "4 rotors"),
        (NONE_IRIS, WARN, "CA_ROTOR0_PX 0.1515 (airframe 0.13)"),
        ({**IRIS, "CA_ROTOR0_PY": -0.22}, FAIL, "signs differ: CA_ROTOR0_PY"),
        ({**IRIS, "CA_ROTOR2_KM": 0.06}, FAIL, "signs differ: CA_ROTOR2_KM"),
        ({**IRIS, "CA_ROTOR_COUNT": 6.0}, FAIL, "6 rotors, the airframe iris has 4"),
        ({"CA_ROTOR_COUNT": 4.0}, WARN, "did not report CA_ROTOR0_PX"),
        ({"MAV_SYS_ID": 3.0}, OK, "no CA_ROTOR parameters"),
        ({"MAV_SYS_ID": 3.0, "CA_ROTOR0_PX": 0.13}, WARN, "did not report CA_ROTOR_COUNT"),
        ({}, WARN, "answers no parameter request"),
    ],
)
def test_rotors_are_compared_with_the_airframe(found, status, said):
    record = LinkRecord(SYSTEM, parameters=dict(found))
    check = geometry.geometry_check(record, IRIS, "iris")
    assert check.status == status
    assert said in check.message


def test_an_integer_parameter_is_read_from_its_bits():
    (bits,) = struct.unpack("<f", struct.pack("<i", 4))
    record = received(mavlink.MAVLink_param_value_message(b"CA_ROTOR_COUNT", bits, 6, 1, 0))
    assert record.parameters == {"CA_ROTOR_COUNT": 4.0}


@pytest.mark.parametrize(
    "tokens",
    [
        ("--duration-s", "nan"), ("--duration-s", "inf"), ("--duration-s", "0"),
        ("--port", "99999"), ("--port", "0"), ("--instance=-1",), ("--instance", "300"),
    ],
)  # fmt: skip
def test_arguments_beyond_their_range_are_refused(tokens, capsys):
    parser = ArgumentParser()
    doctor_command.configure(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(tokens)
    assert " is no " in capsys.readouterr().err


def diagnostic(level: int, message: str, **values: str) -> SimpleNamespace:
    items = [SimpleNamespace(key=key, value=value) for key, value in values.items()]
    return SimpleNamespace(level=bytes([level]), message=message, values=items)


def test_counters_of_a_simulator_are_reported():
    checks = by_name(
        topic_checks(
            {
                "autopilot 0": [
                    diagnostic(1, "flying", steps_sent="10", steps_missed="2"),
                    diagnostic(1, "flying", steps_sent="20", steps_missed="2"),
                ],
                "paused": [diagnostic(0, "hold", n_steps="5"), diagnostic(0, "hold", n_steps="5")],
                "ill": [diagnostic(2, "broken")],
                "well": [diagnostic(0, "flying", steps_sent="1")],
            }
        )
    )
    assert checks["topics.autopilot 0"].status == WARN
    assert "steps_missed 2" in checks["topics.autopilot 0"].message
    assert "stands still" in checks["topics.paused"].message
    assert checks["topics.ill"].status == FAIL
    assert checks["topics.well"].status == OK
