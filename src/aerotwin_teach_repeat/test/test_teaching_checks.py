# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a path asks of a vehicle and of a lidar, ways round obstacles, and files of others."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform, make_transform
from aerotwin_core.parameters import ParameterError
from aerotwin_registration import read_cloud
from aerotwin_teach_repeat.route_graph import MemorySubmaps, RouteGraph, Submap, Vertex
from aerotwin_teach_repeat.submaps import SubmapProtocol
from aerotwin_teach_repeat.teaching import (
    GroundGrid,
    LocalisabilityProtocol,
    RouteFile,
    VehicleOutline,
    load_route,
    localisability,
    marker_stations,
    poses_on_ground,
    read_relative_transforms,
    save_route,
    smooth_waypoints,
    traversability,
    way_around,
    write_cloud_with_normals,
    write_relative_transforms,
)

PRINTED = 1e-12
"""Of transforms printed with all digits and multiplied a few times."""
FINE_M = 0.1
"""Obstacles are seen to this [m]."""
SLOPE_ERROR_DEG = 1.0
"""A cell's three to four points lie up to a few centimetres off its centre: 1 % of slope."""
STEP_ERROR_M = 0.05
"""Over a kerb the vehicle itself tilts: that share is slope."""
VEHICLE = VehicleOutline(length_m=1.5, width_m=1.4, height_m=1.3, max_step_m=0.2)


def ground_of(height, *, spacing_m: float = 0.08) -> np.ndarray:
    x, y = (
        a.ravel() for a in np.meshgrid(np.arange(-4, 24, spacing_m), np.arange(-8, 8, spacing_m))
    )
    return np.column_stack([x, y, height(x, y)])


def post(x: float, y: float, low: float = 0.0, high: float = 3.0) -> np.ndarray:
    z = np.arange(low, high, 0.1)
    return np.column_stack([np.full(len(z), x), np.full(len(z), y), z])


def passage_of(cloud: np.ndarray):
    path = smooth_waypoints(np.array([[0.0, 0.0], [20.0, 0.0]]))
    ground = GroundGrid.of(cloud, path.points_m)
    poses = poses_on_ground(path.points_m, path.heading, ground)
    return traversability(poses, path.s_m, cloud, ground, VEHICLE)


FLAT = ground_of(lambda x, y: np.zeros_like(x))


def test_flat_ground_asks_nothing():
    found = passage_of(FLAT)
    assert found.is_passable.all()
    assert found.obstructions == ()
    assert found.slope_deg == pytest.approx(0.0, abs=1e-4)
    assert found.step_m == pytest.approx(0.0, abs=1e-9)
    assert found.clearance_m == pytest.approx(2.5)


def test_the_slope_is_that_of_the_ground():
    # 0.3 along and 0.4 across: 0.5 in the steepest direction.
    found = passage_of(ground_of(lambda x, y: 0.3 * x + 0.4 * y))
    assert found.slope_deg == pytest.approx(np.degrees(np.arctan(0.5)), abs=SLOPE_ERROR_DEG)
    assert [one.what for one in found.obstructions] == ["slope"]
    # What the slope explains is no step; points of a cell lie up to half a cell off its centre.
    assert found.step_m.max() < 0.06


def test_a_kerb_is_a_step_where_it_is():
    found = passage_of(ground_of(lambda x, y: np.where(x > 10.0, 0.3, 0.0)))
    (step,) = [one for one in found.obstructions if one.what == "step"]
    assert step.worst == pytest.approx(0.3, abs=STEP_ERROR_M)
    # The front bumper comes half a length before the base.
    assert step.from_m == pytest.approx(10.0 - 0.75, abs=0.35)
    assert step.to_m == pytest.approx(10.0 + 0.75, abs=0.35)
    assert "m, must be at most 0.2 m; worst at" in step.text
    low = passage_of(ground_of(lambda x, y: np.where(x > 10.0, 0.1, 0.0)))
    assert not [one for one in low.obstructions if one.what == "step"]


def test_clearance_is_the_room_beside_the_outline():
    found = passage_of(np.concatenate([FLAT, post(10.0, 1.5)]))
    beside = np.abs(found.s_m - 10.0) < 0.7
    assert found.clearance_m[beside] == pytest.approx(1.5 - 0.7, abs=FINE_M)
    assert (found.clearance_m[np.abs(found.s_m - 10.0) > 1.0] == 2.5).all()
    assert found.is_passable.all()


