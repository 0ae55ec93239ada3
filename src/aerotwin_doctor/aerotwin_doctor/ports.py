# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which processes use the ports of a vehicle, and the state of its HIL link."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psutil

from aerotwin_ardupilot_bridge.ports import json_port, radio_port
from aerotwin_doctor.check import Check, fail, ok, warn
from aerotwin_px4_bridge.hil_socket import UNIX_NAME
from aerotwin_px4_bridge.px4_files import offboard_port

HIL_PORT = 4560
LISTEN, ESTABLISHED = psutil.CONN_LISTEN, psutil.CONN_ESTABLISHED
AUTOPILOT_PORTS = {"offboard": 14580, "onboard": 14280, "ground": 18570}
"""UDP ports that the autopilot itself opens."""
_CONNECTED = "03"  # state in /proc/net/unix
MISSION_PORT = 14030
GROUND_STATION_PORT = 14550


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A socket of this machine: `kind` is tcp, udp or unix; `remote` the port of a partner."""

    kind: str
    port: int
    remote: int | None
    state: str
    holder: str


def endpoints() -> list[Endpoint]:
    """Return the sockets of this machine; those of other users have no name."""
    of_network = [
        Endpoint(
            kind="udp" if connection.type.name == "SOCK_DGRAM" else "tcp",
            port=connection.laddr.port,
            remote=connection.raddr.port if connection.raddr else None,
            state=connection.status,
            holder=_holder(connection.pid),
        )
        for connection in psutil.net_connections("inet")
        if connection.laddr
    ]
    return of_network + _on_unix_sockets()


def _on_unix_sockets() -> list[Endpoint]:
    """Return the autopilots that are connected to a port's Unix socket, see proc_net(5)."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
        rows = [line.split() for line in table]
    names = [row[-1] for row in rows if row[5] == _CONNECTED]
    found = [re.fullmatch(rf"@{UNIX_NAME}(\d+)", name) for name in names]
    return [
        Endpoint(
            kind="unix",
            port=0,
            remote=int(match[1]),
            state=ESTABLISHED,
            holder="an embedded autopilot",
        )
        for match in found
        if match is not None
    ]


def _holder(pid: int | None) -> str:
    if pid is None:
        return "a process of another user"
    try:
        tokens = psutil.Process(pid).cmdline()
    except psutil.Error:
        return f"process {pid}"
    program = " ".join(token.rpartition("/")[2] for token in tokens[:3])
    return f"{program or 'process'} (pid {pid})"


def udp_ports(instance: int) -> dict[str, int]:
    """Return every UDP port related to a vehicle."""
    return {
        **{name: port + instance for name, port in AUTOPILOT_PORTS.items()},
        "mission": MISSION_PORT + instance,
        "offboard client": offboard_port(instance),
        "ground station": GROUND_STATION_PORT,
        "ArduPilot's JSON": json_port(instance),
        "ArduPilot's radio": radio_port(instance),
    }


def ports_check(found: Iterable[Endpoint], instance: int) -> Check:
    """Return whether the ports of a vehicle are free, or which process uses them."""
    found = list(found)
    udp = {e.port: e.holder for e in found if e.kind == "udp"}
    held = [
        f"UDP {port} ({name}) by {udp[port]}"
        for name, port in udp_ports(instance).items()
        if port in udp
    ]
    hil = HIL_PORT + instance
    held += [f"TCP {hil} (HIL) by {e.holder}" for e in found if _is_listening(e, hil)]
    if not held:
        listed = ", ".join(map(str, sorted(udp_ports(instance).values())))
        return ok("ports.held", f"those of vehicle {instance} are free: TCP {hil}, UDP {listed}")
    return warn(
        "ports.held",
        f"held: {'; '.join(held)}",
        "well if that is your flight; else stop it, or fly another instance",
    )


def _is_listening(endpoint: Endpoint, port: int) -> bool:
    return endpoint.kind == "tcp" and endpoint.port == port and endpoint.state == LISTEN


def hil_check(found: Sequence[Endpoint], instance: int) -> Check | None:
    """Return the state of a vehicle's HIL link; None if there is no simulator."""
    port, name = HIL_PORT + instance, "link.hil"
    listener = next((e for e in found if _is_listening(e, port)), None)
    partner = next((e for e in found if e.remote == port and e.state == ESTABLISHED), None)
    if listener is None and partner is None:
        return None
    simulator = listener.holder if listener else "a simulator that no longer listens"
    if partner is None:
        return fail(
            name,
            f"{simulator} listens on TCP {port}, but no autopilot is connected",
            "start the autopilot (its log says why it did not), with the same instance",
        )
    where = "the Unix socket of TCP" if partner.kind == "unix" else "TCP"
    return ok(name, f"{partner.holder} is connected to {simulator} on {where} {port}")


def held_check(ports: Iterable[int], found: Iterable[Endpoint]) -> list[Check]:
    """Return which processes use the ports that the doctor could not open."""
    udp = {e.port: e.holder for e in found if e.kind == "udp"}
    return [
        warn(
            "link.port",
            f"UDP {port} cannot be listened to: {udp.get(port, 'another process')} holds it",
            "that client gets the messages; stop it for a while, or give --port",
        )
        for port in ports
    ]
