# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The networks that test processes have of their own: the ports of one are free in the other."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.own_network import OwnNetwork

BIND = "import socket, sys; socket.create_server(('127.0.0.1', int(sys.argv[1])))"


def is_free(port: int) -> bool:
    """Return whether a process that this thread starts can open a port."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", BIND, str(port)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or "Address already in use" in done.stderr, done.stderr
    return done.returncode == 0


def test_a_port_of_the_machine_is_free_in_an_own_network_and_taken_where_it_is_left():
    def look(port: int) -> tuple[bool, bool, bool]:
        try:
            network = OwnNetwork()
        except PermissionError:
            pytest.skip("no network of its own: the system allows it to root only")
        inside = is_free(port)
        with network.left():
            outside = is_free(port)
        return inside, outside, is_free(port)

    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        port = server.getsockname()[1]
        assert not is_free(port)
        assert pool.submit(look, port).result() == (True, False, True)  # a network of that thread
        assert not is_free(port)
