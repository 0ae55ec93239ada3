# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags that others made: storages, compressions, types of their own, no metadata."""

import shutil
from pathlib import Path

import pytest
from mcap.writer import CompressionType
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as RosbagsWriter

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.messages import TYPESTORE

POSE = "geometry_msgs/msg/PoseStamped"
N = 60


@pytest.fixture
def rows(pose) -> list[tuple[str, int, bytes]]:
    return [(f"/pose_{k % 2}", 1000 + k, pose(k)) for k in range(N)]


def listing(folder: Path) -> dict[str, int]:
    return {str(p): p.stat().st_mtime_ns for p in sorted(folder.rglob("*"))}


def test_the_real_talker_is_read_although_its_own_definitions_are_wrong(shared_data):
    folder = shared_data("rosbag2/rosbag2_py/sqlite3/talker")
    before = listing(folder)
    bag = BagReader(folder)
    assert bag.counts == {"/topic": 10, "/rosout": 10, "/parameter_events": 0}
    assert bag.end_ns - bag.start_ns == 4_531_096_768
    found = list(bag.messages())
    assert len(found) == 20
    assert [m.data for _, _, m in found if hasattr(m, "data")][3] == "Hello, world! 3"
    assert {m.name for _, _, m in found if hasattr(m, "name")} == {"minimal_publisher"}
    assert bag.is_complete
    assert "definition of rcl_interfaces/msg/Log does not fit" in bag.problems[0]
    assert listing(folder) == before


def test_the_real_tf_bag_gives_its_moving_edge(shared_data):
    bag = BagReader(shared_data("trajectories/evo/tf_example"))
    assert bag.counts == {"/tf": 517, "/tf_static": 1}
    assert round((bag.end_ns - bag.start_ns) * 1e-9, 2) == 51.68
    assert bag.trajectory_topics() == ("/tf:odom.base_footprint",)
    assert len(bag.trajectory("/tf:odom.base_footprint")) == 517
    assert bag.problems == ()


@pytest.mark.parametrize("storage", list(StoragePlugin))
@pytest.mark.parametrize("mode", list(CompressionMode))
def test_what_rosbags_writes_is_read_back(tmp_path, storage, mode, rows):
    if storage == StoragePlugin.SQLITE3 and mode == CompressionMode.STORAGE:
        pytest.skip("SQLite has no compression of its own")
    writer = RosbagsWriter(tmp_path / "bag", version=9, storage_plugin=storage)
    if mode != CompressionMode.NONE:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections = {
            topic: writer.add_connection(topic, POSE, typestore=TYPESTORE)
            for topic in ("/pose_0", "/pose_1")
        }
        for topic, stamp, data in rows:
            writer.write(connections[topic], stamp, data)
    before = listing(tmp_path)
    bag = BagReader(tmp_path / "bag")
    assert list(bag.raw()) == rows
    assert list(bag.raw(["/pose_1"])) == rows[1::2]
    assert (bag.counts, bag.problems, bag.is_complete) == ({"/pose_0": 30, "/pose_1": 30}, (), True)
    assert len(bag.trajectory("/pose_0")) == 30
    assert listing(tmp_path) == before


@pytest.mark.parametrize("compression", list(CompressionType))
@pytest.mark.parametrize("chunking", [True, False])
def test_mcap_of_any_compression_is_read_without_metadata(
    tmp_path, compression, chunking, write_mcap, rows
):
    write_mcap(
        tmp_path / "a_0.mcap",
        rows,
        compression=compression,
        chunk_size=500,
        use_chunking=chunking,
        use_summary_offsets=False,
    )
    bag = BagReader(tmp_path)
    assert list(bag.raw()) == rows
    assert any("metadata.yaml is missing" in line for line in bag.problems)
    alone = BagReader(tmp_path / "a_0.mcap")
    assert list(alone.raw()) == rows
    assert alone.problems == () or not chunking


def test_mcap_without_any_index_is_read(tmp_path, write_mcap, rows):
    write_mcap(
        tmp_path / "a.mcap",
        rows,
        chunk_size=500,
        use_statistics=False,
        repeat_channels=False,
        repeat_schemas=False,
    )
    assert list(BagReader(tmp_path / "a.mcap").raw()) == rows


def test_split_files_count_ten_after_nine_and_may_overlap(tmp_path, pose, write_mcap):
    for k in range(11):
        write_mcap(
            tmp_path / f"b_{k}.mcap", [("/p", 10 * k + j, pose(10 * k + j)) for j in (0, 15)]
        )
    found = list(BagReader(tmp_path).raw())
    assert [stamp for _, stamp, _ in found] == sorted(
        10 * k + j for k in range(11) for j in (0, 15)
    )
    assert {data for _, _, data in found} == {pose(10 * k + j) for k in range(11) for j in (0, 15)}


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_messages_out_of_order_come_in_order_of_their_stamps(
    tmp_path, suffix, pose, write_mcap, write_sqlite
):
    entries = [
        ("/p", stamp, pose(k)) for k, stamp in enumerate([50, 10, 30, 30, 20, 90, 5, 40] * 20)
    ]
    path = tmp_path / f"c{suffix}"
    if suffix == ".db3":
        write_sqlite(path, entries).close()
    else:
        write_mcap(path, entries, chunk_size=400)
    assert list(BagReader(path).raw()) == sorted(entries, key=lambda entry: entry[1])


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_a_bag_without_messages_is_a_bag(tmp_path, suffix, write_mcap, write_sqlite):
    path = tmp_path / f"d{suffix}"
    if suffix == ".db3":
        write_sqlite(path, []).close()
    else:
        write_mcap(path, [])
    bag = BagReader(path)
    assert (bag.topics, bag.counts, bag.start_ns, bag.end_ns) == ({}, {}, 0, 0)
    assert list(bag.messages()) == []


