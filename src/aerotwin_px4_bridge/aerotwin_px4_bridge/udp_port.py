# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""UDP ports of links to autopilots."""

import socket

from aerotwin_core.errors import UserError


def bind_udp(link: str, host: str, port: int, users: str) -> socket.socket:
    """Return a socket bound to a port; 0 takes a free one.

    `link` and `users` are for the message: what needs the port, and who may use it.

    Raises
    ------
    UserError
        If the port is in use.
    """
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        endpoint.bind((host, port))
    except OSError as error:
        endpoint.close()
        raise UserError(
            f"{link}: UDP port {port} on {host} cannot be opened ({error.strerror}); stop the "
            f"other {users} that uses it, or choose another instance"
        ) from error
    return endpoint
