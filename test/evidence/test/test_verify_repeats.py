# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evidence of repeats: how routes are taught, what is kept, and how bars are judged."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from aerotwin_campaign import (
    FinishedRun,
    RunContext,
    WorkerPlace,
    load_campaign,
)
from aerotwin_core.errors import UserError
from aerotwin_ground_simulator import GroundRobotParameters, RobotLidarSettings
from aerotwin_reconstruction.degradation import field_of, load_degradation
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import arc_length, true_poses
from aerotwin_scenarios.teach_repeat import RepeatStudy
from aerotwin_scenarios.teach_repeat.judging import route_in_bent_map
from aerotwin_scenarios.teach_repeat.record import RECORD
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.teaching import DriveTeacher, RouteFile
from evidence.verification.repeats import CASES, bent, campaign, driven
from evidence.verification.repeats.case import Case, TaughtRoute, Thresholds
from evidence.verification.repeats.page import figures
from evidence.verification.repeats.rows import SCORES, rows_of, shown
from support.repeat_stage import box_world, lidar_file, teach_in

FILE = Path(__file__).parents[1] / "campaigns/repeats.yaml"
ALONG_M = 5.0
SEED = 1000
TAUGHT_M = 0.02
"""Lidar odometry over 5 m, with 1 cm of noise in some thousand points of a scan."""
SETTLED_M = 0.06
"""The robot starts up to half a metre beside the route, and has 3 m to come on to it."""


@pytest.fixture(scope="module")
def world():
    return box_world()


@pytest.fixture(scope="module")
def quick_study(tmp_path_factory):
    """Studies with a small lidar."""
    lidar = RobotLidarSettings(preset=lidar_file(tmp_path_factory.mktemp("lidar")))
    robot = GroundRobotParameters(lidar=lidar)

    def study(**choices):
        return RepeatStudy(robot=robot, start_error_m=0.1, start_error_deg=3.0, **choices)

    return study


@pytest.fixture(scope="module")
def driven_once(tmp_path_factory, world, quick_study):
    """A run of one repeat: its case, folder and what it returned."""
    case, folder = case_in(world), tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(campaign, "RepeatStudy", quick_study)
        patch.setitem(CASES, "driven", case)
        result = campaign.repeat({"case": "driven"}, context_in(folder))
    return SimpleNamespace(case=case, folder=folder, result=result)


def context_in(folder) -> RunContext:
    place = WorkerPlace(number=0, cores=(0,), ros_domain_id=None, scratch=folder)
    return RunContext(seed=SEED, repeat=0, folder=folder, place=place)


def case_in(world, *, n_repeats=1, thresholds=None) -> Case:
    """Return a case of a short route in the world's own map."""

    def teach(seed, folder):
        graph = teach_in(world, ALONG_M)
        poses = graph.poses_map(graph.runs[0])
        field = field_of(load_degradation("none"), seed)
        route = route_in_bent_map("boxes", poses, field, world, np.array([3.0, 4.0]))
        return TaughtRoute(graph=graph, route=route, world=world)

    thresholds = thresholds or Thresholds(above_floor_m=SETTLED_M)
    return Case(
        name="tiny", title="a tiny route", teach=teach, n_repeats=n_repeats, thresholds=thresholds
    )


def test_a_robot_that_is_driven_teaches_where_it_truly_was(
    tmp_path, world, quick_study, monkeypatch
):
    monkeypatch.setattr(driven, "marker_stations", lambda length_m: (length_m / 2.0,))
    poses = teach_in(world, ALONG_M).poses_map()
    study, teacher = quick_study(seed=SEED), DriveTeacher(tmp_path / "graph")
    truth = driven.drive(WorldQueries(world), poses, study, teacher)
    graph = teacher.finish()
    taught = graph.poses_map(graph.runs[0])
    assert arc_length(taught[:, :2, 3])[-1] == pytest.approx(ALONG_M, abs=0.7)
    stamps_ns = np.array([graph.vertex(k).stamp_ns for k in graph.runs[0]])
    true = truth.interpolate(stamps_ns).transforms()
    expected = np.linalg.inv(true[0]) @ true
    assert np.linalg.norm(taught[:, :3, 3] - expected[:, :3, 3], axis=1).max() < TAUGHT_M
    (mark,) = driven.route_as_driven("boxes", graph, truth).marks.T_true_mark
    gaps = np.linalg.norm(true[:, :2, 3] - mark[:2, 3], axis=1)
    k = int(np.argmin(gaps))
    assert gaps[k] < 0.2  # half a step between vertices
    assert mark[:2, 0] @ true[k, :2, 0] > 0.99


