# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Moving objects against closed forms of a box, and against the same meshes standing still."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import BrownCamera, PinholeCamera
from aerotwin_core.frames import make_transform, transform_points
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import (
    OBJECT_ID,
    CameraView,
    MovingObject,
    PlacedObject,
    Rasteriser,
    WorldQueries,
    optical_pose,
)

SINGLE = 2e-5  # Embree's single precision, metres, in worlds of tens of metres
SAME_SHARE = 0.999  # of pixels: rays that graze an edge may round to either side
EDGE_PX = 0.02  # single-precision projection of the corners
HALF = np.array([2.25, 0.9, 0.75])
PINHOLE = PinholeCamera(width=320, height=240, fx=220.0, fy=220.0, cx=159.5, cy=119.5)
BENT = BrownCamera(width=320, height=240, fx=220.0, fy=220.0, cx=159.5, cy=119.5, k1=-0.05)


def box(half=HALF, texture=None):
    """Return a box about the origin of its own frame, each side with corners of its own."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    first = 4 * np.arange(6)[:, None, None]
    triangles = first + np.array([[0, 1, 2], [0, 2, 3]])
    return TexturedMesh(
        vertices_map=corners[np.array(sides).ravel()].astype(np.float64),
        triangles=triangles.reshape(-1, 3).astype(np.int32),
        uv=np.tile(np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32), (6, 1)),
        texture=np.full((8, 8, 3), (200, 40, 60), np.uint8) if texture is None else texture,
        name="a side",
    )


def placed(T, number=3, half=HALF, **values):
    moving = MovingObject("car", [box(half)], number=number)
    return PlacedObject(object=moving, T_map_object=T, **values)


def pose(x, y, z, yaw_deg=0.0, pitch_deg=0.0, roll_deg=0.0):
    turn = Rotation.from_euler("ZYX", [yaw_deg, pitch_deg, roll_deg], degrees=True)
    return make_transform(turn.as_matrix(), [x, y, z])


POSES = [pose(6, 1, 0.9), pose(7, -1, 1.2, 40), pose(5, 2, 2, -130, 25, 50)]


def box_entry(T_map_box, half, origins, directions):
    """Return where rays enter a box (or leave it, from inside): the slab method, in metres."""
    R, p = T_map_box[:3, :3], T_map_box[:3, 3]
    o, d = (origins - p) @ R, directions @ R
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (-half - o) / d, (half - o) / d
    near, far = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
    t = np.where(near > 0.0, near, far)
    return np.where((near <= far) & (far > 0.0), t, np.inf)


def box_distance(T_map_box, half, points):
    """Return the distance of points to the surface of a box, from outside or inside."""
    q = np.abs((points - T_map_box[:3, 3]) @ T_map_box[:3, :3]) - half
    outside = np.linalg.norm(np.maximum(q, 0.0), axis=1)
    return np.where((q > 0.0).any(axis=1), outside, -q.max(axis=1))


@pytest.fixture(scope="module")
def floor(quad):
    return quad([(-40, 40, 0), (40, 40, 0), (40, -40, 0), (-40, -40, 0)])


@pytest.fixture(scope="module")
def world(floor, world_of):
    return world_of(floor)


def random_rays(n=4000):
    rng = np.random.default_rng(7)
    origins = rng.uniform([-10, -10, 0.2], [10, 10, 6], (n, 3))
    directions = rng.normal(size=(n, 3))
    return origins, directions / np.linalg.norm(directions, axis=1, keepdims=True)


def floor_entry(origins, directions):
    with np.errstate(divide="ignore"):
        t = -origins[:, 2] / directions[:, 2]
    ends = origins + np.where(np.isfinite(t), t, 0.0)[:, None] * directions
    return np.where((t > 0.0) & (np.abs(ends[:, :2]).max(axis=1) < 40.0), t, np.inf)


def is_graze(T, origins, directions):
    """Return which rays pass within rounding of an edge of the box: either answer is right."""
    entries = [box_entry(T, HALF * s, origins, directions) for s in (1 - 1e-5, 1 + 1e-5)]
    return np.isfinite(entries[0]) != np.isfinite(entries[1])


@pytest.mark.parametrize("T", POSES)
def test_rays_meet_a_turned_box_where_the_slab_method_says(world, T):
    queries = WorldQueries(world, objects_at=lambda _: [placed(T)])
    origins, directions = random_rays()
    expected = box_entry(T, HALF, origins, directions)
    on_floor = floor_entry(origins, directions)
    hits = queries.cast_rays(origins, directions)
    sure = ~is_graze(T, origins, directions)
    assert sure.mean() > SAME_SHARE
    first = np.minimum(expected, on_floor)
    # a hit at a grazing angle is as exact as its position, times the slope
    np.testing.assert_allclose(hits.distance_m[sure], first[sure], rtol=1e-4, atol=SINGLE)
    is_box = sure & (expected < on_floor - 1e-3)
    assert is_box.sum() > 50
    assert (hits.mesh[is_box] == OBJECT_ID + 3).all()
    assert (hits.mesh[sure & ~is_box & np.isfinite(on_floor) & (expected > on_floor)] == 0).all()
    # normals are of unit length, on the side of the origin, and along an axis of the box
    normal = hits.normal_map[is_box]
    assert (np.einsum("ij,ij->i", normal, directions[is_box]) < 0.0).all()
    np.testing.assert_allclose(np.abs(normal @ T[:3, :3]).max(axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-5)
    assert queries.name_of(int(hits.mesh[is_box][0])) == "car"


@pytest.mark.parametrize("T", POSES)
def test_distances_are_those_of_a_box_and_a_floor(world, T):
    queries = WorldQueries(world, objects_at=lambda _: [placed(T)])
    points = np.random.default_rng(2).uniform([-9, -9, 0.1], [12, 9, 5], (3000, 3))
    expected = np.minimum(box_distance(T, HALF, points), points[:, 2])
    np.testing.assert_allclose(queries.distance(points), expected, atol=SINGLE)
    places, hits = queries.nearest(points)
    np.testing.assert_allclose(hits.distance_m, expected, atol=SINGLE)
    np.testing.assert_allclose(np.linalg.norm(places - points, axis=1), expected, atol=SINGLE)
    is_box = hits.mesh == OBJECT_ID + 3
    assert 100 < is_box.sum() < 2900
    np.testing.assert_allclose(box_distance(T, HALF, places[is_box]), 0.0, atol=SINGLE)


def test_segments_stop_at_an_object_in_their_way_only(world):
    queries = WorldQueries(world, objects_at=lambda _: [placed(pose(6, 0, 1))])
    hits = queries.segments_hit(
        [[0, 0, 1], [0, 0, 1], [0, 0, 4]], [[9, 0, 1], [3, 0, 1], [9, 0, 4]]
    )
    assert hits.mesh.tolist() == [OBJECT_ID + 3, -1, -1]
    assert hits.distance_m[0] == pytest.approx(6 - HALF[0], abs=SINGLE)


def test_ground_and_heights_are_those_of_the_world_alone(world):
    queries = WorldQueries(world, objects_at=lambda _: [placed(pose(6, 0, 1))])
    assert queries.height(6.0, 0.0) == 0.0
    assert queries.ground_plane([6.0, 0.0, 3.0])[0][2] == 0.0
    assert queries.height_above_ground([[6.0, 0.0, 3.0]])[0] == pytest.approx(3.0)
    assert queries.cast_one(np.array([6.0, 0.0, 3.0]), np.array([0.0, 0.0, -1.0])) == (
        pytest.approx(3.0 - 1.75, abs=SINGLE)
    )


def test_the_time_of_queries_selects_the_poses(world):
    def objects_at(stamp_ns):
        return [placed(pose(6 + stamp_ns * 1e-9, 0, 1))] if stamp_ns < 3_000_000_000 else []

    queries = WorldQueries(world, objects_at=objects_at)
    seen = []
    for second in range(4):
        queries.stamp_ns = second * 1_000_000_000
        seen.append(queries.cast_one(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])))
    np.testing.assert_allclose(seen, [3.75, 4.75, 5.75, np.inf], atol=SINGLE)


def test_the_world_may_be_replaced_beside_objects(world, quad):
    queries = WorldQueries(world, objects_at=lambda _: [placed(pose(6, 0, 1))])
    queries.replace([quad([(-40, 40, -2), (40, 40, -2), (40, -40, -2), (-40, -40, -2)])])
    assert queries.distance([[6.0, 0.0, 1.0]])[0] == pytest.approx(0.75, abs=SINGLE)
    assert queries.distance([[-20.0, 0.0, 1.0]])[0] == pytest.approx(3.0, abs=SINGLE)


def test_beams_of_a_turn_meet_a_car_where_it_is_at_their_time(world):
    """Rays side by side over 0.1 s at a wall that comes nearer: range 8 m - 14 m/s t."""
    n, parts = 4000, 50
    stamps = [round((k + 0.5) * 1e8 / parts) for k in range(parts)]

    def objects_at(stamp_ns):
        return [placed(pose(8.0 + HALF[0] - 14.0 * stamp_ns * 1e-9, 0, 1.5))]

    queries = WorldQueries(world, objects_at=objects_at)
    rays = np.tile(np.array([0, 0, 1.5, 1, 0, 0], np.float32), (n, 1))
    ranges, normals, share = queries.beams(rays, stamps)
    exact = 8.0 - 14.0 * (np.arange(n) + 0.5) / n * 0.1
    worst = 14.0 * 0.5 * 0.1 / parts  # half a part
    assert np.abs(ranges - exact).max() <= worst + SINGLE
    np.testing.assert_allclose(np.abs(normals), [[1.0, 0.0, 0.0]] * n, atol=1e-6)
    assert (share > 0.1).all()
    # without times all of the rays are of one instant
    np.testing.assert_allclose(queries.beams(rays)[0], 8.0, atol=SINGLE)


def test_beams_are_those_of_rays_with_the_normal_in_map(world):
    T = POSES[2]
    queries = WorldQueries(world, objects_at=lambda _: [placed(T)])
    origins, directions = random_rays()
    ranges, normals, _ = queries.beams(np.hstack([origins, directions]).astype(np.float32))
    hits = queries.cast_rays(origins, directions)
    np.testing.assert_allclose(ranges, hits.distance_m, rtol=1e-6)
    is_box = hits.mesh == OBJECT_ID + 3
    cosine = np.einsum("ij,ij->i", normals[is_box], hits.normal_map[is_box])
    np.testing.assert_allclose(np.abs(cosine), 1.0, atol=1e-5)


def test_without_objects_nothing_is_copied_or_changed(world):
    plain, empty = WorldQueries(world), WorldQueries(world, objects_at=lambda _: ())
    origins, directions = random_rays(500)
    for name in ("distance_m", "normal_map", "mesh", "triangle"):
        a, b = (getattr(q.cast_rays(origins, directions), name) for q in (plain, empty))
        assert a.tobytes() == b.tobytes()


# -- images ---------------------------------------------------------------------------------------

CAMERA_POSE = optical_pose([-3.0, 0.5, 2.0], yaw=0.1, pitch_down=0.1)


def pixel_rays(camera, T_map_optical):
    """Return directions (h w, 3) in map of the rays of all pixels, of unit depth."""
    v, u = np.mgrid[: camera.height, : camera.width]
    x, y = (u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy
    optical = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(-1, 3)
    return optical @ T_map_optical[:3, :3].T


@pytest.mark.parametrize("T", POSES)
def test_the_silhouette_is_the_hull_of_the_projected_corners(floor, T):
    view = CameraView(
        camera=PINHOLE, T_map_optical=CAMERA_POSE, ids=True, objects=(placed(T + _raised(3.0)),)
    )
    frame = Rasteriser([floor], backend="cpu").render([view])[0]
    corners = transform_points(T + _raised(3.0), np.unique(box().vertices_map, axis=0))
    p = (corners - CAMERA_POSE[:3, 3]) @ CAMERA_POSE[:3, :3]
    assert (p[:, 2] > 0.1).all()
    uv = p[:, :2] / p[:, 2:] * PINHOLE.fx + [PINHOLE.cx, PINHOLE.cy]
    sides = ConvexHull(uv).equations  # outward unit normals and offsets, in pixels
    v, u = np.mgrid[: PINHOLE.height, : PINHOLE.width]
    outside = (np.stack([u, v], axis=-1) @ sides[:, :2].T + sides[:, 2]).max(axis=-1)
    is_box = frame.ids == OBJECT_ID + 3
    assert is_box.sum() > 500
    assert is_box[outside < -EDGE_PX].all()
    assert not is_box[outside > EDGE_PX].any()


def _raised(height):
    T = np.zeros((4, 4))
    T[2, 3] = height
    return T


@pytest.mark.parametrize("T", POSES)
def test_depth_is_that_of_the_slab_method_and_a_box_hides_the_floor(floor, T):
    view = CameraView(
        camera=PINHOLE, T_map_optical=CAMERA_POSE, encoding="none", ids=True, objects=(placed(T),)
    )
    frame = Rasteriser([floor], backend="cpu").render([view])[0]
    directions = pixel_rays(PINHOLE, CAMERA_POSE)
    origins = np.tile(CAMERA_POSE[:3, 3], (len(directions), 1))
    expected = box_entry(T, HALF, origins, directions)
    on_floor = floor_entry(origins, directions)
    first = np.minimum(expected, on_floor).reshape(frame.depth.shape)
    sure = ~is_graze(T, origins, directions).reshape(first.shape)
    assert sure.mean() > SAME_SHARE
    np.testing.assert_allclose(frame.depth[sure], first[sure], rtol=1e-5)
    is_box = (expected < on_floor).reshape(first.shape)
    assert (frame.ids[sure & is_box] == OBJECT_ID + 3).all()
    assert (frame.ids[sure & ~is_box & np.isfinite(first)] == 0).all()


@pytest.mark.parametrize("camera", [PINHOLE, BENT])
@pytest.mark.parametrize("encoding", ["mono8", "rgb8"])
def test_an_object_looks_as_the_same_mesh_in_the_world_does(floor, camera, encoding):
    texture = np.random.default_rng(4).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    mesh, T = box(texture=texture), POSES[1]
    still = replace(mesh, vertices_map=transform_points(T, mesh.vertices_map))
    moving = PlacedObject(object=MovingObject("car", [mesh]), T_map_object=T)
    view = CameraView(camera=camera, T_map_optical=CAMERA_POSE, encoding=encoding, ids=True)
    expected = Rasteriser([floor, still], backend="cpu").render([view])[0]
    found = Rasteriser([floor], backend="cpu").render([replace(view, objects=(moving,))])[0]
    same = (found.image == expected.image).reshape(*found.depth.shape, -1).all(axis=-1)
    assert same.mean() > SAME_SHARE
    assert (expected.ids == 1).sum() > 500
    assert ((found.ids == OBJECT_ID) == (expected.ids == 1)).mean() > SAME_SHARE
    np.testing.assert_allclose(found.depth, expected.depth, rtol=1e-4)


def test_two_objects_keep_their_ids_and_textures_whoever_else_is_there(floor):
    near, far = placed(pose(4, 0, 0.75), number=0), placed(pose(12, -1, 0.75, 90), number=1)
    blue = np.full((8, 8, 3), (10, 20, 250), np.uint8)
    other = PlacedObject(
        object=MovingObject("van", [box(texture=blue)], number=1), T_map_object=far.T_map_object
    )
    rasteriser = Rasteriser([floor], backend="cpu")

    def render(*objects):
        view = CameraView(
            camera=PINHOLE, T_map_optical=CAMERA_POSE, encoding="rgb8", ids=True, objects=objects
        )
        return rasteriser.render([view])[0]

    both, swapped, alone = render(near, other), render(other, near), render(other)
    assert both.image.tobytes() == swapped.image.tobytes()
    assert both.ids.tobytes() == swapped.ids.tobytes()
    assert {*np.unique(both.ids)} == {-1, 0, OBJECT_ID, OBJECT_ID + 1}
    assert {*np.unique(alone.ids)} == {-1, 0, OBJECT_ID + 1}
    inner = alone.ids == OBJECT_ID + 1
    assert np.median(alone.image[inner], axis=0).tolist() == [10, 20, 250]


def test_bands_of_a_rolling_shutter_have_objects_of_their_own(floor):
    rasteriser = Rasteriser([floor], backend="cpu")
    view = CameraView(camera=PINHOLE, T_map_optical=CAMERA_POSE, ids=True)
    whole = [
        rasteriser.render([replace(view, objects=(placed(pose(6, y, 0.75)),))])[0] for y in (0, 1)
    ]
    bands = rasteriser.render(
        [
            replace(view, objects=(placed(pose(6, y, 0.75)),), rows=rows)
            for y, rows in ((0, (0, 120)), (1, (120, 240)))
        ]
    )
    for name in ("image", "depth", "ids"):
        upper, lower = (getattr(frame, name) for frame in bands)
        assert upper[:120].tobytes() == getattr(whole[0], name)[:120].tobytes()
        assert lower[120:].tobytes() == getattr(whole[1], name)[120:].tobytes()


def test_objects_out_of_sight_change_no_byte(floor):
    rasteriser = Rasteriser([floor], backend="cpu")
    view = CameraView(camera=PINHOLE, T_map_optical=CAMERA_POSE, ids=True)
    plain = rasteriser.render([view])[0]
    behind = rasteriser.render([replace(view, objects=(placed(pose(-20, 0, 0.75)),))])[0]
    for name in ("image", "depth", "ids"):
        assert getattr(plain, name).tobytes() == getattr(behind, name).tobytes()


def test_what_is_no_pose_or_no_object_is_refused():
    with pytest.raises(ValueError, match="rotation and a translation"):
        placed(np.diag([2.0, 1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="rotation and a translation"):
        placed(np.full((4, 4), np.nan))
    with pytest.raises(ValueError, match="must have a mesh"):
        MovingObject("nothing", [])
    with pytest.raises(ValueError, match="number of 0 or more"):
        MovingObject("car", [box()], number=-1)
