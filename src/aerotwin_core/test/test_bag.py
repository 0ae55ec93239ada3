# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from mcap.reader import make_reader
from rosbags.rosbag2 import Reader

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.point_clouds import point_cloud_arrays

IMU = "sensor_msgs/msg/Imu"


def _imu(stamp_ns: int) -> bytes:
    message = messages.imu_message(
        stamp_ns,
        "imu_link",
        [0.1, 0.2, 9.8],
        [1.0, 2.0, 3.0],
        specific_force_std=0.1,
        angular_velocity_std=0.01,
    )
    return messages.serialize(message)


def _write_many(writer: BagWriter) -> None:
    for k in range(5000):
        writer.write("/imu", k, _imu(k))


def test_what_was_written_is_read_by_rosbags_and_mcap(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/imu", IMU)
        for k in range(50):
            writer.write("/imu", k * 4_000_000, _imu(k * 4_000_000))
    with Reader(tmp_path / "bag") as reader:
        assert reader.message_count == 50
        stamps = [stamp for _, stamp, _ in reader.messages()]
    assert stamps == [k * 4_000_000 for k in range(50)]
    with (tmp_path / "bag" / "bag_0.mcap").open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    assert summary.statistics.message_count == 50


def test_chunks_checksums_and_index_are_those_that_mcap_s_own_reader_expects(tmp_path):
    n = 3000  # 64 KiB chunks: many of them
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/imu", IMU)
        writer.add_topic("/other", IMU)
        for k in range(n):
            writer.write("/imu", k * 4_000_000, _imu(k))
            if k % 3 == 0:
                writer.write("/other", k * 4_000_000, _imu(k + 1))
    with (tmp_path / "bag" / "bag_0.mcap").open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        statistics = reader.get_summary().statistics
        assert statistics.chunk_count > 5
        assert list(statistics.channel_message_counts.values()) == [n, n // 3]
        assert (statistics.message_start_time, statistics.message_end_time) == (0, 2999 * 4_000_000)
        found = reader.iter_messages(topics=["/other"], starting_at=600 * 4_000_000)
        assert [(m.log_time, m.data) for _, _, m in found] == [
            (k * 4_000_000, _imu(k + 1)) for k in range(600, n, 3)
        ]


def test_own_reader_gives_messages_counts_and_span(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/imu", IMU)
        writer.write("/imu", 7, _imu(5))
        writer.write("/imu", 9, _imu(6))
    bag = BagReader(tmp_path / "bag")
    assert (bag.topics, bag.counts, bag.is_complete) == ({"/imu": IMU}, {"/imu": 2}, True)
    assert (bag.start_ns, bag.end_ns) == (7, 9)
    topic, stamp, message = next(bag.messages(["/imu"]))
    assert (topic, stamp, messages.stamp_ns(message)) == ("/imu", 7, 5)
    assert message.angular_velocity.y == 2.0


KILLED_WRITER = """
import sys, time
from aerotwin_core.bag import BagWriter
from test_bag import _imu
writer = BagWriter(sys.argv[1])
writer.add_topic("/imu", "sensor_msgs/msg/Imu")
k = 0
while True:
    writer.write("/imu", k * 4_000_000, _imu(k * 4_000_000))
    k += 1
    print(k, flush=True)
    time.sleep(0.001)
"""


def test_a_killed_writer_leaves_all_but_its_last_second(tmp_path):
    path = tmp_path / "bag"
    environment = dict(os.environ)
    here = os.path.dirname(__file__)
    environment["PYTHONPATH"] = os.pathsep.join([here, environment.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED_WRITER, str(path)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert process.stdout is not None
    times: list[float] = []
    while len(times) < 100 or times[-1] - times[0] < 2.5:
        assert process.stdout.readline(), "the writer ended by itself"
        times.append(time.monotonic())
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    bag = BagReader(path)
    n_older = sum(t < times[-1] - 1.2 for t in times)  # 1 s of flush period and scheduling
    assert not bag.is_complete
    assert bag.counts["/imu"] >= n_older
    assert sum(1 for _ in bag.messages()) == bag.counts["/imu"]


def test_the_topics_of_a_fleet_are_declared_by_one_write_of_the_metadata(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        metadata = tmp_path / "bag/metadata.yaml"
        first = metadata.stat().st_ino
        for vehicle in range(300):
            writer.add_topic(f"/uav{vehicle}/imu", IMU)
        assert metadata.stat().st_ino == first
        writer.flush()
        second = metadata.stat().st_ino
        assert second != first
        assert metadata.read_text().count("- topic_metadata:") == 300
        writer.flush()
        assert metadata.stat().st_ino == second


def test_an_existing_folder_is_not_overwritten(tmp_path):
    BagWriter(tmp_path / "bag").close()
    with pytest.raises(UserError, match="exists already"):
        BagWriter(tmp_path / "bag")


def test_a_folder_above_a_bag_is_told_from_it(tmp_path):
    (tmp_path / "bag").mkdir()
    with pytest.raises(UserError) as error:
        BagReader(tmp_path)
    assert "expected a folder with metadata.yaml and .mcap or .db3 files" in str(error.value)
    assert str(error.value).endswith(
        f"but metadata.yaml is missing; did you mean {tmp_path / 'bag'}?"
    )


def test_a_folder_that_is_no_bag_is_named(tmp_path):
    with pytest.raises(UserError, match="not a bag"):
        BagReader(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_clear_line(tmp_path):
    path = tmp_path / "bag"
    writer = BagWriter(path)
    writer.add_topic("/imu", IMU)
    writer._stream.flush()
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), writer._stream.fileno())
    with pytest.raises(UserError, match="No space left on device"):
        _write_many(writer)


def test_poses_come_back_as_a_trajectory(tmp_path):
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/odom", "nav_msgs/msg/Odometry")
        for k in range(3):
            message = messages.odometry_message(
                k, "map", "base_link", [k, 2 * k, 0], [0, 0, 0, 1], [0, 0, 0], [0, 0, 0]
            )
            writer.write("/odom", k, messages.serialize(message))
    trajectory = BagReader(tmp_path / "bag").trajectory("/odom")
    np.testing.assert_array_equal(trajectory.p_ref_body[2], [2, 4, 0])
    with pytest.raises(UserError, match="no topic /slam/odom; the bag holds /odom"):
        BagReader(tmp_path / "bag").trajectory("/slam/odom")


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_the_real_split_bags_hold_what_their_makers_say(shared_data, storage):
    bag = BagReader(shared_data(f"rosbag2/rosbag2_py/{storage}/wbag"))
    assert bag.counts["AAA"] == 804
    assert sum(bag.counts.values()) == 6074
    # The README's 2623 to 3034 ns stand in metadata.yaml; they are those of the last of five files.
    assert (bag.start_ns, bag.end_ns) == (1000, 2998)
    assert "metadata.yaml lets the recording begin at 2623 ns" in bag.problems[0]
    assert bag.is_complete and len(bag.check()) == 1


def test_a_point_cloud_comes_back():
    points = np.arange(12, dtype=np.float32).reshape(4, 3)
    message = messages.point_cloud_message(1, "map", points, np.arange(4))
    back = messages.deserialize(messages.serialize(message), message.__msgtype__)
    arrays = point_cloud_arrays(back)
    np.testing.assert_array_equal(np.column_stack([arrays[k] for k in "xyz"]), points)
    np.testing.assert_array_equal(arrays["intensity"], np.arange(4))
