# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Content that says its own length, and packed content."""

import gzip
import struct

import pytest

from aerotwin_tiles.fetch.content import missing_part, unpacked

LIMIT = 10**6
TILE = b"b3dm" + struct.pack("<2I", 1, 200) + bytes(188)


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


@pytest.mark.parametrize(
    "content",
    [
        b"{" + struct.pack("<3f", 0.5, 1.0, 2.0),
        b"{" + bytes(range(200)),
        b"{\x14\xaeG\xe1z\x84?",
        b'{"\x00\x01' + bytes(60),
        b"{abc binary that happens to be text",
    ],
)
def test_binary_content_may_begin_with_a_brace(content):
    assert missing_part(content) == ""


@pytest.mark.parametrize(
    "content", [b"{", b'\xef\xbb\xbf \n\t {\n  "asset', b'{"name": "' + "ä".encode() * 40]
)
def test_json_that_was_cut_is_found(content):
    assert missing_part(content) == "JSON without its end"


def test_unpacking_is_bounded_and_exact():
    assert unpacked(gzip.compress(TILE), max_bytes=200) == TILE
    assert unpacked(TILE, max_bytes=1) == TILE
    for data in (gzip.compress(TILE)[:-1], gzip.compress(TILE)[:20] + b"broken", b"\x1f\x8b\x08"):
        with pytest.raises(ValueError, match="gzip"):
            unpacked(data, max_bytes=LIMIT)
    with pytest.raises(ValueError, match="at most 199 bytes"):
        unpacked(gzip.compress(TILE), max_bytes=199)
