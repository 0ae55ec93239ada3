# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From contents to meshes: frames on Earth and local, points, cutting, memory."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane, ecef_from_geodetic
from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.gltf.primitives import PointSet
from aerotwin_tiles import RegionDescription
from aerotwin_tiles.meshes import cropped, memory_bytes, points_mesh
from aerotwin_tiles.volumes import T_ecef_enu
from support.gltf_builder import Gltf

NANOMETRES = 2e-8  # ECEF coordinates in float64 (1e-9 m) through three rotations
CUT = 1e-9  # of coordinates of some metres after six cuts
LEAN = 3e-6  # 7.2 m from the place the vertical leans by 7.2 / 6.37e6, on both axes
PLACE = GeodeticPoint(latitude_deg=35.3105, longitude_deg=-80.7405, altitude_m=200.0)


def on_earth(site, place=PLACE, **members):
    T = T_ecef_enu(place).T.ravel().tolist()
    return site.tile("a.glb", 3.0, 5.0, 2.0, transform=T, **members)


def test_a_tileset_on_earth_lies_in_the_map_of_a_given_origin(site):
    site.write(on_earth(site))
    origin = dataclasses.replace(PLACE, longitude_deg=-80.7400, altitude_m=190.0)
    loaded = site.load(origin)
    assert loaded.origin == origin
    (mesh,) = loaded.meshes
    there = LocalTangentPlane(PLACE)
    here = LocalTangentPlane(origin)
    expected = [
        here.from_geodetic(*there.to_geodetic(p))
        for p in [(3, 5, 0), (5, 5, 0), (5, 7, 0), (3, 7, 0)]
    ]
    np.testing.assert_allclose(mesh.vertices_map, expected, atol=NANOMETRES)
    assert mesh.vertices_map[0] == pytest.approx([-42.5, 5.0, 10.0], abs=0.1)


def test_the_middle_of_the_tileset_is_the_origin_if_none_is_given(site):
    site.write(on_earth(site))
    loaded = site.load()
    plane = LocalTangentPlane(PLACE)
    latitude, longitude, altitude = plane.to_geodetic((4.0, 6.0, 0.0))
    assert loaded.origin.latitude_deg == pytest.approx(latitude, abs=1e-12)
    assert loaded.origin.longitude_deg == pytest.approx(longitude, abs=1e-12)
    assert loaded.origin.altitude_m == pytest.approx(altitude, abs=1e-8)
    np.testing.assert_allclose(loaded.meshes[0].bounds_m, [[-1, -1, 0], [1, 1, 0]], atol=LEAN)


def test_millimetres_survive_on_earth(site, square):
    """Single precision would round to half a metre at the Earth's surface."""
    site.write(on_earth(site) | {"children": []})
    loaded = site.load(PLACE)
    np.testing.assert_allclose(
        loaded.meshes[0].vertices_map, square(3.0, 5.0, 2.0).vertices_map, atol=NANOMETRES
    )


def test_a_region_volume_makes_a_tileset_geocentric(site):
    latitude, longitude = math.radians(PLACE.latitude_deg), math.radians(PLACE.longitude_deg)
    half = 1e-5
    region = [longitude - half, latitude - half, longitude + half, latitude + half, 150.0, 250.0]
    tile = on_earth(site) | {"boundingVolume": {"region": region}}
    site.write(tile)
    loaded = site.load()
    assert loaded.origin.latitude_deg == pytest.approx(PLACE.latitude_deg, abs=1e-6)
    requested = RegionDescription(
        west_deg=-80.7406, south_deg=35.3104, east_deg=-80.7404, north_deg=35.3106
    )
    assert len(site.load(region=requested).meshes) == 1
    apart = dataclasses.replace(requested, west_deg=-80.7306, east_deg=-80.7304)
    with pytest.raises(UserError, match="no mesh lies in the region"):
        site.load(region=apart)


