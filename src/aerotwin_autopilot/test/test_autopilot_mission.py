# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Missions: the protocol as a ground station speaks it, and the flight."""

import math

import numpy as np
import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.mission import MissionItem
from aerotwin_autopilot.px4_modes import Mode

GROUND, OFFBOARD = 2, 0
RELATIVE, MISSION_FRAME = 6, 2
PLACE_ERROR_M = 0.25
"""Of the estimate at a way-point: the acceptance radius cuts no corner of a hold, so control."""
NAN = math.nan


class Station:
    """A ground station that keeps what it hears, and answers requests for items."""

    def __init__(self, flight) -> None:
        self.flight = flight
        self.server = MavlinkServer(flight.autopilot)
        self.heard: list = []
        self._encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
        self._parsers = [common.MAVLink(None) for _ in range(3)]
        flight.each = self.listen

    def listen(self) -> None:
        self.server.write_telemetry()
        for link in range(3):
            messages = (
                self._parsers[link].parse_buffer(b"".join(self.server.pop_datagrams(link))) or []
            )
            if link == GROUND:
                self.heard += [m for m in messages if m.get_type().startswith("MISSION")]

    def send(self, message, link: int = GROUND) -> list:
        self.heard.clear()
        self.server.on_datagram(link, message.pack(self._encoder))
        self.listen()
        return [m for m in self.heard if m.get_type() != "MISSION_CURRENT"]

    def upload(self, items: list) -> int:
        """Upload as a ground station does; return the result in the MISSION_ACK."""
        (answer,) = self.send(common.MAVLink_mission_count_message(1, 1, len(items), 0))
        while answer.get_type() == "MISSION_REQUEST_INT":
            (answer,) = self.send(items[answer.seq])
        assert answer.get_type() == "MISSION_ACK"
        return answer.type


def item(seq: int, command: int, p=(0.0, 0.0, 0.0, NAN), place=(0.0, 0.0, 0.0), frame=RELATIVE):
    latitude, longitude, altitude = place
    return common.MAVLink_mission_item_int_message(
        1, 1, seq, frame, command, 0, 1, *p, round(latitude * 1e7), round(longitude * 1e7),
        altitude, 0,
    )  # fmt: skip


def order(command: int, *p: float):
    """An item without a place: MAV_FRAME_MISSION."""
    return item(0, command, p=(*p, *[0.0] * (4 - len(p))), frame=MISSION_FRAME)


@pytest.fixture
def station(flight) -> Station:
    flight.make_ready()
    return Station(flight)


def place_of(flight, east: float, north: float, up: float) -> tuple[float, float, float]:
    """A way-point relative to home, as latitude, longitude and height above home."""
    plane, home = flight.autopilot.estimator.plane, flight.modes.home
    latitude, longitude, _ = plane.to_geodetic(home + np.array([east, north, 0.0]))
    return latitude, longitude, up


def square(flight) -> list:
    return [
        item(0, plan.TAKEOFF, place=(0.0, 0.0, 4.0)),
        item(1, plan.CHANGE_SPEED, p=(1.0, 3.0, -1.0, 0.0), frame=MISSION_FRAME),
        item(2, plan.WAYPOINT, place=place_of(flight, 8.0, 0.0, 4.0)),
        item(3, plan.WAYPOINT, p=(2.0, 0.3, 0.0, 90.0), place=place_of(flight, 8.0, 6.0, 5.0)),
        item(4, plan.RETURN, frame=MISSION_FRAME),
    ]


