# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A tileset of a public server leads to no private host; servers of these tests are on loopback.

127.0.0.2 stands for the public internet: one function that tells so is replaced; names, sockets
and servers are real, but for names whose addresses change, as those of an attacker do.
"""

import socket
from contextlib import suppress

import pytest

from aerotwin_tiles.fetch import FetchError, HttpSettings, private_hosts
from aerotwin_tiles.fetch.private_hosts import is_public

PUBLIC, PRIVATE = "127.0.0.2", "127.0.0.1"
STRICT = HttpSettings(n_attempts=1, connect_timeout_s=5.0, read_timeout_s=5.0, total_timeout_s=20.0)
TRUSTING = HttpSettings(n_attempts=1, total_timeout_s=20.0, allow_private_hosts=True)
LIMIT = 10**6
REFUSED = "no host of the public internet.*--allow-private-hosts"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        # IANA IPv4 and IPv6 Special-Purpose Address Registries, column "Globally Reachable".
        ("8.8.8.8", True),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("127.0.0.1", False),
        ("127.255.255.254", False),
        ("169.254.169.254", False),
        ("172.16.0.1", False),
        ("172.32.0.1", True),
        ("192.0.2.1", False),
        ("192.168.255.255", False),
        ("198.18.0.1", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("2606:4700::1111", True),
        ("::", False),
        ("::1", False),
        ("::10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::a00:1", False),
        ("64:ff9b::808:808", True),
        ("2001:db8::1", False),
        ("2002:a00:1::1", False),
        ("2002:808:808::1", True),
        ("fc00::1", False),
        ("fd00:ec2::254", False),
        ("fe80::1%eth0", False),
        ("ff02::1", False),
    ],
)
def test_public_addresses_are_distinguished_from_others(address, expected):
    assert is_public(address) is expected


@pytest.fixture
def public(monkeypatch, server_on):
    """A server that counts as one of the public internet."""
    monkeypatch.setattr(private_hosts, "is_public", lambda address: address == PUBLIC)
    return server_on(PUBLIC)


@pytest.fixture
def at_root(public, server, opened):
    """A function that opens the public server and reads its root; the private one has a file."""
    server.add("/secret", b"{}")

    def open_it(settings=STRICT, **options):
        public.add("/root.json", (200, {"Cache-Control": "max-age=60"}, b"{}"))
        source = opened(public.url + "/root.json", settings=settings, **options)
        assert source.read(source.root_uri, max_bytes=LIMIT) == b"{}"
        return source

    return open_it


def port_of(server):
    return server.url.rpartition(":")[2]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0.0.0.0", "0",
     "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "169.254.169.254", "[fe80::1]", "LOCALHOST."],
)  # fmt: skip
def test_a_reference_to_a_private_host_is_refused(server, at_root, host):
    source = at_root()
    address = source.resolve(source.root_uri, f"http://{host}:{port_of(server)}/secret")
    with pytest.raises(FetchError, match=REFUSED):
        source.read(address, max_bytes=LIMIT)
    assert not server.requests


def test_a_redirect_to_a_private_host_is_refused(public, server, at_root):
    source = at_root()
    public.add("/tile", (302, {"Location": server.url + "/secret"}, b""))
    with pytest.raises(FetchError, match=REFUSED):
        source.read(public.url + "/tile", max_bytes=LIMIT)
    assert not server.requests


def test_a_root_that_redirects_to_a_private_host_is_refused(public, server, opened):
    public.add("/root.json", (302, {"Location": server.url + "/secret"}, b""))
    source = opened(public.url + "/root.json", settings=STRICT)
    with pytest.raises(FetchError, match=REFUSED):
        source.read(source.root_uri, max_bytes=LIMIT)
    assert not server.requests


def test_the_user_may_allow_private_hosts(server, at_root):
    assert at_root(TRUSTING).read(server.url + "/secret", max_bytes=LIMIT) == b"{}"


def test_a_private_tileset_leads_to_its_own_host_alone(public, server, opened):
    """The reference in reach is to another port of the same computer, with its answer kept."""
    for _ in range(2):
        server.add("/root.json", (200, {"Cache-Control": "max-age=60"}, b"{}"))
        server.add("/secret", b"{}")
        source = opened(settings=STRICT)
        source.read(source.root_uri, max_bytes=LIMIT)
        local = f"http://localhost:{port_of(server)}/secret"
        assert source.read(local, max_bytes=LIMIT) == b"{}"
        with pytest.raises(FetchError, match=REFUSED):
            source.read("http://169.254.169.254/latest", max_bytes=LIMIT)


class Names:
    """A resolver whose names have other addresses each time they are asked for."""

    def __init__(self, monkeypatch):
        self.addresses = {}
        real = socket.getaddrinfo

        def getaddrinfo(host, *args, **options):
            answers = self.addresses.get(host)
            if answers is None:
                return real(host, *args, **options)
            now = answers.pop(0) if len(answers) > 1 else answers[0]
            return [found for address in now for found in real(address, *args, **options)]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.fixture
def names(monkeypatch):
    return Names(monkeypatch)


def test_a_name_of_a_private_address_is_refused(server, at_root, names):
    names.addresses["inside.example"] = [[PRIVATE]]
    with pytest.raises(FetchError, match=rf"inside\.example \({PRIVATE}\).*{REFUSED}"):
        at_root().read(f"http://inside.example:{port_of(server)}/secret", max_bytes=LIMIT)
    assert not server.requests


LATER = [[[PRIVATE]], [[PUBLIC], [PRIVATE]], [[PRIVATE, PUBLIC]]]
"""What a name answers, question after question, once the root document is read."""


@pytest.fixture
def evil(public, server, names, opened):
    """A function that reads the root from a name that is public, then answers otherwise."""

    def read_root(later, headers):
        names.addresses["evil.example"] = [[PUBLIC]]
        public.add("/root.json", (200, {"Connection": "close", **headers}, b"{}"))
        source = opened(f"http://evil.example:{port_of(public)}/root.json", settings=STRICT)
        source.read(source.root_uri, max_bytes=LIMIT)
        names.addresses["evil.example"] = [*later]
        return source

    return read_root


@pytest.mark.parametrize("later", LATER)
def test_a_name_that_changes_leads_to_no_private_host(server, evil, later):
    source = evil(later, {})
    for _ in range(3):
        with pytest.raises(FetchError):
            source.read(f"http://evil.example:{port_of(server)}/secret", max_bytes=LIMIT)
    assert not server.requests


@pytest.mark.parametrize("later", LATER)
def test_a_root_in_the_cache_does_not_make_its_new_address_a_home(
    public, server, evil, opened, later
):
    evil(later, {"Cache-Control": "max-age=60"})
    source = opened(f"http://evil.example:{port_of(public)}/root.json", settings=STRICT)
    with suppress(FetchError):
        source.read(source.root_uri, max_bytes=LIMIT)
    for _ in range(3):
        with pytest.raises(FetchError):
            source.read(f"http://evil.example:{port_of(server)}/secret", max_bytes=LIMIT)
    assert not server.requests


@pytest.fixture
def proxy(public, server, monkeypatch):
    """The private server as the user's proxy, which is asked for everything."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", server.url)
    return server


def test_a_proxy_is_asked_for_public_hosts_and_unknown_names_alone(proxy, public, opened, names):
    proxy.add("/root.json", b"{}")
    proxy.add("/tile", b"{}")
    source = opened(public.url + "/root.json", settings=STRICT)
    source.read(source.root_uri, max_bytes=LIMIT)
    assert source.read("http://only-the-proxy-knows.invalid/tile", max_bytes=LIMIT) == b"{}"
    n_asked = len(proxy.headers)
    names.addresses["inside.example"] = [[PRIVATE]]
    for host in ("inside.example", "127.0.0.1", "2130706433", "169.254.169.254"):
        with pytest.raises(FetchError, match=REFUSED):
            source.read(f"http://{host}/tile", max_bytes=LIMIT)
    assert len(proxy.headers) == n_asked
