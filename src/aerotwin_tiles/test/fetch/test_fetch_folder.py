# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A folder as a source: references are followed inside, and never outside."""

import os

import pytest

from aerotwin_tiles.fetch import FetchError, Traffic, open_source

LIMIT = 100


@pytest.fixture
def folder(tmp_path):
    """A tileset folder with a neighbour that holds a secret."""
    inside = tmp_path / "tiles"
    (inside / "a").mkdir(parents=True)
    (inside / "tileset.json").write_bytes(b"{}")
    (inside / "a" / "one tile.b3dm").write_bytes(b"tile")
    (inside / "a" / "large").write_bytes(bytes(LIMIT + 1))
    (inside / "inner_link").symlink_to(inside / "a" / "one tile.b3dm")
    (tmp_path / "secret").write_bytes(b"secret")
    (inside / "leaving_link").symlink_to(tmp_path / "secret")
    (inside / "leaving_folder").symlink_to(tmp_path)
    (inside / "loop").symlink_to(inside / "loop")
    os.mkfifo(inside / "fifo")
    return inside


@pytest.mark.parametrize("name", ["", "tileset.json"])
def test_a_root_is_a_document_or_its_folder(folder, name):
    source = open_source(folder / name)
    assert source.root_uri == "tileset.json"
    assert source.read(source.root_uri, max_bytes=LIMIT) == b"{}"
    assert source.traffic == Traffic(n_read=1, n_bytes=2)


@pytest.mark.parametrize(
    ("base", "uri", "expected"),
    [
        ("tileset.json", "a/one%20tile.b3dm", "a/one%20tile.b3dm"),
        ("tileset.json", "a/one tile.b3dm?foo=bar#baz", "a/one%20tile.b3dm"),
        ("tileset.json", "a\\one tile.b3dm", "a/one%20tile.b3dm"),
        ("a/b/sub.json", "./../c.glb", "a/c.glb"),
        ("a/b/sub.json", "../../c.glb", "c.glb"),
        ("tileset.json", "100%25.glb", "100%25.glb"),
        ("odd%20name/sub.json", "c.glb", "odd%20name/c.glb"),
    ],
)
def test_references_are_relative_to_their_document(folder, base, uri, expected):
    assert open_source(folder).resolve(base, uri) == expected


def test_a_resolved_reference_is_read(folder):
    source = open_source(folder)
    for uri in ("a/one%20tile.b3dm", "a/one tile.b3dm", "inner_link"):
        address = source.resolve(source.root_uri, uri)
        assert source.read(address, max_bytes=LIMIT) == b"tile"


@pytest.mark.parametrize(
    "uri",
    [
        "../secret",
        "a/../../secret",
        "%2e%2e/secret",
        "a/%2E%2E/%2e%2e%2fsecret",
        "..\\secret",
        "/etc/passwd",
        "%2Fetc/passwd",
        "//host/secret",
        "file:///etc/passwd",
        "https://example.org/tile.b3dm",
        "",
        "?only=query",
        "a%00b",
    ],
)
def test_no_reference_leaves_the_folder(folder, uri):
    with pytest.raises(FetchError, match="expected a path within"):
        open_source(folder).resolve("tileset.json", uri)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("leaving_link", "expected a file within"),
        ("leaving_folder/secret", "expected a file within"),
        ("../secret", "expected a file within"),
        ("%2e%2e/secret", "expected a file within"),
        ("loop", "cannot be read"),
        ("gone.b3dm", "cannot be read .*No such file"),
        ("a", "found a folder"),
        ("fifo", "found a folder or a device"),
        ("a/large", "at most 100 bytes, found 101"),
        ("a%00b", "cannot be read"),
    ],
)
def test_what_is_not_a_bounded_file_inside_is_refused_by_name(folder, uri, message):
    source = open_source(folder)
    with pytest.raises(FetchError, match=message) as caught:
        source.read(uri, max_bytes=LIMIT)
    assert uri in str(caught.value)
    assert source.traffic.n_read == 0


def test_a_wrong_root_names_what_is_there(folder):
    with pytest.raises(FetchError, match=r"no such file.*holds a, fifo.*tileset\.json"):
        open_source(folder / "gone.json")
    with pytest.raises(FetchError, match="nothing"):
        open_source(folder / "no" / "such.json")