def test_a_mission_is_uploaded_flown_and_lands_at_home(flight, station):
    assert station.upload(square(flight)) == plan.ACCEPTED
    flight.modes.settings.set("RTL_RETURN_ALT", 4.0)
    assert flight.modes.set_mode(Mode.MISSION) == ""
    assert flight.modes.arm() == ""
    start = flight.vehicle.body.state.p_map_body.copy()
    flight.run(lambda: flight.modes.mission.current == 3, 25.0)
    flight.run(lambda: flight.modes.mission.current >= 4, 25.0)
    goal = flight.modes.home + np.array([8.0, 6.0, 5.0])
    assert flight.modes.position == pytest.approx(goal, abs=PLACE_ERROR_M)
    # facing east (heading 90 degrees) at the last way-point, within the estimate's 3 sigma
    assert flight.modes.yaw == pytest.approx(0.0, abs=0.1)
    assert flight.modes.mode is Mode.RETURN
    flight.run(lambda: not flight.modes.is_armed, 60.0)
    back = flight.vehicle.body.state.p_map_body
    assert np.hypot(*(back - start)[:2]) < 1.0
    assert not flight.vehicle.body.is_crashed
    reached = [m.seq for m in station.heard if m.get_type() == "MISSION_ITEM_REACHED"]
    assert reached == [0, 1, 2, 3, 4]
    assert "Mission: returning" in flight.said


def test_corners_are_flown_with_little_overshoot(flight, station):
    """The mover slows for each point: the way turns within its acceptance radius."""
    station.upload(square(flight)[:4])
    flight.modes.set_mode(Mode.MISSION)
    flight.modes.arm()
    flight.run(lambda: flight.modes.mission.current == 2, 20.0)
    east = []
    while flight.modes.mission.current < 4:
        flight.step()
        east.append(flight.modes.position[0] - flight.modes.home[0])
    overshoot = 0.3
    assert max(east) < 8.0 + overshoot
    flight.run(lambda: flight.modes.mode is Mode.HOLD, 5.0)
    assert "Mission: finished, holding" in flight.said


def test_a_landing_item_lands_where_it_says(flight, station):
    items = [
        item(0, plan.TAKEOFF, place=(0.0, 0.0, 3.0)),
        item(1, plan.LAND, place=place_of(flight, 0.0, 5.0, 0.0)),
    ]
    assert station.upload(items) == plan.ACCEPTED
    flight.modes.set_mode(Mode.MISSION)
    flight.modes.arm()
    flight.run(lambda: not flight.modes.is_armed, 40.0)
    moved = flight.modes.position - flight.modes.home
    assert moved[:2] == pytest.approx([0.0, 5.0], abs=1.0)
    assert flight.height < 0.3


def test_only_a_waypoint_has_a_radius_and_a_timed_loiter_no_heading(flight, station):
    """A LOITER_TIME's second parameter says whether to turn, its fourth how to leave."""
    place = place_of(flight, 8.0, 0.0, 4.0)
    items = [
        item(0, plan.TAKEOFF, place=(0.0, 0.0, 4.0)),
        item(1, plan.LOITER_TIME, p=(1.0, 6.0, 0.0, 0.0), place=place),
        item(2, plan.LOITER, place=place),
    ]
    assert station.upload(items) == plan.ACCEPTED
    flight.modes.set_mode(Mode.MISSION)
    flight.modes.arm()
    flight.run(lambda: flight.modes.mission.current == 2, 30.0)
    goal = flight.modes.home + np.array([8.0, 0.0, 4.0])
    assert (
        np.linalg.norm(flight.modes.position - goal)
        < flight.modes.settings.values.acceptance_radius_m
    )
    # the nose ahead, to the east, not to the north as parameter 4 would say
    assert flight.modes.yaw == pytest.approx(0.0, abs=0.1)


def test_an_item_without_autocontinue_is_held_until_a_request_to_continue(flight, station):
    waiting = item(0, plan.TAKEOFF, place=(0.0, 0.0, 3.0))
    waiting.autocontinue = 0
    items = [waiting, item(1, plan.WAYPOINT, place=place_of(flight, 4.0, 0.0, 3.0))]
    assert station.upload(items) == plan.ACCEPTED
    flight.modes.set_mode(Mode.MISSION)
    flight.modes.arm()
    flight.run(lambda: flight.modes.mode is Mode.HOLD, 15.0)
    flight.wait(2.0)
    assert flight.modes.mode is Mode.HOLD
    assert flight.modes.mission.current == 1
    assert flight.modes.set_mode(Mode.MISSION) == ""
    flight.run(lambda: flight.modes.mission.is_finished, 15.0)
    east = flight.modes.position[0] - flight.modes.home[0]
    radius = flight.modes.settings.values.acceptance_radius_m
    assert east == pytest.approx(4.0, abs=radius + PLACE_ERROR_M)


