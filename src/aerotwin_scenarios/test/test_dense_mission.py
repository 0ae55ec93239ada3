# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The mission around the closed loop: its parameters, its files, what its report says."""

import dataclasses
import json
import os
import signal

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import make_transform
from aerotwin_core.stop_request import Stopped, StopRequest
from aerotwin_dense_localization.localization import ImageLocalization, Status, raster_path
from aerotwin_rendering import WorldQueries
from aerotwin_report import write_report
from aerotwin_report.runs import document_faults
from aerotwin_scenarios.dense_localization.flights import CameraTrack
from aerotwin_scenarios.dense_localization.mapping import MadeMap
from aerotwin_scenarios.dense_localization.mission import mission
from aerotwin_scenarios.dense_localization.mission.closed_loop import LocalizedFlight
from aerotwin_scenarios.dense_localization.mission.loop_scores import judge
from aerotwin_scenarios.dense_localization.mission.mission import DenseMission, MissionParameters
from aerotwin_scenarios.dense_localization.mission.mission_page import loop_section, map_section
from aerotwin_scenarios.dense_localization.wall_flight import WallFlight
from aerotwin_trajectory_evaluation.files import read_trajectory
from support.wall_stage import NORTH, WALL_Y_M, wall_world

STANDOFF_M, OFF_M = 2.0, 0.03
ROUNDING = 1e-6
INSTANCE = 94
SCORES = {"mean_m": 0.02, "share_10cm": 0.99, "mean_unaligned_m": 0.3, "completeness": 0.97,
          "keyframes_mean_m": 0.01, "keyframes_unaligned_mean_m": 0.3}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Keyframe:
    T_map_optical: np.ndarray


def flight_along(path, *, towards_m=OFF_M, lost=(), is_success=True):
    """Return a flight along poses, a bit nearer to the wall; some pictures are lost."""
    true = path @ make_transform(np.eye(3), [0.0, 0.0, towards_m])
    stamps = np.arange(1, len(path) + 1) * 50_000_000
    found = tuple(
        ImageLocalization(
            status=Status.LOST if k in lost else Status.TRACKED,
            T_map_cam=None if k in lost else T @ make_transform(np.eye(3), [0.01, 0.0, 0.0]),
            covariance=None if k in lost else np.eye(6) * 1e-6,
            correlation=0.9,
            overlap=0.9,
            reason="",
        )
        for k, T in enumerate(true)
    )
    return LocalizedFlight(
        track=CameraTrack(stamps_ns=stamps, T_map_optical=true, T_map_optical_reported=true),
        found=found,
        T_map_optical_desired=path,
        outcome="the mission is flown" if is_success else "the vehicle crashed",
        is_success=is_success,
    )


@pytest.fixture(scope="module")
def path():
    ends = raster_path([-1.0, WALL_Y_M, 5.0], 2.0, 0.1, row_m=1.0, standoff_m=STANDOFF_M,
                       yaw_rad=NORTH)[:2]  # fmt: skip
    steps = np.linspace(0.0, 1.0, 21)[:, None, None]
    return (1.0 - steps) * ends[0] + steps * ends[1]


@pytest.fixture(scope="module")
def queries():
    return WorldQueries(wall_world())


@pytest.fixture(scope="module")
def made(path):
    """A map that nobody looks at; its key-frames stand where they should."""
    poses = path[[0, 5, 20]] @ make_transform(np.eye(3), [0.0, 0.0, -3.0])
    poses[1, 2, 3] += 1.0
    keyframes = tuple(Keyframe(T) for T in poses)
    return MadeMap(dense_map=range(1000), keyframes=keyframes, T_map_optical=poses, n_links=7,
                   T_true_map=np.eye(4))  # fmt: skip


def test_what_is_nearer_than_planned_is_not_held(path, queries):
    score = judge(
        flight_along(path), path, queries, np.eye(4), standoff_m=STANDOFF_M
    ).score  # fmt: skip
    assert score["held_rmse_m"] == pytest.approx(OFF_M, abs=1e-5)
    assert score["towards_rmse_m"] == pytest.approx(OFF_M, abs=ROUNDING)
    assert score["beside_rmse_m"] == pytest.approx(0.0, abs=ROUNDING)
    assert score["distance_mean_m"] == pytest.approx(STANDOFF_M - OFF_M, abs=1e-5)
    assert score["ate_mean_m"] == pytest.approx(0.01, abs=ROUNDING)
    assert score["clearance_m"] == pytest.approx(STANDOFF_M - OFF_M, abs=1e-5)
    assert (score["n_scan"], score["n_scan_lost"], score["n_lost"]) == (21, 0, 0)


