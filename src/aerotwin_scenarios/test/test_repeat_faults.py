# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on a repeat, in the whole closed loop: judged by where the robot truly drove."""

import argparse
import dataclasses
import textwrap

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_ground_simulator import (
    FAULT_TEXTS,
    GroundRobotParameters,
    RobotLidarSettings,
    faults_of,
)
from aerotwin_rendering import WorldQueries
from aerotwin_scenarios import repeat_command
from aerotwin_scenarios.teach_repeat import RepeatStudy, run_repeat
from aerotwin_teach_repeat.repeat import RepeatParameters, RepeatState
from aerotwin_teach_repeat.route_graph import RouteGraph
from support.repeat_stage import box_world, lidar_file, teach_in

ALONG_M = 20.0
RIGHT_M = 0.3
"""A localisation farther from the truth than this is a wrong one."""
CARRIED_M = 0.05
"""A step of 10 ms that is longer than this was not driven."""
TOLD_M = 0.2
"""Between the way that is counted and the true one: 5 % of slip, and the age of a scan."""


@pytest.fixture(scope="module")
def queries():
    return WorldQueries(box_world())


@pytest.fixture(scope="module")
def graph_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults") / "graph"
    teach_in(box_world(), ALONG_M).save(folder)
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    lidar = RobotLidarSettings(preset=lidar_file(tmp_path_factory.mktemp("lidar")))
    robot = GroundRobotParameters(lidar=lidar)
    return RepeatStudy(seed=5, robot=robot, repeat=RepeatParameters(give_up_s=3.0))


@pytest.fixture
def drive(graph_folder, queries, study):
    """Repeat the first metres of the route with faults in words."""

    def run(*tokens, until_m=ALONG_M, graph=None, **choices):
        graph = graph or RouteGraph.load(graph_folder)
        ids = [k for k in graph.runs[0] if graph.vertex(k).T_map_vertex[0, 3] <= until_m]
        repeat = dataclasses.replace(study.repeat, **choices)
        faulty = dataclasses.replace(study, faults=faults_of(tokens), repeat=repeat)
        return run_repeat(graph, ids, queries, faulty, 0)

    return run


def true_way(record):
    """Return the way truly driven until each time of the truth, carrying left out [m]."""
    steps = np.linalg.norm(np.diff(record.truth.p_ref_body, axis=0), axis=1)
    return np.append(0.0, np.cumsum(np.where(steps > CARRIED_M, 0.0, steps)))


def right_stamps(record):
    """Return the stamps of the scans that were localised where the robot truly was."""
    found = [s for s in record.steps if s.is_localised and s.stamp_ns <= record.truth.stamps_ns[-1]]
    truth = record.truth.interpolate(np.array([s.stamp_ns for s in found])).p_ref_body
    off = np.linalg.norm(truth - [s.T_map_base[:3, 3] for s in found], axis=1)
    assert off.max() < RIGHT_M, "a wrong place was believed"
    return np.array([s.stamp_ns for s in found])


def longest_blind_way(record):
    """Return the longest way truly driven between scans that were rightly localised [m]."""
    times, way = record.truth.stamps_ns, true_way(record)
    places = np.interp(right_stamps(record), times, way)
    return float(np.diff(np.concatenate([[0.0], places, way[-1:]])).max())


def states(record):
    return [str(t.after) for t in record.transitions]


def test_a_silent_lidar_and_a_covered_view_stop_the_robot_which_then_goes_on(drive, study):
    record = drive("silent:2:5", "blocked:10:4", until_m=11.0)
    assert record.is_completed, record.reason
    once = ["blind", "stopped", "relocalising", "repeating"]
    assert states(record) == ["starting", "repeating", *once, *once, "finished"]
    blind_m = longest_blind_way(record)
    assert 1.5 < blind_m <= study.repeat.max_blind_m
    assert max(step.blind_m for step in record.steps) == pytest.approx(blind_m, abs=TOLD_M)
    reasons = " ".join(t.reason for t in record.transitions)
    assert "no scan for" in reasons and "only 0 of 0 points" in reasons


def test_half_a_view_is_enough_to_drive_on_and_a_push_is_steered_back(drive):
    record = drive("blocked:1:20:-90:90", "kidnapped:2.05:0:0.3:5", until_m=6.0)
    assert states(record) == ["starting", "repeating", "finished"]
    right_stamps(record)


