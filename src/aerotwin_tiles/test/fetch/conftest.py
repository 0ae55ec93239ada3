# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A server on loopback that does what a test wants, and sources that read from it."""

import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from aerotwin_tiles.fetch import HttpSettings, open_source

QUICK = HttpSettings(
    n_attempts=2,
    backoff_s=0.0,
    max_wait_s=0.1,
    connect_timeout_s=5.0,
    read_timeout_s=5.0,
    total_timeout_s=10.0,
    n_redirects=3,
    allow_private_hosts=True,  # the server is on loopback
)


class Server:
    """Answers from a table of path -> list of answers; the last one is repeated.

    An answer is (status, headers, body); ``length`` among the headers is sent as Content-Length in
    place of the true one, ``pause`` are seconds between single bytes, ``linger`` those
    until the connection is closed after the body.
    """

    def __init__(self, host="127.0.0.1"):
        self.answers, self.requests, self.headers = {}, Counter(), []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self)

            def log_message(self, *args):
                pass

        class QuietServer(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                """A client that hangs up in the middle is what some tests want."""

        self._server = QuietServer((host, 0), Handler)
        self.url = f"http://{host}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def add(self, path, *answers):
        self.answers[path] = [
            answer if isinstance(answer, tuple) else (200, {}, answer) for answer in answers
        ]

    def answer(self, handler):
        path = urlsplit(handler.path).path
        self.headers.append((handler.path, dict(handler.headers)))
        n = self.requests[path]
        self.requests[path] += 1
        answers = self.answers.get(path, [(404, {}, b"no")])
        status, headers, body = answers[min(n, len(answers) - 1)]
        headers = dict(headers)
        tag = headers.get("ETag")
        if tag and handler.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        pause, length = headers.pop("pause", 0.0), headers.pop("length", len(body))
        linger = headers.pop("linger", 0.0)
        handler.send_response(status)
        if "Date" in headers:  # in place of the one that was just written
            handler._headers_buffer[-1] = b""
        if "Transfer-Encoding" not in headers and length is not None:
            handler.send_header("Content-Length", str(length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.close_connection = len(body) != length or "Transfer-Encoding" in headers
        for i in range(0, len(body), 1 if pause else max(len(body), 1)):
            handler.wfile.write(body[i : i + 1] if pause else body)
            time.sleep(pause)
        time.sleep(linger)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server_on(monkeypatch):
    """A function that starts a server on a host."""
    monkeypatch.setenv("NO_PROXY", "*")
    servers = []

    def start(host):
        servers.append(Server(host))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def server(server_on):
    return server_on("127.0.0.1")


@pytest.fixture
def opened(server, tmp_path):
    """A function that opens the server anew, with one cache for all."""
    sources = []

    def open_it(root="/root.json", settings=QUICK, **options):
        url = root if "://" in root else server.url + root
        sources.append(open_source(url, cache_dir=tmp_path / "cache", settings=settings, **options))
        return sources[-1]

    yield open_it
    for source in sources:
        source.close()


@pytest.fixture
def stored(tmp_path):
    """A function that lists the files of the cache."""
    return lambda: sorted((tmp_path / "cache").iterdir())


@pytest.fixture
def other_server(server_on):
    """A server of another name and another port."""
    return server_on("localhost")
