# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Connections to allowed hosts, with a deadline for everything done on them."""

import math
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from urllib3 import PoolManager
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from aerotwin_tiles.fetch.private_hosts import PrivateHosts


class OpenConnections:
    """All connections of one thread, which other threads can end.

    A timeout of a single wait does not bound an answer: a server may send a byte now and then, or
    "100 Continue" for ever. So whatever lasts beyond the deadline is cut off on the socket.
    ``hosts`` decides which addresses may be connected to.
    """

    def __init__(self, hosts: PrivateHosts) -> None:
        self._hosts = hosts
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._is_ended = False
        self._deadline = math.inf

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """End all waits after some seconds; see `is_late`."""
        self._deadline = time.monotonic() + seconds
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            with self._lock:
                self._deadline = math.inf

    @property
    def left_s(self) -> float:
        """Time until the deadline [s]; infinite where there is none."""
        return self._deadline - time.monotonic()

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return self.left_s <= 0.0

    def end(self) -> None:
        """End the waits of the thread with an error, now and from now on."""
        self._is_ended = True
        self._cut()

    def watch(self, manager: PoolManager, *, is_proxy: bool = False) -> None:
        """Make the pools of a manager register their connections here.

        Connections to the user's own proxy may go to any address.
        """
        known: dict[str, Any] = manager.pool_classes_by_scheme
        manager.pool_classes_by_scheme = {
            scheme: self._watched_pool(pool, is_proxy) for scheme, pool in known.items()
        }

    def _watched_pool(self, pool_class: Any, is_proxy: bool) -> Any:
        watched = self._watched(pool_class.ConnectionCls, is_proxy)
        return type(pool_class.__name__, (pool_class,), {"ConnectionCls": watched})

    def _watched(self, connection_class: Any, is_proxy: bool) -> type:
        connections = self

        class Watched(connection_class):
            def _new_conn(self) -> socket.socket:
                open_one = super()._new_conn
                opened = open_one() if is_proxy else connections._to_allowed(self, open_one)
                connections._add(opened)
                return opened

            def _tunnel(self) -> None:
                super()._tunnel()
                if connections.is_late:
                    raise OSError("a proxy's answer was cut off")  # else it would look complete

            def connect(self) -> None:
                super().connect()
                connections._add(self.sock)  # TLS has replaced the socket

        return Watched

    def _to_allowed(self, connection: Any, open_one: Any) -> socket.socket:
        """Connect to the first address that answers, among those that may be asked."""
        host, port, limit_s = connection.host, connection.port, connection.timeout
        try:
            addresses = self._hosts.addresses(host, port)
        except OSError as error:
            raise NameResolutionError(host, connection, error) from error  # type: ignore[arg-type]
        failure: Exception = ConnectTimeoutError(connection, "no time left to connect")
        try:
            for address in addresses:
                connection.timeout = min(limit_s or math.inf, self.left_s)
                if connection.timeout <= 0.0:
                    break
                connection.host = address
                try:
                    opened = open_one()
                except (ConnectTimeoutError, NewConnectionError) as error:
                    failure = error
                    continue
                self._hosts.note_connected(host, address)
                return opened
        finally:
            connection.host, connection.timeout = host, limit_s
        raise failure

    def _add(self, opened: socket.socket | None) -> None:
        """Register a socket.

        The socket itself, as its connection releases it while the last body is still read from it.
        """
        if opened is None:
            return
        with self._lock:
            self._sockets.add(opened)
            is_over = self._is_ended or self.is_late
        if is_over:
            _end(opened)

    def _cut(self) -> None:
        with self._lock:
            if not (self._is_ended or self.is_late):
                return  # what the deadline was for has just ended
            sockets = list(self._sockets)
        for opened in sockets:
            _end(opened)


def _end(opened: socket.socket) -> None:
    with suppress(OSError):  # already closed
        opened.shutdown(socket.SHUT_RDWR)
