# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds of bags: the last one, or all moved by poses and mountings."""

import numpy as np
import pytest

from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.frames import transform_from_pose, transform_points
from aerotwin_core.messages import (
    odometry_message,
    point_cloud_message,
    serialize,
    transform_message,
    transform_stamped,
)
from aerotwin_registration.bag_clouds import read_bag_cloud

SECOND = 1_000_000_000
FLOAT32 = 1e-5
ROUNDING = 1e-9


def some_points(n=40):
    return np.random.default_rng(3).uniform(-50, 50, (n, 3))


@pytest.fixture
def cloud_bag(tmp_path):
    """Four clouds of a lidar that looks back, on a body that drives along x and turns.

    Poses at 0, 2 and 4 s, clouds at 0, 1, 2 and 9 s.
    """
    T_base_lidar = transform_from_pose([0.2, 0.0, 0.1], [0, 0, 1, 0])
    path = tmp_path / "bag"
    with BagWriter(path) as writer:
        writer.add_topic("/points", "sensor_msgs/msg/PointCloud2")
        writer.add_topic("/odom", "nav_msgs/msg/Odometry")
        writer.add_topic("/tf_static", "tf2_msgs/msg/TFMessage")
        mount = transform_stamped(0, "base", "lidar", [0.2, 0.0, 0.1], [0, 0, 1, 0])
        writer.write("/tf_static", 0, serialize(transform_message([mount])))
        for k in range(3):
            pose = [2.0 * k, 0, 0], [0, 0, np.sin(0.1 * k), np.cos(0.1 * k)]
            odometry = odometry_message(2 * k * SECOND, "map", "base", *pose, [0] * 3, [0] * 3)
            writer.write("/odom", 2 * k * SECOND, serialize(odometry))
        for k in (0, 1, 2, 9):
            points = some_points(10) + k
            points[0, 0] = np.nan
            message = point_cloud_message(k * SECOND, "lidar", points, np.arange(10))
            message.is_dense = False
            writer.write("/points", k * SECOND, serialize(message))
    return BagReader(path), T_base_lidar


def test_the_last_cloud_of_a_bag_is_its_map(cloud_bag):
    cloud = read_bag_cloud(cloud_bag[0])
    np.testing.assert_allclose(cloud.points, (some_points(10) + 9)[1:], atol=FLOAT32)
    assert cloud.intensity.tolist() == list(range(1, 10))
    assert cloud.frame == "lidar"
    assert cloud.notes[0] == "the last of 4 messages"
    assert "1 of 10 points are NaN" in cloud.notes[1]


def test_all_clouds_of_a_bag_are_moved_by_poses_and_the_mounting(cloud_bag):
    bag, T_base_lidar = cloud_bag
    cloud = read_bag_cloud(bag, "/points", poses="/odom", max_gap_s=2.0)
    expected = []
    for k in range(3):  # at 1 s half way: the turn is about z, so its half is the half angle
        T_map_base = transform_from_pose([k, 0, 0], [0, 0, np.sin(0.05 * k), np.cos(0.05 * k)])
        points = (some_points(10) + k).astype(np.float32)[1:]
        expected.append(transform_points(T_map_base @ T_base_lidar, points))
    np.testing.assert_allclose(cloud.points, np.concatenate(expected), atol=ROUNDING)
    assert cloud.frame == "map"
    lines = "\n".join(cloud.notes)
    assert "3 of 4 clouds, moved by the poses of base" in lines
    assert "1 clouds lie outside of the time of the poses" in lines
    assert "moved to base by static transforms" in lines


def test_a_cloud_in_a_long_gap_of_the_poses_is_left_out_and_counted(cloud_bag):
    cloud = read_bag_cloud(cloud_bag[0], "/points", poses="/odom")
    assert len(cloud.points) == 2 * 9
    assert any("1 clouds lie between poses more than 0.5 s apart" in note for note in cloud.notes)


def test_each_cloud_is_moved_by_the_mounting_of_its_own_frame(tmp_path):
    points, p = some_points(5), {"left": [0.0, 1.0, 0.0], "right": [0.0, -1.0, 0.5]}
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/points", "sensor_msgs/msg/PointCloud2")
        writer.add_topic("/odom", "nav_msgs/msg/Odometry")
        writer.add_topic("/tf_static", "tf2_msgs/msg/TFMessage")
        mounts = [transform_stamped(0, "base", f, p[f], [0, 0, 0, 1]) for f in p]
        writer.write("/tf_static", 0, serialize(transform_message(mounts)))
        for k, frame in enumerate(p):
            odometry = odometry_message(k, "map", "base", [0] * 3, [0, 0, 0, 1], [0] * 3, [0] * 3)
            writer.write("/odom", k, serialize(odometry))
            writer.write("/points", k, serialize(point_cloud_message(k, frame, points)))
    cloud = read_bag_cloud(BagReader(tmp_path / "bag"), poses="/odom")
    expected = np.concatenate([points.astype(np.float32) + p[frame] for frame in p])
    np.testing.assert_allclose(cloud.points, expected, atol=ROUNDING)
    assert sum("moved to base by static transforms" in note for note in cloud.notes) == 2


def test_a_bag_without_such_a_cloud_lists_those_it_has(cloud_bag):
    with pytest.raises(UserError, match=r"name one of its clouds .* it has: /points"):
        read_bag_cloud(cloud_bag[0], "/odom")


def test_rows_of_points_may_be_padded_and_big_endian(tmp_path):
    points = some_points(6).astype(np.float32)
    message = point_cloud_message(0, "lidar", points)
    rows = points.astype(">f4").reshape(2, -1).view(np.uint8)
    message.data = np.hstack([rows, np.zeros((2, 5), np.uint8)]).reshape(-1)
    message.height, message.width, message.row_step, message.is_bigendian = 2, 3, 41, True
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/p", "sensor_msgs/msg/PointCloud2")
        writer.write("/p", 0, serialize(message))
    np.testing.assert_array_equal(read_bag_cloud(BagReader(tmp_path / "bag")).points, points)
