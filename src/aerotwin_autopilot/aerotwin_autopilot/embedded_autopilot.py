# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process: one TCP link to the simulator, three UDP links, one autopilot between them.

Example: embedded_autopilot --instance 0 --parameters iris.yaml
"""

import argparse
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

from aerotwin_autopilot.autopilot import STANDING, Autopilot
from aerotwin_autopilot.mavlink import LINK_NAMES, MavlinkServer
from aerotwin_autopilot.parameters import AutopilotParameters, load_autopilot_parameters
from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.messages import (
    HIL_GPS,
    HIL_SENSOR,
    BadMessage,
    FrameReader,
    pack_heartbeat,
    pack_hil_actuator_controls,
    parse_hil_gps,
    parse_hil_sensor,
)

HOST = "127.0.0.1"
HIL_PORT = 4560
LOCAL_PORTS = {"offboard": 14580, "onboard": 14280, "ground": 18570}
REMOTE_PORTS = {"offboard": 14540, "onboard": 14030, "ground": 14550}
SHARED_REMOTE = ("ground",)
"""Links whose far end is one port for all vehicles."""
RETRY_S = 0.05
RECEIVE_BYTES = 65536
DATAGRAM_BYTES = 65536
DATAGRAMS_PER_STEP = 200
"""A flood on a UDP port must not stop the flight: the rest waits for the next step."""


class UdpLinks:
    """The three UDP sockets; each sends to its usual partner, or to who spoke last.

    Parameters
    ----------
    instance : int
        Number of the vehicle.

    Raises
    ------
    UserError
        If a port is taken.
    """

    def __init__(self, instance: int) -> None:
        self._sockets: list[socket.socket] = []
        self._partners: list[tuple[str, int]] = []
        self._poll = select.poll()
        self._index: dict[int, int] = {}
        for name in LINK_NAMES:
            local = LOCAL_PORTS[name] + instance
            remote = REMOTE_PORTS[name] + (0 if name in SHARED_REMOTE else instance)
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
            self._index[endpoint.fileno()] = len(self._sockets)
            self._sockets.append(endpoint)
            self._partners.append((HOST, remote))
            self._poll.register(endpoint, select.POLLIN)

    def drain(self, server: MavlinkServer) -> None:
        """Hand everything that has come to the server, link by link, without waiting."""
        for descriptor, _ in sorted(self._poll.poll(0)):
            index = self._index[descriptor]
            for _ in range(DATAGRAMS_PER_STEP):
                try:
                    data, partner = self._sockets[index].recvfrom(DATAGRAM_BYTES)
                except (BlockingIOError, ConnectionRefusedError):
                    break
                self._partners[index] = partner
                server.receive(index, data)

    def flush(self, server: MavlinkServer) -> None:
        """Send what the server has written; nobody need be listening."""
        for index, endpoint in enumerate(self._sockets):
            data = server.take_outbox(index)
            if data:
                try:
                    endpoint.sendto(data, self._partners[index])
                except OSError:  # nobody there, or its buffer is full: telemetry may be lost
                    continue

    def close(self) -> None:
        """Close the sockets."""
        for endpoint in self._sockets:
            endpoint.close()


class Session:
    """One autopilot on one HIL link, from the first sample to the last.

    Parameters
    ----------
    parameters : AutopilotParameters
        Of the autopilot.
    instance : int
        Number of the vehicle.
    """

    def __init__(self, parameters: AutopilotParameters, instance: int) -> None:
        self.autopilot = Autopilot(parameters, instance)
        self.server = MavlinkServer(self.autopilot)
        self._reader = FrameReader()
        self._sequence = 0
        self.n_bad = 0

    def run(self, link: socket.socket, udp: UdpLinks) -> None:
        """Answer every HIL_SENSOR until the simulator closes the link."""
        while data := _receive(link):
            for frame in self._reader.feed(data):
                if frame.message_id == HIL_SENSOR:
                    udp.drain(self.server)
                    answer = self.answer(frame.payload)
                    udp.flush(self.server)
                    if not _sent(link, answer):
                        return
                elif frame.message_id == HIL_GPS:
                    self.take_gps(frame.payload)

    def take_gps(self, payload: bytes) -> None:
        """Take a HIL_GPS payload; an impossible one is counted and dropped."""
        try:
            self.autopilot.take_fix(parse_hil_gps(payload))
        except BadMessage:
            self.n_bad += 1

    def answer(self, payload: bytes) -> bytes:
        """Return the HIL_ACTUATOR_CONTROLS to a HIL_SENSOR payload; telemetry is in the outboxes.

        A sample that is not finite is answered with the last commands: the simulator must not
        wait for an answer that does not come.
        """
        autopilot = self.autopilot
        time_us = int.from_bytes(payload[:8], "little")
        try:
            commands = autopilot.take_sample(parse_hil_sensor(payload))
        except BadMessage:
            self.n_bad += 1
            commands = autopilot.commands
        self.server.write_telemetry()
        self._sequence += 1
        is_armed = autopilot.modes.is_armed
        return pack_hil_actuator_controls(
            time_us,
            commands if is_armed else STANDING,
            is_armed=is_armed,
            sequence=self._sequence,
            system_id=self.server.system_id,
        )


def connect(instance: int, timeout_s: float) -> socket.socket:
    """Connect to the simulator, trying again until it listens.

    Raises
    ------
    UserError
        If nobody listens in time.
    """
    port = HIL_PORT + instance
    deadline = time.monotonic() + timeout_s
    while True:
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            link.connect((HOST, port))
        except OSError as error:
            link.close()
            if time.monotonic() > deadline:
                raise UserError(
                    f"embedded autopilot: no simulator listens on TCP port {port} within "
                    f"{timeout_s:g} s ({error.strerror}); start it, or give --connect-timeout-s"
                ) from error
            time.sleep(RETRY_S)
            continue
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the embedded autopilot; return the exit code."""
    options = _parse(arguments)
    _stop_on_signals()
    try:
        parameters = load_autopilot_parameters(options.parameters)
        if options.magnetic_declination_deg is not None:
            estimator = replace(
                parameters.estimator, magnetic_declination_deg=options.magnetic_declination_deg
            )
            parameters = replace(parameters, estimator=estimator)
        _run(parameters, options.instance, options.connect_timeout_s)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _run(parameters: AutopilotParameters, instance: int, timeout_s: float) -> None:
    udp = UdpLinks(instance)
    try:
        session = Session(parameters, instance)
        with connect(instance, timeout_s) as link:
            link.sendall(pack_heartbeat(mav_type=2, autopilot=12, system_id=instance + 1,
                                        component_id=1))  # fmt: skip
            session.run(link, udp)
    finally:
        udp.close()


def _receive(link: socket.socket) -> bytes:
    try:
        return link.recv(RECEIVE_BYTES)
    except ConnectionResetError:
        return b""


def _sent(link: socket.socket, data: bytes) -> bool:
    try:
        link.sendall(data)
    except ConnectionError:
        return False
    return True


def _stop_on_signals() -> None:
    """End cleanly, once, on Ctrl-C or SIGTERM; a second signal must not break the ending."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        raise SystemExit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="embedded_autopilot",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--instance", type=int, default=0, help="number of the vehicle (0)")
    parser.add_argument("--parameters", help="YAML file (the packaged iris)")
    parser.add_argument(
        "--magnetic-declination-deg",
        type=float,
        help="east of true north (World Magnetic Model at the first GNSS fixes)",
    )
    parser.add_argument(
        "--connect-timeout-s", type=float, default=60.0, help="wait for the simulator (60)"
    )
    options = parser.parse_args(arguments)
    if not 0 <= options.instance <= 250:
        parser.error(f"--instance must be in 0...250, got {options.instance}")
    return options


if __name__ == "__main__":
    sys.exit(main())
