# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Submaps: where they stand, what they hold, what a lidar there could see."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform, transform_points
from aerotwin_registration import voxel_downsample
from aerotwin_teach_repeat.route_graph import DamagedSubmapError
from aerotwin_teach_repeat.submaps import (
    GridCloud,
    SubmapProtocol,
    crop_submaps,
    submap_holders,
    visible_from,
)

FLOAT32 = 1e-5
"""Rounding of coordinates of 40 m to float32, with room for the sums before it [m]."""
NORMAL_ERROR = np.radians(0.01)
"""Of a normal fitted to points on an exact plane, in float32 [rad]."""
PROTOCOL = SubmapProtocol(radius_m=8.0, below_m=1.5, above_m=3.0, voxel_m=0.25)


def pose(x: float, y: float, z: float = 0.0, *, angles_deg=(0.0, 0.0, 0.0)) -> np.ndarray:
    return make_transform(
        Rotation.from_euler("ZYX", angles_deg, degrees=True).as_matrix(), [x, y, z]
    )


def cloud(n: int = 40_000, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform([-30, -20, -4], [30, 20, 9], (n, 3))


@pytest.mark.parametrize(
    "T", [pose(0, 0), pose(25, -17, 1.0, angles_deg=(130, 7, -4)), pose(-3.3, 4.4, -2.0)]
)
def test_a_crop_is_that_of_the_whole_cloud_moved_to_the_vertex(T):
    points_map = voxel_downsample(cloud(), PROTOCOL.voxel_m)
    x, y, z = transform_points(np.linalg.inv(T), points_map).T
    inside = (np.hypot(x, y) <= 8.0) & (z >= -1.5) & (z <= 3.0)
    expected = np.column_stack([x, y, z])[inside]
    submap = crop_submaps(cloud(), None, T[None], PROTOCOL).load(0)
    assert len(submap.points) == len(expected) > 300
    order = [np.lexsort(np.round(p, 3).T) for p in (submap.points.astype(float), expected)]
    assert submap.points[order[0]] == pytest.approx(expected[order[1]], abs=FLOAT32)


def test_normals_turn_with_the_vertex():
    # A floor, and a wall facing east.
    grid = np.stack(np.meshgrid(np.arange(-6, 6, 0.1), np.arange(-6, 6, 0.1)), -1).reshape(-1, 2)
    floor = np.column_stack([grid, np.zeros(len(grid))])
    wall = np.column_stack([np.full(len(grid), 20.0), grid[:, 0], grid[:, 1] + 8.0])
    points = np.concatenate([floor, wall])
    T = pose(10.0, 0.0, angles_deg=(90.0, 0.0, 0.0))
    protocol = replace(PROTOCOL, radius_m=20.0, above_m=15.0)
    submap = crop_submaps(points, None, T[None], protocol).load(0)
    is_wall = submap.points[:, 1] < -9.9  # what is east of a vertex looking north lies to its right
    for normals, axis in ((submap.normals[is_wall], 1), (submap.normals[~is_wall], 2)):
        assert len(normals) > 500
        assert np.abs(normals[:, axis]).min() > np.cos(NORMAL_ERROR)


def test_input_normals_are_retained_and_averaged_without_regard_to_sign():
    points = np.array([[0.05, 0.05, 0.05], [0.06, 0.05, 0.05], [5.1, 0.1, 0.1]])
    tilted = np.array([0.6, 0.0, 0.8])
    normals = np.array([[0.0, 0.0, 1.0], -tilted, [1.0, 0.0, 0.0]])
    protocol = replace(PROTOCOL, voxel_m=1.0)
    submap = crop_submaps(points, normals, pose(0, 0)[None], protocol).load(0)
    half_way = np.array([0.0, 0.0, 1.0]) + tilted
    assert submap.points[0] == pytest.approx([0.055, 0.05, 0.05], abs=FLOAT32)
    assert np.abs(submap.normals[0] @ half_way) == pytest.approx(np.linalg.norm(half_way))
    assert submap.normals[1] == pytest.approx([1, 0, 0])


def test_submaps_stand_by_distance():
    poses = np.array([pose(0.4 * k, 0.0) for k in range(10)])
    holders = submap_holders(poses, SubmapProtocol(distance_m=1.5))
    assert holders.tolist() == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]


