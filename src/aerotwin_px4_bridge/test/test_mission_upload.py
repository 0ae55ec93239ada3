# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A plan handed over. Oracle: an autopilot's side of the protocol, written with pymavlink."""

import socket
from collections.abc import Iterator
from math import isnan, pi

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_px4_bridge.mission_upload import (
    LAND,
    TAKE_OFF,
    WAYPOINT,
    MissionItem,
    MissionUpload,
)
from aerotwin_px4_bridge.onboard import OnboardLink

PLANE = LocalTangentPlane(
    GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
)
PLAN = [
    MissionItem(command=TAKE_OFF, p_map=(0.0, 0.0, 5.0)),
    MissionItem(command=WAYPOINT, p_map=(10.0, -5.0, 6.0), yaw=pi / 2, hold_s=1.5),
    MissionItem(command=LAND, p_map=(10.0, -5.0, 0.0)),
]
FIELD_M = 0.02  # one digit of 1e7 degrees, and a float32 of 500 m


class Autopilot:
    """The vehicle's side: asks for items, keeps them, says a result."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        port = self.socket.getsockname()[1]
        self.link = OnboardLink(PLANE, 0, local_port=0, remote_port=port)
        self.codec = mavlink.MAVLink(None, 1, 1)
        self.heard: list[mavlink.MAVLink_message] = []

    def say(self, message: mavlink.MAVLink_message) -> None:
        self.socket.sendto(message.pack(self.codec), ("127.0.0.1", self.link.local_port))

    def step(self, upload: MissionUpload, stamp_ns: int) -> list[mavlink.MAVLink_message]:
        self.link.receive(stamp_ns)
        upload.poll(stamp_ns)
        heard = []
        while True:
            try:
                data = self.socket.recv(2048)
            except BlockingIOError:
                self.heard += heard
                return heard
            heard += mavlink.MAVLink(None).parse_buffer(data)


@pytest.fixture
def autopilot() -> Iterator[Autopilot]:
    autopilot = Autopilot()
    yield autopilot
    autopilot.link.close()
    autopilot.socket.close()


def test_a_plan_is_handed_over_item_by_item(autopilot):
    upload = MissionUpload(autopilot.link, PLAN)
    (count,) = autopilot.step(upload, 0)
    assert (count.get_type(), count.count, count.target_system) == ("MISSION_COUNT", 3, 1)
    items = []
    for number in range(3):
        autopilot.say(mavlink.MAVLink_mission_request_int_message(1, 191, number))
        items += autopilot.step(upload, 4_000_000 * (number + 1))
    autopilot.say(mavlink.MAVLink_mission_ack_message(1, 191, 0))
    autopilot.step(upload, 20_000_000)
    assert upload.is_finished
    assert upload.failure is None
    assert [item.seq for item in items] == [0, 1, 2]
    assert [item.command for item in items] == [22, 16, 21]
    for item, planned in zip(items, PLAN, strict=True):
        p_map = PLANE.from_geodetic(item.x * 1e-7, item.y * 1e-7, item.z)
        np.testing.assert_allclose(p_map, planned.p_map, atol=FIELD_M)
        assert item.frame == mavlink.MAV_FRAME_GLOBAL_INT
        assert (item.param1, item.autocontinue) == (planned.hold_s, 1)
    assert [item.current for item in items] == [1, 0, 0]
    assert isnan(items[0].param4)
    assert items[1].param4 == pytest.approx(0.0, abs=1e-5)  # yaw to the north: heading 0


def test_an_item_that_was_lost_is_sent_again_when_asked(autopilot):
    upload = MissionUpload(autopilot.link, PLAN)
    autopilot.step(upload, 0)
    for number in (0, 0, 1, 0):
        autopilot.say(mavlink.MAVLink_mission_request_int_message(1, 191, number))
        (item,) = autopilot.step(upload, 4_000_000)
        assert item.seq == number
    autopilot.say(mavlink.MAVLink_mission_request_int_message(1, 191, 9))
    assert autopilot.step(upload, 8_000_000) == []


def test_an_autopilot_that_does_not_hear_is_told_again_and_given_up(autopilot):
    upload = MissionUpload(autopilot.link, PLAN, limit_s=3.0)
    for n in range(76):
        autopilot.step(upload, n * 40_000_000)
    assert [message.get_type() for message in autopilot.heard] == ["MISSION_COUNT"] * 4
    assert "asked for 0 of 3 items" in upload.failure
    assert not upload.is_finished


def test_a_refusal_is_told_with_its_result(autopilot):
    upload = MissionUpload(autopilot.link, PLAN)
    autopilot.step(upload, 0)
    autopilot.say(mavlink.MAVLink_mission_ack_message(1, 191, mavlink.MAV_MISSION_DENIED))
    autopilot.step(upload, 4_000_000)
    assert f"MAV_MISSION_RESULT {mavlink.MAV_MISSION_DENIED}" in upload.failure


def test_a_plan_of_an_anchored_link_is_shifted_with_it(autopilot):
    autopilot.link.shift_map = np.array([1.0, 2.0, 3.0])
    upload = MissionUpload(autopilot.link, PLAN)
    autopilot.say(mavlink.MAVLink_mission_request_int_message(1, 191, 1))
    item = autopilot.step(upload, 0)[0]
    p_map = PLANE.from_geodetic(item.x * 1e-7, item.y * 1e-7, item.z)
    np.testing.assert_allclose(p_map, (11.0, -3.0, 9.0), atol=FIELD_M)


def test_an_empty_plan_is_no_plan(autopilot):
    with pytest.raises(ValueError, match="at least one"):
        MissionUpload(autopilot.link, [])
