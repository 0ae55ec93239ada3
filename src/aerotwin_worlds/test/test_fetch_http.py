# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A server as a source: keys, caches, retries and servers that misbehave, over loopback."""

import functools
import gzip
import json
import logging
import os
import struct
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from aerotwin_worlds.fetch import FetchError, HttpSettings, Traffic, open_source
from aerotwin_worlds.fetch.content import missing_part, unpacked

LIMIT = 10**6
N_TRIES = 2
QUICK = HttpSettings(
    n_tries=N_TRIES,
    backoff_s=0.0,
    longest_wait_s=0.1,
    connect_timeout_s=5.0,
    read_timeout_s=0.3,
    total_timeout_s=0.5,
    n_redirects=3,
)
TILE = b"b3dm" + struct.pack("<2I", 1, 200) + bytes(188)
KEY = "AIza-very-secret"


class Server:
    """Answers from a table of path -> list of answers; the last one is repeated.

    An answer is (status, headers, body); ``length`` among the headers is sent as Content-Length in
    place of the true one, ``pause`` are seconds between single bytes.
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

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.daemon_threads = True
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

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    server = Server()
    yield server
    server.close()


@pytest.fixture
def opened(server, tmp_path):
    """A function that opens the server anew, with one cache for all."""
    sources = []

    def open_it(root="/root.json", **options):
        url = root if "://" in root else server.url + root
        sources.append(open_source(url, cache_dir=tmp_path / "cache", settings=QUICK, **options))
        return sources[-1]

    yield open_it
    for source in sources:
        source.close()


def stored(tmp_path):
    return sorted((tmp_path / "cache").iterdir())


def test_a_file_arrives_and_is_counted(server, opened):
    server.add("/a/tile.b3dm", TILE)
    source = opened("/a/tileset.json")
    address = source.resolve(source.root_uri, "tile.b3dm#part")
    assert address == server.url + "/a/tile.b3dm"
    assert source.read(address, max_bytes=LIMIT) == TILE
    assert source.traffic == Traffic(n_read=1, n_bytes=len(TILE))


# --- What may be kept ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "n_requests", "is_stored"),
    [
        ({"Cache-Control": "max-age=600"}, 1, True),
        ({"Cache-Control": "private, max-age=600"}, 1, True),
        ({"Cache-Control": "public, Max-Age=600"}, 1, True),
        ({"Expires": formatdate(time.time() + 600, usegmt=True)}, 1, True),
        ({"ETag": '"v1"'}, 2, True),
        ({"ETag": '"v1"', "Cache-Control": "max-age=600"}, 1, True),
        ({"ETag": '"v1"', "Cache-Control": "no-cache, max-age=600"}, 2, True),
        ({}, 2, False),
        ({"Cache-Control": "max-age=0"}, 2, False),
        ({"Cache-Control": "max-age=never"}, 2, False),
        ({"Cache-Control": "no-cache, max-age=600"}, 2, False),
        ({"Cache-Control": "no-store"}, 2, False),
        ({"Cache-Control": "No-Store, max-age=600", "ETag": '"v1"'}, 2, False),
        ({"Cache-Control": "private, no-store, max-age=600"}, 2, False),
        ({"Cache-Control": "max-age=600", "Vary": "*"}, 2, False),
        ({"Cache-Control": "max-age=600", "Date": "no date"}, 2, False),
        ({"Expires": "Sun, 99 Foo 99999 99:99:99 GMT"}, 2, False),
    ],
)
def test_what_the_server_allows_is_kept_and_nothing_else(
    server, opened, tmp_path, headers, n_requests, is_stored
):
    server.add("/root.json", (200, headers, b'{"a": 1}'))
    for _ in range(2):
        source = opened()
        assert source.read(source.root_uri, max_bytes=LIMIT) == b'{"a": 1}'
    assert server.requests["/root.json"] == n_requests
    assert bool(stored(tmp_path)) == is_stored
    was_asked_with_tag = any("If-None-Match" in h for _, h in server.headers)
    assert was_asked_with_tag == ("ETag" in headers and is_stored and n_requests == 2)
    assert source.traffic.n_from_cache == int(is_stored)


def test_stale_content_is_asked_for_again(server, opened):
    old = formatdate(time.time() - 1000, usegmt=True)
    headers = {"Cache-Control": "max-age=600", "Date": old}
    server.add("/root.json", (200, headers, b"{}"), (200, headers, b'{"new": 1}'))
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b"{}"
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b'{"new": 1}'


def test_a_changed_file_replaces_the_kept_one(server, opened):
    server.add("/root.json", (200, {"ETag": '"1"'}, b"{}"), (200, {"ETag": '"2"'}, b'{"n": 2}'))
    for expected in (b"{}", b'{"n": 2}', b'{"n": 2}'):
        assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == expected


def test_a_confirmation_that_forbids_storing_ends_it(server, opened, tmp_path):
    forbidding = {"ETag": '"1"', "Cache-Control": "no-store"}
    server.add("/root.json", (200, {"ETag": '"1"'}, b"{}"), (200, forbidding, b"{}"))
    opened().read(server.url + "/root.json", max_bytes=LIMIT)
    assert stored(tmp_path)
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b"{}"
    assert not stored(tmp_path)


def test_expired_files_and_what_exceeds_the_limit_go_when_the_cache_is_opened(
    server, opened, tmp_path
):
    old = formatdate(time.time() - 1000, usegmt=True)
    server.add("/old", (200, {"Cache-Control": "max-age=1", "Date": old}, b"body of /old"))
    server.add("/large", (200, {"Cache-Control": "max-age=600"}, bytes(2 * 2**20)))
    server.add("/small", (200, {"Cache-Control": "max-age=900"}, b"small"))
    source = opened()
    for path in ("/old", "/large", "/small"):
        source.read(server.url + path, max_bytes=4 * 2**20)
    assert len(stored(tmp_path)) == 3
    (file,) = (file for file in stored(tmp_path) if b"/old" in file.read_bytes())
    os.utime(file, (time.time() - 1, time.time() - 1))  # so much later
    settings = HttpSettings(cache_limit_mb=1)
    open_source(server.url + "/root.json", cache_dir=tmp_path / "cache", settings=settings).close()
    assert len(stored(tmp_path)) == 1
    opened().read(server.url + "/small", max_bytes=LIMIT)
    assert server.requests["/small"] == 1


def test_a_damaged_cache_file_is_fetched_again(server, opened, tmp_path):
    server.add("/root.json", (200, {"Cache-Control": "max-age=600"}, b'{"a": 1}'))
    opened().read(server.url + "/root.json", max_bytes=LIMIT)
    (file,) = stored(tmp_path)
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes()[:-4])
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b'{"a": 1}'
    assert server.requests["/root.json"] == 2


def test_a_cache_folder_that_cannot_be_is_named(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match="XDG_CACHE_HOME"):
        open_source(server.url, cache_dir=tmp_path / "file" / "cache")


# --- Servers that misbehave ------------------------------------------------------------------


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
        ((200, {"length": 150}, TILE), "150 bytes, but its header says 200"),
        ((200, {"length": None}, TILE[:90]), "90 bytes, but its header says 200"),
        ((200, CHUNKED, b"c8\r\n" + TILE[:90]), "a body that ends too early"),
        ((200, CHUNKED, b"zz\r\n" + TILE), "a body that ends too early"),
        ((200, {"Content-Encoding": "gzip"}, b"no gzip"), "a packed body that is broken"),
        ((200, {"length": 30}, b'{"root": {}'), "ends too early"),
        ((200, {"length": 4}, b'{"root": {}}'), "4 bytes, but JSON without its end"),
        ((200, {}, gzip.compress(TILE)[:-9]), "gzip data ends too early"),
        ((200, {"pause": 0.5}, TILE), "no more data in time"),
        ((200, {"pause": 0.05}, TILE), "not whole after 0.5 s"),
        ((200, {"pause": 0.05, "length": None}, TILE), "not whole after 0.5 s"),
    ],
)
def test_what_never_arrives_whole_is_an_error_that_names_it(server, opened, answer, reason):
    server.add("/tile.b3dm", answer)
    source = opened()
    with pytest.raises(FetchError, match=rf"tile\.b3dm: .*{reason}.*after {N_TRIES} tries"):
        source.read(server.url + "/tile.b3dm", max_bytes=LIMIT)
    assert server.requests["/tile.b3dm"] == N_TRIES
    assert source.traffic == Traffic(n_retries=N_TRIES - 1)


@pytest.mark.parametrize(
    "bad", [{"length": 300}, {"length": 150}, {"length": None}, CHUNKED], ids=str
)
def test_what_was_cut_is_never_kept(server, opened, tmp_path, bad):
    fresh = {"Cache-Control": "max-age=600", "ETag": '"v1"'}
    body = b"c8\r\n" + TILE[:90] if bad == CHUNKED else TILE[:190]
    server.add("/tile.b3dm", (200, {**fresh, **bad}, body), (200, fresh, TILE))
    for _ in range(2):
        assert opened().read(server.url + "/tile.b3dm", max_bytes=LIMIT) == TILE
    assert server.requests["/tile.b3dm"] == 2
    server.answers["/tile.b3dm"][0] = (200, {**fresh, **bad}, body)
    for file in stored(tmp_path):
        file.unlink()
    server.requests.clear()
    server.answers["/tile.b3dm"] = server.answers["/tile.b3dm"][:1]
    with pytest.raises(FetchError):
        opened().read(server.url + "/tile.b3dm", max_bytes=LIMIT)
    assert not stored(tmp_path)


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
def test_more_than_the_limit_is_refused_and_not_kept(server, opened, tmp_path, answer):
    status, headers, body = answer
    server.add("/t", (status, {**headers, "Cache-Control": "max-age=600"}, body))
    with pytest.raises(FetchError, match="at most 1000 bytes"):
        opened().read(server.url + "/t", max_bytes=1000)
    assert server.requests["/t"] == 1
    assert not stored(tmp_path)


def test_packed_bombs_are_refused(server, opened):
    server.add("/t", gzip.compress(bytes(10**7)))
    with pytest.raises(FetchError, match="unpacks to more"):
        opened().read(server.url + "/t", max_bytes=20000)


@pytest.mark.parametrize("headers", [{"Content-Encoding": "gzip"}, {}])
def test_packed_files_are_unpacked(server, opened, headers):
    server.add("/t", (200, {**headers, "Cache-Control": "max-age=9"}, gzip.compress(TILE)))
    for _ in range(2):
        assert opened().read(server.url + "/t", max_bytes=LIMIT) == TILE
    assert server.requests["/t"] == 1


# --- Redirects -------------------------------------------------------------------------------


def test_redirects_lead_to_the_file(server, opened, tmp_path):
    server.add("/root.json", (301, {"Location": "/b.json"}, b""))
    server.add("/b.json", (307, {"Location": server.url + "/c.json?x=1"}, b""))
    server.add("/c.json", b"{}")
    source = opened(key=KEY)
    assert source.read(source.root_uri, max_bytes=LIMIT) == b"{}"
    assert server.headers[-1][0] == f"/c.json?x=1&key={KEY}"
    assert not stored(tmp_path)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("/root.json", "at most 3 redirects"),
        ("file:///etc/passwd", "expected an http or https address"),
        ("ftp://host/tile", "expected an http or https address"),
        ("http://host:port/", "Port could not be cast"),
    ],
)
def test_redirects_that_lead_nowhere_end(server, opened, location, message):
    server.add("/root.json", (302, {"Location": location}, b""))
    with pytest.raises(FetchError, match=message):
        opened().read(server.url + "/root.json", max_bytes=LIMIT)
    assert server.requests["/root.json"] <= QUICK.n_redirects + 1


# --- Keys and sessions -----------------------------------------------------------------------


def query(path):
    return {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}


def test_key_and_session_go_with_every_request_as_google_wants_it(server, opened):
    children = ["/v1/datasets/files/one.json?session=CJ7&lod=2"]
    server.add("/v1/root.json", json.dumps({"children": children}).encode())
    server.add("/v1/datasets/files/one.json", b"{}")
    server.add("/v1/datasets/files/two.glb", b"glb")
    source = opened("/v1/root.json", key=KEY)
    root = json.loads(source.read(source.root_uri, max_bytes=LIMIT))
    one = source.resolve(source.root_uri, root["children"][0])
    source.read(one, max_bytes=LIMIT)
    two = source.resolve(one, "two.glb")
    source.read(two, max_bytes=LIMIT)
    asked = [query(path) for path, _ in server.headers]
    assert asked == [
        {"key": KEY},
        {"session": "CJ7", "lod": "2", "key": KEY},
        {"session": "CJ7", "key": KEY},
    ]
    assert KEY not in source.root_uri + one + two


def test_a_key_in_the_address_is_the_key(server, opened):
    server.add("/root.json", b"{}")
    source = opened(f"/root.json?key={KEY}&v=3")
    source.read(source.root_uri, max_bytes=LIMIT)
    assert source.root_uri == server.url + "/root.json?v=3"
    assert query(server.headers[0][0]) == {"key": KEY, "v": "3"}


def test_no_other_host_sees_key_or_session(server, opened):
    other = Server("localhost")  # another name, another port
    try:
        other.add("/tile", b"tile")
        server.add("/moved", (302, {"Location": other.url + "/tile"}, b""))
        source = opened("/root.json?session=S1", key=KEY)
        tile = source.resolve(source.root_uri, other.url + "/tile")
        source.read(tile, max_bytes=LIMIT)
        source.read(source.resolve(source.root_uri, "/moved"), max_bytes=LIMIT)
        assert [path for path, _ in other.headers] == ["/tile", "/tile"]
        assert query(server.headers[0][0]) == {"session": "S1", "key": KEY}
    finally:
        other.close()


@pytest.mark.parametrize(
    ("base", "reference", "expected"),
    [
        ("http://h/a/t.json?session=1", "b.glb", "http://h/a/b.glb?session=1"),
        ("http://h/a/t.json?session=1&x=2", "b.glb?session=9", "http://h/a/b.glb?session=9"),
        ("http://h/a/t.json?key=k", "../b.glb?q=%2F#f", "http://h/b.glb?q=%2F&key=k"),
        ("http://h/t.json?key=k", "https://h/b.glb", "https://h/b.glb?key=k"),
        ("http://h/t.json?key=k", "http://h:8080/b.glb", "http://h:8080/b.glb"),
        ("http://h/t.json?key=k", "http://h.org/b.glb", "http://h.org/b.glb"),
        ("https://h/t.json?key=k", "//i/b.glb", "https://i/b.glb"),
        ("https://h/t.json", "a\\b.glb", "https://h/a/b.glb"),
    ],
)
def test_references_carry_key_and_session_within_their_host(opened, base, reference, expected):
    assert opened().resolve(base, reference) == expected


@pytest.mark.parametrize(
    "reference", ["http://h/b.glb", "file:///etc/passwd", "ftp://h/b", "data:,x"]
)
def test_references_of_other_schemes_are_refused(opened, reference):
    with pytest.raises(FetchError, match=r"expected (an )?http"):
        opened().resolve("https://h/t.json", reference)


def test_secrets_stand_in_no_message_and_no_log(server, opened, caplog):
    caplog.set_level(logging.DEBUG)
    server.add("/down", (500, {}, b""))
    server.add("/echo", (302, {"Location": f"ftp://h/?key={KEY}"}, b""))
    server.add("/tile", (200, {"Cache-Control": "max-age=60"}, b"tile"))
    source = opened("/root.json?session=S3CRET", key=KEY)
    messages = []
    for name in ("gone", "down", "echo"):
        address = source.resolve(source.root_uri, name)
        with pytest.raises(FetchError) as caught:
            source.read(address, max_bytes=LIMIT)
        messages.append(str(caught.value))
        assert caught.value.__cause__ is None
    source.read(source.resolve(source.root_uri, "tile"), max_bytes=LIMIT)
    closed = opened("http://127.0.0.1:9/root.json", key=KEY)
    with pytest.raises(FetchError) as caught:
        closed.read(closed.root_uri, max_bytes=LIMIT)
    messages.append(str(caught.value))
    everything = "\n".join(messages) + caplog.text
    assert "session=***" in everything
    assert "GET /tile" in caplog.text
    assert KEY not in everything
    assert "S3CRET" not in everything


# --- Threads and the real tileset ------------------------------------------------------------


def test_a_closed_source_waits_no_longer(server):
    server.add("/root.json", (503, {"Retry-After": "30"}, b""))
    source = open_source(server.url + "/root.json", settings=HttpSettings())
    threading.Timer(0.2, source.close).start()
    start = time.monotonic()
    with pytest.raises(FetchError, match="503"):
        source.read(source.root_uri, max_bytes=LIMIT)
    assert time.monotonic() - start < HttpSettings().longest_wait_s


@pytest.mark.parametrize(
    ("headers", "n_requests"),
    [({"Cache-Control": "max-age=60"}, 1), ({"Cache-Control": "no-store"}, 2)],
)
def test_the_real_tileset_is_loaded_twice(
    server, opened, shared_data, tmp_path, headers, n_requests
):
    folder = shared_data("worlds/lunar_pit_landform")
    files = {path.name: path.read_bytes() for path in folder.glob("*.b3dm")}
    assert len(files) == 293
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
    assert bool(stored(tmp_path)) == ("no-store" not in headers.values())


# --- Content that says its length ------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "lacking"),
    [
        (TILE, ""),
        (TILE + b"padding", ""),
        (TILE[:199], "its header says 200 bytes"),
        (b"glTF" + struct.pack("<2I", 2, 13), "its header says 13 bytes"),
        (b"subt" + struct.pack("<I2Q", 1, 8, 8) + bytes(16), ""),
        (b"subt" + struct.pack("<I2Q", 1, 8, 8) + bytes(15), "its header says 40 bytes"),
        (b'\xef\xbb\xbf {"a": 1}\n', ""),
        (b'{"a": 1', "JSON without its end"),
        (b"b3dm", ""),
        (b"", ""),
    ],
)
def test_content_tells_what_it_lacks(content, lacking):
    assert missing_part(content) == lacking


def test_unpacking_is_bounded_and_exact():
    assert unpacked(gzip.compress(TILE), max_bytes=200) == TILE
    assert unpacked(TILE, max_bytes=1) == TILE
    for data in (gzip.compress(TILE)[:-1], gzip.compress(TILE)[:20] + b"broken", b"\x1f\x8b\x08"):
        with pytest.raises(ValueError, match="gzip"):
            unpacked(data, max_bytes=LIMIT)
    with pytest.raises(ValueError, match="at most 199 bytes"):
        unpacked(gzip.compress(TILE), max_bytes=199)
