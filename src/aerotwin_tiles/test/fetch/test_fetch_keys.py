# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Keys and sessions: carried on within a host, seen by nobody else."""

import json
import logging
from urllib.parse import parse_qs, urlsplit

import pytest

from aerotwin_tiles.fetch import FetchError

LIMIT = 10**6
KEY = "AIza-very-secret"


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


def test_no_other_host_sees_key_or_session(server, other_server, opened):
    other_server.add("/tile", b"tile")
    server.add("/moved", (302, {"Location": other_server.url + "/tile"}, b""))
    source = opened("/root.json?session=S1", key=KEY)
    tile = source.resolve(source.root_uri, other_server.url + "/tile")
    source.read(tile, max_bytes=LIMIT)
    source.read(source.resolve(source.root_uri, "/moved"), max_bytes=LIMIT)
    assert [path for path, _ in other_server.headers] == ["/tile", "/tile"]
    assert query(server.headers[0][0]) == {"session": "S1", "key": KEY}


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
