# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Connections that another thread can end while they wait for a server."""

import socket
import threading
import weakref
from contextlib import suppress
from typing import Any

from urllib3 import PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class OpenConnections:
    """All connections of a source; safe in threads.

    `requests` gives back only what lies idle in its pools: a thread that waits for an answer would
    wait on, as long as the time limit of reading allows.
    """

    def __init__(self) -> None:
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._is_ended = False

    def add(self, connection: HTTPConnection) -> None:
        """Keep an eye on a connection that was just made.

        On its socket: the connection lets it go while the last body is still read from it.
        """
        if connection.sock is None:
            return
        with self._lock:
            self._sockets.add(connection.sock)
            is_ended = self._is_ended
        if is_ended:
            _end(connection.sock)

    def end(self) -> None:
        """Let every thread that waits for a server go on, with an error; now and from now on."""
        with self._lock:
            self._is_ended = True
            sockets = list(self._sockets)
        for opened in sockets:
            _end(opened)

    def watch(self, manager: PoolManager) -> None:
        """Make the pools of a manager keep their connections here."""
        connections = self

        class Plain(HTTPConnection):
            def connect(self) -> None:
                super().connect()
                connections.add(self)

        class Secure(HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                connections.add(self)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls: Any = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls: Any = Secure

        manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}


def _end(opened: socket.socket) -> None:
    with suppress(OSError):  # it ended by itself
        opened.shutdown(socket.SHUT_RDWR)
