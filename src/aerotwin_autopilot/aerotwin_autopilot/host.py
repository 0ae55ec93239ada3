# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several autopilots in one process, each on its own ports, links and log.

A process of its own for each costs a start, 0.2 GB and two context switches in every step.
"""

import select
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from aerotwin_autopilot.hil_connection import connect
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.session import Session
from aerotwin_autopilot.udp_links import UdpLinks


@dataclass(frozen=True, kw_only=True)
class HostedVehicle:
    """One vehicle of a host: its number, the file of its parameters, and its log."""

    instance: int
    parameters: Path
    log: Path


def run_host(vehicles: Sequence[HostedVehicle], connect_timeout_s: float) -> None:
    """Run the autopilots of several vehicles until the simulator has closed all links.

    Each answers a sample as soon as it arrives; the answers are those of an autopilot alone.
    Raises UserError if a port is taken, a file is wrong, or the simulator does not listen in time.
    """
    with ExitStack() as opened, select.epoll() as poll:
        served: dict[int, tuple[Session, socket.socket, UdpLinks]] = {}
        for vehicle in vehicles:
            log = opened.enter_context(vehicle.log.open("w", encoding="utf-8"))
            udp = UdpLinks(vehicle.instance)
            opened.callback(udp.close)
            session = Session(load_autopilot_parameters(vehicle.parameters), vehicle.instance, log)
            link = opened.enter_context(connect(vehicle.instance, connect_timeout_s))
            poll.register(link, select.EPOLLIN)
            served[link.fileno()] = session, link, udp
        while served:
            for descriptor, _ in poll.poll():
                session, link, udp = served[descriptor]
                if not session.serve(link, udp):
                    del served[descriptor]
                    link.close()  # and leaves the poll
                    udp.close()
