# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed loop by radar on a short route between houses, and what its report shows."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_ground_simulator import (
    GroundFaults,
    GroundRobotParameters,
    LidarSilence,
    RobotLidarSettings,
)
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import NoDisplacement, lateral_errors
from aerotwin_scenarios.repeat_command import _verdict
from aerotwin_scenarios.teach_repeat import RepeatStudy, run_repeat
from aerotwin_scenarios.teach_repeat.closed_loop import RadarSensor, sensor_of
from aerotwin_scenarios.teach_repeat.radar_page import radar_section, radar_turn
from aerotwin_teach_repeat.repeat import RepeatState
from aerotwin_teach_repeat.teaching import teach_route
from aerotwin_worlds import World

ALONG_M = 8.0
ON_ROUTE_M = 0.05
"""Of a radar with bins of 4 cm; see docs/reference/measured_results.md."""
SETTLED_M = 4.0
"""Way that the tracker needs to come on to the route from the start error."""


def quads(corners, name):
    corners = np.array(corners, float)
    first = 4 * np.arange(len(corners) // 4)[:, None]
    halves = [np.add(first, half) for half in ([0, 1, 2], [0, 2, 3])]
    return TexturedMesh(
        vertices_map=corners,
        triangles=np.vstack(halves).astype(np.int32),
        uv=np.zeros((len(corners), 2), np.float32),
        texture=np.full((4, 4, 3), 128, np.uint8),
        name=name,
    )


@pytest.fixture(scope="module")
def world():
    """Level ground with houses of walls on both sides of the x axis, of which no two are alike."""
    rng = np.random.default_rng(2)
    walls = []
    for x in range(-20, 36, 8):
        for side in (-1, 1):
            low = np.array([x + rng.uniform(-1, 1), side * rng.uniform(6, 10)])
            high = np.add(low, [rng.uniform(3, 6), side * rng.uniform(3, 6)])
            ring = [low, (high[0], low[1]), high, (low[0], high[1]), low]
            for a, b in pairwise(ring):
                walls += [[*a, -0.1], [*b, -0.1], [*b, 5.0], [*a, 5.0]]
    ground = [[-40, -40, 0], [60, -40, 0], [60, 40, 0], [-40, 40, 0]]
    return World(
        name="houses",
        meshes=(quads(ground, "ground"), quads(walls, "walls")),
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
def graph(world):
    from aerotwin_reconstruction.degradation import sample_surface

    points = sample_surface(world.meshes, 0.2, seed=0).points_map
    return teach_route(points, np.array([[0.0, 0.0], [ALONG_M, 0.0]]), is_closed=False)


STUDY = RepeatStudy(
    seed=4, start_error_m=0.4, start_error_deg=8.0, radar="navtech_cir304",
    robot=GroundRobotParameters(lidar=RobotLidarSettings(x_m=0.2)),
)  # fmt: skip


def test_a_robot_with_a_radar_finds_follows_and_finishes_its_route(graph, queries):
    ids = graph.runs[0]
    record = run_repeat(graph, ids, queries, STUDY, 0)
    assert record.is_completed, record.reason
    run = record.run
    assert run.is_localized.all()
    found = lateral_errors(graph.poses_map(ids)[:, :3, 3], run.T_true_base[:, :3, 3])
    assert np.abs(found.error_m[found.s_m > SETTLED_M]).max() < ON_ROUTE_M
    stamps = np.diff([step.stamp_ns for step in record.steps])
    assert (stamps == 250_000_000).all()


def test_a_silent_radar_stops_the_robot_which_then_goes_on(graph, queries):
    silence = LidarSilence(from_s=2.0, until_s=7.0)
    study = dataclasses.replace(STUDY, faults=GroundFaults(silences=(silence,)))
    record = run_repeat(graph, graph.runs[0], queries, study, 0)
    assert record.is_completed, record.reason
    assert RepeatState.STOPPED in [transition.after for transition in record.transitions]
    assert max(step.blind_m for step in record.steps) <= study.repeat.max_blind_m + 0.1


def test_what_the_radar_is_reported_of_itself_is_what_it_is():
    sensor = sensor_of(STUDY)
    assert isinstance(sensor, RadarSensor)
    assert sensor.period_ns == 250_000_000
    assert sensor.protocol.odometry.doppler_shift_s == sensor.radar.doppler_shift_s == 0.049
    assert sensor.protocol.view.height_m == STUDY.robot.lidar.z_m
    with pytest.raises(ParameterError, match="radar has none named 'sonar'"):
        sensor_of(dataclasses.replace(STUDY, radar="sonar"))


def test_the_report_shows_a_turn_and_the_published_figures_of_radars(graph, queries):
    turn = radar_turn(graph, graph.runs[0], queries, STUDY, NoDisplacement())
    section = radar_section(turn)
    assert section.metrics["share_on_map"] > 0.7
    assert section.metrics["n_peaks"] > 100
    (table,) = section.tables
    assert all(row[2].startswith("radar") and row[-1] == "no" for row in table.rows)
    assert ("Structured-C", "312", "radar, taught by driving", "6.3", "13.3", "no") in table.rows


def test_a_robot_that_passed_no_mark_gets_a_verdict_in_words():
    """As that of a radar in the grassland, where little stands as high as its beam."""
    metrics = {
        "pte_m": {"rmse": None, "max": None},
        "floor_m": None,
        "localisation": {"n_failed": 3, "n": 4},
    }
    said = _verdict(metrics, 0, 1)
    assert said == "0 of 1 repeats completed; no mark was passed; 3 of 4 scans not localised"
