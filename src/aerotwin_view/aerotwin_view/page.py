# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page in the browser: a viser server that answers whom it should."""

import html
import secrets
import socket
from collections.abc import Callable
from contextlib import redirect_stdout
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from io import StringIO
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import numpy as np
import viser
import websockets.asyncio.server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from aerotwin_core.errors import UserError
from aerotwin_view.defaults import DEFAULT_PORT, LOOPBACK

_COOKIE = "aerotwin_view"
_TEXT_STYLE = (
    "padding: 0.2em 0.75em; font-size: 0.85em; overflow-wrap: anywhere; white-space: pre-wrap"
)
_SKY_RGB = (203, 222, 240)
_Answer = Callable[[Any, Request], Response | None]


class Door:
    """Who may open the page, and connect to it.

    A page of a stranger in the same browser can connect to any port of this machine; it cannot
    choose the headers Origin and Host. A connection must come from a page of this server, whose
    address is one under which this server is known. Beyond loopback it also needs the token, from
    the address of the page at first and from a cookie then.
    """

    def __init__(self, host: str, token: str | None) -> None:
        self._hosts = {LOOPBACK, "localhost"} if host == LOOPBACK else {host}
        self._any_host = host in ("0.0.0.0", "::")
        self.token = token

    def refusal(self, request: Request) -> str | None:
        """Return why a request is refused, None if it is not."""
        headers = request.headers
        host = headers.get("Host", "")
        if not self._any_host and _name_of(host) not in self._hosts:
            return "it is for another host"
        if headers.get("Upgrade", "").lower() == "websocket":
            origin = urlsplit(headers.get("Origin", ""))
            if origin.scheme not in ("http", "https") or origin.netloc != host:
                return "it comes from another page"
        if self.token is not None and not self._knows_token(request):
            return "the token in the address is missing or wrong"
        return None

    def _knows_token(self, request: Request) -> bool:
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        try:
            cookie = SimpleCookie(request.headers.get("Cookie", "")).get(_COOKIE)
        except CookieError:
            cookie = None
        given += [] if cookie is None else [cookie.value]
        return any(
            secrets.compare_digest(each.encode(), str(self.token).encode()) for each in given
        )

    def cookie(self) -> str:
        """Return the cookie that the page is given."""
        return f"{_COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"


class Page(viser.ViserServer):
    """A viser server that opens no way to the outside.

    viser lets any page ask for a public address, behind which it opens a tunnel: not here. Its
    Markdown can hold expressions that the browser runs and pictures that the server reads: texts
    that are not our own are added by `add_text`.
    """

    def add_text(self, text: str = "", colour: str = "inherit") -> "ShownText":
        """Add a text to the panel as it is, whatever it holds."""
        return ShownText(self.gui.add_html(""), text, colour)

    def stop(self) -> None:
        """End it; viser would print a line of its own."""
        with redirect_stdout(StringIO()):
            super().stop()

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse."""
        return None


class ShownText:
    """A text in the panel, lines as they are."""

    def __init__(self, handle: viser.GuiHtmlHandle, text: str, colour: str) -> None:
        self._handle, self._style = handle, f"{_TEXT_STYLE}; color: {colour}"
        self._text: str | None = None
        self.set(text)

    def set(self, text: str) -> None:
        """Show another text."""
        if text != self._text:
            self._text = text
            self._handle.content = f'<div style="{self._style}">{html.escape(text)}</div>'


def open_page(title: str, *, host: str = LOOPBACK, port: int = DEFAULT_PORT) -> tuple[Page, str]:
    """Return a running server and the address of its page.

    The next free port is taken if that one is not. Raises UserError if the host is none of this
    machine.
    """
    _check_host(host)
    door = Door(host, None if host == LOOPBACK else secrets.token_urlsafe(16))
    serve = websockets.asyncio.server.serve

    def guarded(*arguments: Any, process_request: _Answer, **more: Any) -> Any:
        return serve(*arguments, process_request=_behind(door, process_request), **more)

    # viser has no option for it; it calls the function once, before its constructor returns.
    with patch.object(websockets.asyncio.server, "serve", guarded), redirect_stdout(StringIO()):
        page = Page(host=host, port=port, label=title, verbose=False)
    page.gui.configure_theme(show_logo=False, show_share_button=False)
    page.scene.set_background_image(np.full((2, 2, 3), _SKY_RGB, np.uint8), format="png")
    address = f"http://{_shown(host)}:{page.get_port()}/"
    if door.token is not None:
        address += f"?token={door.token}"
    return page, address


def _check_host(host: str) -> None:
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


def _behind(door: Door, answer: _Answer) -> _Answer:
    def answered(connection: Any, request: Request) -> Response | None:
        if (reason := door.refusal(request)) is not None:
            text = f"refused: {reason}\n".encode()
            headers = Headers({"Content-Type": "text/plain", "Content-Length": str(len(text))})
            return Response(HTTPStatus.FORBIDDEN, "Forbidden", headers, text)
        response = answer(connection, request)
        if response is not None:
            response.headers["X-Frame-Options"] = "DENY"
            response.headers["Referrer-Policy"] = "no-referrer"
            if door.token is not None:
                response.headers["Set-Cookie"] = door.cookie()
        return response

    return answered


def _name_of(host: str) -> str:
    """Return the name in a Host header, without its port."""
    return urlsplit(f"//{host}").hostname or ""


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