def test_what_stands_in_the_way_is_reported_with_its_place():
    found = passage_of(np.concatenate([FLAT, post(10.0, -0.3)]))
    clearance = next(one for one in found.obstructions if one.what == "clearance")
    assert clearance.worst == pytest.approx(0.3 - 0.7, abs=FINE_M)
    assert clearance.from_m == pytest.approx(9.25, abs=0.35)
    assert "must be at least 0.2 m; worst at" in clearance.text
    assert found.metrics()["obstructions"][0]["what"] in ("clearance", "step")


def test_what_hangs_above_the_vehicle_is_no_obstacle():
    assert passage_of(np.concatenate([FLAT, post(10.0, 0.0, 1.5, 3.0)])).is_passable.all()
    found = passage_of(np.concatenate([FLAT, post(10.0, 0.0, 0.9, 3.0)]))
    assert not found.is_passable.all()


def test_way_points_give_way_to_an_obstacle_and_come_back():
    cloud = np.concatenate([FLAT, post(10.0, 0.3), post(10.0, 0.8)])
    moved = way_around(
        np.array([[0.0, 0.0], [20.0, 0.0]]), cloud, is_closed=False, reach_m=3.0, vehicle=VEHICLE
    )
    assert moved[[0, -1]] == pytest.approx(np.array([[0.0, 0.0], [20.0, 0.0]]), abs=1e-9)
    assert moved[:, 1].max() < 0.3  # to the right, where it is nearer
    path = smooth_waypoints(moved)
    ground = GroundGrid.of(cloud, path.points_m)
    poses = poses_on_ground(path.points_m, path.heading, ground)
    assert traversability(poses, path.s_m, cloud, ground, VEHICLE).is_passable.all()


def test_a_free_path_is_left_alone():
    waypoints = np.array([[0.0, 0.0], [10.0, 1.0], [20.0, 0.0]])
    moved = way_around(waypoints, FLAT, is_closed=False, reach_m=3.0, vehicle=VEHICLE)
    path = smooth_waypoints(waypoints)
    gaps = np.linalg.norm(moved[:, None] - path.points_m, axis=2).min(axis=1)
    assert gaps.max() < 0.2  # half a spacing


def test_single_points_above_the_ground_are_noise_and_no_obstacle():
    y = np.arange(-7.0, 7.0, 0.6)  # a fence of points that leaves no way between them
    noise = np.column_stack([np.full(len(y), 10.0), y, np.full(len(y), 0.3)])
    straight = np.array([[0.0, 0.0], [20.0, 0.0]])
    moved = way_around(
        straight, np.concatenate([FLAT, noise]), is_closed=False, reach_m=3.0, vehicle=VEHICLE
    )
    assert moved[:, 1] == pytest.approx(0.0, abs=1e-9)
    posts = np.concatenate([FLAT, *(post(10.0, side, 0.25, 0.5) for side in y)])
    with pytest.raises(UserError, match="no way"):
        way_around(straight, posts, is_closed=False, reach_m=3.0, vehicle=VEHICLE)


def test_the_start_of_a_loop_gives_way_and_that_of_an_open_route_stays():
    ring = np.array([[10.0, -5.0], [16.0, 0.0], [10.0, 5.0], [4.0, 0.0]])
    cloud = np.concatenate([FLAT, post(10.0, -5.0)])
    moved = way_around(ring, cloud, is_closed=True, reach_m=3.0, vehicle=VEHICLE)
    away = np.linalg.norm(moved[0] - ring[0])
    assert 0.9 < away < 1.5  # half the vehicle and its clearance, not more than room asks for
    with pytest.raises(UserError, match="no way"):
        way_around(ring, cloud, is_closed=False, reach_m=3.0, vehicle=VEHICLE)


def test_a_wall_has_no_way_round():
    wall = np.concatenate([post(10.0, y) for y in np.arange(-7.0, 7.0, 0.2)])
    cloud = np.concatenate([FLAT, wall])
    with pytest.raises(UserError, match=r"no way for a vehicle of 1\.4 m within 3 m"):
        way_around(
            np.array([[0.0, 0], [20, 0]]), cloud, is_closed=False, reach_m=3.0, vehicle=VEHICLE
        )


def graph_with(points: np.ndarray, normals: np.ndarray) -> RouteGraph:
    vertex = Vertex(
        id=0, stamp_ns=0, T_map_vertex=np.eye(4), submap_id=0, T_submap_vertex=np.eye(4)
    )
    return RouteGraph(
        [vertex], [], MemorySubmaps([Submap(vertex_id=0, points=points, normals=normals)])
    )


