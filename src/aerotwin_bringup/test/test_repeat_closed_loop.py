# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed loop on a short route among boxes: found, followed, judged; and what goes wrong."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_bringup.teach_repeat import RepeatStudy, run_repeat, run_repeats
from aerotwin_bringup.teach_repeat.judging import (
    MARK_COLUMNS,
    drives_section,
    evaluate_repeats,
    read_marks,
    route_in_bent_map,
    route_through_marks,
    stations,
)
from aerotwin_bringup.teach_repeat.record import read_run
from aerotwin_bringup.teach_repeat.study import known_to_the_tracker
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_ground_dynamics import BicycleParameters, UnicycleParameters
from aerotwin_simulator.ground import GroundFaults, GroundRobotParameters, LidarSilence
from aerotwin_teach_repeat.deviation import NoDisplacement, lateral_errors
from aerotwin_teach_repeat.repeat import RepeatState
from aerotwin_teach_repeat.teaching import teach_route
from aerotwin_worlds import TexturedMesh, World, WorldQueries

ALONG_M = 7.0
START_OFF_M, START_OFF_DEG = 0.4, 8.0
ON_ROUTE_M = 0.03
"""Lidar noise of 1 cm, exact surfaces, a tracker good to a centimetre once it is on the route."""
SETTLED_M = 4.0
"""Way that the tracker needs to come on to the route from the start error."""
FILE_M = 1e-8
"""Nine decimals in the file."""
PRESET = """
source: a test
parameters: {n_rings: 16, n_columns: 512, elevation_top_deg: 15.0, elevation_bottom_deg: -15.0,
             range_noise_m: 0.01}
"""


def box(x, y, half, height, name):
    low, high = np.array([x - half, y - half, -0.1]), np.array([x + half, y + half, height])
    corners = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return mesh(low + corners * (high - low), triangles, name)


def mesh(vertices, triangles, name):
    return TexturedMesh(
        vertices_map=np.asarray(vertices, float),
        triangles=np.asarray(triangles, np.int32),
        uv=np.zeros((len(vertices), 2), np.float32),
        texture=np.full((4, 4, 3), 128, np.uint8),
        name=name,
    )


@pytest.fixture(scope="module")
def world():
    """Level ground with boxes of different sizes on both sides of the x axis."""
    rng = np.random.default_rng(2)
    places = [(x, side * rng.uniform(4, 12)) for x in range(-12, 32, 4) for side in (-1, 1)]
    boxes = [
        box(x + rng.uniform(-1, 1), y, rng.uniform(0.4, 1.5), rng.uniform(1, 5), f"box {k}")
        for k, (x, y) in enumerate(places)
    ]
    ground = [[-40, -40, 0], [50, -40, 0], [50, 40, 0], [-40, 40, 0]]
    return World(
        name="boxes",
        meshes=(mesh(ground, [[0, 1, 2], [0, 2, 3]], "ground"), *boxes),
        origin=GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=488.0),
        attribution="test",
        licence="Apache-2.0",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )


@pytest.fixture(scope="module")
def queries(world):
    return WorldQueries(world)


@pytest.fixture(scope="module")
def taught(world):
    """A graph along a gentle S, taught on points of the true surface."""
    from aerotwin_reconstruction.degradation import sample_surface

    x = np.linspace(0.0, ALONG_M, 7)
    waypoints = np.column_stack([x, 0.5 * np.sin(x / 3.0)])
    points = sample_surface(world.meshes, 0.12, seed=0).points_map
    graph = teach_route(points, waypoints)
    return SimpleNamespace(graph=graph, ids=list(graph.runs[0]))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    preset = tmp_path_factory.mktemp("lidar") / "lidar.yaml"
    preset.write_text(PRESET)
    return RepeatStudy(
        n_repeats=1, seed=5, start_error_m=START_OFF_M, start_error_deg=START_OFF_DEG,
        robot=GroundRobotParameters(lidar=str(preset)),
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


@pytest.mark.slow
def test_a_lidar_that_is_silent_for_five_seconds_stops_the_robot_which_then_goes_on(
    taught, queries, study
):
    silence = LidarSilence(from_s=2.0, until_s=7.0)
    lost = dataclasses.replace(study, faults=GroundFaults(silences=(silence,)))
    record = run_repeat(taught.graph, taught.ids, queries, lost, 0)
    assert record.is_completed, record.reason
    states = [transition.after for transition in record.transitions]
    assert RepeatState.STOPPED in states
    silent = (record.truth.stamps_ns > 2e9) & (record.truth.stamps_ns < 7e9)
    way = np.linalg.norm(np.diff(record.truth.p_ref_body[silent], axis=0), axis=1).sum()
    assert way < study.repeat.max_blind_m + 0.1
    assert max(step.blind_m for step in record.steps) <= study.repeat.max_blind_m + 0.1


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
    metrics = evaluate_repeats(route, [record], method="test").metrics()
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


def test_the_verb_writes_report_scores_and_records(tmp_path, world, taught, study, monkeypatch):
    import argparse

    import aerotwin_worlds
    from aerotwin_bringup.teach_repeat import repeat_command

    monkeypatch.setattr(aerotwin_worlds, "load_world", lambda spec: world)
    taught.graph.save(tmp_path / "graph")
    parser = argparse.ArgumentParser()
    repeat_command.configure(parser)
    words = [
        str(tmp_path / "graph"), "--world", "boxes", "--repeats", "1", "--lidar", study.robot.lidar,
        "--marker-spacing-m", "3", "-o", str(tmp_path / "out"), "--json", str(tmp_path / "o.json"),
    ]  # fmt: skip
    assert repeat_command.run(parser.parse_args(words)) == 0
    said = json.loads((tmp_path / "o.json").read_text())
    assert said["pte_m"]["max"] < 0.5 and said["runs"]["n_completed"] == 1
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["seed"] == 0
    for name in ("report.html", "config.yaml", "repeat_1/truth.tum"):
        assert (tmp_path / "out" / name).is_file()


def test_a_number_of_repeats_is_driven_in_order(monkeypatch, study):
    from aerotwin_bringup.teach_repeat import closed_loop

    monkeypatch.setattr(closed_loop, "run_repeat", lambda *a, **k: a[4])
    three = dataclasses.replace(study, n_repeats=3)
    assert run_repeats(None, [], None, three) == [0, 1, 2]
