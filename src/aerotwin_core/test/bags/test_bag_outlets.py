# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagReader
from aerotwin_core.bag.writer import BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.fixed_layout import FixedLayout

IMU, POSE = "sensor_msgs/msg/Imu", "geometry_msgs/msg/PoseStamped"


def imu_layout(frame):
    def build(stamp_ns, v):
        return messages.imu_message(
            stamp_ns, frame, v[:3], v[3:], specific_force_std=0.1, angular_velocity_std=0.2
        )

    return FixedLayout(build, 6)


POSES = FixedLayout(lambda ns, v: messages.pose_stamped_message(ns, "map", v[:3], v[3:]), 7)


def traffic(n):
    """Return (topic, layout, received [ns], stamp [ns], numbers), several topics in one order."""
    layouts = {f"/uav{k}/imu": imu_layout(f"uav{k}/imu_link") for k in (3, 10)}
    rng = np.random.default_rng(1)
    for k in range(n):
        stamp_ns = 4_000_000 * k + 1_700_000_000_000_000_000
        for topic, layout in layouts.items():
            yield topic, layout, stamp_ns, stamp_ns, rng.normal(size=6)
        if k % 3 == 0:
            yield "/pose", POSES, stamp_ns + 7, stamp_ns, rng.normal(size=7)


def written(path, *, by_numbers, n=4000):
    """Write a bag of which /pose, or all but /pose, may be by numbers."""
    with BagWriter(path, is_live=False) as bag:
        for topic, msgtype in (("/uav3/imu", IMU), ("/uav10/imu", IMU), ("/pose", POSE)):
            bag.add_topic(topic, msgtype)
        outlets = {}
        for topic, layout, received_ns, stamp_ns, values in traffic(n):
            if topic in by_numbers:
                outlet = outlets.get(topic) or outlets.setdefault(topic, bag.outlet(topic, layout))
                outlet(received_ns, stamp_ns, values)
                values[:] = np.nan  # they were copied
            else:
                bag.write(topic, received_ns, layout.pack(stamp_ns, values.tolist()))
    return path


@pytest.mark.parametrize("by_numbers", [{"/pose"}, {"/uav3/imu", "/uav10/imu", "/pose"}])
def test_messages_by_their_numbers_make_the_same_file(tmp_path, by_numbers):
    whole = written(tmp_path / "whole" / "bag", by_numbers=())
    other = written(tmp_path / "other" / "bag", by_numbers=by_numbers)
    assert BagReader(other).problems == ()
    assert (other / "bag_0.mcap").read_bytes() == (whole / "bag_0.mcap").read_bytes()


def test_messages_in_blocks_are_those_of_each_topic(tmp_path):
    """Names of other lengths have other places; a block is longer than the rows that are kept."""
    names = [f"/uav{k}/imu" for k in range(300)]
    layouts = [imu_layout(f"{name[1:]}_link") for name in names]
    found = []
    for in_blocks in (False, True):
        rng = np.random.default_rng(3)
        with BagWriter(tmp_path / f"{in_blocks}", is_live=False) as bag:
            for name in names:
                bag.add_topic(name, IMU)
            each = [bag.outlet(*pair) for pair in zip(names, layouts, strict=True)]
            block = bag.block_outlet(names, layouts)
            for k in range(20):
                values = rng.normal(size=(len(names), 6))
                if in_blocks:
                    block(4 * k + 1, 4 * k, values)
                    values[:] = np.nan  # they were copied
                    continue
                for outlet, row in zip(each, values, strict=True):
                    outlet(4 * k + 1, 4 * k, row)
        reader = BagReader(tmp_path / f"{in_blocks}")
        assert reader.problems == ()
        found.append({name: list(reader.raw([name])) for name in names})
    assert found[0] == found[1]
    assert all(len(rows) == 20 for rows in found[0].values())


def test_every_message_comes_back_with_both_times(tmp_path):
    bag = BagReader(written(tmp_path / "bag", by_numbers={"/pose"}, n=10))
    poses = [(received_ns, messages.stamp_ns(m)) for _, received_ns, m in bag.messages(["/pose"])]
    assert len(poses) == 4
    assert all(received_ns - stamp_ns == 7 for received_ns, stamp_ns in poses)


def test_an_outlet_needs_a_declared_topic_and_an_open_bag(tmp_path):
    with BagWriter(tmp_path / "bag") as bag:
        with pytest.raises(KeyError):
            bag.outlet("/pose", POSES)
        bag.add_topic("/pose", POSE)
        outlet = bag.outlet("/pose", POSES)
    with pytest.raises(AssertionError, match="closed"):
        outlet(0, 0, [0.0] * 7)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    bag = BagWriter(tmp_path / "bag", is_live=False)
    bag.add_topic("/pose", POSE)
    outlet = bag.outlet("/pose", POSES)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bag._file._written, "_write", full)
    with pytest.raises(UserError, match="No space left"):
        for k in range(20_000):
            outlet(k, k, [0.0] * 7)


@pytest.mark.parametrize("size", [10, 2_000_000])
def test_a_full_disk_is_heard_when_a_short_bag_is_closed(tmp_path, monkeypatch, size):
    bag = BagWriter(tmp_path / "bag", is_live=False)
    bag.add_topic("/text", "std_msgs/msg/String")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bag._file._written, "_write", full)
    bag.write("/text", 0, bytes(size))
    with pytest.raises(UserError, match="No space left"):
        bag.close()
    bag.close()
