# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""States as ArduPilot reads them: its search for keys, its axes, its flat earth."""

import json
import math

import numpy as np
import pytest

from aerotwin_ardupilot_bridge import ArduPilotHome, JsonExtras, StateDatagram
from aerotwin_ardupilot_bridge.state_text import LONGEST, MALFORMED, write_state
from aerotwin_core.frames import quat_wxyz_ned_frd_from_map_body, quaternion_from_rotation
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane

LATLON_TO_M = np.float32(0.011131884502145034)
ONE_UNIT_DEG = 1.01e-7
ROUNDING_M = 1e-8  # of Earth-centred coordinates in float64
HALF_A_DIGIT = 0.51
NUMBERS = (
    ("timestamp", 6), ("gyro", 8), ("accel_body", 7), ("position", 4), ("velocity", 6),
    ("quaternion", 9),
)  # fmt: skip


def home_at(latitude_deg, longitude_deg, altitude_m=400.0):
    point = GeodeticPoint(
        latitude_deg=latitude_deg, longitude_deg=longitude_deg, altitude_m=altitude_m
    )
    return ArduPilotHome(point, LocalTangentPlane(point)), LocalTangentPlane(point)


HOME, PLANE = home_at(47.397742, 8.545594)
REST = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
HELD = np.array([0.0, 0.0, 9.80665, 0.0, 0.0, 0.0])


def packed(motion=REST, imu=HELD, extras=None, time_s=0.0, home=HOME):
    datagram = StateDatagram(home)
    if extras is not None:
        datagram.set_extras(extras)
    return bytes(datagram.pack(time_s, motion, imu)).decode("ascii")


def offset_by_ardupilot(home, north_m, east_m):
    """Location::offset_latlng: whole units, cut off, on a sphere."""
    latitude, longitude = round(home.latitude_deg * 1e7), round(home.longitude_deg * 1e7)
    along = int(north_m / LATLON_TO_M)
    scale = max(math.cos(math.radians((latitude + int(along / 2)) * 1e-7)), 0.01)
    across = int(east_m / LATLON_TO_M / scale)
    longitude = (longitude + across + 1_800_000_000) % 3_600_000_000 - 1_800_000_000
    return (latitude + along) * 1e-7, longitude * 1e-7


@pytest.mark.parametrize("place", [(47.4, 8.5), (-33.9, 151.2), (0.0, 0.0), (64.1, 179.99)])
def test_ardupilot_finds_the_latitude_and_longitude_of_the_map(place):
    home, plane = home_at(*place)
    rng = np.random.default_rng(0)
    for p_map in rng.uniform(-2000.0, 2000.0, (200, 3)):
        north, east, down = home.north_east_down(p_map)
        latitude, longitude, altitude = plane.to_geodetic(p_map)
        found = offset_by_ardupilot(home, north, east)
        assert found[0] == pytest.approx(latitude, abs=ONE_UNIT_DEG)
        turn = (found[1] - longitude + 180.0) % 360.0 - 180.0
        assert turn == pytest.approx(0.0, abs=ONE_UNIT_DEG)
        assert home.altitude_m - down == pytest.approx(altitude, abs=ROUNDING_M)


def test_its_plain_sphere_would_be_off_by_more_than_a_metre_in_a_kilometre():
    latitude, _, _ = PLANE.to_geodetic(np.array([0.0, 1000.0, 0.0]))
    plain, _ = offset_by_ardupilot(HOME, 1000.0, 0.0)
    assert abs(latitude - plain) / LATLON_TO_M * 1e7 * LATLON_TO_M**2 > 1.0


def test_axes_are_ned_and_frd():
    nose_north = quaternion_from_rotation(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    motion = np.array([0.0, 0.0, 5.0, *nose_north, 1.0, 2.0, 3.0])
    found = json.loads(packed(motion, np.array([0.1, 0.2, 9.8, 0.3, 0.4, 0.5]), time_s=1.25))
    assert found["timestamp"] == 1.25
    assert found["velocity"] == [2.0, 1.0, -3.0]
    assert found["imu"] == {"gyro": [0.3, -0.4, -0.5], "accel_body": [0.1, -0.2, -9.8]}
    assert found["position"][2] == pytest.approx(-5.0, abs=1e-4)
    assert found["quaternion"] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-9)


