# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands with a place, as each autopilot obeys them. Oracle: pymavlink's parser."""

import socket

import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_px4_bridge.dialects import ARDUPILOT, PX4
from aerotwin_px4_bridge.onboard import OnboardLink

PLANE = LocalTangentPlane(GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5))
PLACE = (-1.0, 1.0, 0.0, 0.5, 47.3977419, -8.5455943, 488.25)
FLOAT32_DEG = 2e-6


@pytest.mark.parametrize("dialect", [PX4, ARDUPILOT], ids=lambda dialect: dialect.name)
def test_a_place_is_sent_as_the_autopilot_takes_it(dialect):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as autopilot:
        autopilot.bind(("127.0.0.1", 0))
        autopilot.settimeout(5.0)
        link = OnboardLink(
            PLANE, 6, local_port=0, remote_port=autopilot.getsockname()[1], dialect=dialect
        )
        try:
            if dialect.speaks_first:
                sender = mavlink.MAVLink(None, 7, 1)
                hello = mavlink.MAVLink_heartbeat_message(2, 3, 0, 0, 3, 3).pack(sender)
                autopilot.sendto(hello, ("127.0.0.1", link.local_port))
                while link.state.heartbeat_ns is None:
                    link.poll_datagrams(1)
            link.send_place_command(mavlink.MAV_CMD_DO_REPOSITION, *PLACE, confirmation=2)
            (message,) = mavlink.MAVLink(None).parse_buffer(autopilot.recv(512))
        finally:
            link.close()
    assert (message.target_system, message.command) == (7, mavlink.MAV_CMD_DO_REPOSITION)
    assert [message.param1, message.param2, message.param4] == [-1.0, 1.0, 0.5]
    if dialect is PX4:
        assert message.get_type() == "COMMAND_LONG" and message.confirmation == 2
        assert message.param5 == pytest.approx(PLACE[4], abs=FLOAT32_DEG)
    else:
        assert message.get_type() == "COMMAND_INT"
        assert (message.frame, message.x, message.y) == (5, 473977419, -85455943)
        assert message.z == 488.25
