# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What QGroundControl sends on connecting, over UDP: each request is answered or refused.

From QGroundControl's sources (5.0 and 4.4: InitialConnectStateMachine, ComponentInformationManager,
StandardModes, ParameterManager, PlanManager, QGCCameraManager, GimbalController, LogDownload). Time
is counted in steps of the lockstep, so a loaded machine changes nothing. The same requests go to a
real PX4 where PX4_DIR names one.
"""

import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot.mavlink.codec import LAYOUTS
from aerotwin_autopilot.settings import PX4_NAMES
from aerotwin_autopilot.udp_links import LOCAL_PORTS
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_px4_bridge import px4_process
from aerotwin_px4_bridge.link import HIL_PORT, HilLink, HilTimeouts
from aerotwin_px4_bridge.process import embedded_process

PX4 = pytest.mark.skipif(
    "PX4_DIR" not in os.environ,
    reason="real PX4 not present: set PX4_DIR to a built PX4-Autopilot",
)
both = pytest.mark.parametrize(
    "station", ["embedded", pytest.param("px4", marks=PX4)], indirect=True
)
INSTANCE = 63
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
CONNECT_S = 120.0
PATIENT = HilTimeouts(answer_s=20.0, first_answer_s=60.0)
ANSWER_STEPS = {"embedded": 250, "px4": 2000}
"""One simulated second; PX4's ground link has a thread of its own that the lockstep outruns."""
READY_STEPS = 1500
STATION = 255, 190
ACCEPTED, DENIED, UNSUPPORTED, FAILED = 0, 2, 3, 4
REQUEST_MESSAGE, SET_INTERVAL = 512, 511
ACK, NAK = 128, 129


def long(number: int, *parameters: float):
    """Return a COMMAND_LONG to the autopilot."""
    return common.MAVLink_command_long_message(
        1, 1, number, 0, *parameters, *[0] * (7 - len(parameters))
    )


def whole(number: int, *parameters: float):
    """Return a COMMAND_INT to the autopilot."""
    values = [*parameters, *[0.0] * (4 - len(parameters))]
    return common.MAVLink_command_int_message(1, 1, 0, number, 0, 0, *values, 0, 0, 0.0)


class Station:
    """A ground station on the ground link of a vehicle that stands, stepped by this test."""

    def __init__(self, kind: str, vehicle, link: HilLink) -> None:
        self.kind, self.vehicle, self.link = kind, vehicle, link
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.system = INSTANCE + 1
        self._to = "127.0.0.1", LOCAL_PORTS["ground"] + INSTANCE
        self._encoder = common.MAVLink(None, srcSystem=STATION[0], srcComponent=STATION[1])
        self._parser = common.MAVLink(None)
        self._parser.robust_parsing = True
        self.n_ftp = 0

    def step(self) -> list:
        """Step the vehicle; return what came."""
        self.vehicle.step((0.0,) * 4, is_armed=False)
        self.link.exchange(self.vehicle.time_us, self.vehicle.frames())
        messages: list = []
        while True:
            try:
                messages += self._parser.parse_buffer(self.socket.recv(65536)) or []
            except BlockingIOError:
                return messages

    def say(self, message) -> None:
        """Send a message to this vehicle."""
        if getattr(message, "target_system", 0):
            message.target_system = self.system
        self.socket.sendto(message.pack(self._encoder), self._to)

    def ask(self, message, until: Callable[[list], bool]) -> list:
        """Send a message and step until what came is the answer; return all, in time or not."""
        came: list = []
        self.say(message)
        for _ in range(ANSWER_STEPS[self.kind]):
            came += self.step()
            if until(came):
                break
        return came

    def names(self, message, *names: str) -> list:
        """Return the messages of these names that came, when each did."""
        came = self.ask(message, lambda got: {m.get_type() for m in got} >= set(names))
        return [m for m in came if m.get_type() in names]

    def result(self, command) -> tuple[int | None, set[str]]:
        """Return MAV_RESULT of a command, None for silence, and the names of all messages."""

        def acks(came: list) -> list:
            return [
                m
                for m in came
                if m.get_type() == "COMMAND_ACK"
                and m.command == command.command
                and (m.target_system, m.target_component) in (STATION, (0, 0))
            ]

        came = self.ask(command, lambda got: bool(acks(got)))
        for _ in range(5 if self.kind == "embedded" else 100):  # what was requested may follow
            came += self.step()
        found = acks(came)
        return (found[0].result if found else None), {m.get_type() for m in came}

    def ftp(self, operation: int, data: bytes = b"", *, offset: int = 0, size: int | None = None):
        """Return (opcode, data) of the answer to an FTP request, None for silence."""
        self.n_ftp += 2
        header = struct.pack(
            "<HBBBBBBI", self.n_ftp, 0, operation, len(data) if size is None else size, 0, 0, 0,
            offset,
        )  # fmt: skip
        payload = list((header + data).ljust(251, b"\0"))

        def answers(came: list) -> list:
            raw = [bytes(m.payload) for m in came if m.get_type() == "FILE_TRANSFER_PROTOCOL"]
            return [p for p in raw if p[5] == operation]

        message = common.MAVLink_file_transfer_protocol_message(0, self.system, 1, payload)
        found = answers(self.ask(message, lambda got: bool(answers(got))))
        return (found[0][3], found[0][12 : 12 + found[0][4]]) if found else None


