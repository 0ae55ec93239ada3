# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Damaged bags give what is whole and say what is not."""

import struct

import numpy as np
import pytest
from mcap.reader import make_reader

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.compression import CompressionError, decompress
from aerotwin_core.bag.mcap_records import CHUNK_HEAD, HEAD
from aerotwin_core.errors import UserError

N = 400
SQLITE_PAGE_BYTES = 4096
FOOTER_BYTES = 37


@pytest.fixture
def entries(pose) -> list[tuple[str, int, bytes]]:
    return [("/pose", 1000 + k, pose(k)) for k in range(N)]


def chunks_of(path) -> list:
    with path.open("rb") as stream:
        return sorted(
            make_reader(stream).get_summary().chunk_indexes, key=lambda c: c.chunk_start_offset
        )


@pytest.fixture
def mcap_file(tmp_path, write_mcap, entries):
    path = tmp_path / "bag.mcap"
    write_mcap(path, entries, chunk_size=2000)
    return path


def overwrite(path, at: int, data: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + len(data)] = data
    path.write_bytes(content)


@pytest.mark.parametrize("seed", range(12))
def test_a_torn_mcap_gives_every_whole_chunk(mcap_file, seed, entries):
    chunks = chunks_of(mcap_file)
    data = mcap_file.read_bytes()
    keep = int(np.random.default_rng(seed).integers(20, len(data)))
    n_whole = sum(
        (c.message_end_time - c.message_start_time + 1)
        for c in chunks
        if c.chunk_start_offset + c.chunk_length <= keep
    )
    mcap_file.write_bytes(data[:keep])
    bag = BagReader(mcap_file)
    assert list(bag.raw()) == entries[:n_whole]
    assert not bag.is_complete
    assert all(line.startswith("bag.mcap: ") for line in bag.problems)
    assert f"{n_whole} messages were found" in bag.problems[-1]


@pytest.mark.parametrize("has_index", [True, False])
def test_a_broken_chunk_in_the_middle_costs_only_itself(mcap_file, has_index, entries):
    chunk = chunks_of(mcap_file)[5]
    overwrite(mcap_file, chunk.chunk_start_offset + 100, b"\xff" * 40)
    if not has_index:
        mcap_file.write_bytes(mcap_file.read_bytes()[:-FOOTER_BYTES])
    lost = range(chunk.message_start_time, chunk.message_end_time + 1)
    bag = BagReader(mcap_file)
    assert list(bag.raw()) == [e for e in entries if e[1] not in lost]
    text = f"the chunk at byte {chunk.chunk_start_offset} is damaged"
    assert any(text in line for line in bag.problems)


def test_check_finds_what_an_index_hides(mcap_file):
    overwrite(mcap_file, chunks_of(mcap_file)[3].chunk_start_offset + 100, b"\xff" * 40)
    bag = BagReader(mcap_file)
    assert bag.problems == ()
    assert len(bag.check()) == 1 == len(bag.problems)


@pytest.mark.parametrize("what", ["length", "opcode", "index length"])
def test_a_record_that_lies_about_its_length_hides_no_other_chunk(mcap_file, what, entries):
    chunks = chunks_of(mcap_file)
    data = bytearray(mcap_file.read_bytes()[:-FOOTER_BYTES])
    at, after = chunks[4].chunk_start_offset, chunks[4].chunk_start_offset + chunks[4].chunk_length
    if what == "length":
        data[at + 1 : at + 9] = struct.pack("<Q", 3 * chunks[4].chunk_length)
    elif what == "opcode":
        data[at] = 0x55
    else:
        data[after + 1 : after + 9] = struct.pack("<Q", 3 * chunks[4].chunk_length)
    mcap_file.write_bytes(data)
    bag = BagReader(mcap_file)
    lost = set(range(chunks[4].message_start_time, chunks[4].message_end_time + 1))
    found = {stamp for _, stamp, _ in bag.raw()}
    assert {stamp for _, stamp, _ in entries} - found <= lost
    assert any("are damaged and left out" in line for line in bag.problems)