def test_what_was_uploaded_comes_down_again(flight, station):
    items = square(flight)
    station.upload(items)
    (count,) = station.send(common.MAVLink_mission_request_list_message(1, 1, 0))
    assert (count.get_type(), count.count) == ("MISSION_COUNT", 5)
    for sent in items:
        (got,) = station.send(common.MAVLink_mission_request_int_message(1, 1, sent.seq, 0))
        for field in ("seq", "command", "frame", "x", "y", "z", "param1", "param2"):
            assert getattr(got, field) == pytest.approx(getattr(sent, field)), field
    assert station.send(common.MAVLink_mission_ack_message(1, 1, 0, 0)) == []


@pytest.mark.parametrize(
    ("bad", "result"),
    [
        (item(0, 84, place=(47.0, 8.0, 5.0)), plan.UNSUPPORTED),
        (item(0, plan.WAYPOINT, place=(47.0, 8.0, 5.0), frame=1), plan.UNSUPPORTED_FRAME),
        (item(0, plan.WAYPOINT), plan.INVALID_PARAM5),
        (item(0, plan.WAYPOINT, place=(95.0, 8.0, 5.0)), plan.INVALID_PARAM5),
        (item(0, plan.WAYPOINT, place=(47.0, 195.0, 5.0)), plan.INVALID_PARAM6),
        (item(0, plan.WAYPOINT, place=(47.0, 8.0, NAN)), plan.INVALID_PARAM7),
        (item(0, plan.WAYPOINT, place=(47.0, 8.0, 1e9)), plan.INVALID_PARAM7),
        (item(0, plan.CHANGE_SPEED, p=(1.0, 3.0, 0.0, 0.0)), plan.UNSUPPORTED),
        (order(plan.CHANGE_SPEED, 1.0, -3.0), plan.INVALID_PARAM2),
        (order(plan.CHANGE_SPEED, 2.0, 3.0), plan.INVALID_PARAM1),
        (order(plan.WAYPOINT), plan.UNSUPPORTED),
        (order(plan.JUMP, -1.0, 1.0), plan.INVALID_PARAM1),
        (order(plan.ROI_OLDER, 3.0), plan.INVALID_PARAM1),
        (order(211, 1.0, 1.0), plan.UNSUPPORTED),  # a gripper is not there to wait for
    ],
)
def test_a_wrong_item_ends_the_upload_with_its_reason(flight, station, bad, result):
    station.upload(square(flight))
    assert station.upload([bad, bad]) == result
    assert len(flight.modes.mission.items) == 5  # the old plan stands


def test_items_out_of_order_are_not_taken(station):
    first = item(0, plan.TAKEOFF, place=(0.0, 0.0, 4.0))
    (ack,) = station.send(first)
    assert ack.type == plan.INVALID_SEQUENCE  # nobody asked
    station.send(common.MAVLink_mission_count_message(1, 1, 2, 0))
    assert station.send(item(1, plan.TAKEOFF, place=(0.0, 0.0, 4.0))) == []


def test_a_missing_item_is_asked_for_again_and_given_up_in_the_end(flight, station):
    station.send(common.MAVLink_mission_count_message(1, 1, 2, 0))
    station.heard.clear()
    flight.wait(7.0)
    kinds = [m.get_type() for m in station.heard if m.get_type() != "MISSION_CURRENT"]
    assert kinds == ["MISSION_REQUEST_INT"] * 5 + ["MISSION_ACK"]
    assert station.upload(square(flight)) == plan.ACCEPTED


def test_a_plan_of_a_kind_that_does_not_exist_is_not_supported(station):
    (ack,) = station.send(common.MAVLink_mission_count_message(1, 1, 3, 7))
    assert (ack.type, ack.mission_type) == (plan.UNSUPPORTED, 7)
    (count,) = station.send(common.MAVLink_mission_request_list_message(1, 1, 7))
    assert (count.count, count.mission_type) == (0, 7)


