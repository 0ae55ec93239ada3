# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What run folders give to twins and studies."""

import json

import numpy as np
import pytest

from aerotwin_comparison import run_folder as runs
from aerotwin_comparison.run_folder import open_run_folder
from aerotwin_comparison.study import StudyProtocol
from aerotwin_comparison.study.runs import run_of_folder, runs_of_folders
from aerotwin_comparison.study.scores import score_run
from aerotwin_core.bag import BagWriter
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.messages import header, odometry_message, serialize
from aerotwin_core.protocol import Protocol
from aerotwin_core.trajectory import Trajectory
from aerotwin_map_evaluation.protocol import load_map_protocol
from aerotwin_trajectory_evaluation import TrajectoryProtocol

MS = 1_000_000
N_POSES = 40
LEVEL, ZERO = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)


def write_run(folder, *, variance=0.01, lost_variance=1e6, frame="odom", shift_m=0.0):
    """Write a flight along x; after each pose of the SLAM stands one that it reports as lost."""
    with BagWriter(folder / "bag") as bag:
        for topic in (runs.TRUTH, runs.SLAM_ODOM):
            bag.add_topic(topic, "nav_msgs/msg/Odometry")
        for k in range(N_POSES):
            stamp, p = k * 100 * MS, np.array([0.5 * k, 0.0, 1.0])
            for topic, at, where, said in (
                (runs.TRUTH, stamp, p, 0.01),
                (runs.SLAM_ODOM, stamp, p + shift_m, variance),
                (runs.SLAM_ODOM, stamp + MS, p + 9.0, lost_variance),
            ):
                odometry = odometry_message(
                    at, frame, "base_link", where, LEVEL, ZERO, ZERO, pose_variances=(said,) * 6
                )
                bag.write(topic, at, serialize(odometry))
    (folder / "config.yaml").write_text("parameters: {world: w, mission: m.yaml, seed: 3}\n")


def test_a_run_has_the_present_names_of_its_parameters_whenever_it_was_recorded(tmp_path):
    write_run(tmp_path)
    expected = {"world": "w", "mission.file": "m.yaml", "seed": 3, "wind.east_m_s": 1.0}
    for text in (
        "{world: w, mission: m.yaml, seed: 3, wind_east_m_s: 1.0}",
        "{world: w, mission: {file: m.yaml}, seed: 3, wind: {east_m_s: 1.0}}",
    ):
        (tmp_path / "config.yaml").write_text(f"parameters: {text}\n")
        run = open_run_folder(tmp_path)
        assert run.is_flight and dict(run.parameters) == expected


@pytest.mark.parametrize("variance", [1e6, float("nan")])
def test_frames_reported_as_lost_are_no_poses_however_that_is_said(tmp_path, variance):
    write_run(tmp_path / "one", lost_variance=variance)
    assert len(open_run_folder(tmp_path / "one").estimate()) == N_POSES
    write_run(tmp_path / "two", lost_variance=variance, variance=variance)
    with pytest.raises(UserError, match="no pose on /slam/odom was tracked"):
        open_run_folder(tmp_path / "two").estimate()
    assert open_run_folder(tmp_path / "two").start_pose() is None


@pytest.mark.parametrize(("frame", "moves_m"), [("odom", -0.25), ("map", 0.0)])
def test_a_run_in_the_frame_of_the_truth_starts_as_it_stands(tmp_path, frame, moves_m):
    write_run(tmp_path, frame=frame, shift_m=0.25)
    start = np.eye(4)
    start[:3, 3] = moves_m
    np.testing.assert_array_equal(open_run_folder(tmp_path).start_pose(), start)


def test_a_flight_that_failed_is_a_failed_run_however_well_it_was_tracked(tmp_path):
    write_run(tmp_path / "one")
    run, report = run_of_folder(open_run_folder(tmp_path / "one")), tmp_path / "one/metrics.json"
    protocols = {
        "study": StudyProtocol(),
        # A straight line determines no rotation.
        "trajectory": Protocol(
            name="plain", part="trajectory", choices=TrajectoryProtocol(align="none")
        ),
        "maps": load_map_protocol(None),
    }
    assert score_run(run, **protocols).failure == ""
    report.write_text(json.dumps({"sections": {}, "warnings": ["The flight failed: it crashed"]}))
    failed = score_run(run, **protocols)
    assert failed.failure == "The flight failed: it crashed"
    assert failed.value("ape_trans_m") == np.inf


def test_frames_are_those_that_the_poses_answer_to(tmp_path):
    with BagWriter(tmp_path / "two" / "bag") as bag:
        for topic, period in ((runs.LEFT_INFO, 50 * MS), (runs.LIDAR, 70 * MS)):
            bag.add_topic(topic, "std_msgs/msg/Header")
            for k in range(10):  # recorded some time after they were taken
                bag.write(topic, k * period + 7 * MS, serialize(header(k * period, "x")))
    (tmp_path / "two" / "config.yaml").write_text("{}")
    lidar = Trajectory(MS * np.array([70, 140]), np.zeros((2, 3)), np.tile([0, 0, 0, 1.0], (2, 1)))
    found = open_run_folder(tmp_path / "two").frame_stamps_ns(lidar)
    np.testing.assert_array_equal(found, 70 * MS * np.arange(10))


def test_a_flight_without_a_slam_is_no_run_of_a_method(tmp_path, capsys):
    for name, slam in (("one", "orb"), ("two", "none")):
        (tmp_path / name / "bag").mkdir(parents=True)
        (tmp_path / name / "config.yaml").write_text(
            f"parameters: {{world: cliff, slam: {slam}}}\n"
        )
    pattern = str(tmp_path / "*")
    assert [run.method for run in runs_of_folders([pattern])] == ["orb"]
    assert main(["evaluate", "study", "--runs", pattern, "--json", "-"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["n_runs"] == 1
    assert f"left out, flown without a SLAM: {tmp_path / 'two'}" in captured.err
    with pytest.raises(UserError, match="no run"):
        runs_of_folders([str(tmp_path / "two")])
