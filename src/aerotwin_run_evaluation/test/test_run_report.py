# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.frames import pose_from_transform, quaternion_from_yaw
from aerotwin_core.section import Section
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.bag.roles import SLAM_ODOM, RunTopics
from aerotwin_run_evaluation.bag.vehicles import TRUTH
from aerotwin_run_evaluation.map_job import last_map
from aerotwin_run_evaluation.report import run_report
from aerotwin_run_evaluation.report.run_report import write_run_report
from aerotwin_run_evaluation.run_judgement import RunRecord, judge_run
from aerotwin_trajectory_evaluation.slam_poses import read_poses, start_pose

LEVEL = (0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)
ROUNDING = 1e-9
ALIGNED_M = 1e-7  # the fit is a square root away from rounding
N_POSES = 40
NO_WORLD = SimpleNamespace(warnings=(), credits=None)  # no map is laid into it


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


@pytest.fixture
def fly(tmp_path, monkeypatch):
    """Return a function that makes a report of a flight: its metrics, and the trajectory's notes.

    The SLAM tells the truth as seen from another place. Figures are left out: they take seconds.
    """
    said = []

    def without_figures(evaluation, *, title, name, notes, **_):
        said.extend(notes)
        return Section(title=title, name=name, metrics=evaluation.metrics())

    monkeypatch.setattr(run_report, "trajectory_section", without_figures)

    def run(frame, T_frame_map, *, frame_of_truth="map", is_map_expected=False):
        record = RunRecord(
            truth_bag=_bag_of(tmp_path / "bag", frame, T_frame_map, frame_of_truth),
            slam_bag=BagReader(tmp_path / "bag"),
            world=NO_WORLD,
            topics=RunTopics(is_map_expected=is_map_expected),
        )
        evaluation = judge_run(record, lambda step: None)
        write_run_report(tmp_path, evaluation, title="flight", configuration={})
        return json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8")), said

    return run


def _bag_of(path, frame, T_frame_map, frame_of_truth):
    with BagWriter(path) as bag:
        bag.add_topic(TRUTH, "nav_msgs/msg/Odometry")
        bag.add_topic(SLAM_ODOM, "nav_msgs/msg/Odometry")
        for k, T in enumerate(_true_poses()):
            stamp_ns = k * 100_000_000
            for topic, name, T_name_base in (
                (TRUTH, frame_of_truth, T),
                (SLAM_ODOM, frame, T_frame_map @ T),
            ):
                p, q = pose_from_transform(T_name_base)
                odometry = messages.odometry_message(stamp_ns, name, "base_link", p, q, ZERO, ZERO)
                bag.write(topic, stamp_ns, messages.serialize(odometry))
    return BagReader(path)


def _true_poses():
    """Poses (n, 4, 4) on a rising ellipse."""
    angle = 0.1 * np.arange(N_POSES)
    T = np.tile(np.eye(4), (N_POSES, 1, 1))
    T[:, :3, :3] = Rotation.from_euler("z", angle[:, None]).as_matrix()
    T[:, :3, 3] = np.column_stack([3.0 * np.cos(angle), 2.0 * np.sin(angle), 0.5 * angle])
    return T


@pytest.fixture
def elsewhere():
    """A rigid motion of 5 deg about the vertical and some decimetres."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("z", 5.0, degrees=True).as_matrix()
    T[:3, 3] = 0.2, -0.1, 0.15
    return T


def _errors_m(metrics):
    found = metrics["sections"]["trajectory"]
    return [found[name]["trans_m"]["rmse"] for name in ("ape_unaligned", "ape")]


def test_an_estimate_in_the_frame_of_the_truth_is_judged_as_it_stands(fly, elsewhere):
    metrics, notes = fly("map", elsewhere)
    p = _true_poses()[:, :3, 3]
    off = p @ elsewhere[:3, :3].T + elsewhere[:3, 3] - p
    expected = np.sqrt(np.mean(np.sum(off**2, axis=1)))
    np.testing.assert_allclose(_errors_m(metrics), [expected, 0.0], atol=ALIGNED_M)
    assert notes[0].endswith("frame of the truth, map, and is judged as it stands")


@pytest.mark.parametrize(
    ("frame", "of_truth"), [("odom", "map"), ("odom", "odom"), ("uav/odom", "uav/odom"), ("", "")]
)
def test_an_estimate_in_a_frame_of_its_own_is_put_onto_the_truth_at_its_start(
    fly, elsewhere, frame, of_truth
):
    metrics, notes = fly(frame, elsewhere, frame_of_truth=of_truth)
    np.testing.assert_allclose(_errors_m(metrics), 0.0, atol=ALIGNED_M)
    assert notes[0].startswith(f"the frame of the estimate ({frame or 'not named'}) is not known")


@pytest.mark.parametrize("is_expected", [False, True])
def test_an_unexpected_map_is_a_remark_and_a_missing_one_is_a_warning(fly, is_expected):
    metrics, notes = fly("odom", np.eye(4), is_map_expected=is_expected)
    warned = any("No map was recorded on /slam/map" in line for line in metrics["warnings"])
    assert warned is is_expected
    assert ("no map was published on /slam/map, and none is judged" in notes) is not is_expected
