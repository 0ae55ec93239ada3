# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""States as ArduPilot reads them: its search for keys, its axes, its flat earth."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from aerotwin_ardupilot_bridge import ArduPilotHome, JsonState, pack_state
from aerotwin_core.frames import quaternion_from_rotation
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane

LATLON_TO_M = np.float32(0.011131884502145034)
ONE_UNIT_DEG = 1.01e-7


def home_at(latitude_deg, longitude_deg, altitude_m=400.0):
    point = GeodeticPoint(
        latitude_deg=latitude_deg, longitude_deg=longitude_deg, altitude_m=altitude_m
    )
    return ArduPilotHome(point, LocalTangentPlane(point)), LocalTangentPlane(point)


HOME, PLANE = home_at(47.397742, 8.545594)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
REST = JsonState(
    p_map_body=np.zeros(3), v_map_body=np.zeros(3), q_map_body=LEVEL,
    specific_force_body=np.array([0.0, 0.0, 9.80665]), omega_body=np.zeros(3),
)  # fmt: skip


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
        assert home.altitude_m - down == pytest.approx(altitude, abs=1e-9)


def test_its_plain_sphere_would_be_off_by_more_than_a_metre_in_a_kilometre():
    latitude, _, _ = PLANE.to_geodetic(np.array([0.0, 1000.0, 0.0]))
    plain, _ = offset_by_ardupilot(HOME, 1000.0, 0.0)
    assert abs(latitude - plain) / LATLON_TO_M * 1e7 * LATLON_TO_M**2 > 1.0


def test_axes_are_ned_and_frd():
    nose_north = quaternion_from_rotation(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    state = JsonState(
        p_map_body=np.array([0.0, 0.0, 5.0]), v_map_body=np.array([1.0, 2.0, 3.0]),
        q_map_body=nose_north, specific_force_body=np.array([0.1, 0.2, 9.8]),
        omega_body=np.array([0.3, 0.4, 0.5]),
    )  # fmt: skip
    found = json.loads(pack_state(1.25, state, HOME))
    assert found["timestamp"] == 1.25
    assert found["velocity"] == [2.0, 1.0, -3.0]
    assert found["imu"] == {"gyro": [0.3, -0.4, -0.5], "accel_body": [0.1, -0.2, -9.8]}
    assert found["position"][2] == pytest.approx(-5.0, abs=1e-4)
    assert found["quaternion"] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-9)


def test_every_key_is_found_by_a_search_for_text():
    """As parse_sensors does: the first place of section and key, then a number or a bracket."""
    full = replace(
        REST, ranges_m=(1.5, 2.5), wind_map_m_s=np.array([1.0, 2.0, 0.5]), airspeed_m_s=3.0,
        battery=(12.25, 3.5), rc_us=range(1001, 1013),
    )  # fmt: skip
    text = pack_state(2.0, full, HOME).decode("ascii")
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


def test_what_is_not_there_is_not_sent():
    assert set(json.loads(pack_state(0.0, REST, HOME))) == {
        "timestamp", "imu", "position", "velocity", "quaternion"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["p_map_body", "omega_body", "q_map_body"])
def test_a_value_that_is_not_finite_is_refused(name):
    broken = getattr(REST, name).copy()
    broken[0] = math.nan
    with pytest.raises(ValueError, match=r"finite|cannot convert"):
        pack_state(0.0, replace(REST, **{name: broken}), HOME)
