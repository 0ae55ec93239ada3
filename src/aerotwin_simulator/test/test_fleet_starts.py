# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Room for like vehicles, in worlds whose walls and slopes are known in closed form."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_meshes import TexturedMesh
from aerotwin_px4_bridge import MissionPlan, Waypoint
from aerotwin_rendering import WorldQueries
from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_simulator.fleet import plan_vehicles
from aerotwin_simulator.fleet_starts import CLEAR_M, place_side_by_side
from aerotwin_worlds import load_world

HOVER = "waypoints: [{position_m: [0.0, 0.0, 5.0]}]\n"
EAST_30_M = "waypoints: [{position_m: [30.0, 0.0, 5.0]}]\n"
ROUGHNESS_M = 0.4
"""Of the way kept from walls that is given up to ground that slopes (0.15 m), is rough (0.25 m)."""
CLIFF_MISSION = Path(__file__).parents[3] / "config" / "missions" / "cliff.yaml"


def rectangle(corners: list[tuple[float, float, float]], name: str) -> TexturedMesh:
    """Return two triangles through four corners."""
    return TexturedMesh(
        vertices_map=np.array(corners, float),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.full((2, 2, 3), 90, np.uint8),
        name=name,
    )


def wall_at(x: float, y: float, half_m: float) -> TexturedMesh:
    """Return an upright wall, 20 m high, that faces south."""
    low, high = x - half_m, x + half_m
    return rectangle([(low, y, 0), (high, y, 0), (high, y, 20), (low, y, 20)], "the wall")


@pytest.fixture
def starts(tmp_path, flat_world):
    """Return where like vehicles start beside extra meshes, (n, 2) [m]."""

    def place(n: int, *meshes: TexturedMesh, mission: str = HOVER) -> np.ndarray:
        path = tmp_path / "mission.yaml"
        path.write_text(mission)
        world = dataclasses.replace(flat_world, meshes=(*flat_world.meshes, *meshes))
        plans = plan_vehicles(
            SimulatorParameters(
                fleet=FleetSettings(instances=n), mission=MissionSettings(file=str(path))
            )
        )
        placed = place_side_by_side(plans, world, WorldQueries(world))
        assert [plan.name for plan in placed] == [f"uav{k}" for k in range(n)]
        return np.array([(plan.start_east_m, plan.start_north_m) for plan in placed])

    return place


def test_with_room_they_stand_close_together(starts):
    found = starts(25)
    np.testing.assert_array_equal(found[:4], [(0, 0), (0, 3), (3, 0), (-3, 0)])
    assert len(np.unique(found, axis=0)) == 25
    assert (np.diff(np.hypot(*found.T)) >= 0.0).all()
    assert np.abs(found).max() == 6.0  # a square of 5 by 5


def test_no_pose_is_in_or_too_near_a_wall(starts):
    found = starts(60, wall_at(0.0, 7.4, 80.0))  # 6 and 9 m are 1.4 and 1.6 m from it
    assert {*found[:, 1]} >= {-6.0, -3.0, 0.0, 3.0, 12.0}
    assert not {*found[:, 1]} & {6.0, 9.0}


def test_a_mission_that_would_fly_into_a_wall_counts_as_one_that_starts_there(starts):
    found = starts(40, wall_at(25.0, 6.0, 3.0), mission=EAST_30_M)
    clear = np.abs(found[:, 1] - 6.0)
    assert (clear >= CLEAR_M - ROUGHNESS_M).all()
    assert (0.0, 6.0) not in map(tuple, found)
    assert (0.0, 9.0) in map(tuple, found)


def test_no_start_or_landing_is_on_steep_ground_or_on_an_edge(starts):
    ramp = rectangle([(-9, 2, 0), (9, 2, 0), (9, 9, 3.5), (-9, 9, 3.5)], "a ramp of 27 degrees")
    block = rectangle([(-9, -40, 1), (9, -40, 1), (9, -5.5, 1), (-9, -5.5, 1)], "a step of 1 m")
    found = {*map(tuple, starts(30, ramp, block).tolist())}
    assert found >= {(0.0, 0.0), (0.0, -3.0), (0.0, -9.0), (12.0, 3.0)}
    assert not found & {(0.0, 3.0), (9.0, 3.0), (0.0, -6.0), (-9.0, -6.0)}


def test_a_fleet_that_has_no_room_is_refused_by_name(starts):
    walls = [wall_at(0.0, y, 40.0) for y in range(-39, 40) if abs(y) > 2]
    with pytest.raises(
        ParameterError,
        match=r"fleet\.instances: expected room for 40 vehicles, 3 m apart around the start "
        r"\(0.0, 0.0\) m of flat, found it for .*too near 'the wall'.*fly fewer",
    ):
        starts(40, *walls)


def test_the_first_vehicle_s_own_distance_to_a_wall_is_near_enough_for_all(starts):
    beyond = wall_at(0.0, 4.2, 40.0)
    assert (0.0, 3.0) not in map(tuple, starts(20, beyond).tolist())
    np.testing.assert_array_equal(starts(2, beyond, wall_at(0.0, 1.0, 40.0)), [(0, 0), (0, 3)])


def test_several_vehicles_with_one_track_are_refused(tmp_path, flat_world):
    from aerotwin_simulator.fleet import side_by_side

    track = "t,x,y,z\n"
    (tmp_path / "track.csv").write_text(track)
    mission = MissionPlan(waypoints=(Waypoint(position_m=(1.0, 0.0, 5.0)),))
    object.__setattr__(mission, "track", "track.csv")
    for plan in plan_vehicles(SimulatorParameters(fleet=FleetSettings(instances=2))):
        with pytest.raises(ParameterError, match="expected 1 with a track"):
            side_by_side(mission, plan)


def test_ten_vehicles_find_room_at_the_shipped_cliff_and_keep_clear_of_it():
    world = load_world("cliff")
    queries = WorldQueries(world)
    plans = plan_vehicles(
        SimulatorParameters(
            fleet=FleetSettings(instances=10), mission=MissionSettings(file=str(CLIFF_MISSION))
        )
    )
    placed = place_side_by_side(plans, world, queries)
    p = np.array([(q.start_east_m, q.start_north_m) for q in placed])
    apart = np.linalg.norm(p[:, None] - p[None], axis=2)[np.triu_indices(10, 1)]
    assert apart.min() == 3.0
    (face,) = [mesh for mesh in world.meshes if mesh.name == "wall"]
    # The slow way: every start and way-point against every vertex of the wall, 7.5 cm apart.
    mission = [(-26.0, -10.0, 8.0), (0.0, -9.5, 8.0), (25.0, -10.0, 13.0)]
    for east, north in p:
        for x, y, z in mission:
            away = np.linalg.norm(face.vertices_map - (x + east, y + north, z), axis=1)
            assert away.min() > CLEAR_M - ROUGHNESS_M


def test_a_start_in_a_wall_is_refused_before_anything_flies(tmp_path, flat_world):
    world = dataclasses.replace(flat_world, meshes=(*flat_world.meshes, wall_at(5.0, 0.02, 3.0)))
    fleet = tmp_path / "fleet.yaml"
    fleet.write_text("vehicles: [{name: a}, {name: b, start_east_m: 5.0, start_north_m: -0.1}]")
    parameters = SimulatorParameters(
        fleet=FleetSettings(file=str(fleet)),
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind="ros2"),
    )
    with pytest.raises(
        ParameterError, match=r"b: its start \(5.0, -0.1\) m in map touches the wall"
    ):
        Simulation(parameters, world, tmp_path, [])
