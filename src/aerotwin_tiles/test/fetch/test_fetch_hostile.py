# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Servers that never come to an end: every request has a deadline, whatever they send."""

import socket
import threading
from contextlib import contextmanager, suppress
from itertools import chain, repeat

import pytest

from aerotwin_tiles.fetch import FetchError, HttpSettings, open_source

PATIENCE = HttpSettings(
    n_attempts=3, backoff_s=0.0, connect_timeout_s=20.0, read_timeout_s=20.0, total_timeout_s=0.4
)
PAUSE_S = 0.02  # between two pieces: far below the longest silence allowed
GIVEN_UP_S = 60.0
"""A read that has not ended by then never will: 150 times its deadline, for machines under load."""
_HEAD = b"HTTP/1.1 200 OK\r\n"

NEVER_ENDING = {
    "nothing": ([], b""),
    "a status line": ([b"HTTP/1.1 200 "], b"O"),
    "header bytes": ([_HEAD], b"x"),
    "headers": ([_HEAD], b"X-More: and more\r\n"),
    "100 Continue": ([], b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a body": ([_HEAD, b"Content-Length: 1000\r\n\r\n"], b"x"),
    "a body without length": ([_HEAD, b"Connection: close\r\n\r\n"], b"x"),
    "the size of a chunk": ([_HEAD, b"Transfer-Encoding: chunked\r\n\r\n"], b"1"),
    "trailers": ([_HEAD, b"Transfer-Encoding: chunked\r\n\r\n0\r\n"], b"X-More: and more\r\n"),
    "redirects": ([b"HTTP/1.1 302 Found\r\nLocation: /root.json\r\n"], b"x"),
    "a handshake": ([b"\x16\x03\x03\x40\x00"], b"\x02"),  # a TLS record of 16 KiB
}
"""What comes first, and what then comes again and again."""


@contextmanager
def server_that_sends(first, again):
    """Run a server that sends pieces, slowly, to whoever connects; yield its port."""
    over = threading.Event()

    def serve(connection):
        with connection, suppress(OSError):
            for piece in chain(first, repeat(again)):
                connection.sendall(piece)
                if over.wait(PAUSE_S):
                    return

    def accept():
        while not over.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        thread = threading.Thread(target=accept)
        thread.start()
        yield listener.getsockname()[1]
        over.set()
        thread.join()


@pytest.mark.parametrize("name", list(NEVER_ENDING))
def test_an_answer_without_end_is_given_up(monkeypatch, tmp_path, name):
    monkeypatch.setenv("NO_PROXY", "*")
    scheme = "https" if name == "a handshake" else "http"
    with server_that_sends(*NEVER_ENDING[name]) as port:
        assert_given_up(f"{scheme}://127.0.0.1:{port}/root.json", tmp_path)


def test_a_proxy_without_end_is_given_up(monkeypatch, tmp_path):
    with server_that_sends(*NEVER_ENDING["header bytes"]) as port:
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        assert_given_up("https://tiles.example/root.json", tmp_path)


def assert_given_up(url, tmp_path):
    source = open_source(url, cache_dir=tmp_path, settings=PATIENCE)
    caught = []

    def read():
        with pytest.raises(FetchError, match=r"not whole after 0\.4 s.*total_timeout_s") as error:
            source.read(source.root_uri, max_bytes=1000)
        caught.append(error)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(GIVEN_UP_S)
    assert caught
    source.close()
