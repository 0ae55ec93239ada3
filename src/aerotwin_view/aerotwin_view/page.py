# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page in the browser: a viser server that answers whom it should."""

import html
import time
import warnings
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from http import HTTPStatus
from io import StringIO
from typing import Any
from unittest.mock import patch

import numpy as np
import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from aerotwin_core.cli import say
from aerotwin_core.foreign_text import printable
from aerotwin_view.defaults import DEFAULT_PORT, LOOPBACK
from aerotwin_view.door import Door, check_host
from aerotwin_view.page_messages import MOST_BYTES, CheckedConnection, Value, takes
from aerotwin_view.page_scripts import ScriptedPage

_COOKIE = "aerotwin_view"
_TEXT_STYLE = (
    "padding: 0.2em 0.75em; font-size: 0.85em; overflow-wrap: anywhere; white-space: pre-wrap"
)
_SKY_RGB = (203, 222, 240)
_MOST_LETTERS = 200
_LAST_WORDS_S = 0.1
_CLOSE_S = 1.0
"""For so long the end of a page waits for browsers that do not answer."""
_Answer = Callable[[Any, Request], Response | None]
_Handler = Callable[[Any], Awaitable[None]]


class Page(viser.ViserServer):
    """A viser server that opens no way to the outside, behind a door, and checks what it is sent.

    viser lets any page ask for a public address, behind which it opens a tunnel: not here. Its
    Markdown can hold expressions that the browser runs and pictures that the server reads: texts
    that are not our own are added by `add_text`.
    """

    def __init__(self, title: str, door: Door, *, host: str, port: int) -> None:
        self._is_told = False
        serve = websockets.asyncio.server.serve

        def guarded(handler: _Handler, *rest: Any, process_request: _Answer, **more: Any) -> Any:
            async def checked(connection: ServerConnection) -> None:
                await handler(CheckedConnection(connection, self._accepts, self._tell))

            more |= {"max_size": MOST_BYTES, "close_timeout": _CLOSE_S}
            answer = _behind(door, process_request, title)
            return serve(checked, *rest, process_request=answer, **more)

        # Who leaves may do so while he is sent something.
        warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)
        # viser has no option for it; it calls the function before its constructor returns.
        with patch.object(websockets.asyncio.server, "serve", guarded), redirect_stdout(StringIO()):
            super().__init__(host=host, port=port, label=title, verbose=False)

    def _accepts(self, uuid: str, value: Value) -> bool:
        control = self.gui._gui_input_handle_from_uuid.get(uuid)  # viser looks it up so, too
        return control is not None and takes(control, value)

    def _tell(self, reason: str) -> None:
        """Say once that something was dropped."""
        if not self._is_told:
            self._is_told = True
            say(f"view: dropped what no page should send: {printable(reason, _MOST_LETTERS)}")

    def add_text(self, text: str = "", colour: str = "inherit") -> "ShownText":
        """Add a text to the panel as it is, whatever it holds."""
        return ShownText(self.gui.add_html(""), text, colour)

    def stop(self) -> None:
        """End it, once what was set last is on its way; viser would print a line of its own."""
        if self.get_clients():
            self.flush()
            time.sleep(_LAST_WORDS_S)
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
    check_host(host)
    door = Door(host, cookie_name=_COOKIE)
    page = Page(title, door, host=host, port=port)
    page.gui.configure_theme(show_logo=False, show_share_button=False)
    page.scene.set_background_image(np.full((2, 2, 3), _SKY_RGB, np.uint8), format="png")
    return page, door.address(page.get_port())


def _behind(door: Door, answer: _Answer, title: str) -> _Answer:
    scripted = ScriptedPage(title)

    def answered(connection: Any, request: Request) -> Response | None:
        is_connection = request.headers.get("Upgrade", "").lower() == "websocket"
        reason = door.refusal(request.path, request.headers, needs_origin=is_connection)
        if reason is not None:
            text = f"refused: {reason}\n".encode()
            headers = Headers({"Content-Type": "text/plain", "Content-Length": str(len(text))})
            return Response(HTTPStatus.FORBIDDEN, "Forbidden", headers, text)
        response = answer(connection, request)
        if response is None:
            return None
        body = scripted.body(response.headers, bytes(response.body or b""))
        headers = Headers(response.headers.raw_items())
        del headers["Content-Length"]
        headers.update({**door.headers(), "Content-Length": str(len(body))})
        return Response(response.status_code, response.reason_phrase, headers, body)

    return answered
