# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The UDP sockets of the autopilot: non-blocking, and quiet where no client listens."""

import select
import socket

from aerotwin_autopilot.mavlink import LINK_NAMES, MavlinkServer
from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import offboard_port

HOST = "127.0.0.1"
LOCAL_PORTS = {"offboard": 14580, "onboard": 14280, "ground": 18570}
ONBOARD_PORT, GROUND_PORT = 14030, 14550
OWN_LINK = "onboard"
"""The link of the scenario's own client; any other that commands the vehicle is external."""
DATAGRAM_BYTES = 65536
DATAGRAMS_PER_STEP = 200
"""A flood on a UDP port must not stop the flight: the rest waits for the next step."""
IP_RECVERR = 11
"""Linux, ip(7): tell this socket that a port it sent to is closed; Python has no name for it."""


def remote_port(name: str, instance: int) -> int:
    """Return the UDP port to which a vehicle's link sends; all ground stations share one."""
    if name == "offboard":
        return offboard_port(instance)
    return GROUND_PORT if name == "ground" else ONBOARD_PORT + instance


class UdpLinks:
    """The three UDP sockets; each sends to its usual partner, or to the last sender.

    The onboard link stays with its usual partner as long as that listens, so that another client
    does not take the scenario's telemetry away. A link whose partner's port is closed carries one
    heartbeat per second until a client listens: telemetry without a reader is a quarter of the work
    of a flight. Raises UserError if a port is taken.
    """

    def __init__(self, instance: int) -> None:
        self._sockets: list[socket.socket] = []
        self._partners: list[tuple[str, int]] = []
        self._poll = select.epoll()
        self._index: dict[int, int] = {}
        self._probed: set[int] = set()
        self._is_quiet = False
        self._own = HOST, remote_port(OWN_LINK, instance)
        self._own_index = LINK_NAMES.index(OWN_LINK)
        for name in LINK_NAMES:
            local = LOCAL_PORTS[name] + instance
            remote = remote_port(name, instance)
            endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                endpoint.bind((HOST, local))
            except OSError as error:
                endpoint.close()
                self.close()
                raise UserError(
                    f"embedded autopilot: UDP port {local} ({name} link) cannot be opened "
                    f"({error.strerror}); stop the autopilot that holds it or use another "
                    "--instance"
                ) from error
            endpoint.setblocking(False)
            endpoint.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
            self._index[endpoint.fileno()] = len(self._sockets)
            self._sockets.append(endpoint)
            self._partners.append((HOST, remote))
            self._poll.register(endpoint, select.EPOLLIN)

    def fileno(self) -> int:
        """Return a descriptor that is readable when one of the sockets has data or an error."""
        return self._poll.fileno()

    def on_polled(self, *, is_readable: bool) -> None:
        """Take over what a poll of `fileno` found: if nothing, the next `drain` does not look."""
        self._is_quiet = not is_readable

    def drain(self, server: MavlinkServer) -> None:
        """Pass all received data to the server, link by link, without waiting."""
        is_quiet, self._is_quiet = self._is_quiet, False
        if is_quiet and not self._probed:
            return
        events = self._poll.poll(0)
        if not events and not self._probed:
            return
        refused = set()
        for descriptor, event in sorted(events):
            index = self._index[descriptor]
            if event & select.EPOLLERR:
                refused.add(index)
                self._drain_errors(index)
            if event & select.EPOLLIN:
                self._receive_datagrams(index, server)
        for index in refused:
            server.links[index].is_heard = False
        for index in self._probed - refused:
            server.links[index].is_heard = True
        self._probed.clear()

    def _receive_datagrams(self, index: int, server: MavlinkServer) -> None:
        for _ in range(DATAGRAMS_PER_STEP):
            try:
                data, partner = self._sockets[index].recvfrom(DATAGRAM_BYTES)
            except (BlockingIOError, ConnectionRefusedError):
                return
            is_own = index == self._own_index and partner == self._own
            if is_own or index != self._own_index or not server.links[index].is_heard:
                self._partners[index] = partner
                server.links[index].is_heard = True
            server.on_datagram(index, data, "" if is_own else f"{partner[0]}:{partner[1]}")

    def _drain_errors(self, index: int) -> None:
        """Empty the socket's error queue; it is reported again at every step otherwise."""
        for _ in range(DATAGRAMS_PER_STEP):
            try:
                self._sockets[index].recvmsg(1, 1024, socket.MSG_ERRQUEUE)
            except OSError:
                return

    def flush(self, server: MavlinkServer) -> None:
        """Send the server's output; no client need be listening."""
        if not server.has_output:
            return
        for index, link in enumerate(server.links):
            if not link.outbox:
                continue
            datagrams = server.pop_datagrams(index)
            if not link.is_heard:
                self._probed.add(index)
            for data in datagrams:
                try:
                    self._sockets[index].sendto(data, self._partners[index])
                except OSError:  # no client, or its buffer is full: telemetry may be lost
                    continue

    def close(self) -> None:
        """Close the sockets."""
        self._poll.close()
        for endpoint in self._sockets:
            endpoint.close()