@pytest.fixture(scope="module")
def station(request, tmp_path_factory, simulated_vehicle) -> Iterator[Station]:
    """A ground station that has been heard by a vehicle that is ready."""
    kind, folder = request.param, tmp_path_factory.mktemp(request.param)
    if kind == "embedded":
        command = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
        process = embedded_process(INSTANCE, folder, command=command)
    else:
        process = px4_process(
            Path(os.environ["PX4_DIR"]), INSTANCE, folder, home=HOME, links=("ground",)
        )
    vehicle = simulated_vehicle(seed=3)
    with HilLink(HIL_PORT + INSTANCE, free_run=kind == "px4", timeouts=PATIENT) as link, process:
        link.accept(CONNECT_S, lambda _: process.check())
        station = Station(kind, vehicle, link)
        for _ in range(READY_STEPS * (1 if kind == "embedded" else 3)):
            station.step()
        heartbeat = common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3)
        came = station.ask(heartbeat, lambda got: any(m.get_type() == "HEARTBEAT" for m in got))
        assert came, "the vehicle does not answer a ground station's heartbeat"
        yield station
        station.socket.close()


ID_OF = {layout.id: f"UNKNOWN_{layout.id}" for layout in LAYOUTS.values()}
VERSION, PROTOCOL, HOME_POSITION, METADATA, INFORMATION = 148, 300, 242, 397, 395
CAMERAS_AND_MODES = {
    "camera": 259, "camera settings": 260, "camera capture": 262, "video stream": 269,
    "gimbal manager": 280, "gimbal device": 283, "esc": 290, "events": 411, "available modes": 435,
    "current mode": 436, "operator control": 512, "drone id": 12915, "no such": 65000,
}  # fmt: skip
COMMANDS = {
    **{
        f"message: {name}": (long(REQUEST_MESSAGE, number), DENIED)
        for name, number in CAMERAS_AND_MODES.items()
    },
    "message by int": (whole(REQUEST_MESSAGE, VERSION), ACCEPTED),
    "mode by index": (long(REQUEST_MESSAGE, 435, 1), DENIED),
    "interval": (long(SET_INTERVAL, 30, 100_000), ACCEPTED),
    "interval of nothing": (long(SET_INTERVAL, 65000, 100_000), FAILED),
    "interval read": (long(510, 30), ACCEPTED),
    "old camera": (long(521, 1), UNSUPPORTED),
    "old camera settings": (long(522, 1), UNSUPPORTED),
    "old video": (long(2504, 1), UNSUPPORTED),
    "operator control": (long(32100, 0, 1), UNSUPPORTED),
    "high latency": (long(2600, 0), UNSUPPORTED),
    "logging": (long(2510, 0), UNSUPPORTED),
    "gimbal": (long(1001, 255, 190), UNSUPPORTED),
    "gimbal by int": (whole(1000, 0, 0), UNSUPPORTED),
    "mount": (long(205), UNSUPPORTED),
    "image": (long(2000, 0, 0, 1), UNSUPPORTED),
    "actuator test": (long(310, 0), UNSUPPORTED),
    "calibration": (long(241), UNSUPPORTED),
    "reboot": (long(246, 99), UNSUPPORTED),
    "arming checks": (long(401), ACCEPTED),
    "no such command": (long(65000), UNSUPPORTED),
}
SILENT = None
OTHERWISE_ON_PX4 = {
    "message: esc": ACCEPTED, "logging": ACCEPTED, "calibration": ACCEPTED, "reboot": DENIED,
    **dict.fromkeys(("high latency", "gimbal", "gimbal by int", "mount", "actuator test"), SILENT),
}  # fmt: skip
"""Seen of PX4 v1.14.3: the silent ones are for modules that do not run in its simulation."""


