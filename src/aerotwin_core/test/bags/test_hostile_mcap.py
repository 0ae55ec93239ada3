# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Definitions that generate too much code, and chunks that unpack to too much."""

import struct

import numpy as np
import pytest
from backports import zstd
from mcap.reader import make_reader

from aerotwin_core import limits
from aerotwin_core.bag import BagReader, message_types
from aerotwin_core.bag.compression import CompressionError, decompress, decompress_file
from aerotwin_core.bag.mcap_records import HEAD, DamagedRecordError, records_of
from aerotwin_core.bag.message_types import MessageError, MessageTypes
from aerotwin_core.errors import UserError

RULE = "=" * 80


def nested(n):
    """Return a definition of n types in each other."""
    inner = (f"{RULE}\nMSG: x/A{k}\nA{k + 1} a\n" for k in range(n))
    return "A0 a\n" + "".join(inner) + f"{RULE}\nMSG: x/A{n}\nfloat64 c\n"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"float64 a{k}" for k in range(60_000)),
        f"A[100000] a\n{RULE}\nMSG: x/A\nfloat64 b\n",
        f"A[5000000000] a\n{RULE}\nMSG: x/A\nfloat64 b\n",
        "string[100000] a",
        nested(5_000),
        nested(200),
    ],
    ids=["fields", "array of types", "array beyond 4 GB", "strings", "5,000 types", "200 types"],
)
def test_a_definition_that_is_too_large_is_not_read_and_said(text):
    types = MessageTypes({"x/msg/X": ("ros2msg", text)})
    for _ in range(2):
        with pytest.raises(UserError, match="x/msg/X is not standard"):
            types.deserialize(bytes(100), "x/msg/X")
    (problem,) = types.problems
    assert "definition of x/msg/X is too large to be read" in problem


def test_many_definitions_share_a_limit(monkeypatch):
    monkeypatch.setattr(message_types, "_MAX_STEPS_OF_BAG", 500)
    text = "\n".join(f"float64 a{k}" for k in range(100))
    types = MessageTypes({f"x/msg/X{k}": ("ros2msg", text) for k in range(10)})
    for k in range(10):
        with pytest.raises((UserError, MessageError)):
            types.deserialize(bytes(100), f"x/msg/X{k}")
    assert len(types.problems) == 6  # a hundred fields and their text take 126 steps


@pytest.mark.parametrize(
    ("text", "n", "n_bytes"),
    [("float64[100000] a", 100_000, 800_000), (f"A[30] a\n{RULE}\nMSG: x/A\nint8 b\n", 30, 30)],
    ids=["numbers", "types"],
)
def test_long_arrays_of_numbers_and_short_ones_of_types_are_read(text, n, n_bytes):
    types = MessageTypes({"x/msg/X": ("ros2msg", text)})
    message = types.deserialize(b"\x00\x01\x00\x00" + bytes(n_bytes), "x/msg/X")
    assert len(message.a) == n
    assert types.problems == []


def test_zeros_are_no_records():
    with pytest.raises(DamagedRecordError, match="kind 0"):
        list(records_of(bytes(100)))


def test_as_many_records_come_out_as_bytes_went_in():
    records = HEAD.pack(0x80, 0) * 5_000
    assert len(list(records_of(records, 4_000))) == 5_000
    assert len(list(records_of(records))) == 5_000
    with pytest.raises(DamagedRecordError, match="more records come out of its 3999 bytes"):
        list(records_of(records, 3_999))


def test_what_comes_out_of_a_frame_is_limited(monkeypatch):
    data = zstd.compress(bytes(20_000_000))
    assert len(decompress(data, "zstd")) == 20_000_000
    monkeypatch.setenv(limits.VARIABLE, "30")
    with pytest.raises(CompressionError, match="more than 10000000 bytes"):
        decompress(data, "zstd")


def test_what_comes_out_of_a_file_is_limited(tmp_path, monkeypatch):
    (tmp_path / "bag.mcap.zstd").write_bytes(zstd.compress(bytes(20_000_000)))
    monkeypatch.setenv(limits.VARIABLE, "2")
    out, problem = decompress_file(tmp_path / "bag.mcap.zstd", tmp_path)
    assert "more than 8" in problem
    assert out.stat().st_size < 9_000_000


def test_a_definition_of_a_standard_name_gives_way_when_it_is_too_large():
    text = "string[100000] data"
    types = MessageTypes({"std_msgs/msg/String": ("ros2msg", text)})
    cdr = b"\x00\x01\x00\x00" + struct.pack("<I", 3) + b"ab\x00"
    assert types.deserialize(cdr, "std_msgs/msg/String").data == "ab"
    assert "too large" in types.problems[0]


@pytest.fixture
def overlapping(tmp_path, write_mcap):
    """Return a bag whose chunks overlap in time, and its messages in the order of the file."""
    stamps = np.random.default_rng(3).integers(0, 300, 1000).tolist()
    entries = [
        ("/a", stamp, struct.pack("<4xI", k) + bytes(1000)) for k, stamp in enumerate(stamps)
    ]
    write_mcap(tmp_path / "bag.mcap", entries, chunk_size=20_000, enable_crcs=False)
    return tmp_path / "bag.mcap", entries


def test_overlapping_chunks_are_read_by_stamp_and_equal_stamps_as_recorded(overlapping):
    path, entries = overlapping
    assert list(BagReader(path).raw()) == sorted(entries, key=lambda entry: entry[1])


def test_what_overlaps_is_held_within_the_limit_of_memory(overlapping, monkeypatch):
    path, _ = overlapping
    monkeypatch.setenv(limits.VARIABLE, "1")
    monkeypatch.setattr(limits, "TIMES_FILE", 1)
    with pytest.raises(UserError, match=r"bag\.mcap: the messages of its chunks that overlap"):
        list(BagReader(path).raw())


def test_an_index_that_names_a_chunk_twice_is_not_believed(overlapping):
    path, entries = overlapping
    with path.open("rb") as stream:
        index = make_reader(stream).get_summary().chunk_indexes
    data = path.read_bytes()
    places = [struct.pack("<Q", chunk.chunk_start_offset) for chunk in index]
    at = data.rindex(places[1])
    path.write_bytes(data[:at] + places[0] + data[at + 8 :])
    bag = BagReader(path)
    assert len(list(bag.raw())) == len(entries)
    assert any("index is damaged" in line for line in bag.problems)