def test_a_chunk_that_claims_a_terabyte_takes_no_memory(mcap_file):
    chunk = chunks_of(mcap_file)[0]
    at = chunk.chunk_start_offset + HEAD.size
    head = list(CHUNK_HEAD.unpack_from(mcap_file.read_bytes(), at))
    head[2] = 1 << 40
    overwrite(mcap_file, at, CHUNK_HEAD.pack(*head))
    bag = BagReader(mcap_file)
    n_lost = chunk.message_end_time - chunk.message_start_time + 1
    assert sum(1 for _ in bag.raw()) == N - n_lost
    assert "it claims 1099511627776 bytes" in bag.problems[0]


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_a_bomb_is_stopped_at_the_limit(kind):
    import lz4.frame
    from backports import zstd

    zeros = bytes(50_000_000)
    packed = lz4.frame.compress(zeros) if kind == "lz4" else zstd.compress(zeros)
    assert len(decompress(packed, kind)) == len(zeros)
    with pytest.raises(CompressionError, match="more than 1000000 bytes come out"):
        decompress(packed, kind, 1_000_000)
    for broken in (packed[: len(packed) // 2], b"", packed[:20] + b"\xff" * 20 + packed[40:]):
        with pytest.raises(CompressionError):
            decompress(broken, kind)


@pytest.fixture
def many(pose):
    return [("/pose", 1000 + k, pose(k)) for k in range(10 * N)]


@pytest.fixture
def sqlite_file(tmp_path, write_sqlite, many):
    path = tmp_path / "bag.db3"
    write_sqlite(path, many).close()
    return path


def is_part_of(found: list, whole: list) -> bool:
    """Whether all that was found is in the whole, in its order, and nothing twice."""
    places = {entry: k for k, entry in enumerate(whole)}
    numbers = [places[entry] for entry in found]
    return numbers == sorted(set(numbers))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("at_page", [True, False])
def test_a_cut_sqlite_file_gives_the_rows_before_the_cut(sqlite_file, many, share, at_page):
    data = sqlite_file.read_bytes()
    keep = int(share * len(data))
    keep -= keep % SQLITE_PAGE_BYTES if at_page else 0
    sqlite_file.write_bytes(data[:keep])
    bag = BagReader(sqlite_file)
    found = list(bag.raw())
    assert len(found) > (share - 0.1) * len(many)
    assert is_part_of(found, many)
    assert "bag.db3: the table of messages is damaged or cut off" in bag.problems[0]


def test_damaged_pages_of_sqlite_cost_only_their_rows(sqlite_file, many):
    data = bytearray(sqlite_file.read_bytes())
    n_pages = len(data) // SQLITE_PAGE_BYTES
    for page in (n_pages // 3, n_pages // 2):
        start = page * SQLITE_PAGE_BYTES
        data[start : start + SQLITE_PAGE_BYTES] = b"\xa5" * SQLITE_PAGE_BYTES
    sqlite_file.write_bytes(data)
    bag = BagReader(sqlite_file)
    found = list(bag.raw())
    assert len(many) - 3 * len(many) / n_pages <= len(found) < len(many)
    assert is_part_of(found, many)
    assert bag.counts == {"/pose": len(found)}
    assert f"{len(many) - len(found)} between them are lost" in bag.problems[0]


def test_an_sqlite_file_of_something_else_is_named(tmp_path):
    import sqlite3

    path = tmp_path / "other.db3"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE cats(name TEXT)")
    base.commit()
    base.close()
    with pytest.raises(UserError, match=r"other\.db3: not a bag: its tables are cats"):
        BagReader(path)


def test_an_endless_view_in_place_of_a_table_is_refused(tmp_path, write_sqlite):
    import sqlite3

    path = tmp_path / "evil.db3"
    base = write_sqlite(path, [])
    base.executescript(
        "DROP TABLE messages; CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL "
        "SELECT id + 1 FROM n) SELECT id, 1 AS topic_id, id AS timestamp, x'00' AS data FROM n;"
    )
    base.close()
    assert sqlite3.sqlite_version
    with pytest.raises(UserError, match="topics and messages are needed"):
        BagReader(path)


@pytest.mark.parametrize("name", ["bag.mcap", "bag.db3"])
@pytest.mark.parametrize("content", [b"", b"nonsense" * 100])
def test_a_file_of_something_else_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=name.replace(".", r"\.")):
        BagReader(tmp_path / name)


def metadata(*names: str, n: int = N) -> str:
    listed = "".join(f"    - {name}\n" for name in names)
    return (
        "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n"
        f"  relative_file_paths:\n{listed}  message_count: {n}\n"
    )


def test_files_that_are_missing_broken_or_not_named_are_said(tmp_path, write_mcap, entries):
    write_mcap(tmp_path / "a_0.mcap", entries[:100])
    (tmp_path / "a_1.mcap").write_bytes(b"nonsense" * 10)
    write_mcap(tmp_path / "a_3.mcap", entries[300:])
    text = metadata("a_0.mcap", "a_1.mcap", "../a_2.mcap")
    (tmp_path / "metadata.yaml").write_text(text)
    bag = BagReader(tmp_path)
    assert list(bag.raw()) == entries[:100] + entries[300:]
    assert not bag.is_complete
    lines = "\n".join(bag.problems)
    assert "a_2.mcap is named in metadata.yaml and missing" in lines
    assert "a_1.mcap: not an MCAP file" in lines
    assert "a_3.mcap: not named in metadata.yaml, read as well" in lines


def test_messages_that_metadata_counts_and_files_lack_are_said(tmp_path, write_mcap, entries):
    write_mcap(tmp_path / "a_0.mcap", entries[:100])
    (tmp_path / "metadata.yaml").write_text(metadata("a_0.mcap"))
    assert "counts 400 messages, the files hold 100" in BagReader(tmp_path).problems[0]


@pytest.mark.parametrize(
    "text", ["", "[1, 2", "a: &a [*a, *a]", "rosbag2_bagfile_information: 3", "\x00\xff", "a: 1"]
)
def test_metadata_that_cannot_be_read_are_said(tmp_path, text, write_mcap, entries):
    write_mcap(tmp_path / "a_0.mcap", entries[:10])
    (tmp_path / "metadata.yaml").write_text(text, encoding="latin-1")
    bag = BagReader(tmp_path)
    assert list(bag.raw()) == entries[:10]
    assert "metadata.yaml" in bag.problems[0]


def test_messages_that_are_damaged_are_counted(tmp_path, write_mcap, entries):
    broken = [(t, s, data[:20] if k % 4 == 0 else data) for k, (t, s, data) in enumerate(entries)]
    write_mcap(tmp_path / "a.mcap", broken)
    bag = BagReader(tmp_path / "a.mcap")
    assert sum(1 for _ in bag.messages()) == 300
    assert "topic /pose: 100 messages are damaged, left out" in bag.problems[0]
