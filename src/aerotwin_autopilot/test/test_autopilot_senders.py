# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clients that command the vehicle are noted; those that only ask or listen are not."""

import select
import socket

import pytest
from pymavlink.dialects.v20 import common

from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.mavlink.senders import MOST
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.session import Session
from aerotwin_autopilot.udp_links import HOST, LOCAL_PORTS, UdpLinks, remote_port

GROUND = 2
INSTANCE = 58
SENDER = "127.0.0.1:5000"


def sent(message, system: int = 245, component: int = 190) -> bytes:
    return message.pack(common.MAVLink(None, srcSystem=system, srcComponent=component))


def command(number: int, *parameters: float, target: int = 1):
    filled = [*parameters, *[0.0] * (7 - len(parameters))]
    return common.MAVLink_command_long_message(target, 1, number, 0, *filled)


@pytest.fixture
def server(flight) -> MavlinkServer:
    flight.make_ready()
    return MavlinkServer(flight.autopilot)


@pytest.mark.parametrize(
    "message",
    [
        common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3),
        command(512, 148), command(511, 30, 1000), command(401), command(400, 1.0, target=9),
        common.MAVLink_param_request_list_message(1, 1),
        common.MAVLink_mission_request_list_message(1, 1, 0),
        common.MAVLink_log_request_list_message(1, 1, 0, 10),
        common.MAVLink_timesync_message(0, 1),
    ],
)  # fmt: skip
def test_who_listens_and_asks_is_no_commander(server, message):
    server.on_datagram(GROUND, sent(message), SENDER)
    assert server.senders.unsaid == []


@pytest.mark.parametrize(
    ("message", "order"),
    [
        (command(400, 1.0), "COMPONENT_ARM_DISARM"),
        (common.MAVLink_set_mode_message(1, 1, 0x03040000), "SET_MODE"),
        (common.MAVLink_param_set_message(1, 1, b"NAV_DLL_ACT", 1.0, 9), "PARAM_SET"),
        (common.MAVLink_mission_clear_all_message(1, 1, 0), "MISSION_CLEAR_ALL"),
        (
            common.MAVLink_set_position_target_local_ned_message(
                0, 1, 1, 1, 0, 0, 0, -3, 0, 0, 0, 0, 0, 0, 0, 0
            ),
            "SET_POSITION_TARGET_LOCAL_NED",
        ),
    ],
)
def test_each_kind_of_order_is_noted_once_per_client(server, message, order):
    for _ in range(3):
        server.on_datagram(GROUND, sent(message), SENDER)
    server.on_datagram(GROUND, sent(message, system=7), SENDER)
    first, second = server.senders.unsaid
    assert (first.system_id, first.component_id) == (245, 190)
    assert (first.address, first.order) == (SENDER, order)
    assert first.time_s == pytest.approx(server.autopilot.arrival_s)
    assert second.system_id == 7


def test_a_flood_of_invented_senders_is_bounded(server):
    for system in range(200):
        server.on_datagram(GROUND, sent(command(400, 1.0), system=system), SENDER)
    assert len(server.senders.unsaid) == MOST


def drain(udp: UdpLinks, session: Session) -> None:
    """A second later: telemetry goes out, and what came is read."""
    session.autopilot.time_us += 1_000_000
    session.server.write_telemetry()
    udp.flush(session.server)
    udp.drain(session.server)


def test_the_scenarios_client_is_none_and_keeps_its_telemetry(capsys):
    session, udp = Session(load_autopilot_parameters(), INSTANCE), UdpLinks(INSTANCE)
    order = sent(command(400, 1.0, target=INSTANCE + 1))
    onboard = (HOST, LOCAL_PORTS["onboard"] + INSTANCE)
    own, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    try:
        own.bind((HOST, remote_port("onboard", INSTANCE)))
        other.bind((HOST, 0))
        own.settimeout(5.0)
        own.sendto(order, onboard)
        drain(udp, session)
        assert session.server.senders.unsaid == []
        other.sendto(order, onboard)
        drain(udp, session)
        (noted,) = session.server.senders.unsaid
        assert noted.address == f"{HOST}:{other.getsockname()[1]}"
        session._write_commanders()
        assert capsys.readouterr().out == f"{noted.line()}\n"
        while select.select([own], [], [], 0.0)[0]:
            own.recv(65536)
        drain(udp, session)
        assert own.recv(65536)  # the telemetry still comes here
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.recv(65536)
    finally:
        own.close()
        other.close()
        udp.close()