def test_too_many_items_have_no_room(station):
    (ack,) = station.send(common.MAVLink_mission_count_message(1, 1, 60000, 0))
    assert ack.type == plan.NO_SPACE


def test_a_second_uploader_has_to_wait(flight, station):
    station.send(common.MAVLink_mission_count_message(1, 1, 2, 0))
    encoder = common.MAVLink(None, srcSystem=254, srcComponent=1)
    message = common.MAVLink_mission_count_message(1, 1, 1, 0)
    station.heard.clear()
    station.server.on_datagram(GROUND, message.pack(encoder))
    station.listen()
    (ack,) = [m for m in station.heard if m.get_type() == "MISSION_ACK"]
    assert (ack.type, ack.target_system) == (plan.DENIED, 254)


def test_clearing_leaves_nothing_to_fly(flight, station):
    station.upload(square(flight))
    (ack,) = station.send(common.MAVLink_mission_clear_all_message(1, 1, 0))
    assert ack.type == plan.ACCEPTED
    assert flight.modes.mission.items == ()
    assert flight.modes.set_mode(Mode.MISSION) == ""  # disarmed, as PX4
    assert flight.modes.arm() == "no mission left to fly"


def test_the_present_item_can_be_chosen(flight, station):
    station.upload(square(flight))
    station.send(common.MAVLink_mission_set_current_message(1, 1, 2))
    current = [m for m in station.heard if m.get_type() == "MISSION_CURRENT"][-1]
    assert (current.seq, current.total) == (2, 5)
    assert flight.modes.mission.current == 2
    station.send(common.MAVLink_mission_set_current_message(1, 1, 9))
    assert flight.modes.mission.current == 2


def test_a_fence_and_rally_points_go_up_come_down_and_are_cleared(flight, station):
    place = place_of(flight, 20.0, 0.0, 0.0)
    fence = item(0, 5003, p=(30.0, 0.0, 0.0, 0.0), place=place)
    rally = item(0, 5100, place=place)
    for kind, sent in ((1, fence), (2, rally)):
        sent.mission_type = kind
        (request,) = station.send(common.MAVLink_mission_count_message(1, 1, 1, kind))
        assert (request.get_type(), request.mission_type) == ("MISSION_REQUEST_INT", kind)
        (ack,) = station.send(sent)
        assert (ack.type, ack.mission_type) == (plan.ACCEPTED, kind)
        (count,) = station.send(common.MAVLink_mission_request_list_message(1, 1, kind))
        assert (count.count, count.mission_type) == (1, kind)
        (got,) = station.send(common.MAVLink_mission_request_int_message(1, 1, 0, kind))
        assert (got.command, got.x, got.y, got.param1) == (
            sent.command, sent.x, sent.y, sent.param1,
        )  # fmt: skip
    assert len(flight.modes.mission.items) == 0
    (ack,) = station.send(common.MAVLink_mission_clear_all_message(1, 1, 255))
    assert ack.type == plan.ACCEPTED
    assert (flight.modes.geofence.items, flight.modes.course.haven.rally) == ((), ())


def test_a_fence_that_is_none_leaves_the_old_one(flight, station):
    bad = item(0, 5001, p=(4.0, 0.0, 0.0, 0.0), place=place_of(flight, 1.0, 0.0, 0.0))
    bad.mission_type = 1
    station.send(common.MAVLink_mission_count_message(1, 1, 1, 1))
    (ack,) = station.send(bad)
    assert (ack.type, ack.mission_type) == (plan.INVALID_PARAM1, 1)  # three corners are missing
    assert flight.modes.geofence.items == ()


