# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags whose chunks are compressed: the same messages, for us and for other readers."""

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from rosbags.rosbag2 import Reader

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.writer import BagWriter

TOPICS = {"/text": "std_msgs/msg/String", "/image": "sensor_msgs/msg/Image"}
N = 3000


def messages():
    """Yield topic, stamp [ns] and bytes: texts that repeat, images alone in their chunks."""
    rng = np.random.default_rng(1000)
    for k in range(N):
        yield "/text", 1_000_000 * k, b"\0\1\0\0" + bytes(60) + k.to_bytes(4, "little")
        if k % 500 == 0:
            picture = rng.normal(100.0, 3.0, 120_000).astype(np.uint8).tobytes()
            yield "/image", 1_000_000 * k, b"\0\1\0\0" + picture


def written(path, compression):
    """Write a bag."""
    with BagWriter(path, is_live=False, compression=compression) as bag:
        for topic, msgtype in TOPICS.items():
            bag.add_topic(topic, msgtype)
        bag.add_metadata("sensors", {"imu": "none"})
        for topic, stamp_ns, cdr in messages():
            bag.write(topic, stamp_ns, cdr)
    return path


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """A compressed bag."""
    return written(tmp_path_factory.mktemp("bags") / "bag", "zstd")


def test_every_message_comes_back_in_half_the_space(bag, tmp_path):
    plain = written(tmp_path / "bag", "none")
    found, expected = BagReader(bag), BagReader(plain)
    assert found.problems == ()
    for topic in TOPICS:
        assert list(found.raw([topic])) == list(expected.raw([topic]))
    sizes = [(each / "bag_0.mcap").stat().st_size for each in (bag, plain)]
    assert sizes[0] < 0.7 * sizes[1]


def test_other_readers_find_the_same(bag):
    expected = sorted((topic, stamp_ns, cdr) for topic, stamp_ns, cdr in messages())
    with Reader(bag) as reader:
        of_rosbags = [(c.topic, stamp_ns, bytes(cdr)) for c, stamp_ns, cdr in reader.messages()]
    assert sorted(of_rosbags) == expected
    with (bag / "bag_0.mcap").open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        of_mcap = [(c.topic, m.log_time, m.data) for _, c, m in reader.iter_messages()]
        chunks = reader.get_summary().chunk_indexes
    assert sorted(of_mcap) == expected
    assert {chunk.compression for chunk in chunks} == {"zstd"}
    with (bag / "bag_0.mcap").open("rb") as file:
        records = list(StreamReader(file, emit_chunks=True).records)
    kept = [r for r in records if type(r).__name__ == "Chunk"]
    assert [len(r.data) for r in kept] == [chunk.compressed_size for chunk in chunks]
    assert [r.uncompressed_size for r in kept] == [chunk.uncompressed_size for chunk in chunks]


def test_the_same_messages_give_the_same_bytes(bag, tmp_path):
    again = written(tmp_path / "bag", "zstd")
    for name in ("bag_0.mcap", "metadata.yaml"):
        assert (again / name).read_bytes() == (bag / name).read_bytes()


def test_a_bag_that_was_cut_off_gives_its_whole_chunks(bag, tmp_path):
    cut = tmp_path / "cut.mcap"
    data = (bag / "bag_0.mcap").read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    reader = BagReader(cut)
    assert reader.problems
    found = list(reader.raw(["/text"]))
    assert 0 < len(found) < N
    assert found == list(BagReader(bag).raw(["/text"]))[: len(found)]


def test_an_unknown_compression_is_refused(tmp_path):
    with pytest.raises(ValueError, match="compression must be one of"):
        BagWriter(tmp_path / "bag", compression="lz4")
    assert not (tmp_path / "bag").exists()