def plane(axis: int, at: float, spacing_m: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    a, b = (v.ravel() for v in np.meshgrid(*[np.arange(-8, 8, spacing_m)] * 2))
    points = np.insert(np.column_stack([a, b]), axis, at, axis=1)
    normals = np.zeros_like(points)
    normals[:, axis] = 1.0
    return points, normals


def predicted(*planes):
    points, normals = (np.concatenate(parts) for parts in zip(*planes, strict=True))
    protocol = LocalisabilityProtocol(only_visible=False, correlated_pairs=1.0, n_pairs=1_000_000)
    return localisability(graph_with(points, normals), protocol)


def test_a_plain_holds_height_and_tilt_alone():
    found = predicted(plane(2, 0.0))
    assert np.isinf(found.sigma[0, [0, 1, 5]]).all()
    assert np.isfinite(found.sigma[0, [2, 3, 4]]).all()
    assert not found.is_constrained[0]


def test_a_street_between_walls_leaves_the_way_along_free():
    found = predicted(plane(2, 0.0), plane(1, 5.0), plane(1, -5.0))
    assert np.isinf(found.sigma[0, 0])
    assert np.isfinite(found.sigma[0, 1:]).all()


def test_a_corner_holds_everything_as_well_as_the_closed_form_says():
    planes = [plane(2, 0.0), plane(1, 0.0), plane(0, 0.0)]
    found = predicted(*planes)
    assert found.is_constrained[0]
    assert found.metrics()["constrained_share"] == 1.0
    points, normals = (np.concatenate(parts) for parts in zip(*planes, strict=True))
    J = np.hstack([normals, np.cross(points, normals)])
    covariance = 0.05**2 * np.linalg.inv(J.T @ J)
    assert found.sigma[0] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-4)


def test_walls_that_are_hidden_hold_nothing():
    near, hidden = plane(0, 5.0, 0.2), plane(1, 12.0, 0.2)
    hidden[0][:, 0] += 20.0  # behind the near wall
    hidden[0][:, 1] = np.linspace(-1.0, 1.0, len(hidden[0]))
    points, normals = (np.concatenate(parts) for parts in zip(near, hidden, strict=True))
    graph = graph_with(points, normals)
    view = SubmapProtocol(voxel_m=0.3, lidar_height_m=0.0)
    seen = localisability(graph, LocalisabilityProtocol(), submaps=view)
    all_ = localisability(graph, LocalisabilityProtocol(only_visible=False), submaps=view)
    assert np.isinf(seen.sigma[0, 1])
    assert np.isfinite(all_.sigma[0, 1])


def asymmetric() -> np.ndarray:
    """From the origin: 2 m ahead, then a quarter turn to the left and 1 m ahead."""
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    first = make_transform(np.eye(3), [2.0, 0.0, 0.0])
    return np.array([np.eye(4), first, first @ make_transform(quarter, [1.0, 0.0, 0.0])])


def test_the_wrapper_s_csv_has_the_earlier_vertex_in_the_frame_of_the_later(tmp_path):
    file = tmp_path / "relative_transforms.csv"
    write_relative_transforms(file, np.array([0, 200_000_000, 400_000_000]), asymmetric())
    lines = file.read_text().splitlines()
    assert lines[0] == "timestamp," + ",".join(f"m{i}{j}" for i in range(4) for j in range(4))
    rows = [[float(token) for token in line.split(",")] for line in lines[1:]]
    assert [row[0] for row in rows] == [0.0, 0.2, 0.4]
    # Seen from the second vertex the first lies 2 m behind.
    assert rows[1][1:] == pytest.approx([1, 0, 0, -2, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    # Seen from the third, which looks left, the second lies 1 m to its left.
    assert rows[2][1:] == pytest.approx([0, 1, 0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1])


def test_the_wrapper_s_csv_is_read_as_it_was_written(tmp_path):
    start = make_transform(asymmetric()[2][:3, :3], [5.0, -3.0, 1.0])
    poses = start @ asymmetric()
    stamps = np.array(
        [1_700_000_000_123_456_789, 1_700_000_001_000_000_000, 1_700_000_002_000_000_000]
    )
    write_relative_transforms(tmp_path / "t.csv", stamps, poses)
    read_stamps, read_poses = read_relative_transforms(tmp_path / "t.csv")
    assert read_stamps.tolist() == stamps.tolist()
    assert read_poses == pytest.approx(poses, abs=PRINTED)


def test_the_wrapper_s_rule_gives_the_poses():
    # save_path.py: T_k,k-1 = inv(T_k) T_k-1; generate_global_map: T_k,0 = T_k,k-1 ... T_1,0.
    poses = asymmetric()
    steps = [invert_transform(poses[k]) @ poses[k - 1] for k in (1, 2)]
    assert invert_transform(steps[1] @ steps[0]) == pytest.approx(poses[2], abs=PRINTED)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("m33", "m34"), "first line must be"),
        (lambda text: text.replace("0.0,-1.0", "0.0,nan"), r"csv:3.*finite"),
        (lambda text: text + "1,2,3\n", r"csv:5: 17 cells expected, 3"),
        (lambda text: text.splitlines()[0], "no transforms"),
        (lambda text: text.replace("0.200000000", "soon"), r"csv:3.*'soon' is no time"),
    ],
)
def test_a_damaged_csv_is_refused(tmp_path, change, reason):
    file = tmp_path / "t.csv"
    quarter_right = asymmetric()[[0, 2, 1]]
    write_relative_transforms(file, np.array([0, 200_000_000, 400_000_000]), quarter_right)
    file.write_text(change(file.read_text()))
    with pytest.raises(UserError, match=reason):
        read_relative_transforms(file)


