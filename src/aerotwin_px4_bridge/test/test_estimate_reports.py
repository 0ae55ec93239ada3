# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports with which a datagram begins are read as those that come one by one."""

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_px4_bridge import mavlink2
from aerotwin_px4_bridge.estimate_reports import EstimateReports
from aerotwin_px4_bridge.mavlink2 import KNOWN, pack_frame

OURS, OTHER = 3, 4
PLANE = LocalTangentPlane(GeodeticPoint(latitude_deg=-47.0, longitude_deg=-8.0, altitude_m=400.0))
ZERO = np.zeros(3)


def attitude(rng, system=OURS):
    q = rng.standard_normal(4)
    values = 1000, *(q / np.linalg.norm(q)), *rng.standard_normal(3), 0.0, 0.0, 0.0, 0.0
    payload = KNOWN[mavlink2.ATTITUDE_QUATERNION].pack(*values)
    return pack_frame(mavlink2.ATTITUDE_QUATERNION, payload, system_id=system, component_id=1)


def position(rng, system=OURS, **changes):
    place = rng.integers(-800_000_000, 800_000_000, 2).tolist()
    values = {
        "time": int(rng.integers(0, 2**32)), "place": place,
        "altitude": int(rng.integers(-500_000, 9_000_000)),
        "v": rng.integers(-30_000, 30_000, 3).tolist(),
    } | changes  # fmt: skip
    payload = KNOWN[mavlink2.GLOBAL_POSITION_INT].pack(
        values["time"], *values["place"], values["altitude"], 0, *values["v"], 0
    )
    return pack_frame(mavlink2.GLOBAL_POSITION_INT, payload, system_id=system, component_id=1)


def heartbeat(system=OURS):
    payload = KNOWN[mavlink2.HEARTBEAT].pack(0, 2, 12, 0, 4, 3)
    return pack_frame(mavlink2.HEARTBEAT, payload, system_id=system, component_id=1)


def read_one_by_one(datagram):
    """Return the values of an attitude and a position of a datagram, by the slow reader."""
    found = {}
    for frame in mavlink2.split_datagram(datagram):
        m = KNOWN[frame.message_id].record(frame.payload)
        if frame.message_id == mavlink2.ATTITUDE_QUATERNION:
            found["attitude"] = m.q1, m.q2, m.q3, m.q4, m.rollspeed, m.pitchspeed, m.yawspeed
        elif frame.message_id == mavlink2.GLOBAL_POSITION_INT:
            found["position"] = m.time_boot_ms, m.lat, m.lon, m.alt, m.vx, m.vy, m.vz
    return found


@pytest.mark.parametrize("seed", range(30))
def test_both_reports_are_those_of_the_reader_of_single_frames(seed):
    rng = np.random.default_rng(seed)
    datagram = attitude(rng) + position(rng) + heartbeat()
    expected, fast, slow = read_one_by_one(datagram), EstimateReports(PLANE), EstimateReports(PLANE)
    end, values = fast.read(datagram, OURS)
    assert datagram[end:] == heartbeat()
    assert tuple(values) == expected["position"]
    slow.on_attitude(expected["attitude"])
    both = [each.estimate(values, ZERO) for each in (fast, slow)]
    assert both[0].stamp_ns == expected["position"][0] * 1_000_000
    np.testing.assert_array_equal(both[0].q_map_body, both[1].q_map_body)
    np.testing.assert_array_equal(both[0].omega_map_body_in_body, both[1].omega_map_body_in_body)
    north, east, down = expected["position"][4:]
    np.testing.assert_allclose(both[0].v_map, 0.01 * np.array([east, north, -down]))


def test_zeros_that_the_sender_cut_are_read():
    datagram = position(np.random.default_rng(1), time=7, place=[5, 0], altitude=0, v=[0, 0, 0])
    assert len(datagram) < 30
    assert EstimateReports(PLANE).read(datagram, OURS) == (len(datagram), [7, 5, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("kind", ["other", "damaged", "cut", "signed", "heartbeat", "nothing"])
def test_what_is_no_report_of_the_vehicle_is_left_to_the_other_reader(kind):
    rng = np.random.default_rng(2)
    whole = attitude(rng)
    signed = bytearray(whole[:-2])
    signed[2] = mavlink2.SIGNED
    checksum = KNOWN[mavlink2.ATTITUDE_QUATERNION].checksum(bytes(signed[1:]))
    signed += checksum.to_bytes(2, "little") + bytes(mavlink2.SIGNATURE_LENGTH)
    assert len(mavlink2.split_datagram(bytes(signed))) == 1
    first = {
        "other": attitude(rng, OTHER), "damaged": whole[:-1] + bytes([whole[-1] ^ 1]),
        "cut": whole[:-3], "signed": bytes(signed), "heartbeat": heartbeat(), "nothing": b"",
    }[kind]  # fmt: skip
    rest = b"" if kind == "cut" else position(rng)
    assert EstimateReports(PLANE).read(first + rest, OURS) == (
        (len(rest), read_values(rest)) if kind == "nothing" else (0, None)
    )


def read_values(datagram):
    return [float(value) for value in read_one_by_one(datagram)["position"]]


def test_a_second_report_of_a_kind_and_an_attitude_behind_a_position_are_left():
    rng = np.random.default_rng(3)
    first, second, place = attitude(rng), attitude(rng), position(rng)
    assert EstimateReports(PLANE).read(first + second, OURS) == (len(first), None)
    end, values = EstimateReports(PLANE).read(place + second + place, OURS)
    assert end == len(place) and values == read_values(place)


def test_no_attitude_is_taken_from_one_that_is_none():
    reports = EstimateReports(PLANE)
    reports.on_attitude([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    reports.on_attitude([np.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    reports.on_attitude([1.0, 0.0, 0.0, 0.0, np.inf, 0.0, 0.0])
    assert reports.estimate([0, 0, 0, 0, 0, 0, 0], ZERO).q_map_body is None
    assert reports.estimate([0, 910_000_000, 0, 0, 0, 0, 0], ZERO) is None
    assert reports.estimate([0, 0, 1_810_000_000, 0, 0, 0, 0], ZERO) is None