def test_a_tileset_of_the_whole_earth_asks_for_a_place(site):
    whole = {"boundingVolume": {"sphere": [0, 0, 0, 7e6]}}
    site.write(site.tile("", error=1e6, children=[on_earth(site)]) | whole)
    with pytest.raises(UserError, match="spans the Earth; give an origin, or a region in degrees"):
        site.load()
    requested = RegionDescription(
        west_deg=-80.741, south_deg=35.310, east_deg=-80.740, north_deg=35.311
    )
    loaded = site.load(region=requested)
    assert loaded.origin.longitude_deg == pytest.approx(-80.7405)
    assert loaded.origin.altitude_m == 0.0
    assert loaded.meshes[0].bounds_m[0, 2] == pytest.approx(200.0, abs=0.01)


def test_degrees_need_a_tileset_on_earth(site):
    site.write(site.tile("a.glb"))
    region = RegionDescription(west_deg=8.0, south_deg=47.0, east_deg=8.1, north_deg=47.1)
    with pytest.raises(UserError, match="a region in degrees needs a tileset on Earth"):
        site.load(region=region)


def test_a_region_in_degrees_holds_its_corners():
    region = RegionDescription(west_deg=8.0, south_deg=47.0, east_deg=8.02, north_deg=47.01)
    origin = GeodeticPoint(latitude_deg=47.005, longitude_deg=8.01, altitude_m=500.0)
    box = region.box_map(origin)
    low, high = box.bounds_m
    plane = LocalTangentPlane(origin)
    corners = [plane.from_geodetic(a, b, 500.0) for a in (47.0, 47.01) for b in (8.0, 8.02)]
    assert (np.array(corners)[:, :2] >= low[:2]).all()
    assert (np.array(corners)[:, :2] <= high[:2]).all()
    assert (high - low)[0] == pytest.approx(1522, abs=2)  # 0.02 deg x 111.3 km x cos(47 deg)
    assert (high - low)[1] == pytest.approx(1112, abs=2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "either center_m and size_m"),
        ({"center_m": (0, 0, 0)}, "either center_m and size_m"),
        ({"west_deg": 1.0, "south_deg": 2.0}, "either center_m and size_m"),
        ({"center_m": (0, 0, 0), "size_m": (1, 1, 1), "west_deg": 1.0}, "give all of one kind"),
        ({"center_m": (0, 0, 0), "size_m": (0, 1, 1)}, "positive along x and y"),
        (
            {"west_deg": 1.0, "south_deg": 2.0, "east_deg": 3.0, "north_deg": 2.0},
            "south_deg must be below north_deg",
        ),
    ],
)
def test_a_region_that_says_nothing_or_too_much_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        RegionDescription(**values)


def flat_terrain(site, *, up_axis):
    """A terrain in a frame with y up, whose tiles divide x and z."""

    def box(x, z, half):
        return {"boundingVolume": {"box": [x, 5, z, half, 0, 0, 0, 5, 0, 0, 0, half]}}

    children = [site.tile(f"{x}{z}.glb") | box(x, z, 10) for x in (-10, 10) for z in (-10, 10)]
    root = site.tile("", error=1.0, children=children) | box(0, 0, 20)
    site.write(root, asset={"gltfUpAxis": up_axis} if up_axis else {})


def test_a_tileset_with_y_up_is_found_out_and_turned(site):
    flat_terrain(site, up_axis="Z")
    loaded = site.load()
    (note,) = loaded.notes
    assert "taken as y up and turned" in note and "set up_axis: z" in note
    # The files hold the square with y up, (x, 0, -y); unturned by "Z", then turned with all.
    np.testing.assert_allclose(loaded.meshes[0].bounds_m, [[0, 0, 0], [1, 1, 0]], atol=1e-6)
    retained = site.load(up_axis="z")
    assert retained.notes == ()
    np.testing.assert_allclose(retained.meshes[0].bounds_m, [[0, 0, -1], [1, 0, 0]], atol=1e-6)


