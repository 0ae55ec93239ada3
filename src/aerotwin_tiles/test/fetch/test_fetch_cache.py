# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a server allows is kept, and nothing else."""

import os
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from aerotwin_tiles.fetch import FetchError, HttpSettings, open_source
from aerotwin_tiles.fetch.cache import default_cache_folder

LIMIT = 10**6


@pytest.mark.parametrize(
    ("headers", "n_requests", "is_stored"),
    [
        ({"Cache-Control": "max-age=600"}, 1, True),
        ({"Cache-Control": "private, max-age=600"}, 1, True),
        ({"Cache-Control": "public, Max-Age=600"}, 1, True),
        ({"Expires": formatdate(time.time() + 86_400, usegmt=True)}, 1, True),
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
def test_what_the_server_allows_is_cached_and_nothing_else(
    server, opened, stored, headers, n_requests, is_stored
):
    server.add("/root.json", (200, headers, b'{"a": 1}'))
    for _ in range(2):
        source = opened()
        assert source.read(source.root_uri, max_bytes=LIMIT) == b'{"a": 1}'
    assert server.requests["/root.json"] == n_requests
    assert bool(stored()) == is_stored
    was_asked_with_tag = any("If-None-Match" in h for _, h in server.headers)
    assert was_asked_with_tag == ("ETag" in headers and is_stored and n_requests == 2)
    assert source.traffic.n_from_cache == int(is_stored)


def test_stale_content_is_asked_for_again(server, opened):
    old = formatdate(time.time() - 1000, usegmt=True)
    headers = {"Cache-Control": "max-age=600", "Date": old}
    server.add("/root.json", (200, headers, b"{}"), (200, headers, b'{"new": 1}'))
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b"{}"
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b'{"new": 1}'


def test_a_changed_file_replaces_the_cached_one(server, opened):
    server.add("/root.json", (200, {"ETag": '"1"'}, b"{}"), (200, {"ETag": '"2"'}, b'{"n": 2}'))
    for expected in (b"{}", b'{"n": 2}', b'{"n": 2}'):
        assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == expected


def test_a_confirmation_that_forbids_storing_ends_it(server, opened, stored):
    forbidding = {"ETag": '"1"', "Cache-Control": "no-store"}
    server.add("/root.json", (200, {"ETag": '"1"'}, b"{}"), (200, forbidding, b"{}"))
    opened().read(server.url + "/root.json", max_bytes=LIMIT)
    assert stored()
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b"{}"
    assert not stored()


def test_expired_files_and_what_exceeds_the_limit_go_when_the_cache_is_opened(
    server, opened, stored, tmp_path
):
    old = formatdate(time.time() - 1000, usegmt=True)
    server.add("/old", (200, {"Cache-Control": "max-age=1", "Date": old}, b"body of /old"))
    server.add("/large", (200, {"Cache-Control": "max-age=600"}, bytes(2 * 2**20)))
    server.add("/small", (200, {"Cache-Control": "max-age=900"}, b"small"))
    source = opened()
    for path in ("/old", "/large", "/small"):
        source.read(server.url + path, max_bytes=4 * 2**20)
    assert len(stored()) == 3
    (file,) = (file for file in stored() if b"/old" in file.read_bytes())
    os.utime(file, (time.time() - 1, time.time() - 1))  # so much later
    opened()
    assert len(stored()) == 2
    settings = HttpSettings(cache_limit_mb=1)
    open_source(server.url + "/root.json", cache_dir=tmp_path / "cache", settings=settings).close()
    assert len(stored()) == 1
    opened().read(server.url + "/small", max_bytes=LIMIT)
    assert server.requests["/small"] == 1


def test_a_damaged_cache_file_is_fetched_again(server, opened, stored):
    server.add("/root.json", (200, {"Cache-Control": "max-age=600"}, b'{"a": 1}'))
    opened().read(server.url + "/root.json", max_bytes=LIMIT)
    (file,) = stored()
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes()[:-4])
    assert opened().read(server.url + "/root.json", max_bytes=LIMIT) == b'{"a": 1}'
    assert server.requests["/root.json"] == 2


def test_the_cache_is_the_users_by_default(server, tmp_path, monkeypatch):
    server.add("/root.json", (200, {"Cache-Control": "max-age=600"}, b"{}"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = open_source(server.url + "/root.json")
    source.read(source.root_uri, max_bytes=LIMIT)
    source.close()
    assert len(list((tmp_path / "aerotwin" / "http").iterdir())) == 1
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    assert default_cache_folder() == Path.home() / ".cache" / "aerotwin" / "http"


def test_a_cache_folder_that_cannot_be_is_named(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match="XDG_CACHE_HOME"):
        open_source(server.url, cache_dir=tmp_path / "file" / "cache")
