# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A server as a source: faults, sizes, redirects, threads, a real tileset."""

import functools
import gzip
import socket
import struct
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from aerotwin_tiles.fetch import FetchError, HttpSettings, Traffic, open_source

LIMIT = 10**6
KEY = "AIza-very-secret"
N_TRIES, N_REDIRECTS = 2, 3  # of the sources' settings
TILE = b"b3dm" + struct.pack("<2I", 1, 200) + bytes(188)


def test_a_file_arrives_and_is_counted(server, opened):
    server.add("/a/tile.b3dm", TILE)
    source = opened("/a/tileset.json")
    address = source.resolve(source.root_uri, "tile.b3dm#part")
    assert address == server.url + "/a/tile.b3dm"
    assert source.read(address, max_bytes=LIMIT) == TILE
    assert source.traffic == Traffic(n_read=1, n_bytes=len(TILE))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_fault_is_asked_again(server, opened, status):
    server.add("/root.json", (status, {"Retry-After": "100000"}, b"busy"), b"{}")
    source = opened()
    assert source.read(source.root_uri, max_bytes=LIMIT) == b"{}"
    assert server.requests["/root.json"] == 2
    assert source.traffic.n_retries == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 206, 204])
def test_a_refusal_is_not_asked_again(server, opened, status):
    server.add("/root.json", (status, {}, b""))
    source = opened()
    with pytest.raises(FetchError, match=f"answer {status}.*; check"):
        source.read(source.root_uri, max_bytes=LIMIT)
    assert server.requests["/root.json"] == 1


CHUNKED = {"Transfer-Encoding": "chunked"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((500, {}, b"down"), "answer 500"),
        ((200, {"length": 300}, TILE), "a body that ends too early"),
        # What is sent beyond the length stays on the line and may break the next answer.
        ((200, {"length": 150}, TILE), "(150 bytes, but its header says 200|no connection)"),
        ((200, {"length": None}, TILE[:90]), "90 bytes, but its header says 200"),
        ((200, {"length": None}, b""), "0 bytes, but there is nothing in it"),
        ((200, CHUNKED, b"c8\r\n" + TILE[:90]), "a body that ends too early"),
        ((200, CHUNKED, b"zz\r\n" + TILE), "a body that ends too early"),
        ((200, {"Content-Encoding": "gzip"}, b"no gzip"), "a packed body that is broken"),
        ((200, {"length": 30}, b'{"root": {}'), "ends too early"),
        (
            (200, {"length": 4}, b'{"root": {}}'),
            "(4 bytes, but JSON without its end|no connection)",
        ),
        ((200, {}, gzip.compress(TILE)[:-9]), "gzip data ends too early"),
    ],
)
def test_what_never_arrives_whole_is_an_error_that_names_it(server, opened, answer, reason):
    server.add("/tile.b3dm", answer)
    source = opened()
    with pytest.raises(FetchError, match=rf"tile\.b3dm: .*{reason}.*after {N_TRIES} tries"):
        source.read(server.url + "/tile.b3dm", max_bytes=LIMIT)
    # A try on a line that the last answer broke does not arrive.
    n_broken = int("no connection" in reason)
    assert N_TRIES - n_broken <= server.requests["/tile.b3dm"] <= N_TRIES
    assert source.traffic == Traffic(n_retries=N_TRIES - 1)


@pytest.mark.parametrize(
    ("headers", "limits", "reason", "n_requests"),
    [
        ({"pause": 0.5}, (0.3, 30.0), "no more data in time.*after 2 tries", N_TRIES),
        ({"pause": 0.05}, (0.3, 0.5), "not whole after 0.5 s", 1),
        ({"pause": 0.05, "length": None}, (0.3, 0.5), "not whole after 0.5 s", 1),
    ],
)
def test_a_slow_server_is_given_up(server, opened, headers, limits, reason, n_requests):
    impatient = HttpSettings(
        n_attempts=N_TRIES, backoff_s=0.0, read_timeout_s=limits[0], total_timeout_s=limits[1]
    )
    server.add("/tile.b3dm", (200, headers, TILE))
    source = opened("/tile.b3dm", settings=impatient)
    with pytest.raises(FetchError, match=rf"tile\.b3dm: .*{reason}"):
        source.read(source.root_uri, max_bytes=LIMIT)
    assert server.requests["/tile.b3dm"] == n_requests


@pytest.mark.parametrize(
    "bad",
    [{"length": 300}, {"length": 150, "linger": 0.5}, {"length": None}, CHUNKED],
    ids=str,
)
def test_what_was_cut_is_never_cached(server, opened, stored, bad):
    fresh = {"Cache-Control": "max-age=600", "ETag": '"v1"'}
    body = b"c8\r\n" + TILE[:90] if bad == CHUNKED else TILE[:190]
    server.add("/tile.b3dm", (200, {**fresh, **bad}, body), (200, fresh, TILE))
    for _ in range(2):
        assert opened().read(server.url + "/tile.b3dm", max_bytes=LIMIT) == TILE
    assert server.requests["/tile.b3dm"] == 2
    server.answers["/tile.b3dm"][0] = (200, {**fresh, **bad}, body)
    for file in stored():
        file.unlink()
    server.requests.clear()
    server.answers["/tile.b3dm"] = server.answers["/tile.b3dm"][:1]
    with pytest.raises(FetchError):
        opened().read(server.url + "/tile.b3dm", max_bytes=LIMIT)
    assert not stored()


def test_a_server_that_is_not_there_is_named(opened):
    source = opened("http://127.0.0.1:9/root.json")
    with pytest.raises(FetchError, match=r"127\.0\.0\.1:9/root\.json: .*no connection"):
        source.read(source.root_uri, max_bytes=LIMIT)


