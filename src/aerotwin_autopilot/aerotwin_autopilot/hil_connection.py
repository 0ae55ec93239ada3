# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The connection of an autopilot to the simulator that listens for it."""

import socket
import time

from aerotwin_autopilot.udp_links import HOST
from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import hil_port
from aerotwin_px4_bridge.hil_socket import unix_address
from aerotwin_px4_bridge.messages import pack_heartbeat

RETRY_S = 0.05


def connect(instance: int, timeout_s: float) -> socket.socket:
    """Connect to the simulator, retrying until it listens, and present the vehicle to it.

    Raises UserError if it does not listen in time.
    """
    port = hil_port(instance)
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            link = _connected(port)
        except OSError as error:
            if time.monotonic() > deadline:
                raise UserError(
                    f"embedded autopilot: no simulator listens on TCP port {port} within "
                    f"{timeout_s:g} s ({error.strerror}); start it, or give --connect-timeout-s"
                ) from error
            time.sleep(RETRY_S)
            continue
        link.sendall(pack_heartbeat(mav_type=2, autopilot=12, system_id=instance + 1,
                                    component_id=1))  # fmt: skip
        return link


def _connected(port: int) -> socket.socket:
    """Return a connection to the Unix socket of a port, or to the port where there is none."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(unix_address(port))
        return link
    except OSError:
        link.close()
    link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        link.connect((HOST, port))
    except OSError:
        link.close()
        raise
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link
