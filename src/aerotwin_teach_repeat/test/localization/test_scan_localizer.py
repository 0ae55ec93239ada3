# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from functools import partial

import numpy as np
import pytest
from localization_cases import (
    DRIVE_TWIST,
    RADIUS_M,
    circle_pose,
    errors,
    moved,
    scan,
    surface_points,
)

from aerotwin_core.frames import invert_transform
from aerotwin_teach_repeat.localization import SubmapLocalizer
from aerotwin_teach_repeat.localization.odometry import T_begin_end, deskewed
from aerotwin_teach_repeat.localization.search_kernels import moved_into
from aerotwin_teach_repeat.route_graph import (
    DamagedSubmapError,
    Edge,
    MemorySubmaps,
    RouteGraph,
    Submap,
    Vertex,
    relative_pose,
)

SINGLE = 1e-5  # roundings of 1e-7 of some tens of metres
N_VERTICES, EVERY = 60, 5
PLACED_M, PLACED_DEG = 0.02, 0.15  # noise of 1 cm, walls that are sampled every 25 cm


class TornSubmaps(MemorySubmaps):
    """Submaps of which those of `torn`, or all, cannot be read; counts how often it was tried."""

    def __init__(self, submaps, torn=range(N_VERTICES)):
        super().__init__(submaps)
        self.torn, self.tried = torn, Counter()

    def load(self, vertex_id):
        self.tried[vertex_id] += 1
        if vertex_id in self.torn:
            raise DamagedSubmapError(f"submap {vertex_id}: its checksum is wrong")
        return super().load(vertex_id)


def graph(source=MemorySubmaps):
    """Return three quarters of the circle, with perfect submaps."""
    points, normals = surface_points()
    poses = [circle_pose(1.5 * np.pi * k / N_VERTICES) for k in range(N_VERTICES)]
    vertices, submaps = [], []
    for k, T in enumerate(poses):
        holder = k - k % EVERY
        vertices.append(
            Vertex(
                id=k,
                stamp_ns=k,
                T_map_vertex=T,
                submap_id=holder,
                T_submap_vertex=relative_pose(poses[holder], T),
            )
        )
        if k == holder:
            near = (points - T[:3, 3]) @ T[:3, :3]
            submaps.append(Submap(vertex_id=k, points=near, normals=normals @ T[:3, :3]))
    edges = [
        Edge(
            from_id=k, to_id=k + 1, T_from_to=relative_pose(poses[k], poses[k + 1]), kind="temporal"
        )
        for k in range(N_VERTICES - 1)
    ]
    return RouteGraph(vertices, edges, source(submaps))


@pytest.fixture(scope="module")
def taught():
    return graph()


def localizer(taught):
    return SubmapLocalizer(taught, list(taught.ids))


def at(angle, seed=0):
    T = circle_pose(angle)
    return T, scan(T, seed=seed)[0]


def test_a_drive_is_followed_with_drifting_odometry(taught):
    found, T_odom = localizer(taught), np.eye(4)
    slip = DRIVE_TWIST * [0.95, 1.0, 1.0, 1.0, 1.0, 0.9]
    for k in range(25):
        T = circle_pose(DRIVE_TWIST[5] * 0.1 * k)
        points, times = scan(T, DRIVE_TWIST, seed=k)
        result = found.localize(deskewed(points, times, DRIVE_TWIST), k, T_odom)
        assert result.accepted, result.reason
        shift, turn = errors(result.T_map_base, T)
        assert shift < PLACED_M and turn < PLACED_DEG
        T_odom = T_odom @ T_begin_end(slip, 0.1)
    vertex = taught.vertex(result.vertex_id)
    assert np.allclose(vertex.T_map_vertex @ result.T_vertex_base, result.T_map_base)
    assert np.linalg.norm(result.T_vertex_base[:3, 3]) < 1.5 * np.pi * RADIUS_M / N_VERTICES


@pytest.mark.parametrize("seed", range(4))
def test_start_errors_of_half_a_metre_and_ten_degrees_are_corrected(taught, seed):
    rng = np.random.default_rng(seed)
    found, way = localizer(taught), rng.normal(size=2)
    vertex_id = int(rng.integers(0, N_VERTICES))
    T = taught.vertex(vertex_id).T_map_vertex
    offset = [*(0.5 * way / np.linalg.norm(way)), 0.0]
    found.reset(vertex_id, moved(np.eye(4), offset, 10.0 * rng.choice([-1.0, 1.0])))
    result = found.localize(scan(T, seed=seed)[0], 0, np.eye(4))
    shift, turn = errors(result.T_map_base, T)
    assert result.accepted, result.reason
    assert shift < PLACED_M and turn < PLACED_DEG


@pytest.mark.parametrize(("angle", "yaw_deg"), [(0.7, 0.0), (2.5, 170.0), (4.0, -75.0)])
def test_a_global_start_is_found_at_any_heading(taught, angle, yaw_deg):
    T = moved(circle_pose(angle), [0.4, -0.3, 0.0], yaw_deg)
    found = localizer(taught)
    result = found.relocalize(scan(T)[0], 7)
    shift, turn = errors(result.T_map_base, T)
    assert result.accepted, result.reason
    assert shift < PLACED_M and turn < PLACED_DEG
    assert result.stamp_ns == 7 and errors(found.T_map_base, T)[0] == pytest.approx(shift)


