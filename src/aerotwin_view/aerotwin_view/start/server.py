# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The server of the start page: files of its own, pictures, reports, and orders of its page."""

import json
import secrets
import shutil
import socket
import socketserver
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from aerotwin_core.documents import DocumentError, parse_json
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import whole_number
from aerotwin_view.door import Door, check_host, same_token, split_address
from aerotwin_view.start.answers import BusyError, StartAnswers
from aerotwin_view.start.named_files import FieldError

TOKEN_HEADER = "X-Aerotwin-Token"
MOST_BODY_BYTES = 64 << 10
PATIENCE_S = 10.0
"""Of a connection that sends nothing."""
N_PORTS = 100
"""How many ports are tried."""
_OWN_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; img-src data: blob:; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""A report runs the scripts that it holds, as a page of nobody: it cannot send orders here."""
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".jpg": "image/jpeg"}
_OWN_FILES = ("/", "/page.css", "/page.js", "/start_map.js", "/past_runs.js")
_TOKEN_PLACE = "%TOKEN%"


class StartServer(ThreadingHTTPServer):
    """Serves the start page in threads of its own until `stop`.

    The next free port is taken if the desired one is not. Raises UserError if the host is none of
    this machine, or no port is free.
    """

    daemon_threads = True

    def __init__(self, host: str, port: int, runs: Path) -> None:
        check_host(host)
        self.door = Door(host, cookie_name="aerotwin_start")
        self.token = secrets.token_urlsafe(16)
        self.address_family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        self._bind_near(host, port)
        view_port = min(self.server_port + 1, 65535)
        self.answers = StartAnswers(runs, host, view_port)
        self._thread = threading.Thread(target=self.serve_forever, name="start page", daemon=True)
        self._thread.start()

    def _bind_near(self, host: str, port: int) -> None:
        last = min(port + N_PORTS - 1, 65535) if port else port
        for each in range(port, last + 1):
            try:
                super().__init__((host, each), _Handler)
                return
            except OSError as error:
                reason = error.strerror
        raise UserError(f"--port {port}: none of {port} to {last} is free ({reason}); name another")

    def server_bind(self) -> None:
        """Bind, without asking a name server for the name of the host."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port, *_ = self.socket.getsockname()

    @property
    def address(self) -> str:
        """The address of the page."""
        return self.door.address(self.server_port)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away; print all else."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        """End the page, and the run that was started from it."""
        self.shutdown()
        self.server_close()
        self.answers.end()


class _Handler(BaseHTTPRequestHandler):
    server: StartServer
    server_version, sys_version = "aerotwin", ""
    timeout = PATIENCE_S

    def do_GET(self) -> None:
        """Answer with a file or a state."""
        if self._is_refused(needs_origin=False):
            return
        answers = self.server.answers
        states: dict[str, Callable[[], Any]] = {
            "/form.json": answers.form,
            "/state.json": answers.state,
            "/runs.json": answers.runs,
        }
        path = unquote(split_address(self.path).path, errors="replace")
        if path in states:
            self._send_json(HTTPStatus.OK, states[path]())
        elif path in _OWN_FILES:
            self._send_own(path)
        else:
            self._send_found(path)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Carry out an order of the page."""
        if self._is_refused(needs_origin=True):
            return
        if not same_token(self.headers.get(TOKEN_HEADER, ""), self.server.token):
            self._refuse(HTTPStatus.FORBIDDEN, "the token of the page is missing; load it again")
            return
        n_bytes = whole_number(self.headers.get("Content-Length", ""))
        if n_bytes is None or n_bytes > MOST_BODY_BYTES:
            found = "no length" if n_bytes is None else f"{n_bytes}"
            text = f"body: expected at most {MOST_BODY_BYTES} bytes, found {found}; send less"
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
            return
        try:
            self._send_json(HTTPStatus.OK, self._ordered(self.rfile.read(n_bytes)))
        except BusyError as error:
            self._refuse(HTTPStatus.CONFLICT, str(error))
        except DocumentError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, f"body: expected JSON; {error}")
        except FieldError as error:
            refused = {"error": str(error), "field": error.field}
            self._send_json(HTTPStatus.BAD_REQUEST, refused)
        except UserError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))

    def _ordered(self, body: bytes) -> Any:
        answers = self.server.answers
        orders: dict[str, Callable[[Any], Any]] = {
            "/line": answers.line,
            "/map": answers.map,
            "/play": answers.play,
            "/start": answers.start,
            "/stop": lambda request: answers.stop(),
        }
        if self.path not in orders:
            raise UserError(f"order: expected one of {', '.join(orders)}, found another")
        return orders[self.path](parse_json(body))

    def _is_refused(self, *, needs_origin: bool) -> bool:
        reason = self.server.door.refusal(self.path, self.headers, needs_origin=needs_origin)
        if reason is not None:
            self._refuse(HTTPStatus.FORBIDDEN, reason)
        return reason is not None

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._send_json(status, {"error": reason}, is_known=status != HTTPStatus.FORBIDDEN)

    def _send_own(self, path: str) -> None:
        """Send a file of the page; the page itself with the token that its orders need."""
        name = "page.html" if path == "/" else path[1:]
        text = resources.files(__package__).joinpath("page", name).read_text("utf-8")
        content = text.replace(_TOKEN_PLACE, self.server.token).encode()
        self._send_head(HTTPStatus.OK, _KINDS[Path(name).suffix], len(content), _OWN_POLICY)
        self._send_body(content)

    def _send_found(self, path: str) -> None:
        """Send the picture or the map of a world, or the report of a run."""
        file, policy = None, _OWN_POLICY
        match path.split("/")[1:]:
            case ["pictures", name] if name.endswith(".jpg"):
                file = self.server.answers.picture(name.removesuffix(".jpg"))
            case ["maps", name] if name.endswith(".jpg"):
                file = self.server.answers.map_picture(name.removesuffix(".jpg"))
            case ["runs", name, "report.html"]:
                file, policy = self.server.answers.report(name), _REPORT_POLICY
        if file is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
            return
        with file.open("rb") as opened:
            n_bytes = file.stat().st_size
            self._send_head(HTTPStatus.OK, _KINDS[file.suffix], n_bytes, policy)
            if self.command != "HEAD":
                shutil.copyfileobj(opened, self.wfile)

    def _send_json(self, status: HTTPStatus, value: Any, *, is_known: bool = True) -> None:
        content = json.dumps(value).encode()
        self._send_head(status, "application/json", len(content), _OWN_POLICY, is_known=is_known)
        self._send_body(content)

    def _send_body(self, content: bytes) -> None:
        if self.command != "HEAD":
            self.wfile.write(content)

    def _send_head(
        self, status: HTTPStatus, kind: str, n_bytes: int, policy: str, *, is_known: bool = True
    ) -> None:
        """Send the headers; who is not known gets no cookie."""
        self.send_response(status)
        headers = self.server.door.headers()
        if not is_known:
            headers.pop("Set-Cookie", None)
        headers |= {
            "Content-Type": kind if kind.startswith("image/") else f"{kind}; charset=utf-8",
            "Content-Length": str(n_bytes),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing: requests are no news."""