def test_a_bent_map_is_taught_along_the_image_of_the_worlds_own_route(tmp_path, world, monkeypatch):
    x = np.linspace(0.0, ALONG_M, 6)
    way = RouteFile(name="boxes", waypoints_m=tuple((float(v), 0.2 * float(np.sin(v))) for v in x))
    monkeypatch.setattr(bent, "load_world", lambda spec: world)
    monkeypatch.setattr(bent, "route_of_world", lambda spec: way)
    monkeypatch.setattr(bent, "marker_stations", lambda length_m: (length_m / 2.0,))
    taught = bent.teach_in_bent_map(3, tmp_path, name="boxes")
    true = true_poses(taught.route.displacement, taught.route.T_map_route)[:, :3, 3]
    gaps = np.abs(true[:, 1] - 0.2 * np.sin(true[:, 0]))
    assert gaps.max() < 0.1  # the path is smoothed
    off = np.linalg.norm(true - taught.route.T_map_route[:, :3, 3], axis=1)
    assert 0.05 < off.mean() < 1.0  # 30 cm RMS over all seeds
    assert RouteGraph.load(tmp_path / "graph").about["degradation"] == "warp_30cm"
    assert len(taught.route.marks) == 1 and taught.route.floor is not None


def scores_of(offsets, *, seed=SEED, floor=None, n_missed=0, n_interventions=0) -> dict:
    return {
        "seed": seed,
        "marks": {"offsets_m": offsets, "n_missed": n_missed, "s_m": list(range(len(offsets)))},
        "floor_at_marks_m": floor,
        "interventions": {"n": n_interventions, "driven_km": 1.5},
    }


def case_of(name="c", *, n_repeats=2, **limits) -> Case:
    return Case(
        name=name, title=name, teach=None, n_repeats=n_repeats, thresholds=Thresholds(**limits)
    )


def of(rows, figure, seed=None):
    (row,) = (row for row in rows if (row["figure"], row["seed"]) == (figure, seed))
    return row


def test_bars_are_judged_for_every_seed_and_over_all():
    case = case_of(rmse_m=0.02, max_m=0.06)
    good = scores_of([[0.01, 0.01], [-0.01, -0.01]])
    bad = scores_of([[0.03, 0.03], [0.07, None]], seed=1001, n_missed=1)
    rows = rows_of([case], {"c": [good, bad]})
    assert of(rows, "marker RMSE", SEED)["value"] == pytest.approx(0.01)
    assert of(rows, "marker RMSE", SEED)["met"] and not of(rows, "marker RMSE", 1001)["met"]
    assert of(rows, "marker largest", 1001)["value"] == pytest.approx(0.07)
    pooled = np.sqrt((4 * 0.01**2 + 2 * 0.03**2 + 0.07**2) / 7)
    assert of(rows, "marker RMSE")["value"] == pytest.approx(pooled)
    assert not of(rows, "marks not passed", 1001)["met"]
    assert of(rows, "repeatability", SEED)["met"]


def test_the_bar_of_a_bent_map_is_its_floor_and_what_is_allowed_beyond():
    case = case_of(above_floor_m=0.02, n_repeats=1)
    floor = [0.03, -0.04]
    floor_m = np.sqrt((0.03**2 + 0.04**2) / 2)
    rows = rows_of([case], {"c": [scores_of([[floor_m + 0.019], [0.0]], floor=floor)]})
    assert of(rows, "marker RMSE", SEED)["threshold"] == pytest.approx(floor_m + 0.02)
    assert of(rows, "floor largest", SEED)["value"] == pytest.approx(0.04)
    assert of(rows, "marker RMSE", SEED)["met"]
    assert not any(row["figure"] == "repeatability" for row in rows)
    rows = rows_of([case], {"c": [scores_of([[0.06], [0.06]], floor=floor)]})
    assert not of(rows, "marker RMSE", SEED)["met"]


def test_no_intervention_is_allowed_on_structured_routes_and_elsewhere_it_is_reported():
    road, meadow = case_of("road"), case_of("meadow", is_structured=False)
    scores = [scores_of([[0.0, 0.0]], n_interventions=1)]
    rows = rows_of([road, meadow], {"road": scores, "meadow": scores})
    assert of(rows, "interventions, structured routes")["met"] is False
    assert of(rows, "interventions, other routes")["met"] is None
    assert of(rows, "driven, structured routes")["value"] == pytest.approx(1.5)
    scores.append(scores_of([[0.0, 0.0]], seed=1001, n_interventions=1))
    rows = rows_of([meadow], {"meadow": scores})
    assert of(rows, "driven per intervention, other routes")["value"] == pytest.approx(1.5)
    assert not any(row["figure"].endswith("structured routes") for row in rows)


def test_rows_are_printed_in_centimetres_and_counts_as_they_are():
    case = case_of(rmse_m=0.02)
    rows = rows_of([case], {"c": [scores_of([[0.0123, 0.0123]])]})
    assert shown(of(rows, "marker RMSE")) == ("1.23", "2.00", "cm", "met")
    assert shown(of(rows, "marks not passed")) == ("0", "0", "", "met")


