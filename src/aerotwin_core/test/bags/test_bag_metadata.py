# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Metadata records of bags: texts by name, of finished, unfinished and damaged files."""

import itertools

import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.bag.mcap_records import MOST_METADATA_BYTES

TEXTS = {"imu.rate_hz": "250.0", "notes": "größer als 0"}


def fill(bag: BagWriter, texts=TEXTS) -> None:
    bag.add_topic("/clock", "rosgraph_msgs/msg/Clock")
    bag.add_metadata("sensors", texts)
    for k in range(3):
        bag.write("/clock", k, messages.serialize(messages.clock_message(k)))


@pytest.mark.parametrize("is_finished", [True, False])
def test_records_are_found_by_name(tmp_path, is_finished):
    writer = BagWriter(tmp_path / "bag")
    fill(writer)
    writer.close() if is_finished else writer.flush()
    bag = BagReader(tmp_path / "bag")
    assert bag.is_complete is is_finished
    assert bag.metadata("sensors") == TEXTS
    assert bag.metadata("nosuch") == {}
    assert bag.counts["/clock"] == 3
    writer.close()


def test_a_damaged_record_is_named_and_left_out(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        fill(writer)
    path = tmp_path / "bag" / "bag_0.mcap"
    data = path.read_bytes()
    at = data.index(b"imu.rate_hz") - 4
    path.write_bytes(data[:at] + b"\xff\xff\xff\x7f" + data[at + 4 :])
    bag = BagReader(tmp_path / "bag")
    assert bag.metadata("sensors") == {}
    assert any("metadata 'sensors' is damaged" in line for line in bag.problems)
    assert len([*bag.messages()]) == 3


def test_a_record_that_is_too_large_is_not_read(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        fill(writer, {"notes": "x" * MOST_METADATA_BYTES})
    bag = BagReader(tmp_path / "bag")
    assert bag.metadata("sensors") == {}
    assert any("more than 1048576 bytes" in line for line in bag.problems)


def test_the_same_messages_give_the_same_bytes_however_long_they_take(tmp_path, monkeypatch):
    found = []
    for name, step_s in (("quick", 0.0), ("slow", 10.0)):
        (tmp_path / name).mkdir()
        clock = itertools.count(0.0, step_s)
        monkeypatch.setattr("aerotwin_core.bag.writer.time.monotonic", lambda c=clock: next(c))
        with BagWriter(tmp_path / name / "bag", is_live=False) as writer:
            fill(writer)
        found.append((tmp_path / name / "bag" / "bag_0.mcap").read_bytes())
    assert found[0] == found[1]
