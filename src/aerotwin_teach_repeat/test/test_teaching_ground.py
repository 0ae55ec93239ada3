# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ground of a cloud and the vehicle on it; a route taught in a cloud, end to end."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.frames import transform_points
from aerotwin_teach_repeat.route_graph import RouteGraph, relative_pose
from aerotwin_teach_repeat.submaps import SubmapProtocol
from aerotwin_teach_repeat.teaching import (
    GroundGrid,
    GroundParameters,
    TeachParameters,
    poses_on_ground,
    teach_route,
)

PLANE_ERROR = 1e-6
"""Of a plane fitted to heights that lie on one, with a regularisation of 1e-9 [m, rad]."""
CELL_BIAS = 0.03
"""A cell's height is that of its points, not of its centre: slope x cell / sqrt(12 n) [m]."""
SLOPE_X, SLOPE_Y = 0.2, -0.1


def plane(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 3.0 + SLOPE_X * x + SLOPE_Y * y


def exact_grid() -> GroundGrid:
    """Heights of a plane at the very centres of cells."""
    x, y = np.meshgrid(np.arange(-10, 10, 0.25) + 0.125, np.arange(-10, 10, 0.25) + 0.125)
    return GroundGrid(
        height_m=plane(x, y),
        is_measured=np.ones(x.shape, dtype=bool),
        low_m=np.array([-10.0, -10.0]),
        cell_m=0.25,
    )


def meadow(n: int = 60_000, *, seed: int = 2, noise_m: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-15, 15, (2, n))
    return np.column_stack([x, y, plane(x, y) + rng.normal(0.0, noise_m, n)])


def test_a_vehicle_stands_on_the_plane_and_looks_along_its_heading():
    places, heading = np.array([[1.03, -2.2], [-4.4, 5.5]]), np.array([0.4, -2.0])
    poses = poses_on_ground(places, heading, exact_grid())
    normal = np.array([-SLOPE_X, -SLOPE_Y, 1.0]) / np.linalg.norm([SLOPE_X, SLOPE_Y, 1.0])
    assert poses[:, 2, 3] == pytest.approx(plane(*places.T), abs=PLANE_ERROR)
    assert poses[:, :3, 2] == pytest.approx(np.tile(normal, (2, 1)), abs=PLANE_ERROR)
    ahead = poses[:, :3, 0]
    assert np.arctan2(ahead[:, 1], ahead[:, 0]) == pytest.approx(heading, abs=PLANE_ERROR)
    R = poses[:, :3, :3]
    assert R.transpose(0, 2, 1) @ R == pytest.approx(np.tile(np.eye(3), (2, 1, 1)), abs=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)


def test_uphill_ahead_the_nose_is_up():
    # Along +x the plane rises by 0.2.
    (pose,) = poses_on_ground(np.zeros((1, 2)), np.zeros(1), exact_grid())
    assert pose[2, 0] == pytest.approx(np.sin(np.arctan(0.2)), abs=PLANE_ERROR)


@pytest.mark.parametrize("noise_m", [0.0, 0.05])
def test_the_ground_of_a_noisy_cloud_is_its_middle(noise_m):
    places = np.random.default_rng(3).uniform(-8, 8, (200, 2))
    ground = GroundGrid.of(meadow(noise_m=noise_m), places)
    poses = poses_on_ground(places, np.zeros(200), ground)
    errors = poses[:, 2, 3] - plane(*places.T)
    assert abs(errors.mean()) < 0.01
    assert np.abs(errors).max() < CELL_BIAS + noise_m


def test_what_hangs_over_the_ground_does_not_count():
    canopy = meadow(120_000, seed=4) + np.array([0.0, 0.0, 2.5])
    places = np.random.default_rng(5).uniform(-8, 8, (100, 2))
    cloud = np.concatenate([meadow(200_000), canopy])
    poses = poses_on_ground(places, np.zeros(100), GroundGrid.of(cloud, places))
    assert np.abs(poses[:, 2, 3] - plane(*places.T)).max() < CELL_BIAS


def test_the_height_of_a_cell_by_hand():
    z = np.array([0.0, 1.0, 1.1, 1.15, 1.19, 1.3, 9.0, 9.0, 9.0, 9.0])
    points = np.column_stack([np.full(10, 0.1), np.full(10, 0.1), z])
    parameters = GroundParameters(cell_m=1.0, percentile=12.0, layer_m=0.2, max_hole_m=0.0)
    ground = GroundGrid.of(points, np.zeros((1, 2)), margin_m=1.0, parameters=parameters)
    # The 12th percentile of ten is the second, 1.0: the layer is 1.0 to 1.2, its median 1.125.
    assert ground.height_m[1, 1] == pytest.approx(1.125)
    assert np.isfinite(ground.height_m).sum() == 1


def test_small_holes_take_their_neighbours_height_and_large_ones_none():
    cloud = meadow()
    hole = (np.abs(cloud[:, 0]) < 0.4) & (np.abs(cloud[:, 1]) < 0.4)
    lake = (np.abs(cloud[:, 0] - 6.0) < 2.5) & (np.abs(cloud[:, 1]) < 2.5)
    cloud, places = cloud[~hole & ~lake], np.array([[0.0, 0.0], [6.0, 0.0]])
    poses = poses_on_ground(places, np.zeros(2), GroundGrid.of(cloud, places))
    assert poses[0, 2, 3] == pytest.approx(plane(0.0, 0.0), abs=0.1)
    assert np.isnan(poses[1, 2, 3])


PARAMETERS = TeachParameters(submaps=SubmapProtocol(radius_m=6.0))
LOOP = np.array([[5.0, 0.0], [0.0, 5.0], [-5.0, 0.0], [0.0, -5.0]])


def test_a_closed_route_is_taught(tmp_path):
    graph = teach_route(meadow(), LOOP, is_closed=True, parameters=PARAMETERS)
    last = graph.ids[-1]
    assert graph.runs == (graph.ids,)
    spatial = [e for e in graph.edges if e.kind == "spatial"]
    assert [(e.from_id, e.to_id) for e in spatial] == [(last, 0)]
    assert np.array_equal(graph.vertex(last).T_map_vertex, graph.vertex(0).T_map_vertex)
    assert graph.edge_residuals()[0].max() < 1e-12
    steps = np.linalg.norm(np.diff(graph.poses_map()[:, :2, 3], axis=0), axis=1)
    assert steps == pytest.approx(0.3, abs=0.01)
    assert graph.vertex(10).stamp_ns == pytest.approx(10 * steps[0] * 1e9, rel=1e-3)
    graph.save(tmp_path / "g")
    read = RouteGraph.load(tmp_path / "g")
    assert read.about == {"teach": "virtual", "is_closed": True}
    assert np.allclose(read.poses_map(), graph.poses_map(), atol=1e-12)


def test_submaps_of_a_taught_route_hold_the_ground_under_the_vehicle():
    graph = teach_route(meadow(), LOOP, is_closed=True, parameters=PARAMETERS)
    for vertex in graph.vertices[::7]:
        holder = graph.vertex(vertex.submap_id)
        assert vertex.T_submap_vertex == pytest.approx(
            relative_pose(holder.T_map_vertex, vertex.T_map_vertex), abs=1e-12
        )
        assert np.linalg.norm(vertex.T_submap_vertex[:3, 3]) <= 1.5
        points = transform_points(holder.T_map_vertex, graph.submap(vertex.id).points)
        assert points[:, 2] == pytest.approx(plane(*points[:, :2].T), abs=1e-4)


def test_a_driven_path_is_taught_where_it_was_driven():
    turn = np.linspace(0.0, np.pi, 40)
    places = 5.0 * np.column_stack([np.cos(turn), np.sin(turn)])
    ground = GroundGrid.of(meadow(), places)
    poses = poses_on_ground(places, turn + np.pi / 2, ground)
    graph = teach_route(meadow(), poses, parameters=PARAMETERS)
    assert not graph.about["is_closed"]
    assert graph.vertices[0].T_map_vertex == pytest.approx(poses[0], abs=1e-9)
    assert graph.vertices[-1].T_map_vertex == pytest.approx(poses[-1], abs=1e-9)
    # The sagitta of the driven steps of 0.4 m on 5 m is 4 mm.
    assert np.linalg.norm(graph.poses_map()[:, :2, 3], axis=1) == pytest.approx(5.0, abs=5e-3)


def test_a_figure_of_eight_gets_its_crossing():
    turn = np.linspace(0.0, 2 * np.pi, 24, endpoint=False) + 0.4
    eight = 9.0 * np.column_stack([np.sin(turn), np.sin(turn) * np.cos(turn)])
    graph = teach_route(meadow(), eight, is_closed=True, parameters=PARAMETERS)
    crossings = [e for e in graph.edges if e.kind == "spatial"][1:]
    assert len(crossings) == 1
    for end in (crossings[0].from_id, crossings[0].to_id):
        assert np.linalg.norm(graph.vertex(end).T_map_vertex[:2, 3]) < 0.3


def test_a_route_off_the_cloud_is_refused_with_its_place():
    with pytest.raises(UserError, match=r"no ground under \d+ of \d+ places.* m along it at"):
        teach_route(meadow(), np.array([[0.0, 0.0], [40.0, 0.0]]), parameters=PARAMETERS)


def test_a_grid_that_no_memory_holds_is_refused():
    far = np.array([[0.0, 0.0], [30_000.0, 30_000.0]])
    with pytest.raises(UserError, match="too much for cells"):
        GroundGrid.of(meadow(), far)
