# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed loop on a short route among boxes: found, followed, judged; and what goes wrong."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_ground_dynamics import BicycleParameters, UnicycleParameters
from aerotwin_ground_simulator import (
    GroundFaults,
    GroundRobotParameters,
    LidarSilence,
    RobotLidarSettings,
)
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import NoDisplacement, lateral_errors, metrics_of
from aerotwin_scenarios.teach_repeat import RepeatStudy, run_repeat, run_repeats
from aerotwin_scenarios.teach_repeat.judging import (
    MARK_COLUMNS,
    drives_section,
    evaluate_repeats,
    read_marks,
    route_in_bent_map,
    route_through_marks,
    stations,
    taught_stations,
)
from aerotwin_scenarios.teach_repeat.record import read_run
from aerotwin_scenarios.teach_repeat.study import known_to_the_tracker
from aerotwin_teach_repeat.repeat import RepeatState
from support.repeat_stage import box_world, lidar_file, teach_in

ALONG_M = 7.0
START_OFF_M, START_OFF_DEG = 0.4, 8.0
ON_ROUTE_M = 0.03
"""Lidar noise of 1 cm, exact surfaces, a tracker good to a centimetre once it is on the route."""
SETTLED_M = 4.0
"""Way that the tracker needs to come on to the route from the start error."""
FILE_M = 1e-8
"""Nine decimals in the file."""


@pytest.fixture(scope="module")
def world():
    return box_world()


@pytest.fixture(scope="module")
def queries(world):
    return WorldQueries(world)