def test_pictures_without_a_pose_are_lost_and_leave_a_gap(path, queries):
    flight = flight_along(path, lost=(4, 5, 6))
    score = judge(flight, path, queries, np.eye(4), standoff_m=STANDOFF_M).score
    assert score["n_lost"] == 3
    assert score["longest_gap_s"] == pytest.approx(0.2)  # four periods of 50 ms


def test_the_report_says_what_was_held_and_what_the_map_was_made_with(
    path, queries, made, tmp_path
):
    judged = judge(flight_along(path, lost=(4,)), path, queries, np.eye(4), standoff_m=STANDOFF_M)
    loop = loop_section(judged, made, has_truth=True)
    assert "held to 3.0 cm RMS, 3.0 cm at most; of 21 pictures 1 was lost" in loop.verdict
    assert [one.status for one in loop.headline] == ["good", "bad"]  # held; one is lost
    picture = np.zeros((12, 16))
    of_map = map_section(made, SCORES, (picture, picture + np.nan), has_truth=True)
    assert "true poses, which no vehicle knows" in of_map.verdict
    reported = map_section(made, SCORES, (picture, picture), has_truth=False)
    assert "poses of the autopilot and 7 ties" in reported.verdict
    write_report(tmp_path, title="Test", sections=[loop, of_map], configuration={}, seed=1)
    document = json.loads((tmp_path / "metrics.json").read_text())
    assert document_faults(document) == []
    sections = document["sections"]
    assert sections["closed_loop"]["is_flown"] is True
    assert all(one["seen_by"] for one in sections["closed_loop"]["controls"])
    assert sections["mission_map"]["is_truth_given"] is True


def test_a_flight_that_ended_early_is_no_success_and_has_no_figures(path, queries, made):
    flight = flight_along(path, is_success=False)
    none = dataclasses.replace(flight, T_map_optical_desired=np.full_like(path, np.nan))
    judged = judge(none, path, queries, np.eye(4), standoff_m=STANDOFF_M)
    section = loop_section(judged, made, has_truth=False)
    assert "not flown to its end: the vehicle crashed" in section.verdict
    assert [one.status for one in section.headline] == ["bad", "bad"]
    assert judged.metrics()["held_rmse_m"] is None


def test_a_mission_says_where_the_study_of_a_seed_is_run():
    with pytest.raises(
        ParameterError, match=r"found true; .*make verify NAMES=dense ARGS='--set seeds=\[1003\]'"
    ):
        MissionParameters(world="cliff@1003", seed=1003, baselines=True)


def test_a_mission_keeps_what_was_flown_in_its_folder(path, monkeypatch, tmp_path):
    monkeypatch.setattr(mission, "load_world", lambda name: wall_world())
    made = DenseMission(MissionParameters(world="wall", runs_dir=str(tmp_path)))
    made._save_flight(flight_along(path, lost=(0, 1)))
    folder = made.folder / "trajectories"
    found = {file.stem: len(read_trajectory(file)) for file in folder.iterdir()}
    assert found == {
        "scan_truth": 21, "scan_localized": 19, "scan_autopilot": 21, "scan_planned": 21
    }  # fmt: skip
    before = made._world_before(path)
    x, y, _ = path[0, :3, 3] - [0.0, 6.0, 0.0]
    np.testing.assert_allclose(before.start_p_map, [x, y, 0.0], atol=ROUNDING)
    assert before.start_yaw == pytest.approx(NORTH)


@pytest.fixture
def stop():
    """A request to stop whose handlers are taken away again."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield StopRequest()
    for number, handler in zip(numbers, before):
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("", set()),  # before the flight
        ("mapping flight: ", {"mapping_truth", "mapping_autopilot"}),  # before the pictures
        ("map: its frames", {"mapping_truth", "mapping_autopilot"}),  # before they are tied
    ],
)
def test_a_mission_that_is_asked_to_end_does_so_at_the_next_step(
    stop, said, kept, monkeypatch, tmp_path
):
    def say(text):
        if text.startswith(said):
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(mission, "load_world", lambda name: wall_world())
    monkeypatch.setattr(mission, "say", say)
    wall = WallFlight(
        corner_m=(-2.0, WALL_Y_M, 4.0), extent_m=(4.0, 0.5), standoff_m=8.0, speed_m_s=2.0
    )
    parameters = MissionParameters(
        world="wall", runs_dir=str(tmp_path), instance=INSTANCE, mapping=wall
    )
    made = DenseMission(parameters, stop)
    if not said:
        say("")
    with pytest.raises(Stopped):
        made.run()
    assert {path.stem for path in made.folder.glob("trajectories/*")} == kept
    assert not (made.folder / "map").exists() and not (made.folder / "report.html").exists()
