# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Oracle: pymavlink packs and unpacks the same messages from the same common.xml."""

import csv
from math import inf, nan, pi

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_px4_bridge import messages
from aerotwin_px4_bridge.hil_kernels import pressure_altitude
from aerotwin_px4_bridge.mavlink2 import BadMessage, FrameReader
from aerotwin_px4_bridge.messages import (
    pack_hil_actuator_controls,
    pack_hil_gps,
    pack_hil_sensor,
    parse_hil_actuator_controls,
    parse_hil_gps,
    parse_hil_sensor,
)

FLOAT32 = 1e-6  # relative rounding of a float32 field, with a factor of 16 in hand
CENTIMETRE = 0.005 + 1e-9  # half of the last digit of a field in cm or cm/s
DEGREES_1E7 = 0.5e-7 + 1e-12
TIME_US = 123_456_789_012

FORCE, RATE, FIELD = (1.0, 2.0, 9.5), (0.1, -0.2, 0.3), (21e-6, -3e-6, -43e-6)


def _decoded(frame: bytes) -> mavlink.MAVLink_message:
    decoded = mavlink.MAVLink(None).parse_buffer(frame)
    assert len(decoded) == 1
    return decoded[0]


def _frame_of(message: mavlink.MAVLink_message, system_id: int = 1) -> bytes:
    return message.pack(mavlink.MAVLink(None, system_id, 1))


def _payload_of(message: mavlink.MAVLink_message) -> bytes:
    (frame,) = FrameReader().feed_bytes(_frame_of(message))
    return frame.payload


def _actuators(controls: list[float], mode: int = 129) -> mavlink.MAVLink_message:
    return mavlink.MAVLink_hil_actuator_controls_message(TIME_US, controls, mode, 1)


def test_hil_sensor_reads_in_front_right_down_gauss_and_hectopascal():
    read = _decoded(
        pack_hil_sensor(TIME_US, FORCE, RATE, FIELD, pressure_pa=95_432.1, temperature_k=288.15)
    )
    assert read.get_type() == "HIL_SENSOR"
    assert (read.time_usec, read.id) == (TIME_US, 0)
    assert (read.xacc, read.yacc, read.zacc) == pytest.approx((1.0, -2.0, -9.5), rel=FLOAT32)
    assert (read.xgyro, read.ygyro, read.zgyro) == pytest.approx((0.1, 0.2, -0.3), rel=FLOAT32)
    assert (read.xmag, read.ymag, read.zmag) == pytest.approx((0.21, 0.03, 0.43), rel=FLOAT32)
    assert read.abs_pressure == pytest.approx(954.321, rel=FLOAT32)
    assert read.temperature == pytest.approx(15.0, rel=1e-5)
    assert read.diff_pressure == 0.0
    assert read.fields_updated == 0x3F | 0x1C0 | 0x1A00


def test_level_rest_reads_gravity_upwards_which_is_negative_down():
    read = _decoded(pack_hil_sensor(4000, (0.0, 0.0, 9.81), (0.0, 0.0, 0.0)))
    assert read.zacc == pytest.approx(-9.81, rel=FLOAT32)
    assert read.fields_updated == 0x3F


def test_fields_without_a_new_sample_are_not_marked():
    assert _decoded(pack_hil_sensor(4000, FORCE, RATE, FIELD)).fields_updated == 0x3F | 0x1C0
    read = _decoded(pack_hil_sensor(4000, FORCE, RATE, pressure_pa=1e5, temperature_k=290.0))
    assert read.fields_updated == 0x3F | 0x1A00


def test_our_bytes_are_those_of_pymavlink():
    codec = mavlink.MAVLink(None, 1, 200)
    expected = mavlink.MAVLink_hil_sensor_message(
        TIME_US, 1.0, -2.0, -9.5, 0.5, 0.25, -0.125, 0, 0, 0, 0, 0, 0, 0, 0x3F, 0
    )
    codec.seq = 77
    ours = pack_hil_sensor(TIME_US, (1.0, 2.0, 9.5), (0.5, -0.25, 0.125), sequence=77)
    assert ours == expected.pack(codec)