def test_rotations_of_few_digits_are_made_rotations(tmp_path):
    file = tmp_path / "t.csv"
    write_relative_transforms(file, np.array([0, 1]), asymmetric()[:2])
    text = file.read_text().splitlines()
    text[1] = "0,0.8660,-0.5000,0,1,0.5000,0.8660,0,2,0,0,1,0,0,0,0,1"
    file.write_text("\n".join(text))
    R = read_relative_transforms(file)[1][0][:3, :3]
    assert np.allclose(R.T @ R, np.eye(3), rtol=0.0, atol=PRINTED)
    assert R[1, 0] == pytest.approx(0.5, abs=1e-4)


def test_the_wrapper_s_cloud_has_normals(tmp_path):
    points, normals = plane(2, 1.0)
    write_cloud_with_normals(tmp_path / "c.ply", points, normals)
    assert read_cloud(tmp_path / "c.ply").points == pytest.approx(points)
    head = (tmp_path / "c.ply").read_bytes()[:400]
    assert b"property float nz" in head


def test_a_route_file_is_read_as_it_was_written(tmp_path):
    route = RouteFile(
        name="yard",
        world="campus@7",
        is_closed=True,
        waypoints_m=((0.0, 1.5), (10.25, -3.0), (4.0, 8.0)),
        markers_s_m=(12.5, 25.0),
    )
    save_route(tmp_path / "yard.yaml", route)
    assert load_route(tmp_path / "yard.yaml") == route
    assert route.markers(26.0).tolist() == [12.5, 25.0]
    with pytest.raises(UserError, match="marker at 25 m lies beyond"):
        route.markers(20.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name: a\nwaypoints_m: [[0, 0]]", "2 at least, got 1"),
        ("name: a\nwaypoints_m: [[0, 0], [1, 1]]\nmarkers_s_m: [2, 1]", "increase"),
        ("name: a\nwaypoints_m: [[0, 0], [1]]", "expected 2 values"),
        ("name: a\nwaypoints_m: [[0, 0], [1, .nan]]", "finite"),
        ("name: a\nwaypoints: [[0, 0]]", "unknown key 'waypoints'"),
    ],
)
def test_a_bad_route_file_is_refused(tmp_path, text, reason):
    (tmp_path / "r.yaml").write_text(text)
    with pytest.raises(ParameterError, match=reason):
        load_route(tmp_path / "r.yaml")


def test_markers_stand_half_a_spacing_from_both_ends():
    stations = marker_stations(300.0)
    assert len(stations) == 12
    assert stations[0] == 12.5
    assert stations[-1] == 287.5


def test_wheels_keep_to_ground_that_was_seen():
    straight = np.array([[0.0, 0.0], [20.0, 0.0]])
    away = np.hypot(FLAT[:, 0] - 10.0, FLAT[:, 1] - 0.3)
    moved = way_around(straight, FLAT[away > 0.8], is_closed=False, reach_m=3.0, vehicle=VEHICLE)
    beside = moved[np.abs(moved[:, 0] - 10.0) < 1.1]
    cell_m = 0.25
    assert (beside[:, 1] < 0.3 - 0.8 - VEHICLE.width_m / 2.0 + cell_m).all()
    small = way_around(straight, FLAT[away > 0.3], is_closed=False, reach_m=3.0, vehicle=VEHICLE)
    assert np.abs(small[:, 1]).max() < 1e-9  # between the rays of any sensor