def test_a_tileset_that_follows_the_standard_is_not_turned(site):
    flat_terrain(site, up_axis=None)
    loaded = site.load()
    assert loaded.notes == ()
    np.testing.assert_allclose(loaded.meshes[0].bounds_m, [[0, 0, 0], [1, 1, 0]], atol=1e-6)
    turned = site.load(up_axis="y")
    np.testing.assert_allclose(turned.meshes[0].bounds_m, [[0, 0, 0], [1, 0, 1]], atol=1e-6)


@pytest.mark.parametrize("divided", ["xy", "xyz", "x", ""])
def test_only_tiles_that_divide_x_and_z_and_never_y_have_y_up(site, divided):
    half = [5.0 if axis in divided else 10.0 for axis in "xyz"]
    box = [0, 0, 0, half[0], 0, 0, 0, half[1], 0, 0, 0, half[2]]
    child = site.tile("a.glb") | {"boundingVolume": {"box": box}}
    whole = {"boundingVolume": {"box": [0, 0, 0, 10, 0, 0, 0, 10, 0, 0, 0, 10]}}
    site.write(site.tile("", error=1.0, children=[child]) | whole, asset={"gltfUpAxis": "Z"})
    assert site.load().notes == ()


def test_a_tile_without_colours_is_known_as_such(site):
    file = Gltf()
    file.quad()
    child = site.tile("a.glb")
    (site.folder / "a.glb").write_bytes(file.scene().glb())
    site.write(site.tile("", error=1.0, children=[child, site.tile("b.glb", 5.0)]))
    assert [mesh.is_colour_assumed for mesh in site.load().meshes] == [True, False]


def test_points_become_octahedra_of_their_colour():
    rng = np.random.default_rng(1)
    shape = PointSet(
        positions=rng.normal(size=(7, 3)) + np.array([6.4e6, 0, 0]),
        colours=rng.integers(0, 256, (7, 3), dtype=np.uint8),
    )
    T = np.eye(4)
    T[0, 3] = -6.4e6
    mesh = points_mesh(shape, T, 0.2, "p")
    corners = mesh.vertices_map.reshape(7, 6, 3)
    np.testing.assert_allclose(
        corners.mean(axis=1), shape.positions - (6.4e6, 0, 0), atol=NANOMETRES
    )
    radius = np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=2)
    np.testing.assert_allclose(radius, 0.1, atol=NANOMETRES)
    h, w = mesh.texture.shape[:2]
    for i in range(7):
        (u, v), *rest = mesh.uv[6 * i : 6 * i + 6]
        assert all((u, v) == tuple(other) for other in rest)
        assert (u * w % 1, v * h % 1) == pytest.approx((0.5, 0.5), abs=1e-6)
        np.testing.assert_array_equal(mesh.texture[int(v * h), int(u * w)], shape.colours[i])
    a, b, c = (mesh.vertices_map[mesh.triangles[:, k]] for k in range(3))
    middle = shape.positions[np.arange(56) // 8] - (6.4e6, 0, 0)
    outwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3 - middle)
    assert (outwards > 0).all()


def random_mesh(rng, n=60) -> TexturedMesh:
    vertices = rng.uniform(-2, 2, (3 * n, 3))
    return TexturedMesh(
        vertices_map=vertices,
        triangles=np.arange(3 * n, dtype=np.int32).reshape(-1, 3),
        uv=(vertices[:, :2] * 0.1 + 0.5).astype(np.float32),
        texture=np.zeros((2, 2, 3), np.uint8),
        light=(vertices[:, 2] * 0.1 + 0.5).astype(np.float32),
    )


