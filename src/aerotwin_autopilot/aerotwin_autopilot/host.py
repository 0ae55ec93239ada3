# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several autopilots in one process, each on its own ports, links and log.

A process of its own for each costs a start, 0.2 GB and two context switches in every step.
"""

import select
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from aerotwin_autopilot.hil_connection import connect
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.session import RECEIVE_BYTES, Session, is_sent, receive
from aerotwin_autopilot.udp_links import UdpLinks
from aerotwin_px4_bridge.shared_lane import MOST_BYTES, pack_part, parts


@dataclass(frozen=True, kw_only=True)
class HostedVehicle:
    """One vehicle of a host: its number, the file of its parameters, and its log."""

    instance: int
    parameters: Path
    log: Path


def run_host(
    vehicles: Sequence[HostedVehicle], connect_timeout_s: float, lane: socket.socket | None = None
) -> None:
    """Run the autopilots of several vehicles until the simulator has closed all links.

    Each answers a sample as soon as it arrives, on its link or on the `lane` that all share; the
    answers are those of an autopilot alone. Raises UserError if a port is taken, a file is wrong,
    or the simulator does not listen in time.
    """
    with ExitStack() as opened, select.epoll() as poll, select.epoll() as arrivals:
        served: dict[int, _Served] = {}
        for vehicle in vehicles:
            log = opened.enter_context(vehicle.log.open("w", encoding="utf-8"))
            udp = UdpLinks(vehicle.instance)
            opened.callback(udp.close)
            arrivals.register(udp, select.EPOLLIN)
            session = Session(load_autopilot_parameters(vehicle.parameters), vehicle.instance, log)
            link = opened.enter_context(connect(vehicle.instance, connect_timeout_s))
            poll.register(link, select.EPOLLIN)
            served[link.fileno()] = _Served(vehicle.instance, session, link, udp)
        if lane is not None:
            poll.register(lane, select.EPOLLIN)
        by_instance = {each.instance: each for each in served.values()}
        while served:
            for descriptor, _ in poll.poll():
                if lane is not None and descriptor == lane.fileno():
                    _serve_lane(lane, by_instance, arrivals)
                elif not served[descriptor].answer():
                    left = served.pop(descriptor)
                    del by_instance[left.instance]
                    left.close()


@dataclass
class _Served:
    """One vehicle that is connected."""

    instance: int
    session: Session
    link: socket.socket
    udp: UdpLinks

    def answer(self) -> bool:
        """Answer what arrives next on its own link; False when the simulator has closed it."""
        data = receive(self.link, RECEIVE_BYTES)
        answers = b"".join(self.session.answers(data, self.udp))
        return bool(data) and (not answers or is_sent(self.link, answers))

    def close(self) -> None:
        """Close its ports; it leaves the poll."""
        self.link.close()
        self.udp.close()


def _serve_lane(
    lane: socket.socket, by_instance: Mapping[int, _Served], arrivals: select.epoll
) -> None:
    """Answer a packet with one; the links tell when the simulator is gone.

    `arrivals` tells of the UDP ports of all vehicles at once: a system call instead of one each.
    """
    packet = []
    received = parts(receive(lane, MOST_BYTES))
    heard = {descriptor for descriptor, _ in arrivals.poll(0)}
    for instance, data in received:
        if (vehicle := by_instance.get(instance)) is None:
            continue  # it left
        vehicle.udp.on_polled(is_readable=vehicle.udp.fileno() in heard)
        packet.append(pack_part(instance, b"".join(vehicle.session.answers(data, vehicle.udp))))
    if packet:
        is_sent(lane, b"".join(packet))
