# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who may open a page of this machine: the rules of every server here."""

import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from typing import Protocol
from urllib.parse import SplitResult, parse_qs, urlsplit

from aerotwin_core.errors import UserError
from aerotwin_view.defaults import LOOPBACK

GUARDED_HEADERS = {"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"}
"""Of every answer: no page of a stranger frames it, or learns its address."""
_ELSEWHERE, _ELSEWHERE_V6 = "192.0.2.1", "2001:db8::1"
"""Of documentation (RFC 5737, 3849): on every network the way out leads there."""


class RequestHeaders(Protocol):
    """Headers of a request, whoever parsed them."""

    def get(self, name: str, default: str, /) -> str:
        """Return the header of a name in any case."""


class Door:
    """Who may open the page, connect to it and send orders to it.

    A page of a stranger in the same browser can connect to any port of this machine; it cannot
    choose the headers Origin and Host. A connection or an order must come from a page of this
    server, whose address is one under which this server is known. Beyond loopback it also needs the
    token, from the address of the page at first and from a cookie then; `cookie_name` differs among
    servers of one machine, for a browser sends cookies to all its ports.
    """

    def __init__(self, host: str, *, cookie_name: str) -> None:
        self._hosts = {LOOPBACK, "localhost"} if host == LOOPBACK else {host}
        self._any_host = host in ("0.0.0.0", "::")
        self._cookie_name = cookie_name
        shown = _own_address(host) if self._any_host else host
        self._shown_host = f"[{shown}]" if ":" in shown else shown
        self.token = None if host == LOOPBACK else secrets.token_urlsafe(16)

    def refusal(self, path: str, headers: RequestHeaders, *, needs_origin: bool) -> str | None:
        """Return why a request is refused, None if it is not.

        `path` is its target, with the query; with `needs_origin` it must come from a page of this
        server.
        """
        host = headers.get("Host", "")
        if not self._any_host and _name_of(host) not in self._hosts:
            return "it is for another host"
        if needs_origin:
            origin = split_address(headers.get("Origin", ""))
            if origin.scheme not in ("http", "https") or origin.netloc != host:
                return "it comes from another page"
        if self.token is not None and not self._knows_token(path, headers):
            return "the token in the address is missing or wrong"
        return None

    def _knows_token(self, path: str, headers: RequestHeaders) -> bool:
        given = parse_qs(split_address(path).query).get("token", [])
        try:
            cookie = SimpleCookie(headers.get("Cookie", "")).get(self._cookie_name)
        except CookieError:
            cookie = None
        given += [] if cookie is None else [cookie.value]
        return any(same_token(each, str(self.token)) for each in given)

    def headers(self) -> dict[str, str]:
        """Return the headers that an answer gets, with the cookie where there is a token."""
        if self.token is None:
            return dict(GUARDED_HEADERS)
        cookie = f"{self._cookie_name}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return {**GUARDED_HEADERS, "Set-Cookie": cookie}

    def address(self, port: int) -> str:
        """Return the address of the page, with the token where there is one."""
        address = f"http://{self._shown_host}:{port}/"
        return address if self.token is None else f"{address}?token={self.token}"


def same_token(first: str, second: str) -> bool:
    """Return whether two tokens are equal, in a time that does not depend on them."""
    return secrets.compare_digest(first.encode(), second.encode())


def check_host(host: str) -> None:
    """Raise UserError unless this machine has the address: viser would try for ever."""
    try:
        family, *_, place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(place)
    except OSError as error:
        raise UserError(
            f"--host {host}: {error.strerror or error}; expected an address of this machine, as "
            f"{LOOPBACK} or 0.0.0.0 (all)"
        ) from None


def _own_address(host: str) -> str:
    """Return this machine's address on its network, for who listens on all; `host` without one."""
    family, elsewhere = (
        (socket.AF_INET6, _ELSEWHERE_V6) if ":" in host else (socket.AF_INET, _ELSEWHERE)
    )
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))  # of UDP: the way is looked up, nothing is sent
            return str(probe.getsockname()[0])
    except OSError:
        return host


def split_address(text: str) -> SplitResult:
    """Return the parts of an address or a path; what is none has no parts."""
    try:
        return urlsplit(text)
    except ValueError:  # a bracket that nothing closes
        return urlsplit("")


def _name_of(host: str) -> str:
    """Return the name in a Host header, without its port."""
    return split_address(f"//{host}").hostname or ""
