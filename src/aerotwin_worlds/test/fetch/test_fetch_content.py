# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Content that says its own length, and packed content."""

import gzip
import struct

import pytest

from aerotwin_worlds.fetch.content import missing_part, unpacked

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


def test_unpacking_is_bounded_and_exact():
    assert unpacked(gzip.compress(TILE), max_bytes=200) == TILE
    assert unpacked(TILE, max_bytes=1) == TILE
    for data in (gzip.compress(TILE)[:-1], gzip.compress(TILE)[:20] + b"broken", b"\x1f\x8b\x08"):
        with pytest.raises(ValueError, match="gzip"):
            unpacked(data, max_bytes=LIMIT)
    with pytest.raises(ValueError, match="at most 199 bytes"):
        unpacked(gzip.compress(TILE), max_bytes=199)
