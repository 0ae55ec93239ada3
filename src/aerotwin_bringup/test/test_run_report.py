# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from aerotwin_bringup.map_chapters import last_map
from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.frames import quaternion_from_yaw
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.slam_poses import read_poses, start_pose

LEVEL = (0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)
ROUNDING = 1e-9


def _odometry(stamp_ns, p, *, variance=0.01, q=LEVEL):
    return messages.serialize(
        messages.odometry_message(
            stamp_ns, "odom", "base_link", p, q, ZERO, ZERO, pose_variances=(variance,) * 6
        )
    )


def test_lost_repeated_and_impossible_poses_are_left_out(tmp_path):
    nan = float("nan")
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/slam/odom", "nav_msgs/msg/Odometry")
        bag.write("/slam/odom", 1, _odometry(1, (1, 0, 0)))
        bag.write("/slam/odom", 2, _odometry(2, (2, 0, 0), variance=1e6))
        bag.write("/slam/odom", 3, _odometry(3, (nan, 0, 0)))
        bag.write("/slam/odom", 4, _odometry(4, (4, 0, 0), variance=nan))
        bag.write("/slam/odom", 5, _odometry(5, (5, 0, 0), q=(0.0, 0.0, 0.0, 0.0)))
        bag.write("/slam/odom", 6, _odometry(6, (6, 0, 0)))
        bag.write("/slam/odom", 7, _odometry(6, (7, 0, 0)))
    trajectory = read_poses(BagReader(tmp_path / "bag"), "/slam/odom").trajectory
    assert trajectory.stamps_ns.tolist() == [1, 6]


def test_the_start_pose_carries_the_first_estimate_to_the_truth():
    half_turn = np.vstack([quaternion_from_yaw(np.pi / 2)] * 2)
    truth = Trajectory(np.array([0, 10]), np.array([[5.0, 0, 0], [5.0, 10.0, 0]]), half_turn)
    estimate = Trajectory(
        np.array([5, 10]), np.array([[1.0, 0, 0], [6.0, 0, 0]]), np.tile(LEVEL, (2, 1))
    )
    T_map_odom = start_pose(truth, estimate)
    ends = (T_map_odom @ estimate.transforms())[:, :3, 3]
    np.testing.assert_allclose(ends, [[5.0, 5.0, 0.0], [5.0, 10.0, 0.0]], atol=ROUNDING)


def test_the_last_map_counts_and_its_impossible_points_do_not(tmp_path):
    clouds = [np.zeros((2, 3)), np.array([[1.0, 2.0, 3.0], [np.nan, 0.0, 0.0]])]
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/slam/map", "sensor_msgs/msg/PointCloud2")
        for stamp, points in enumerate(clouds):
            cloud = messages.point_cloud_message(stamp, "odom", points)
            bag.write("/slam/map", stamp, messages.serialize(cloud))
    np.testing.assert_array_equal(last_map(BagReader(tmp_path / "bag")), [[1.0, 2.0, 3.0]])
