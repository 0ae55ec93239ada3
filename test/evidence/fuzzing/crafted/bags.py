# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile recordings: definitions that expand, chunks that unpack, messages that claim."""

import sqlite3
import struct
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from backports import zstd

from aerotwin_core import messages
from aerotwin_core.bag.mcap_records import CHUNK_HEAD, FOOTER, HEAD, MAGIC, MESSAGE_HEAD

Writer = Callable[[Path], list[Path]]
_RULE = "=" * 80
_STAMP = 10**18


def _record(opcode: int, data: bytes) -> bytes:
    return HEAD.pack(opcode, len(data)) + data


def _text(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<I", len(data)) + data


def _schema(number: int, name: str, definition: str) -> bytes:
    data = struct.pack("<H", number) + _text(name) + _text("ros2msg") + _text(definition)
    return _record(3, data)


def _channel(number: int, topic: str) -> bytes:
    data = struct.pack("<HH", number, number) + _text(topic) + _text("cdr") + _text("")
    return _record(4, data)


def _message(number: int, cdr: bytes) -> bytes:
    return _record(5, MESSAGE_HEAD.pack(number, 0, _STAMP, _STAMP) + cdr)


def _chunk(content: Sequence[bytes], n_times: int = 1, *, first_ns: int = _STAMP) -> bytes:
    """Return a Zstandard chunk of records, each given so often."""
    packer = zstd.ZstdCompressor()
    packed, size, checksum = b"", 0, 0
    for part in content:
        for _ in range(n_times):
            packed += packer.compress(part)
            size += len(part)
            checksum = zlib.crc32(part, checksum)
    packed += packer.flush()
    head = CHUNK_HEAD.pack(first_ns, _STAMP, size, checksum) + _text("zstd")
    return _record(6, head + struct.pack("<Q", len(packed)) + packed)


def _mcap(*records: bytes) -> Writer:
    """Return a writer of a file without an index."""
    return lambda folder: _written(folder, records)


def _written(folder: Path, records: Sequence[bytes]) -> list[Path]:
    head, end = _record(1, _text("ros2") + _text("")), _record(2, FOOTER.pack(0, 0, 0))
    data_end = _record(15, bytes(4))
    (folder / "bag.mcap").write_bytes(MAGIC + head + b"".join(records) + data_end + end + MAGIC)
    return [folder / "bag.mcap"]


def _defined(definition: str) -> Writer:
    """Return a writer of a bag whose poses have a definition of their own."""
    cdr = b"\x00\x01\x00\x00" + bytes(800)
    records = (_schema(1, "nav_msgs/msg/Odometry", definition), _channel(1, "/odom"))
    return _mcap(*records, _message(1, cdr))


def _fields(n: int) -> str:
    return "\n".join(f"float64 a{k}" for k in range(n))


def _nested(n: int) -> str:
    inner = (f"{_RULE}\nMSG: nav_msgs/A{k}\nA{k + 1} a\n" for k in range(n))
    return "A0 a\n" + "".join(inner) + f"{_RULE}\nMSG: nav_msgs/A{n}\nfloat64 x\n"


def _array(n: int) -> str:
    return f"A[{n}] a\n{_RULE}\nMSG: nav_msgs/A\nstring b\nfloat64 c\n"


def _many_types(folder: Path) -> list[Path]:
    """Each below the limit of one."""
    records = []
    for k in range(1, 500):
        records += [_schema(k, f"nav_msgs/msg/T{k}", _fields(3000)), _channel(k, f"/t{k}")]
    return _written(folder, [_chunk([b"".join(records)])])


def _zeros(folder: Path) -> list[Path]:
    return _written(folder, [_chunk([bytes(1 << 20)], 1000)])


def _small_zeros(folder: Path) -> list[Path]:
    """Below the limit of one chunk, and many of them."""
    return _written(folder, [_chunk([bytes(1 << 20)], 250)] * 200)


def _private_records(folder: Path) -> list[Path]:
    """Records of nine bytes, of a kind that everybody may define."""
    part = _record(0x80, b"") * 100_000
    return _written(folder, [_chunk([part], 250)])


def _same_messages(folder: Path) -> list[Path]:
    definitions = [_schema(1, "std_msgs/msg/String", "string data"), _channel(1, "/odom")]
    part = _message(1, b"\x00\x01\x00\x00\x01\x00\x00\x00\x00") * 25_000
    return _written(folder, [*definitions, _chunk([part], 200)])


def _packed_messages(folder: Path) -> list[Path]:
    """Messages that are compressed on their own, a chunk full of them."""
    packed = zstd.compress(b"\x00\x01\x00\x00" + bytes(200_000_000))
    definitions = [_schema(1, "std_msgs/msg/String", "string data"), _channel(1, "/odom")]
    return _written(folder, [*definitions, _chunk([_message(1, packed) * 40])])


def _overlapping(n_chunks: int, n_messages: int, n_bytes: int) -> Writer:
    """Return a writer of chunks that all claim to begin at zero: none of them is due."""

    def write(folder: Path) -> list[Path]:
        definitions = [_schema(1, "std_msgs/msg/String", "string data"), _channel(1, "/odom")]
        cdr = b"\x00\x01\x00\x00" + bytes(n_bytes)
        chunk = _chunk([_message(1, cdr)], n_messages, first_ns=0)
        return _written(folder, [*definitions, *[chunk] * n_chunks])

    return write


def _cloud_of_nothing(folder: Path) -> list[Path]:
    """A cloud of four billion points that take no byte each."""
    cloud = messages.point_cloud_message(_STAMP, "base_link", np.ones((1, 3)))
    cloud.width, cloud.point_step, cloud.row_step = 0xFFFFFFFF, 0, 0
    kind = "sensor_msgs/msg/PointCloud2"
    definitions = [_schema(1, kind, ""), _channel(1, "/points")]
    return _written(folder, [*definitions, _message(1, messages.serialize(cloud))])


def _terminal(folder: Path) -> list[Path]:
    topic = "/odom\x1b]0;title\x07\x1b[2J"
    definitions = [_schema(1, "x/msg/\x1b[31mX", "float64 a"), _channel(1, topic)]
    return _written(folder, [*definitions, _message(1, bytes(12))])


def _many_topics(folder: Path) -> list[Path]:
    definitions = [_schema(1, "std_msgs/msg/String", "string data")]
    for k in range(2, 60_000):
        data = struct.pack("<HH", k, 1) + _text(f"/topic_{k}") + _text("cdr") + _text("")
        definitions.append(_record(4, data))
    return _written(folder, [_chunk([b"".join(definitions)])])


_TOPICS = "topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)"
_ROW = "INSERT INTO topics VALUES(1, '/odom', 'nav_msgs/msg/Odometry', 'cdr')"


def _sqlite(*statements: str) -> Writer:
    """Return a writer of a bag that statements make."""

    def write(folder: Path) -> list[Path]:
        with closing(sqlite3.connect(folder / "bag.db3")) as base, base:
            for statement in statements:
                base.execute(statement)
        return [folder / "bag.db3"]

    return write


_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
_COMPUTED = "messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB AS "
_HUNDRED_THOUSAND = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
    "INSERT INTO messages(id, topic_id, timestamp) SELECT i, 1, i FROM n"
)