def test_submaps_stand_by_angle_about_any_axis():
    protocol = SubmapProtocol(distance_m=50.0, angle_deg=30.0)
    for axis in range(3):
        angles = [tuple(12.0 * k * (i == axis) for i in range(3)) for k in range(7)]
        poses = np.array([pose(0, 0, angles_deg=a) for a in angles])
        assert submap_holders(poses, protocol).tolist() == [0, 0, 0, 3, 3, 3, 6]


def test_a_slight_roll_makes_no_submap():
    # Eigen's eulerAngles(0, 1, 2) of this has a norm of 311 degrees.
    poses = np.array([pose(0, 0), pose(0.3, 0, angles_deg=(0.0, 0.0, -0.3))])
    assert submap_holders(poses, SubmapProtocol()).tolist() == [0, 0]


def test_a_cloud_elsewhere_is_refused():
    with pytest.raises(UserError, match="no point of the cloud lies within"):
        crop_submaps(cloud(), None, pose(500.0, 0.0)[None], PROTOCOL)
    with pytest.raises(UserError, match="finite"):
        crop_submaps(np.full((5, 3), np.nan), None, pose(0, 0)[None], PROTOCOL)
    above = crop_submaps(cloud(), None, pose(0.0, 0.0, 40.0)[None], PROTOCOL)
    with pytest.raises(DamagedSubmapError, match="no point around"):
        above.load(0)


def test_only_what_submaps_can_hold_is_retained():
    near = np.array([[-25.0, 0.0, 0.0]])
    retained = GridCloud.of(cloud(), near_map=near, protocol=PROTOCOL)
    assert 0 < len(retained) < 0.6 * len(GridCloud.of(cloud(), protocol=PROTOCOL))


def room(*, spacing_m: float = 0.3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A floor, a wall 6 m ahead, 4 m wide and 3 m high, and which points it hides from 1 m."""
    line = np.arange(-20.0, 20.0, spacing_m)
    floor = np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)
    floor = np.column_stack([floor, np.zeros(len(floor))])
    y, z = np.meshgrid(np.arange(-2.0, 2.01, spacing_m), np.arange(0.0, 3.01, spacing_m))
    wall = np.column_stack([np.full(y.size, 6.0), y.ravel(), z.ravel()])
    points = np.concatenate([floor, wall])
    normals = np.repeat([[0, 0, 1.0], [1.0, 0, 0]], [len(floor), len(wall)], axis=0)
    along = points[:, 0] > 6.0
    behind = along & (np.abs(points[:, 1]) < 2.0 / 6.0 * points[:, 0])
    return points.astype(np.float32), normals.astype(np.float32), behind


def test_a_wall_hides_the_floor_behind_it():
    points, normals, behind = room()
    protocol = SubmapProtocol(voxel_m=0.3, lidar_height_m=1.0)
    is_visible = visible_from(points, normals, protocol)
    # The margins: half a voxel at the wall's edges, a voxel behind it.
    x, y = points[:, 0], points[:, 1]
    shadow = 2.0 / 6.0 * np.maximum(x, 6.0)
    deep = behind & (x > 7.0) & (np.abs(y) < shadow - 1.0)
    clear = (x < 6.0) | (np.abs(y) > shadow + 1.0)
    assert deep.sum() > 200
    assert not is_visible[deep].any()
    assert is_visible[clear].all()


def test_a_lidar_sees_within_its_elevations():
    points, normals, _ = room()
    protocol = SubmapProtocol(lidar_lower_deg=-10.0, lidar_upper_deg=5.0, lidar_height_m=1.0)
    seen = points[visible_from(points, normals, protocol)]
    elevation = np.degrees(np.arctan2(seen[:, 2] - 1.0, np.hypot(seen[:, 0], seen[:, 1])))
    assert -10.0 <= elevation.min() < -9.0
    assert 3.0 < elevation.max() <= 5.0


def test_visible_submaps_are_parts_of_the_whole_ones():
    points, _, _ = room(spacing_m=0.1)
    T, whole = pose(0, 0)[None], SubmapProtocol(radius_m=15.0)
    all_ = crop_submaps(points, None, T, whole).load(0)
    seen = crop_submaps(points, None, T, replace(whole, only_visible=True)).load(0)
    assert 0.7 * len(all_.points) < len(seen.points) < 0.98 * len(all_.points)
    assert set(map(tuple, seen.points.tolist())) <= set(map(tuple, all_.points.tolist()))


def test_elevations_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="must lie below"):
        SubmapProtocol(lidar_lower_deg=10.0, lidar_upper_deg=-10.0)