def test_the_routes_of_the_cases_have_the_bars_of_the_issue():
    allowed = {name: case.thresholds.above_floor_m for name, case in CASES.items()}
    assert (allowed["campus_warp"], allowed["route_warp"], allowed["grassland_warp"]) == (
        0.02, 0.04, 0.04,
    )  # fmt: skip
    assert (
        CASES["driven"].thresholds.rmse_m,
        CASES["driven"].thresholds.max_m,
    ) == (0.02, 0.06)
    assert all(case.thresholds.repeatability_m == 0.01 for case in CASES.values())


def test_a_run_keeps_its_scores_and_returns_the_main_numbers(driven_once):
    scores = json.loads((driven_once.folder / SCORES).read_text())
    metrics = driven_once.result["metrics"]
    assert driven_once.result["is_success"], driven_once.result["outcome"]
    assert (scores["seed"], scores["drives"][0]["state"]) == (SEED, "finished")
    offsets = np.array(scores["marks"]["offsets_m"], float)
    assert metrics["marker_rmse_m"] == pytest.approx(np.sqrt(np.mean(offsets**2)))
    assert metrics["marker_max_m"] == pytest.approx(np.abs(offsets).max())
    assert metrics["driven_km"] == pytest.approx(ALONG_M * 1e-3, rel=0.1)
    assert (metrics["n_marks_missed"], metrics["n_interventions"]) == (0, 0)


def test_a_run_names_the_limits_that_it_misses(world, quick_study, tmp_path, monkeypatch):
    case = case_in(world, thresholds=Thresholds(above_floor_m=-1.0, max_m=1.0))
    monkeypatch.setattr(campaign, "RepeatStudy", quick_study)
    monkeypatch.setitem(CASES, "driven", case)
    result = campaign.repeat({"case": "driven"}, context_in(tmp_path))
    assert not result["is_success"]
    assert "marker RMSE" in result["outcome"] and "largest" not in result["outcome"]
    with pytest.raises(UserError, match="flown must be one of driven"):
        campaign.repeat({"case": "flown"}, context_in(tmp_path))


def test_a_repeat_that_never_drove_passed_no_mark(driven_once, world, tmp_path):
    drove, stood = driven_once.folder / "repeat_1", tmp_path / "repeat_2"
    stood.mkdir()
    record = {"name": "2", "state": "failed", "reason": "no scan", "simulated_s": 9.0, "wall_s": 1}
    (stood / RECORD).write_text(json.dumps(record))
    route = driven_once.case.teach(SEED, tmp_path).route
    scores = campaign.judged(driven_once.case, SEED, route, [drove, stood])
    assert scores["marks"]["n_missed"] == 2 and scores["interventions"]["n"] == 1
    with pytest.raises(UserError, match="no repeat drove"):
        campaign.judged(driven_once.case, SEED, route, [stood])


def finished(folder, scores, *, seed=SEED, case="driven") -> FinishedRun:
    folder = folder / f"{case}-{seed}"
    folder.mkdir()
    if scores is not None:
        (folder / SCORES).write_text(json.dumps(scores))
    return FinishedRun(
        id=folder.name, axes={"case": case}, seed=seed, repeat=0, metrics={},
        is_success=scores is not None, outcome="", folder=folder,
    )  # fmt: skip


def scores_with_drives(offsets, **choices) -> dict:
    return scores_of(offsets, **choices) | {"drives": [], "localisation": {"n": 9, "n_failed": 0}}


def test_figures_pool_all_seeds_and_a_failed_run_misses_its_limits(tmp_path):
    runs = [
        finished(tmp_path, scores_with_drives([[0.01, 0.01, 0.01]])),
        finished(tmp_path, scores_with_drives([[0.02, 0.02, 0.02]], seed=1001), seed=1001),
    ]
    found = figures(runs)
    assert found.values["n_limits_missed"] == 0
    pooled = np.sqrt((0.01**2 + 0.02**2) / 2)
    assert found.values["driven"]["marker_rmse_m"] == pytest.approx(pooled)
    assert [section.name for section in found.sections] == ["repeats", "driven"]
    failed = figures([*runs, finished(tmp_path, None, seed=1002)])
    assert failed.values["n_limits_missed"] > 0
    assert failed.values["driven"]["marker_rmse_m"] is None
    bent = figures([finished(tmp_path, None, case="campus_warp")])
    assert bent.values["n_limits_missed"] > 0


def test_the_campaign_has_all_cases():
    loaded = load_campaign(FILE)
    assert tuple(loaded.axes["case"].values) == tuple(CASES)
    assert loaded.n_runs == 3 * len(CASES)