def test_a_kidnapped_robot_is_not_carried_away_and_is_found(taught):
    found = localizer(taught)
    T, points = at(0.1)
    found.reset(2, relative_pose(taught.vertex(2).T_map_vertex, T))
    assert found.localize(points, 0, np.eye(4)).accepted
    elsewhere, points = at(3.0)
    result = found.localize(points, 1, np.eye(4))
    assert not result.accepted and result.reason
    assert errors(result.T_map_base, T)[0] < PLACED_M
    again = found.relocalize(points, 2)
    assert again.accepted, again.reason
    assert errors(again.T_map_base, elsewhere)[0] < PLACED_M


def test_a_correction_against_sure_odometry_is_refused_and_says_by_how_much(taught):
    found = localizer(taught)
    T, points = at(0.1)
    there = relative_pose(taught.vertex(2).T_map_vertex, moved(T, [0.4, 0.0, 0.0], 0.0))
    found.reset(2, there, 1e-6 * np.eye(6))
    result = found.localize(points, 0, np.eye(4))
    assert not result.accepted
    assert result.reason.startswith("it contradicts odometry by 0.3")
    assert errors(result.T_map_base, T)[0] == pytest.approx(0.4, abs=1e-6)


def test_the_uncertainty_grows_while_nothing_matches_and_falls_when_it_does(taught):
    found = localizer(taught)
    T, points = at(0.0)
    found.localize(points, 0, np.eye(4))
    sure, T_odom = found.covariance[0, 0], np.eye(4)
    for k in range(5):
        T_odom = T_odom @ T_begin_end(DRIVE_TWIST, 0.1)
        blind = found.localize(np.empty((0, 3)), 1 + k, T_odom)
        assert not blind.accepted
    assert found.covariance[0, 0] > sure
    T = circle_pose(0.5 * DRIVE_TWIST[5])
    assert errors(blind.T_map_base, T)[0] < PLACED_M  # odometry led on
    result = found.localize(scan(T)[0], 9, T_odom)
    assert result.accepted
    assert found.covariance[0, 0] < 2.0 * sure


def test_points_are_moved_into_a_tilted_frame_with_their_box():
    T = moved(circle_pose(0.3), [4.0, -2.0, 1.0], 40.0)
    points = np.random.default_rng(0).uniform(-30.0, 30.0, (500, 3)).astype(np.float32)
    found, box = moved_into(points, np.ascontiguousarray(T[:3, :3]), T[:3, 3].copy())
    expected = (np.column_stack([points, np.ones(500)]) @ invert_transform(T).T)[:, :3]
    assert found == pytest.approx(expected, abs=SINGLE)
    assert box == pytest.approx(np.array([expected.min(axis=0), expected.max(axis=0)]), abs=SINGLE)


def test_half_a_view_is_enough(taught):
    T, points = at(1.0)
    found = localizer(taught)
    found.reset(taught.nearest(T[:3, 3]), relative_pose(circle_pose(1.0), T))
    result = found.localize(points[points[:, 1] > 0.0], 0, np.eye(4))
    assert result.accepted, result.reason
    assert errors(result.T_map_base, T)[0] < PLACED_M


def test_damaged_submaps_are_a_reason_not_an_error():
    whole = range(N_VERTICES - EVERY, N_VERTICES)  # three quarters of the circle from the start
    torn = graph(partial(TornSubmaps, torn=range(whole.start)))
    result = localizer(torn).localize(np.zeros((10, 3)), 0, np.eye(4))
    assert not result.accepted
    assert "its checksum is wrong" in result.reason
    assert np.allclose(result.T_map_base, circle_pose(0.0))


def test_a_route_of_which_no_submap_can_be_read_is_refused_at_once_and_says_why():
    torn = graph(TornSubmaps)
    with pytest.raises(DamagedSubmapError, match=r"none of the 12 submaps.*submap 0: its checksum"):
        localizer(torn)
    assert set(torn.submaps.tried.values()) == {1}


def test_submaps_lost_on_the_way_are_a_reason_and_are_not_read_again():
    lost = graph(partial(TornSubmaps, torn=()))
    found = localizer(lost)
    lost.submaps.torn = range(N_VERTICES)
    lost.submaps.tried.clear()
    lost._retained.clear()  # what a long route would have forgotten meanwhile
    for stamp_ns in range(2):
        result = found.relocalize(scan(circle_pose(0.0))[0], stamp_ns)
        assert not result.accepted
        assert result.reason.startswith("no submap of the route can be read: submap 0: its check")
    assert set(lost.submaps.tried.values()) == {1}


def test_a_vertex_beside_the_route_is_refused(taught):
    with pytest.raises(ValueError, match="not on the route"):
        SubmapLocalizer(taught, [1, 2, 3]).reset(9)
    with pytest.raises(ValueError, match="route_ids must name"):
        SubmapLocalizer(taught, [])


def test_the_frame_of_the_submap_does_not_matter(taught):
    T, points = at(0.5)
    vertex = taught.vertex(taught.nearest(T[:3, 3]))
    found = localizer(taught)
    found.reset(vertex.id)
    result = found.localize(points, 0, np.eye(4))
    T_submap_base = vertex.T_submap_vertex @ invert_transform(vertex.T_map_vertex) @ T
    holder = taught.vertex(vertex.submap_id)
    assert np.allclose(holder.T_map_vertex @ T_submap_base, T)
    assert errors(result.T_map_base, T)[0] < PLACED_M