def clipped_area(triangle, low, high):
    """Sutherland and Hodgman on one polygon, corner by corner."""
    polygon = list(triangle)
    for axis in range(3):
        for sign, bound in ((1, low[axis]), (-1, -high[axis])):
            result = []
            for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
                f, g = sign * p[axis] - bound, sign * q[axis] - bound
                if f >= 0:
                    result.append(p)
                if f * g < 0:
                    result.append(p + f / (f - g) * (q - p))
            polygon = result
    fan = [np.cross(b - polygon[0], c - polygon[0]) for b, c in itertools.pairwise(polygon[1:])]
    return 0.5 * np.linalg.norm(sum(fan)) if fan else 0.0


def test_cutting_keeps_the_area_inside_and_nothing_else():
    mesh = random_mesh(np.random.default_rng(2))
    low, high = np.array([-1.0, -0.5, -1.5]), np.array([0.7, 1.2, 0.3])
    cut = cropped(mesh, low, high)
    assert (cut.vertices_map >= low - CUT).all() and (cut.vertices_map <= high + CUT).all()
    a, b, c = (cut.vertices_map[cut.triangles[:, k]] for k in range(3))
    found = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    expected = sum(clipped_area(t, low, high) for t in mesh.vertices_map.reshape(-1, 3, 3))
    assert found == pytest.approx(expected, rel=CUT)
    # Texture and light are linear functions of the place here, and stay so.
    np.testing.assert_allclose(cut.uv, cut.vertices_map[:, :2] * 0.1 + 0.5, atol=1e-6)
    np.testing.assert_allclose(cut.light, cut.vertices_map[:, 2] * 0.1 + 0.5, atol=1e-6)


def test_cutting_keeps_the_side_of_triangles():
    mesh = random_mesh(np.random.default_rng(3))
    flat = dataclasses.replace(mesh, vertices_map=mesh.vertices_map * (1, 1, 0))
    corners = flat.vertices_map[flat.triangles]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 0
    only_up = dataclasses.replace(flat, triangles=flat.triangles[up])
    cut = cropped(only_up, np.array([-1.0, -1, -1]), np.array([1.0, 1, 1]))
    a, b, c = (cut.vertices_map[cut.triangles[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] >= -CUT).all()


def test_a_mesh_inside_is_returned_as_it_is_and_one_outside_is_nothing(square):
    mesh = square()
    assert cropped(mesh, np.array([-1.0, -1, -1]), np.array([2.0, 2, 2])) is mesh
    assert cropped(mesh, np.array([5.0, -1, -1]), np.array([6.0, 2, 2])) is None


def test_a_description_that_crops_cuts_at_the_region(site):
    site.write(site.tile("a.glb", 0, 0, 10.0))
    region = RegionDescription(center_m=(2, 3, 0), size_m=(2, 4, 0))
    (mesh,) = site.load(region=region, crop=True).meshes
    np.testing.assert_allclose(mesh.bounds_m, [[1, 1, 0], [3, 5, 0]], atol=1e-6)
    (whole,) = site.load(region=region).meshes
    np.testing.assert_allclose(whole.bounds_m, [[0, 0, 0], [10, 10, 0]], atol=1e-6)


def test_a_shared_texture_is_counted_once(square):
    mesh = square()
    other = dataclasses.replace(mesh, name="other")
    copied = dataclasses.replace(mesh, texture=mesh.texture.copy())
    once, twice = memory_bytes((mesh, other)), memory_bytes((mesh, copied))
    assert twice - once == pytest.approx(mesh.texture.nbytes * (1 + 16 / 9), abs=1)


def test_ecef_of_the_place_is_that_of_geodesy():
    T = T_ecef_enu(PLACE)
    np.testing.assert_allclose(T[:3, 3], ecef_from_geodetic(35.3105, -80.7405, 200.0))
    plane = LocalTangentPlane(PLACE)
    east = ecef_from_geodetic(*plane.to_geodetic((1.0, 0.0, 0.0))) - T[:3, 3]
    np.testing.assert_allclose(T[:3, 0], east, atol=NANOMETRES)