def test_an_empty_answer_is_cut_as_pymavlink_cuts_it():
    """All controls are zero while disarmed: only `mode` and what is before it remain."""
    codec = mavlink.MAVLink(None, 3, 1)
    expected = _actuators([0.0] * 16, mode=0).pack(codec)
    (frame,) = FrameReader().feed_bytes(expected)
    assert len(expected) < 12 + 81
    assert parse_hil_actuator_controls(frame.payload).controls == (0.0,) * 16


def test_a_payload_of_zeros_keeps_one_byte():
    heartbeat = messages.pack_frame(93, bytes(81), system_id=1, component_id=1)
    assert heartbeat[1] == 1
    (frame,) = FrameReader().feed_bytes(heartbeat)
    assert frame.payload == bytes(81)


def test_hil_gps_reads_in_integers_and_north_east_down():
    read = _decoded(
        pack_hil_gps(
            TIME_US, 47.3977421, -8.5455943, 488.125, (1.5, -2.25, 0.75), eph_m=0.5, epv_m=0.8
        )
    )
    assert (read.lat, read.lon, read.alt) == (473_977_421, -85_455_943, 488_125)
    assert (read.vn, read.ve, read.vd) == (-225, 150, -75)
    assert read.vel == round(100 * np.hypot(1.5, 2.25))
    assert read.cog == pytest.approx(100 * np.degrees(np.arctan2(1.5, -2.25)) % 36000, abs=1)
    assert (read.eph, read.epv, read.fix_type, read.satellites_visible) == (50, 80, 3, 10)
    assert (read.id, read.yaw) == (0, 0)


@pytest.mark.parametrize(
    ("v_map", "course_cdeg"),
    [
        ((0.0, 5.0, 0.0), 0),
        ((5.0, 0.0, 0.0), 9000),
        ((0.0, -5.0, 0.0), 18000),
        ((-5.0, 0.0, 0.0), 27000),
        ((0.0, 0.0, 5.0), 65535),
    ],
)
def test_course_is_clockwise_from_north_and_unknown_at_rest(v_map, course_cdeg):
    assert _decoded(pack_hil_gps(1, 47.0, 8.0, 488.0, v_map)).cog == course_cdeg


def test_actuator_controls_of_pymavlink_are_read():
    values = [0.5, 0.25, -1.0, 1.0, *[0.0] * 12]
    read = parse_hil_actuator_controls(_payload_of(_actuators(values)))
    assert read.time_us == TIME_US
    assert read.is_armed
    assert read.controls == tuple(values)
    assert not parse_hil_actuator_controls(_payload_of(_actuators(values, mode=1))).is_armed


def test_actuator_controls_of_ours_are_read_by_pymavlink():
    read = _decoded(pack_hil_actuator_controls(TIME_US, [0.7, 0.1], is_armed=True, system_id=4))
    assert read.get_srcSystem() == 4
    assert (read.time_usec, read.mode, read.flags) == (TIME_US, 129, 1)
    assert read.controls == pytest.approx([0.7, 0.1, *[0.0] * 14], rel=FLOAT32)


def test_sensor_and_gps_come_back_as_they_went():
    (sensor, gps) = FrameReader().feed_bytes(
        pack_hil_sensor(TIME_US, FORCE, RATE, FIELD, pressure_pa=95_000.0, temperature_k=280.0)
        + pack_hil_gps(TIME_US, 47.1234567, 8.7654321, 500.25, (1.0, 2.0, -3.0))
    )
    sample = parse_hil_sensor(sensor.payload)
    assert sample.specific_force_body == pytest.approx(FORCE, rel=FLOAT32)
    assert sample.angular_velocity_body == pytest.approx(RATE, rel=FLOAT32)
    assert sample.magnetic_field_body_tesla == pytest.approx(FIELD, rel=FLOAT32)
    assert sample.pressure_pa == pytest.approx(95_000.0, rel=FLOAT32)
    assert sample.temperature_k == pytest.approx(280.0, rel=FLOAT32)
    fix = parse_hil_gps(gps.payload)
    assert fix.latitude_deg == pytest.approx(47.1234567, abs=DEGREES_1E7)
    assert fix.longitude_deg == pytest.approx(8.7654321, abs=DEGREES_1E7)
    assert fix.altitude_m == pytest.approx(500.25, abs=CENTIMETRE)
    assert fix.v_map == pytest.approx((1.0, 2.0, -3.0), abs=CENTIMETRE)
    assert (fix.fix_type, fix.n_satellites) == (3, 10)