def test_a_type_that_only_the_bag_knows_is_read_by_its_definition(tmp_path, write_mcap):
    text = "uint8 KIND=3\nint32 count\nstring[] names\nmine/Inner[2] inner\n"
    text += "=" * 80 + "\nMSG: mine/Inner\nfloat64 x\n"
    cdr = b"\x00\x01\x00\x00" + (7).to_bytes(4, "little") + (1).to_bytes(4, "little")
    cdr += (3).to_bytes(4, "little") + b"ab\x00" + bytes(1) + bytes(16)
    write_mcap(tmp_path / "e.mcap", [("/mine", 1, cdr)], schema=("mine/msg/Own", "ros2msg", text))
    ((_, _, message),) = BagReader(tmp_path / "e.mcap").messages()
    assert (message.count, message.names, len(message.inner)) == (7, ["ab"], 2)


IDL = (
    "=" * 80 + "\nIDL: mine/msg/Own\n"
    '#include "mine/msg/Inner.idl"\nmodule mine { module msg { '
    'typedef mine::msg::Inner inner__2[2]; struct Own { @verbatim (language="comment", text="n") '
    "int32 count;"
    " sequence<string> names; inner__2 inner; }; }; };\n"
    + "=" * 80 + "\nIDL: mine/msg/Inner\n"
    "module mine { module msg { struct Inner { double x; }; }; };\n"
)  # fmt: skip


def test_definitions_in_idl_are_read(tmp_path, write_mcap):
    cdr = b"\x00\x01\x00\x00" + (7).to_bytes(4, "little") + (1).to_bytes(4, "little")
    cdr += (3).to_bytes(4, "little") + b"ab\x00" + bytes(1) + bytes(16)
    write_mcap(tmp_path / "e.mcap", [("/mine", 1, cdr)], schema=("mine/msg/Own", "ros2idl", IDL))
    ((_, _, message),) = BagReader(tmp_path / "e.mcap").messages()
    assert (message.count, message.names, message.inner[1].x) == (7, ["ab"], 0.0)


def test_an_unknown_type_is_named(tmp_path, pose, write_mcap):
    write_mcap(tmp_path / "f.mcap", [("/odd", 1, pose(0))], schema=("odd/msg/Odd", "", ""))
    bag = BagReader(tmp_path / "f.mcap")
    assert list(bag.raw()) == [("/odd", 1, pose(0))]
    with pytest.raises(UserError, match=r"f\.mcap: topic /odd: message type odd/msg/Odd is not"):
        list(bag.messages())


def test_a_standard_name_with_fields_of_its_own_is_read_by_the_bag_s_definition(
    tmp_path, write_mcap
):
    schema = ("std_msgs/msg/String", "ros2msg", "int32 data\n")
    cdr = b"\x00\x01\x00\x00" + (42).to_bytes(4, "little")
    write_mcap(tmp_path / "g.mcap", [("/s", 1, cdr)], schema=schema)
    ((_, _, message),) = BagReader(tmp_path / "g.mcap").messages()
    assert message.data == 42


@pytest.mark.parametrize(
    "text",
    [
        "string[900000000] x\n",  # code for each item would fill memory
        "mine/Own again\n",  # contains itself
        "mine/Absent x\n",
        "int32 3x\n",
    ],
)
def test_a_definition_that_cannot_be_used_is_no_definition(tmp_path, text, pose, write_mcap):
    write_mcap(tmp_path / "h.mcap", [("/s", 1, pose(0))], schema=("mine/msg/Own", "ros2msg", text))
    with pytest.raises(UserError, match="message type mine/msg/Own"):
        list(BagReader(tmp_path / "h.mcap").messages())


def test_topics_of_other_encodings_are_said_and_left_out(tmp_path, write_mcap, rows):
    write_mcap(tmp_path / "i.mcap", rows, encoding="json")
    bag = BagReader(tmp_path / "i.mcap")
    assert bag.topics == {} and list(bag.raw()) == []
    assert "topic /pose_0 is encoded as 'json' and not read" in bag.problems[0]


def test_what_waits_in_the_journal_of_a_killed_recording_is_read(tmp_path, write_sqlite, rows):
    base = write_sqlite(tmp_path / "live.db3", rows, is_wal=True)
    folder = tmp_path / "killed"
    folder.mkdir()
    for file in tmp_path.glob("live.db3*"):
        shutil.copy(file, folder)
    base.close()
    assert (folder / "live.db3-wal").stat().st_size > 0
    before = listing(folder)
    bag = BagReader(folder)
    assert list(bag.raw()) == rows
    assert not bag.is_complete
    assert any("live.db3-wal" in line for line in bag.problems)
    assert listing(folder) == before


def test_what_a_reader_unpacked_is_removed_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "unpacked"))
    (tmp_path / "unpacked").mkdir()
    writer = RosbagsWriter(tmp_path / "bag", version=9)
    writer.set_compression(CompressionMode.FILE, CompressionFormat.ZSTD)
    with writer:
        writer.add_connection("/pose", POSE, typestore=TYPESTORE)
    bag = BagReader(tmp_path / "bag")
    assert len(list((tmp_path / "unpacked").iterdir())) == 1
    del bag
    assert list((tmp_path / "unpacked").iterdir()) == []