@both
@pytest.mark.parametrize("number", [VERSION, PROTOCOL, HOME_POSITION, METADATA, INFORMATION])
def test_requested_messages_come_with_their_acknowledgement(station, number):
    result, came = station.result(long(REQUEST_MESSAGE, number))
    name = {VERSION: "AUTOPILOT_VERSION", HOME_POSITION: "HOME_POSITION"}.get(number, ID_OF[number])
    assert result == ACCEPTED
    assert name in came


@both
def test_every_command_of_a_ground_station_is_acknowledged(station):
    results = {name: station.result(command)[0] for name, (command, _) in COMMANDS.items()}
    expected = {name: result for name, (_, result) in COMMANDS.items()}
    if station.kind == "px4":
        expected |= OTHERWISE_ON_PX4
    assert results == expected


@both
def test_all_parameters_come_and_each_is_read_by_index_and_name(station):
    listed: dict[int, str] = {}

    def is_complete(came: list) -> bool:
        values = [m for m in came if m.get_type() == "PARAM_VALUE"]
        listed.update({m.param_index: m.param_id for m in values if m.param_index < m.param_count})
        return bool(values) and len(listed) == values[-1].param_count

    request = common.MAVLink_param_request_list_message(1, 0)
    station.ask(request, is_complete)
    for _ in range(0 if station.kind == "embedded" else 20):  # hundreds, at PX4's own rate
        if is_complete(
            station.ask(common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3), is_complete)
        ):
            break
    assert sorted(listed) == list(range(len(listed)))
    assert set(listed.values()) >= set(PX4_NAMES)
    for index in (0, len(listed) - 1):
        by_index = common.MAVLink_param_request_read_message(1, 1, b"", index)
        by_name = common.MAVLink_param_request_read_message(1, 1, listed[index].encode(), -1)
        for read in (by_index, by_name):
            answers = station.names(read, "PARAM_VALUE")
            assert listed[index] in [m.param_id for m in answers]
    read = common.MAVLink_param_request_read_message(1, 1, b"_HASH_CHECK", -1)
    assert "_HASH_CHECK" in [m.param_id for m in station.names(read, "PARAM_VALUE")]
    unknown = common.MAVLink_param_request_read_message(1, 1, b"NO_SUCH", -1)
    refusals = station.names(unknown, "PARAM_ERROR")
    assert [m.error for m in refusals] == ([1] if station.kind == "embedded" else [])


PLANS = {
    0: [(22, 3, 47.3977, 8.5456, 10.0), (16, 3, 47.3979, 8.5456, 12.0), (20, 2, 0.0, 0.0, 0.0)],
    1: [(5001, 0, 47.39 + dx, 8.54 + dy, 0.0) for dx, dy in ((0, 0), (0.02, 0), (0.02, 0.02))],
    2: [(5100, 3, 47.3978, 8.5457, 20.0)],
}
"""Command, frame and position of each item, by MAV_MISSION_TYPE."""


