# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Truth, range finder, flow, airspeed and radio control on the HIL link, read by pymavlink."""

import math

import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_px4_bridge.hil_extras import (
    pack_differential_pressure,
    pack_distance_sensor,
    pack_hil_state,
    pack_optical_flow,
    pack_rc_channels,
)

FLOAT32 = 1e-6  # relative rounding of a float32
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)


def read(frame: bytes):
    return mavlink.MAVLink(None).parse_buffer(frame)[0]


def state(**changes):
    values = {
        "q_map_body": (0.0, 0.0, 0.0, 1.0),
        "v_map_body": (1.0, 2.0, 3.0),
        "omega_map_body_in_body": (0.1, 0.2, 0.3),
        "a_map_body": (0.5, -0.25, 4.0),
        **changes,
    }
    place = LocalTangentPlane(HOME).to_geodetic((0.0, 0.0, 10.0))
    return read(pack_hil_state(123_456, place, **values))


def test_truth_is_sent_in_north_east_down_and_front_right_down():
    """A body that looks east has a heading of 90 degrees: half a right angle in the quaternion."""
    message = state()
    half = math.sqrt(0.5)
    assert message.attitude_quaternion == pytest.approx([half, 0.0, 0.0, half], abs=FLOAT32)
    assert (message.vx, message.vy, message.vz) == (200, 100, -300)
    rates = message.rollspeed, message.pitchspeed, message.yawspeed
    assert rates == pytest.approx((0.1, -0.2, -0.3), rel=FLOAT32)
    assert (message.xacc, message.yacc, message.zacc) == (-250, 500, -4000)
    assert message.alt == 498_000
    assert (message.lat, message.lon) == (473_977_420, 85_455_940)
    assert message.time_usec == 123_456


def test_an_acceleration_beyond_the_field_stays_at_its_limit():
    assert state(a_map_body=(0.0, 0.0, -100.0)).zacc == 32767


def test_truth_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite"):
        state(v_map_body=(math.nan, 0.0, 0.0))


@pytest.mark.parametrize(
    ("direction", "orientation"),
    [
        ((0.0, 0.0, -1.0), mavlink.MAV_SENSOR_ROTATION_PITCH_270),
        ((0.0, 0.0, 1.0), mavlink.MAV_SENSOR_ROTATION_PITCH_90),
        ((1.0, 0.0, 0.0), mavlink.MAV_SENSOR_ROTATION_NONE),
        ((0.0, -1.0, 0.0), mavlink.MAV_SENSOR_ROTATION_YAW_90),
        ((0.0, 1.0, 0.0), mavlink.MAV_SENSOR_ROTATION_YAW_270),
    ],
)
def test_a_range_finder_says_where_it_looks(direction, orientation):
    frame = pack_distance_sensor(
        5_000_000, 3.21, least_m=0.2, most_m=40.0, direction_body=direction, std_m=0.02
    )
    message = read(frame)
    assert (message.min_distance, message.current_distance, message.max_distance) == (20, 321, 4000)
    assert message.orientation == orientation
    assert message.covariance == 4
    assert message.time_boot_ms == 5000
    assert message.signal_quality == 100


def test_what_is_out_of_reach_is_marked_as_no_reading():
    for distance in (math.inf, 0.01):
        frame = pack_distance_sensor(
            0, distance, least_m=0.2, most_m=40.0, direction_body=(0.0, 0.0, -1.0)
        )
        assert read(frame).signal_quality == 1


def test_a_beam_askew_is_refused():
    with pytest.raises(ValueError, match="axis"):
        pack_distance_sensor(0, 1.0, least_m=0.1, most_m=9.0, direction_body=(0.0, 0.6, -0.8))


def test_flow_is_sent_about_front_and_right():
    message = read(pack_optical_flow(7, 0.05, (0.01, 0.02), (0.1, 0.2, 0.3), 200, 1.5))
    assert message.integration_time_us == 50_000
    sent = message.integrated_x, message.integrated_y, message.distance
    assert sent == pytest.approx((0.01, -0.02, 1.5), rel=FLOAT32)
    turn = message.integrated_xgyro, message.integrated_ygyro, message.integrated_zgyro
    assert turn == pytest.approx((0.1, -0.2, -0.3), rel=FLOAT32)
    assert message.quality == 200


def test_a_pitot_tube_is_a_second_unit_that_steps_no_clock():
    message = read(pack_differential_pressure(9, 150.0))
    assert message.get_type() == "HIL_SENSOR"
    assert message.diff_pressure == pytest.approx(1.5, rel=FLOAT32)  # hPa
    assert (message.fields_updated, message.id) == (0x400, 1)


def test_sticks_become_pulses():
    message = read(pack_rc_channels(2_000_000, [-1.0, 0.0, 1.0, 0.5, 7.0]))
    pulses = [message.chan1_raw, message.chan2_raw, message.chan3_raw, message.chan4_raw]
    assert pulses == [1000, 1500, 2000, 1750]
    assert (message.chan5_raw, message.chan6_raw) == (2000, 65535)
    assert message.chancount == 5


@pytest.mark.parametrize("sticks", [[0.0] * 19, [math.nan]])
def test_what_are_no_sticks_is_refused(sticks):
    with pytest.raises(ValueError, match="sticks"):
        pack_rc_channels(0, sticks)