@pytest.mark.slow
def test_a_kidnapped_robot_notices_is_found_and_goes_on_from_where_it_is(drive, study):
    record = drive("kidnapped:4.05:5:-1.5:60", until_m=14.0)
    assert record.is_completed, record.reason
    after = ["stopped", "relocalising", "repeating", "finished"]
    assert states(record) == ["starting", "repeating", "blind", *after]
    assert longest_blind_way(record) <= study.repeat.max_blind_m
    assert record.truth.p_ref_body[-1, 0] == pytest.approx(14.0, abs=0.5)


def test_a_robot_that_is_put_down_beside_its_route_fails_and_says_how_far(drive, study):
    record = drive("kidnapped:3.05:0:2.5")
    assert record.state is RepeatState.FAILED
    assert "left of the route, more than 1.5 m; drive it back" in record.reason
    assert longest_blind_way(record) <= study.repeat.max_blind_m


def test_a_robot_that_is_put_down_where_it_cannot_be_found_gives_up(drive, study):
    record = drive("kidnapped:3.05:0:-30:90", give_up_s=0.3)
    assert record.state is RepeatState.FAILED and "was not found within" in record.reason
    assert longest_blind_way(record) <= study.repeat.max_blind_m


@pytest.mark.slow
def test_damaged_submaps_are_driven_past_and_stop_the_robot_where_none_is_whole(
    drive, study, graph_folder, tmp_path
):
    graph = RouteGraph.load(graph_folder)
    graph.save(tmp_path / "damaged")
    for vertex_id in graph.submap_ids[1:]:
        path = tmp_path / "damaged" / "submaps" / f"{vertex_id:07d}.npz"
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    record = drive(graph=RouteGraph.load(tmp_path / "damaged"), give_up_s=0.3)
    assert record.state is RepeatState.FAILED and "damaged" in record.reason
    assert longest_blind_way(record) <= study.repeat.max_blind_m
    assert 9.0 < record.truth.p_ref_body[-1, 0] < 10.0 + study.repeat.max_blind_m


def test_a_route_that_does_not_connect_is_refused_before_anything_is_driven(tmp_path, graph_folder):
    graph = RouteGraph.load(graph_folder)
    first, second = graph.ids[:20], graph.ids[40:]
    edges = [e for e in graph.edges if {e.from_id, e.to_id} <= set(first) or e.from_id in second]
    parts = RouteGraph(
        [graph.vertex(k) for k in (*first, *second)], edges, graph.submaps, frame=graph.frame
    )
    parts.save(tmp_path / "parts")
    parser = argparse.ArgumentParser()
    repeat_command.configure(parser)
    tokens = [str(tmp_path / "parts"), "--world", "campus", "--from", str(first[0]), "--to",
             str(second[-1]), "-o", str(tmp_path / "out")]  # fmt: skip
    with pytest.raises(UserError, match="the graph falls into 2 parts"):
        repeat_command.run(parser.parse_args(tokens))
    assert not (tmp_path / "out").exists()


def test_the_help_of_the_verb_says_the_words_of_the_simulator():
    assert textwrap.indent(FAULT_TEXTS, "  ") in repeat_command.__doc__


@pytest.mark.parametrize("word", ["", "silent", "silent:x:1", "blocked:1:2:3:4:5:6", "lost:1:2"])
def test_a_fault_that_is_none_is_refused_in_one_line_with_the_forms(word):
    with pytest.raises(UserError, match=r"silent:FROM:SECONDS, blocked:.*, kidnapped:") as caught:
        faults_of([word])
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("at_m", [6.0, 14.0])
def test_a_start_on_the_way_is_found_without_an_initial_pose(graph_folder, queries, study, at_m):
    unknown = dataclasses.replace(study, start_at_m=at_m, is_start_unknown=True)
    graph = RouteGraph.load(graph_folder)
    ids = [k for k in graph.runs[0] if graph.vertex(k).T_map_vertex[0, 3] <= at_m + 2.0]
    record = run_repeat(graph, ids, queries, unknown, 0)
    assert record.is_completed, record.reason
    assert record.truth.p_ref_body[0, 0] == pytest.approx(at_m, abs=1.0)
    assert record.steps[2].s_m == pytest.approx(at_m, abs=1.5)
    right_stamps(record)


def test_a_start_beyond_the_route_is_refused(graph_folder, queries, study):
    graph = RouteGraph.load(graph_folder)
    far = dataclasses.replace(study, start_at_m=99.0)
    with pytest.raises(UserError, match="--start-at-m must be on the route of 2"):
        run_repeat(graph, list(graph.runs[0]), queries, far, 0)