@pytest.fixture(scope="module")
def taught(world):
    graph = teach_in(world, ALONG_M)
    return SimpleNamespace(graph=graph, ids=list(graph.runs[0]))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    preset = lidar_file(tmp_path_factory.mktemp("lidar"))
    return RepeatStudy(
        n_repeats=1, seed=5, start_error_m=START_OFF_M, start_error_deg=START_OFF_DEG,
        robot=GroundRobotParameters(lidar=RobotLidarSettings(preset=preset)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def record(taught, queries, study):
    return run_repeat(taught.graph, taught.ids, queries, study, 0)


def test_the_robot_finds_the_route_follows_it_and_stops_at_its_end(taught, record):
    assert record.is_completed, record.reason
    poses = taught.graph.poses_map(taught.ids)
    true = lateral_errors(poses[:, :3, 3], record.truth.p_ref_body)
    settled = true.s_m > SETTLED_M
    assert np.abs(true.error_m[settled]).max() < ON_ROUTE_M
    assert np.linalg.norm(record.truth.p_ref_body[-1, :2] - poses[-1, :2, 3]) < 0.4
    assert np.linalg.norm(record.truth.p_ref_body[0, :2] - poses[0, :2, 3]) > 0.05


def test_belief_is_that_of_the_stamps_and_near_the_truth(record):
    run = record.run
    assert len(run.stamps_ns) == len(record.belief)
    assert run.is_completed and run.n_interventions == 0
    off = run.T_true_base[:, :3, 3] - run.T_map_base[:, :3, 3]
    assert np.linalg.norm(off[5:], axis=1).max() < ON_ROUTE_M
    assert run.is_localized.all()


@pytest.mark.slow
def test_the_same_seed_repeats_the_drive_to_the_byte(taught, queries, study, record):
    again = run_repeat(taught.graph, taught.ids, queries, study, 0)
    assert again.truth.p_ref_body.tobytes() == record.truth.p_ref_body.tobytes()
    assert [step.s_m for step in again.steps] == [step.s_m for step in record.steps]


def test_repeats_start_and_slip_each_in_its_own_way(study):
    starts = [study.start_error(k) for k in range(200)]
    away = np.array([np.hypot(*T[:2, 3]) for T in starts])
    turn = np.array([np.arctan2(T[1, 0], T[0, 0]) for T in starts])
    assert away.max() <= START_OFF_M and away.mean() > START_OFF_M / 2.0
    assert np.abs(turn).max() <= np.radians(START_OFF_DEG)
    assert turn.min() < -0.5 * np.radians(START_OFF_DEG)
    assert len({study.robot_of(k).seed for k in range(20)}) == 20
    other = dataclasses.replace(study, seed=6)
    assert other.robot_of(0).seed != study.robot_of(0).seed


def test_the_latency_of_the_robot_is_that_which_is_compensated():
    study = RepeatStudy(robot=GroundRobotParameters(latency_s=0.15))
    assert study.repeat.latency_s == 0.15


def test_the_tracker_knows_lags_and_delay_of_its_vehicle():
    unicycle = known_to_the_tracker(UnicycleParameters(v_lag_s=0.3, omega_lag_s=0.4))
    assert (unicycle["vehicle"], unicycle["speed_lag_s"], unicycle["turn_lag_s"]) == (
        "unicycle", 0.3, 0.4,
    )  # fmt: skip
    car = known_to_the_tracker(BicycleParameters(maximum_steering_rad=np.pi / 4.0))
    assert (car["vehicle"], car["turn_lag_s"]) == ("bicycle", 0.2)
    assert car["max_curvature_1_m"] == pytest.approx(1.0 / 0.9)


def test_a_robot_that_sees_nothing_stays_where_it_is_and_gives_up(taught, queries, study):
    asleep = dataclasses.replace(
        study,
        faults=GroundFaults(silences=(LidarSilence(from_s=0.0, until_s=1e6),)),
        repeat=dataclasses.replace(study.repeat, give_up_s=5.0),
    )
    record = run_repeat(taught.graph, taught.ids, queries, asleep, 0)
    assert record.state is RepeatState.FAILED
    assert "no scan" in record.reason
    with pytest.raises(UserError, match="no repeat drove"):
        evaluate_repeats(SimpleNamespace(), [record], method="none")


def test_repeats_are_judged_at_marks(world, taught, record, tmp_path):
    poses = taught.graph.poses_map(taught.ids)
    route = route_in_bent_map("boxes", poses, NoDisplacement(), world, stations(poses, 3.0))
    assert route.floor is None and not route.is_closed
    metrics = metrics_of(evaluate_repeats(route, [record], method="test"))
    assert metrics["marks"]["n"] == metrics["marks"]["n_passings"] == len(stations(poses, 3.0))
    assert metrics["localisation"]["n_failed"] == 0
    section = drives_section([record])
    assert section.verdict.startswith("1 of 1 repeats")
    record.write(tmp_path / "repeat_1")
    written = {path.name for path in (tmp_path / "repeat_1").iterdir()}
    assert written == {
        "truth.tum", "belief.tum", "localisation.csv", "states.csv", "repeat.json",
    }  # fmt: skip
    again = read_run(tmp_path / "repeat_1")
    assert (again.stamps_ns == record.run.stamps_ns).all()
    assert again.T_true_base == pytest.approx(record.run.T_true_base, abs=FILE_M)
    assert again.T_map_base == pytest.approx(record.run.T_map_base, abs=FILE_M)
    assert (again.is_localized == record.run.is_localized).all()
    assert (again.name, again.is_completed) == (record.run.name, True)
    lines = (tmp_path / "repeat_1" / "localisation.csv").read_text().splitlines()
    assert len(lines) == len(record.steps) + 1


def test_painted_marks_are_read_and_what_is_none_is_refused(tmp_path, taught):
    poses = taught.graph.poses_map(taught.ids)
    path = tmp_path / "marks.csv"
    path.write_text(f"{MARK_COLUMNS}\n4.0,0.4,0.0,4.1,0.5,0.0\n")
    route = route_through_marks("survey", poses, path)
    assert route.marks.T_true_mark[0, :3, 3] == pytest.approx([4.1, 0.5, 0.0])
    for text, expected in (
        ("x,y\n1,2\n", "in its first line"),
        (f"{MARK_COLUMNS}\n1,2,3,4,5,nan\n", "six finite numbers"),
        (f"{MARK_COLUMNS}\n1,2,3,4,5,six\n", "not a table of numbers"),
        (f"{MARK_COLUMNS}\n", "one row at least"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=expected):
            read_marks(path)
    with pytest.raises(UserError, match="cannot be read"):
        read_marks(tmp_path / "nowhere.csv")
    with pytest.raises(UserError, match="too short"):
        stations(poses, 100.0)
    for spacing_m in (0.0, 1e-12, -1.0, float("nan"), 1e308):
        with pytest.raises(UserError, match="--marker-spacing-m must be"):
            stations(poses, spacing_m)


@pytest.mark.parametrize(
    "noted",
    ["abc", [[1.0, [2.0]]], [None], {"a": 1.0}, [1e308, -1e308], [-0.1], [[1.0]], [1.0] * 20_000],
)
def test_marks_of_a_damaged_manifest_are_refused(noted):
    poses = np.tile(np.eye(4), (11, 1, 1))
    poses[:, 0, 3] = np.arange(11.0)
    with pytest.raises(UserError, match=r"manifest\.json: markers_s_m must be"):
        taught_stations(noted, poses)
    np.testing.assert_array_equal(taught_stations([0, 2.5, 10.0], poses), [0.0, 2.5, 10.0])


def test_the_verb_writes_report_scores_and_records(tmp_path, world, taught, study, monkeypatch):
    import argparse

    import aerotwin_worlds
    from aerotwin_scenarios import repeat_command

    monkeypatch.setattr(aerotwin_worlds, "load_world", lambda spec: world)
    taught.graph.save(tmp_path / "graph")
    parser = argparse.ArgumentParser()
    repeat_command.configure(parser)
    tokens = [
        str(tmp_path / "graph"), "--world", "boxes", "--repeats", "1",
        "--lidar", study.robot.lidar.preset,
        "--marker-spacing-m", "3", "-o", str(tmp_path / "out"), "--json", str(tmp_path / "o.json"),
    ]  # fmt: skip
    assert repeat_command.run(parser.parse_args(tokens)) == 0
    said = json.loads((tmp_path / "o.json").read_text())
    assert said["pte_m"]["max"] < 0.5 and said["runs"]["n_completed"] == 1
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["seed"] == 0
    for name in ("report.html", "config.yaml", "repeat_1/truth.tum"):
        assert (tmp_path / "out" / name).is_file()


def test_a_number_of_repeats_is_driven_in_order(monkeypatch, study):
    from aerotwin_scenarios.teach_repeat import closed_loop

    monkeypatch.setattr(closed_loop, "run_repeat", lambda *a, **k: a[4])
    three = dataclasses.replace(study, n_repeats=3)
    assert run_repeats(None, [], None, three) == [0, 1, 2]