def test_missing_fields_come_back_as_none():
    (frame,) = FrameReader().feed_bytes(pack_hil_sensor(4000, FORCE, RATE))
    sample = parse_hil_sensor(frame.payload)
    assert sample.magnetic_field_body_tesla is None
    assert sample.pressure_pa is None
    assert sample.temperature_k is None


@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_not_finite_values_do_not_leave(bad):
    with pytest.raises(ValueError, match="finite"):
        pack_hil_sensor(4000, (bad, 0.0, 9.81), RATE)
    with pytest.raises(ValueError, match="finite"):
        pack_hil_sensor(4000, FORCE, RATE, (0.0, bad, 0.0))
    with pytest.raises(ValueError, match=r"finite|fit"):
        pack_hil_gps(4000, 47.0, 8.0, 488.0, (0.0, 0.0, bad))


@pytest.mark.parametrize("bad", [nan, inf, -inf, 4.9e29, 1.1, -1.1])
def test_impossible_controls_do_not_enter(bad):
    with pytest.raises(BadMessage, match="outside"):
        parse_hil_actuator_controls(_payload_of(_actuators([0.5, bad, *[0.0] * 14])))


@pytest.mark.parametrize("bad", [nan, inf])
def test_impossible_sensors_do_not_enter(bad):
    message = mavlink.MAVLink_hil_sensor_message(
        4000, 0, bad, -9.8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3F, 0
    )
    with pytest.raises(BadMessage, match="finite"):
        parse_hil_sensor(_payload_of(message))


def test_a_value_too_large_for_its_field_is_refused():
    with pytest.raises(ValueError, match="fit"):
        pack_hil_gps(4000, 47.0, 8.0, 488.0, (400.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("yaw_map", "heading"), [(0.0, pi / 2), (pi / 2, 0.0), (pi, -pi / 2), (-pi / 2, pi)]
)
def test_yaw_from_east_is_heading_from_north(yaw_map, heading):
    assert messages.yaw_ned_from_map(yaw_map) == pytest.approx(heading, abs=1e-12)
    turned = messages.yaw_map_from_ned(heading)
    assert np.exp(1j * turned) == pytest.approx(np.exp(1j * yaw_map), abs=1e-12)


@pytest.mark.parametrize("yaw", np.linspace(-20.0, 20.0, 41))
def test_headings_stay_within_one_turn(yaw):
    heading = messages.yaw_ned_from_map(yaw)
    assert -pi < heading <= pi
    assert np.exp(1j * heading) == pytest.approx(np.exp(1j * (pi / 2 - yaw)), abs=1e-9)


def test_east_north_up_is_turned_into_north_east_down():
    assert messages.ned_from_enu((1.0, 2.0, 3.0)) == (2.0, 1.0, -3.0)
    assert messages.enu_from_ned((2.0, 1.0, -3.0)) == (1.0, 2.0, 3.0)


def test_pressure_altitude_is_that_of_a_real_hil_log(shared_data):
    """The log's own bound: 0.057 m between its pressure_alt and the standard atmosphere."""
    path = shared_data("px4/hakoniwa_airsim_hil/log_comm_hil_sensor.csv")
    with path.open() as rows:
        for row in list(csv.DictReader(rows, skipinitialspace=True))[::500]:
            ours = pressure_altitude(100.0 * float(row["abs_pressure"]))
            assert ours == pytest.approx(float(row["pressure_alt"]), abs=0.06)


def test_the_damaged_answers_of_a_real_hil_log_are_refused(shared_data):
    """Row 737 carries a control of 4.9e29; rows 772, 773 a mode of 253; the rest is sound."""
    path = shared_data("px4/hakoniwa_airsim_hil/log_comm_hil_actuator_controls.csv")
    refused = []
    with path.open() as rows:
        for n, row in enumerate(csv.reader(rows)):
            if n == 0:
                continue
            time_us, mode, flags, *controls = row
            message = mavlink.MAVLink_hil_actuator_controls_message(
                int(time_us), [float(c) for c in controls[:16]], int(mode), int(flags)
            )
            try:
                parse_hil_actuator_controls(_payload_of(message))
            except BadMessage:
                refused.append(n - 1)
    assert 737 in refused
    assert len(refused) <= 5