def test_old_clients_get_and_send_items_with_floating_point_places(flight, station):
    latitude, longitude, altitude = place_of(flight, 8.0, 0.0, 4.0)
    station.send(common.MAVLink_mission_count_message(1, 1, 1, 0))
    (ack,) = station.send(
        common.MAVLink_mission_item_message(
            1, 1, 0, 3, plan.WAYPOINT, 0, 1, 0, 0, 0, NAN, latitude, longitude, altitude, 0
        )
    )
    assert ack.type == plan.ACCEPTED
    (got,) = station.send(common.MAVLink_mission_request_message(1, 1, 0, 0))
    assert got.get_type() == "MISSION_ITEM"
    assert (got.x, got.y) == pytest.approx((latitude, longitude), rel=1e-7)  # a float32


def survey(flight) -> list:
    """Camera, trigger and gimbal between way-points, a pause, a region of interest, a jump."""
    rows = [
        order(530, 0.0, 2.0),
        item(0, plan.WAYPOINT, place=place_of(flight, 6.0, 0.0, 4.0)),
        order(206, 5.0, 0.0, 1.0),
        item(0, plan.ROI_LOCATION, place=place_of(flight, 6.0, 50.0, 0.0)),
        order(plan.DELAY, 3.0, -1.0, -1.0, -1.0),
        order(205, -90.0),
        item(0, plan.WAYPOINT, p=(0.0, 0.0, 0.0, NAN), place=place_of(flight, 0.0, 0.0, 4.0)),
        order(plan.JUMP, 5.0, 1.0),
        order(plan.ROI_NONE),
        order(2001),
    ]
    for seq, row in enumerate(rows):
        row.seq = seq
    return rows


def test_a_survey_is_flown_with_its_pause_and_each_item_counted(flight, station):
    assert station.upload(survey(flight)) == plan.ACCEPTED
    station.heard.clear()
    flight.modes.set_mode(Mode.MISSION)
    flight.modes.arm()
    flight.run(lambda: flight.modes.mission.current == 4, 40.0)
    began, at = flight.time_s, flight.modes.position.copy()
    flight.run(lambda: flight.modes.mission.current > 4, 10.0)
    assert flight.time_s - began == pytest.approx(3.0, abs=0.021)  # decided at 50 Hz
    assert flight.modes.position == pytest.approx(at, abs=1.5)  # it stops, and stays
    flight.wait(2.0)  # on the way to item 6
    assert flight.modes.mission.current == 6
    north = math.pi / 2.0
    assert flight.modes.yaw == pytest.approx(north, abs=0.3)  # to the region of interest
    flight.run(lambda: flight.modes.mission.is_finished, 30.0)
    flight.wait(0.1)
    reached = [m.seq for m in station.heard if m.get_type() == "MISSION_ITEM_REACHED"]
    assert reached == [0, 1, 2, 3, 4, 5, 6, 5, 6, 8, 9]  # a jump is no item reached
    current = [m.seq for m in station.heard if m.get_type() == "MISSION_CURRENT"]
    assert {1, 4, 6, 9} <= set(current)
    assert flight.modes.mission.roi is None


def test_a_plan_that_begins_with_a_way_point_takes_off_straight_up(flight, station):
    station.upload([item(0, plan.WAYPOINT, place=place_of(flight, 10.0, 0.0, 5.0))])
    flight.modes.set_mode(Mode.MISSION)
    flight.modes.arm()
    home = flight.modes.home
    flight.run(lambda: flight.modes.position[2] - home[2] > 3.5, 20.0)
    assert np.hypot(*(flight.modes.position - home)[:2]) < 0.5
    flight.run(lambda: flight.modes.mission.is_finished, 20.0)


def test_items_hold_for_ever_or_for_their_time():
    def waits(command: int, hold: float) -> float:
        return MissionItem(
            command=command, frame=RELATIVE, parameters=(hold, 0.0, 0.0, NAN),
            latitude_deg=47.0, longitude_deg=8.0, altitude_m=1.0,
        ).hold_s  # fmt: skip

    assert waits(plan.LOITER, 3.0) == math.inf
    assert waits(plan.LOITER_TIME, 3.0) == 3.0
    assert waits(plan.WAYPOINT, NAN) == 0.0
    assert waits(plan.TAKEOFF, 15.0) == 0.0  # its parameter is a pitch