def test_the_compiled_text_has_the_numbers_of_the_plain_functions_to_their_last_digit():
    rng = np.random.default_rng(1)
    for scale in (1e-9, 1e-3, 1.0, 1e3):
        for _ in range(50):
            q = rng.standard_normal(4)
            motion = np.concatenate(
                [scale * rng.standard_normal(3), q / np.linalg.norm(q), scale * rng.normal(size=3)]
            )
            imu, time_s = scale * rng.standard_normal(6), float(rng.uniform(0.0, 1e6))
            found = json.loads(packed(motion, imu, time_s=time_s))
            found |= found.pop("imu")
            expected = {
                "timestamp": time_s,
                "gyro": imu[3:] * [1, -1, -1],
                "accel_body": imu[:3] * [1, -1, -1],
                "position": HOME.north_east_down(motion[:3]),
                "velocity": [motion[8], motion[7], -motion[9]],
                "quaternion": quat_wxyz_ned_frd_from_map_body(motion[3:7]),
            }
            for name, decimals in NUMBERS:
                limit = HALF_A_DIGIT * 10.0**-decimals
                np.testing.assert_allclose(found[name], expected[name], rtol=0.0, atol=limit)


def test_every_key_is_found_by_a_search_for_text():
    """As parse_sensors does: the first place of section and key, then a number or a bracket."""
    full = JsonExtras(
        ranges_m=(1.5, 2.5), wind_map_m_s=(1.0, 2.0, 0.5), airspeed_m_s=3.0,
        battery=(12.25, 3.5), rc_us=range(1001, 1013),
    )  # fmt: skip
    text = packed(extras=full, time_s=2.0)
    values = json.loads(text)
    flat = {("", key): value for key, value in values.items() if not isinstance(value, dict)}
    for section in ("imu", "battery", "rc"):
        flat |= {(section, key): value for key, value in values[section].items()}
    assert len(flat) == 8 + 2 + 2 + 12
    for (section, key), value in flat.items():
        start = text.find(section) + len(section) + 1
        start = text.find(key, start) + len(key) + 2
        assert text[start] == "[" if isinstance(value, list) else text[start] in "-0123456789"
        read = json.JSONDecoder().raw_decode(text[start:])[0]
        assert read == value, key
    assert values["velocity_wind"] == [2.0, 1.0, -0.5] and values["rc"]["rc_12"] == 1012
    assert " " not in text


def test_extras_are_repeated_until_they_are_set_again():
    datagram = StateDatagram(HOME)
    datagram.set_extras(JsonExtras(ranges_m=(4.0,)))
    for time_s in (0.001, 0.002):
        assert json.loads(bytes(datagram.pack(time_s, REST, HELD)))["rng_1"] == 4.0
    datagram.set_extras(JsonExtras())
    assert "rng_1" not in json.loads(bytes(datagram.pack(0.003, REST, HELD)))


def test_what_is_not_there_is_not_sent():
    assert set(json.loads(packed())) == {
        "timestamp", "imu", "position", "velocity", "quaternion"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("place", "value"),
    [(place, value) for place in (0, 3, 9, 10, 15) for value in (math.nan, math.inf, -math.inf)]
    + [(place, value) for place in (9, 10, 15) for value in (1e9, -2e9)],
)
def test_a_value_that_cannot_be_is_refused(value, place):
    values = np.concatenate([REST, HELD])
    values[place] = value
    with pytest.raises(ValueError, match="finite values below 1e9"):
        packed(values[:10], values[10:])


def test_the_longest_text_fits_into_the_buffer():
    large = -999999999.0
    motion = np.array([*[-6.0e6] * 3, *[large / 2.0] * 4, *[large] * 3])
    text = np.zeros(LONGEST, np.uint8)
    length = write_state(text, -large, motion, np.full(6, large), HOME.constants)
    assert length != MALFORMED
    assert LONGEST / 2 < length < LONGEST


def test_extras_that_are_not_finite_are_refused():
    for extras in (JsonExtras(ranges_m=(math.inf,)), JsonExtras(battery=(12.0, math.nan))):
        with pytest.raises(ValueError, match="extras must hold finite values"):
            StateDatagram(HOME).set_extras(extras)