CRAFTED: dict[str, dict[str, Writer]] = {
    "bag-mcap": {
        "array of 100,000 types": _defined(_array(100_000)),
        "array of 4,000,000,000 types": _defined(_array(4_000_000_000)),
        "60,000 fields": _defined(_fields(60_000)),
        "100,000 strings": _defined("string[100000] a"),
        "5,000 nested types": _defined(_nested(5_000)),
        "140 nested types": _defined(_nested(140)),
        "500 types of 3,000 fields": _many_types,
        "chunk of 1 GB of zeros": _zeros,
        "200 chunks of 250 MB of zeros": _small_zeros,
        "25 million records in a chunk": _private_records,
        "5 million messages in a chunk": _same_messages,
        "40 messages of 200 MB in a chunk": _packed_messages,
        "14 overlapping chunks of 200 MB": _overlapping(14, 2, 100_000_000),
        "2,000 overlapping chunks of 450 messages": _overlapping(2_000, 450, 8),
        "cloud of 4 billion points of nothing": _cloud_of_nothing,
        "topic that clears the terminal": _terminal,
        "60,000 topics": _many_topics,
    },
    "bag-sqlite3": {
        "endless view of messages": _sqlite(
            f"CREATE TABLE {_TOPICS}",
            _ROW,
            f"CREATE VIEW messages AS {_ENDLESS} i AS id, 1 AS topic_id, i AS timestamp, "
            "x'00' AS data FROM n",
        ),
        "endless view of topics": _sqlite(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY)",
            f"CREATE VIEW topics AS {_ENDLESS} i AS id, '/t' AS name, 'x' AS type, 'cdr' AS "
            "serialization_format FROM n",
        ),
        "100,000 computed messages of 0.9 MB": _sqlite(
            f"CREATE TABLE {_TOPICS}",
            _ROW,
            f"CREATE TABLE {_COMPUTED} (zeroblob(900000)) VIRTUAL)",
            _HUNDRED_THOUSAND,
        ),
    },
}