@both
@pytest.mark.parametrize("kind", PLANS)
def test_a_plan_is_listed_uploaded_downloaded_and_cleared(station, kind):
    def count() -> int:
        (answer,) = station.names(
            common.MAVLink_mission_request_list_message(1, 1, kind), "MISSION_COUNT"
        )
        return answer.count

    assert count() == 0
    beyond = common.MAVLink_mission_request_int_message(1, 1, 7, kind)
    refusals = station.names(beyond, "MISSION_ACK")
    assert {m.type for m in refusals} == {INVALID_SEQUENCE if station.kind == "embedded" else ERROR}
    items = PLANS[kind]
    message = common.MAVLink_mission_count_message(1, 1, len(items), kind)
    for k, (command, frame, latitude, longitude, altitude) in enumerate(items):
        (request,) = station.names(message, "MISSION_REQUEST_INT")
        assert (request.seq, request.mission_type) == (k, kind)
        first = float(len(items)) if command == 5001 else 0.0
        message = common.MAVLink_mission_item_int_message(
            1, 1, k, frame, command, int(k == 0), 1, first, 0, 0, 0,
            round(latitude * 1e7), round(longitude * 1e7), altitude, kind,
        )  # fmt: skip
    assert station.names(message, "MISSION_ACK")[0].type == 0
    assert count() == len(items)
    for k, (command, *_) in enumerate(items):
        request = common.MAVLink_mission_request_int_message(1, 1, k, kind)
        assert station.names(request, "MISSION_ITEM_INT")[0].command == command
    station.say(common.MAVLink_mission_ack_message(1, 1, 0, kind))
    clear = common.MAVLink_mission_clear_all_message(1, 1, kind)
    assert station.names(clear, "MISSION_ACK")[0].type == 0
    assert count() == 0


UNKNOWN_PLAN = 9
ERROR, PLAN_UNSUPPORTED, INVALID_SEQUENCE = 1, 3, 13


@both
def test_what_is_not_there_of_plans_is_refused(station):
    """QGroundControl does not send these to PX4, other ground stations do."""
    refused = {
        "count": common.MAVLink_mission_count_message(1, 1, 3, UNKNOWN_PLAN),
        "clear": common.MAVLink_mission_clear_all_message(1, 1, UNKNOWN_PLAN),
        "write partial": common.MAVLink_mission_write_partial_list_message(1, 1, 0, 1, 0),
        "request partial": common.MAVLink_mission_request_partial_list_message(1, 1, 0, 1, 0),
    }
    came = {
        name: [m.type for m in station.names(message, "MISSION_ACK")]
        for name, message in refused.items()
    }
    if station.kind == "embedded":
        assert came == {name: [PLAN_UNSUPPORTED] for name in refused}
    unknown = common.MAVLink_mission_request_list_message(1, 1, UNKNOWN_PLAN)
    assert {m.count for m in station.names(unknown, "MISSION_COUNT")} == {0}


@both
def test_every_ftp_operation_is_acknowledged_or_refused(station):
    general = b"/etc/extras/component_general.json"
    answers = {operation: station.ftp(operation, b"/nothing\0") for operation in range(20)}
    answers[2] = station.ftp(2)
    silent = [operation for operation, answer in answers.items() if answer is None]
    assert silent == []
    assert station.ftp(4, b"@PARAM/param.pck\0")[0] == NAK
    if station.kind == "embedded":
        assert station.ftp(4, general)[0] == ACK
        assert station.ftp(15, size=80)[0] == ACK
        assert station.ftp(1)[0] == ACK


@both
def test_logs_time_and_home_are_answered(station):
    logs = station.names(common.MAVLink_log_request_list_message(1, 1, 0, 0xFFFF), "LOG_ENTRY")
    assert logs
    station.say(common.MAVLink_log_request_end_message(1, 1))
    sync = station.names(common.MAVLink_timesync_message(0, 123), "TIMESYNC")
    assert 123 in [m.ts1 for m in sync]
    ping = station.names(common.MAVLink_ping_message(5, 7, 0, 0), "PING")
    assert 7 in [m.seq for m in ping]
    for number, name in (
        (410, "HOME_POSITION"),
        (520, "AUTOPILOT_VERSION"),
        (519, ID_OF[PROTOCOL]),
    ):
        result, came = station.result(long(number, 1))
        assert (result, name in came) == (ACCEPTED, True)
