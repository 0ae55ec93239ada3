# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which hosts a tileset may make this computer connect to.

A document of a public server may refer to any host, also to those that only this computer can
reach: its own services, a router, the metadata service of a cloud (server-side request forgery,
CWE-918). Names are resolved here, and connections use the very addresses that were checked: a name
that resolves differently the next moment (DNS rebinding) gains nothing.
"""

import ipaddress
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aerotwin_tiles.fetch.source import FetchError

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")  # RFC 4291, clause 2.4
_IPV4_WITHIN = (
    (ipaddress.ip_network("::ffff:0:0/96"), 0),  # mapped: RFC 4291, clause 2.5.5.2
    (ipaddress.ip_network("64:ff9b::/96"), 0),  # translated: RFC 6052, clause 2.1
    (ipaddress.ip_network("2002::/16"), 80),  # 6to4: RFC 3056, clause 2
)
"""IPv6 networks whose addresses stand for one of IPv4, and the bits that follow it."""


def is_public(address: str) -> bool:
    """Tell whether an IP address is a unicast address of the public internet.

    Not public are loopback, private, link-local, shared, documentation and reserved addresses (IANA
    special-purpose registries), multicast, "this host" (0.0.0.0), and IPv6 addresses that embed
    such an IPv4 address.

    Examples
    --------
    >>> is_public("8.8.8.8"), is_public("169.254.169.254"), is_public("::ffff:10.0.0.1")
    (True, False, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])  # a zone follows link-local addresses
    if isinstance(ip, ipaddress.IPv6Address):
        for network, n_bits_behind in _IPV4_WITHIN:
            if ip in network:
                return is_public(str(ipaddress.IPv4Address(int(ip) >> n_bits_behind & 0xFFFFFFFF)))
        return ip in _GLOBAL_UNICAST and ip.is_global
    return ip.is_global and not ip.is_multicast


class PrivateHosts:
    """Decides which addresses a source may connect to; thread-safe.

    Public ones always; others only where the root document itself came from there, or if
    ``are_allowed``. All loopback addresses of this computer count as one.
    """

    def __init__(self, root_host: str, *, are_allowed: bool) -> None:
        self._root_host = root_host.rstrip(".")
        self._are_allowed = are_allowed
        self._home = ""
        self._is_reading_root = self._is_root_read = False
        self._lock = threading.Lock()

    @contextmanager
    def reading_root(self) -> Iterator[None]:
        """Allow the root document from any address of its host, and note that address as home.

        Only once: documents that refer to it later are treated like any other.
        """
        self._is_reading_root = not self._is_root_read
        try:
            yield
            self._is_root_read = True
        finally:
            self._is_reading_root = False

    def addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host that may be connected to, at least one.

        Raises `FetchError` if it has only private addresses. Raises `OSError` if its name cannot be
        resolved.
        """
        found = _addresses(host, port)
        allowed = [address for address in found if self._may_ask(host, address)]
        if not allowed:
            raise FetchError(
                f"leads to {host} ({found[0]}), which is no host of the public internet, but the "
                f"tileset of {self._root_host} does not come from there; if you trust it, give "
                "--allow-private-hosts (in a world's file: tiles: http: allow_private_hosts: true)"
            )
        return allowed

    def is_root_private(self, port: int) -> bool:
        """Tell whether an address of the root's host is private and needs to be asked itself."""
        try:
            found = _addresses(self._root_host, port)
        except OSError:
            return False
        return not self._are_allowed and not all(map(is_public, found))

    def note_connected(self, host: str, address: str) -> None:
        """Record the address of a connection."""
        with self._lock:
            if self._is_reading_root and not self._home and host == self._root_host:
                self._home = address

    def _may_ask(self, host: str, address: str) -> bool:
        if self._are_allowed or is_public(address):
            return True
        if self._home:
            is_at_home = not is_public(self._home) and _is_loopback(self._home)
            return address == self._home or (is_at_home and _is_loopback(address))
        return self._is_reading_root and host == self._root_host


def _addresses(host: str, port: int) -> list[str]:
    """Return the addresses of a name or of any notation of an address (0x7f.1, 2130706433)."""
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
