# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages as long as a chunk, such as images, are chunks of their own."""

import pytest
from mcap.reader import NonSeekingReader, make_reader

from aerotwin_core import messages
from aerotwin_core.bag import BagReader
from aerotwin_core.bag.writer import CHUNK_SIZE_BYTES, BagWriter

POSE, IMAGE = "geometry_msgs/msg/PoseStamped", "std_msgs/msg/String"
N = 40


def image(k: int) -> bytes:
    text = f"{k:04d}" * (CHUNK_SIZE_BYTES // 4)
    return messages.serialize(messages.string_message(text))


@pytest.fixture
def entries(pose) -> list[tuple[str, int, bytes]]:
    """The first message is an image, before any other of its topic; later ones lie between."""
    found = [("/image", 1, image(0)), ("/late", 2, pose(0))]
    for k in range(N):
        found.append(("/pose", 1000 * k + 10, pose(k)))
        if k % 4 == 0:
            found.append(("/image", 1000 * k + 20, image(k)))
    return [*found, ("/late", 1000 * N, image(1))]


@pytest.fixture
def bag(entries, tmp_path):
    path = tmp_path / "bag"
    with BagWriter(path, is_live=False) as writer:
        for topic in ("/pose", "/image", "/late"):
            writer.add_topic(topic, POSE if topic == "/pose" else IMAGE)
        for entry in entries:
            writer.write(*entry)
    return path


def spoil(path, part: bytes) -> None:
    """Change a byte in each place of a file where a part of it is."""
    data = bytearray(path.read_bytes())
    at = data.find(part)
    assert at > 0
    while at > 0:
        data[at] ^= 0xFF
        at = data.find(part, at + 1)
    path.write_bytes(data)


def test_all_messages_come_in_their_order(bag, entries):
    assert list(BagReader(bag).raw()) == entries
    assert list(BagReader(bag).raw(["/pose"])) == [e for e in entries if e[0] == "/pose"]


@pytest.mark.parametrize("kind", ["by its index", "from its start"])
def test_the_format_s_own_reader_finds_them(bag, entries, kind):
    with (bag / "bag_0.mcap").open("rb") as stream:
        reader = make_reader(stream) if kind == "by its index" else NonSeekingReader(stream)
        found = [(c.topic, m.log_time, m.data) for _, c, m in reader.iter_messages()]
    assert sorted(found) == sorted(entries)
    if kind == "by its index":
        assert found == entries


def test_who_reads_poses_reads_no_image(bag):
    spoil(bag / "bag_0.mcap", b"0008" * 100)
    reader = BagReader(bag)
    assert len(list(reader.raw(["/pose"]))) == N
    assert reader.problems == ()
    assert len(list(reader.raw(["/image"]))) == N // 4
    assert "is damaged" in reader.problems[0]


def test_a_file_without_its_end_has_all_images(bag, entries):
    """Their topic is declared before each first one, though nothing else was written yet."""
    path = bag / "bag_0.mcap"
    path.write_bytes(path.read_bytes()[: 3 * CHUNK_SIZE_BYTES])
    reader = BagReader(bag)
    assert not reader.is_complete
    assert list(reader.raw(["/image"])) == [e for e in entries if e[0] == "/image"][:2]