@pytest.mark.parametrize(
    "answer",
    [
        (200, {}, bytes(1001)),
        (200, {"length": 10**12}, b"x"),
        (200, CHUNKED, b"3e9\r\n" + bytes(1001) + b"\r\n0\r\n\r\n"),
        (200, {"Content-Encoding": "gzip"}, gzip.compress(bytes(10**7))),
    ],
)
def test_more_than_the_limit_is_refused_and_not_cached(server, opened, stored, answer):
    status, headers, body = answer
    server.add("/t", (status, {**headers, "Cache-Control": "max-age=600"}, body))
    with pytest.raises(FetchError, match="at most 1000 bytes"):
        opened().read(server.url + "/t", max_bytes=1000)
    assert server.requests["/t"] == 1
    assert not stored()


def test_packed_bombs_are_refused_at_once_and_not_cached(server, opened, stored):
    bomb = gzip.compress(bytes(10**7))
    server.add("/t", (200, {"Cache-Control": "max-age=600"}, bomb))
    source = opened()
    with pytest.raises(FetchError, match="at most 20000 bytes, it unpacks to more; raise"):
        source.read(server.url + "/t", max_bytes=20000)
    assert server.requests["/t"] == 1
    assert source.traffic.n_retries == 0
    assert not stored()


@pytest.mark.parametrize("headers", [{"Content-Encoding": "gzip"}, {}])
def test_packed_files_are_unpacked(server, opened, headers):
    server.add("/t", (200, {**headers, "Cache-Control": "max-age=9"}, gzip.compress(TILE)))
    for _ in range(2):
        assert opened().read(server.url + "/t", max_bytes=LIMIT) == TILE
    assert server.requests["/t"] == 1


def test_redirects_lead_to_the_file(server, opened, stored):
    server.add("/root.json", (301, {"Location": "/b.json"}, b""))
    server.add("/b.json", (307, {"Location": server.url + "/c.json?x=1"}, b""))
    server.add("/c.json", b"{}")
    source = opened(key=KEY)
    assert source.read(source.root_uri, max_bytes=LIMIT) == b"{}"
    assert server.headers[-1][0] == f"/c.json?x=1&key={KEY}"
    assert not stored()


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("/root.json", "at most 3 redirects"),
        ("file:///etc/passwd", "expected an http or https address"),
        ("ftp://host/tile", "expected an http or https address"),
        ("http://host:port/", "Port could not be cast"),
        ("", "expected the address that answer 302 leads to, found none"),
    ],
)
def test_redirects_that_lead_nowhere_end(server, opened, location, message):
    server.add("/root.json", (302, {"Location": location}, b""))
    with pytest.raises(FetchError, match=message):
        opened().read(server.url + "/root.json", max_bytes=LIMIT)
    assert server.requests["/root.json"] <= N_REDIRECTS + 1


def test_a_closed_source_waits_no_longer(server, tmp_path):
    server.add("/root.json", (503, {"Retry-After": "30"}, b""))
    source = open_source(server.url + "/root.json", cache_dir=tmp_path, settings=HttpSettings())
    threading.Timer(0.2, source.close).start()
    start = time.monotonic()
    with pytest.raises(FetchError, match="503"):
        source.read(source.root_uri, max_bytes=LIMIT)
    assert time.monotonic() - start < HttpSettings().max_wait_s


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nthe first",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nthe first",
    ],
)
def test_closing_a_source_ends_the_reading_from_a_silent_server(monkeypatch, tmp_path, sent):
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.create_server(("127.0.0.1", 0)) as silent:

        def answer_partly():
            connection, _ = silent.accept()
            connection.recv(1 << 16)
            connection.sendall(sent)
            time.sleep(0.2)
            source.close()
            retained.append(connection)

        retained = []
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/root.json"
        source = open_source(url, cache_dir=tmp_path, settings=HttpSettings())
        thread = threading.Thread(target=answer_partly)
        thread.start()
        start = time.monotonic()
        with pytest.raises(FetchError):
            source.read(source.root_uri, max_bytes=LIMIT)
        thread.join()
        retained[0].close()
    assert time.monotonic() - start < 0.5 * HttpSettings().read_timeout_s
    with pytest.raises(FetchError, match="was closed"):
        source.read(source.root_uri, max_bytes=LIMIT)


@pytest.mark.parametrize(
    ("headers", "n_requests", "n_tiles"),
    [({"Cache-Control": "max-age=60"}, 1, 293), ({"Cache-Control": "no-store"}, 2, 100)],
)
def test_the_real_tileset_is_loaded_twice(
    server, opened, stored, shared_data, headers, n_requests, n_tiles
):
    folder = shared_data("worlds/lunar_pit_landform")
    paths = sorted(folder.glob("*.b3dm"))[:n_tiles]
    files = {path.name: path.read_bytes() for path in paths}
    assert len(files) == n_tiles
    for name, content in files.items():
        server.add(f"/pit/{name}", (200, headers, content))
    server.add("/pit/0.b3dm", (500, {}, b""), (200, headers, files["0.b3dm"]))
    for _ in range(2):
        source = opened("/pit/tileset.json")
        uris = {name: source.resolve(source.root_uri, name) for name in files}
        with ThreadPoolExecutor(8) as pool:
            read = functools.partial(source.read, max_bytes=LIMIT)
            contents = pool.map(read, uris.values())
        assert dict(zip(uris, contents, strict=True)) == files
    expected = Counter({f"/pit/{name}": n_requests for name in files})
    assert server.requests == expected + Counter({"/pit/0.b3dm": 1})
    assert bool(stored()) == ("no-store" not in headers.values())
