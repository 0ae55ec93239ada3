# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Height maps: the values that Gazebo's tests expect, exact places, PNG, holes, refusals."""

import contextlib
import math

import cv2
import numpy as np
import pytest
import tifffile

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_worlds import load_world
from aerotwin_worlds.georaster import read_geotiff, read_grey_png
from aerotwin_worlds.georeference import enu_from_geodetic, grid_of
from aerotwin_worlds.height_map import HeightMapDescription, read_height_map

PUBLISHED = 5e-4  # the heights are published to six or seven digits
PUBLISHED_SIZE_M = 1e-2  # sizes to seven digits
EXACT_M = 1e-6  # 1e-9 of the Earth's radius is 6 mm in float32, 1e-9 m in float64
TEXTS = "attribution: a\nlicence: l\n"
ORIGIN = GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=400.0)

# gazebosim/gz-common, geospatial/src/Dem_TEST.cc.
DEMS = {
    "squared": {
        "shape": (129, 129), "range": (65.3583, 318.441), "size": (3139.7456, 3984.4849),
        "corners": (215.82324, 216.04961, 142.2274, 209.14784),
        "origin": (38.001667, -122.22278),
    },
    "portrait": {
        "shape": (200, 125), "range": (-6.2633353, 920.76294), "size": (87912.450, 111565.576),
        "origin": (38.001667, -123.001667),
    },
    "landscape": {
        "shape": (125, 200), "range": (-4.7324686, 921.44812), "size": (87912.450, 111565.576),
        "origin": (38.001667, -123.001667),
    },
}  # fmt: skip


def great_circle(a, b):
    """Distance on Gazebo's sphere of 6371 km, by the haversine formula [m]."""
    (lat1, lon1), (lat2, lon2) = np.radians(a), np.radians(b)
    h = np.sin((lat2 - lat1) / 2) ** 2
    h += np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371000.0 * np.arcsin(np.sqrt(h))


@pytest.mark.parametrize("name", DEMS)
def test_rasters_have_the_values_that_gazebo_expects(shared_data, name):
    raster = read_geotiff(shared_data(f"worlds/gz_dem/dem_{name}.tif"))
    expected, v = DEMS[name], raster.values
    assert v.shape == expected["shape"]
    assert raster.epsg == 4269
    np.testing.assert_allclose((v.min(), v.max()), expected["range"], atol=PUBLISHED)
    if "corners" in expected:
        corners = (v[0, 0], v[0, -1], v[-1, 0], v[-1, -1])
        np.testing.assert_allclose(corners, expected["corners"], atol=PUBLISHED)
    np.testing.assert_allclose((raster.north, raster.west), expected["origin"], atol=1e-5)
    east = raster.west + v.shape[1] * raster.pixel[0]
    south = raster.north - v.shape[0] * raster.pixel[1]
    corner = (raster.north, raster.west)
    sizes = great_circle(corner, (raster.north, east)), great_circle(corner, (south, raster.west))
    np.testing.assert_allclose(sizes, expected["size"], atol=PUBLISHED_SIZE_M)


@pytest.mark.parametrize("name", DEMS)
def test_vertices_lie_where_the_tangent_plane_puts_them(shared_data, name):
    folder = shared_data("worlds/gz_dem")
    description = HeightMapDescription(file=f"dem_{name}.tif")
    geometry = read_height_map(description, folder, None, where="world.yaml")
    raster = read_geotiff(folder / f"dem_{name}.tif")
    plane = LocalTangentPlane(geometry.origin)
    (mesh,) = geometry.meshes
    h, w = raster.values.shape
    assert len(mesh.vertices_map) == h * w
    for row, column in [(0, 0), (0, w - 1), (h - 1, 0), (h // 2, w // 3)]:
        latitude = raster.north - (row + 0.5) * raster.pixel[1]
        longitude = raster.west + (column + 0.5) * raster.pixel[0]
        expected = plane.from_geodetic(latitude, longitude, float(raster.values[row, column]))
        np.testing.assert_allclose(mesh.vertices_map[row * w + column], expected, atol=EXACT_M)


def test_a_moon_map_takes_a_given_size(shared_data):
    folder = shared_data("worlds/gz_dem")
    description = HeightMapDescription(file="dem_moon.tif", size_m=(80.0417, 80.0417))
    geometry = read_height_map(description, folder, ORIGIN, where="world.yaml")
    low, high = geometry.meshes[0].bounds_m
    np.testing.assert_allclose((low[2], high[2]), (-212.29616, -205.44009), atol=PUBLISHED)
    np.testing.assert_allclose(high[:2] - low[:2], 80.0417 * 32 / 33, atol=EXACT_M)
    np.testing.assert_allclose(high[:2] + low[:2], 0.0, atol=EXACT_M)
    assert geometry.origin == ORIGIN
    with pytest.raises(UserError, match=r"size_m must be given.*no coordinate system; add it"):
        read_height_map(HeightMapDescription(file="dem_moon.tif"), folder, ORIGIN, where="w")


def write_tiff(path, values, *, keys=(), tags=(), tie=(0, 0, 0, 0, 0, 0), scale=(1, 1, 0)):
    """Write a TIFF with geo keys as (key, value) pairs."""
    directory = (1, 1, 0, len(keys), *(n for key, value in keys for n in (key, 0, 1, value)))
    extra = [(33550, 12, 3, tuple(map(float, scale))), (33922, 12, 6, tuple(map(float, tie)))]
    if keys:
        extra.append((34735, 3, len(directory), directory))
    tifffile.imwrite(path, values, extratags=[*extra, *tags])


def heights(h=5, w=7):
    return np.arange(h * w, dtype=np.float32).reshape(h, w)


def test_point_rasters_are_moved_by_half_a_pixel(tmp_path):
    for name, point in (("area", 1), ("point", 2)):
        keys = ((1024, 1), (1025, point), (3072, 32632))
        write_tiff(
            tmp_path / f"{name}.tif", heights(), keys=keys,
            tie=(1, 2, 0, 500000, 5200000, 0), scale=(10, 20, 0),
        )  # fmt: skip
    area, point = (read_geotiff(tmp_path / f"{name}.tif") for name in ("area", "point"))
    assert (area.west, area.north, area.pixel, area.epsg) == (499990, 5200040, (10, 20), 32632)
    assert (point.west, point.north) == (499985, 5200050)


def test_a_transform_matrix_is_read_and_a_turned_one_refused(tmp_path):
    for name, turn in (("straight", 0.0), ("turned", 0.1)):
        matrix = (10.0, turn, 0, 500000, turn, -20.0, 0, 5200000, 0, 0, 0, 0, 0, 0, 0, 1)
        tags = [(34264, 12, 16, tuple(map(float, matrix)))]
        tifffile.imwrite(tmp_path / f"{name}.tif", heights(), extratags=tags)
    raster = read_geotiff(tmp_path / "straight.tif")
    assert (raster.west, raster.north, raster.pixel) == (500000, 5200000, (10, 20))
    with pytest.raises(UserError, match="turned against north"):
        read_geotiff(tmp_path / "turned.tif")


@pytest.fixture
def folder(tmp_path):
    """A UTM height map with an enclosed hole and a border without data, and pictures."""
    values = np.full((40, 50), 100.0, np.float32)
    values[10:12, 20:23] = -32768.0
    values[:, :5] = np.nan
    keys = ((1024, 1), (1025, 1), (3072, 32632))
    write_tiff(
        tmp_path / "dem.tif", values, keys=keys, tags=[(42113, 2, 0, "-32768")],
        tie=(0, 0, 0, 500000, 5200000, 0), scale=(2, 2, 0),
    )  # fmt: skip
    grey = np.zeros((30, 60), np.uint8)
    grey[:, 30:] = 255
    grey[3, 4] = 7
    cv2.imwrite(str(tmp_path / "grey8.png"), grey)
    cv2.imwrite(str(tmp_path / "grey16.png"), grey.astype(np.uint16) * 257)
    picture = np.zeros((20, 40, 3), np.uint8)
    picture[:10, :, 2], picture[10:, :, 0] = 200, 200  # red in the north, blue in the south
    cv2.imwrite(str(tmp_path / "picture.png"), picture)
    return tmp_path


def test_enclosed_holes_are_filled_and_reported_and_the_border_is_left_out(folder):
    description = HeightMapDescription(file="dem.tif")
    geometry = read_height_map(description, folder, None, where="world.yaml")
    (mesh,) = geometry.meshes
    assert len(mesh.vertices_map) == 40 * 45
    assert len(mesh.triangles) == 2 * 39 * 44
    assert any("6 heights without data filled" in note for note in geometry.notes)
    assert any("200 pixels at the border" in note for note in geometry.notes)
    # Constant height above the ellipsoid: flat but for the Earth's curvature, 1 mm over 100 m.
    np.testing.assert_allclose(mesh.vertices_map[:, 2], 100.0, atol=2e-3)
    a, b, c = (mesh.vertices_map[mesh.triangles[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()  # seen from above: counter-clockwise


def test_a_given_origin_moves_the_map(folder):
    description = HeightMapDescription(file="dem.tif")
    first = read_height_map(description, folder, None, where="world.yaml")
    shifted = GeodeticPoint(
        latitude_deg=first.origin.latitude_deg,
        longitude_deg=first.origin.longitude_deg + 1e-3,
        altitude_m=30.0,
    )
    second = read_height_map(description, folder, shifted, where="world.yaml")
    moved = second.meshes[0].vertices_map.mean(axis=0) - first.meshes[0].vertices_map.mean(axis=0)
    # 1e-3 deg of longitude at 47 deg north: 76 m; a radian is (N + h) cos(latitude).
    latitude = math.radians(first.origin.latitude_deg)
    n = 6378137.0 / math.sqrt(1 - 0.00669438 * math.sin(latitude) ** 2)
    expected = math.radians(1e-3) * (n + 100.0) * math.cos(latitude)
    np.testing.assert_allclose(moved, [-expected, 0.0, -30.0], atol=0.01)
    with pytest.raises(UserError, match="km from the world's origin"):
        read_height_map(description, folder, ORIGIN.__class__(latitude_deg=0, longitude_deg=0),
                        where="w")  # fmt: skip


@pytest.mark.parametrize("name", ["grey8.png", "grey16.png"])
def test_grey_pictures_span_their_range_of_heights(folder, name):
    description = HeightMapDescription(
        file=name, size_m=(120.0, 30.0), height_range_m=(-10.0, 41.0), image="picture.png"
    )
    (mesh,) = read_height_map(description, folder, ORIGIN, where="w").meshes
    v = mesh.vertices_map.reshape(30, 60, 3)
    np.testing.assert_allclose(v[0, 0], [-59.0, 14.5, -10.0], atol=EXACT_M)
    np.testing.assert_allclose(v[-1, -1], [59.0, -14.5, 41.0], atol=EXACT_M)
    assert v[3, 4, 2] == pytest.approx(-10.0 + 51.0 * 7 / 255, abs=1e-5)
    colours = [mesh.texture[int(uv[1] * 20), int(uv[0] * 40)] for uv in mesh.uv[[0, -1]]]
    np.testing.assert_array_equal(colours, [[200, 0, 0], [0, 0, 200]])


def test_a_png_may_name_a_value_without_height(folder):
    description = HeightMapDescription(
        file="grey8.png", size_m=(60, 30), height_range_m=(0, 255), no_data=7
    )
    geometry = read_height_map(description, folder, ORIGIN, where="w")
    assert "1 heights without data" in geometry.notes[0]
    assert geometry.meshes[0].vertices_map[: 60 * 4, 2].max() in (0.0, 255.0)


@pytest.mark.parametrize("depth", [8, 16])
@pytest.mark.parametrize("n_channels", [3, 4])
def test_grey_that_was_saved_as_colours_is_read(tmp_path, depth, n_channels):
    grey = np.arange(12 * 9, dtype=f"uint{depth}").reshape(12, 9) * (2 ** (depth - 7) - 1)
    channels = np.repeat(grey[..., None], n_channels, axis=2)
    channels[..., 3:] = 77  # transparency says nothing of heights
    cv2.imwrite(str(tmp_path / "grey.png"), channels)
    assert np.array_equal(read_grey_png(tmp_path / "grey.png"), grey)
    channels[3, 4, 1] += 1
    cv2.imwrite(str(tmp_path / "colour.png"), channels)
    with pytest.raises(UserError, match=r"colour\.png: expected grey, found colours that differ"):
        read_grey_png(tmp_path / "colour.png")


def test_a_file_in_a_system_that_is_not_read_takes_a_given_size(tmp_path):
    write_tiff(tmp_path / "dem.tif", heights(), keys=((3072, 32234),))  # WGS 72 / UTM
    description = HeightMapDescription(file="dem.tif", size_m=(70.0, 50.0))
    (mesh,) = read_height_map(description, tmp_path, ORIGIN, where="w").meshes
    np.testing.assert_allclose(mesh.bounds_m[:, :2], [[-30.0, -20.0], [30.0, 20.0]], atol=EXACT_M)
    description = HeightMapDescription(file="dem.tif")
    with pytest.raises(UserError, match=r"EPSG:32234 is not read.*gdalwarp.*give .*size_m"):
        read_height_map(description, tmp_path, ORIGIN, where="w")


def test_heights_are_averaged_to_the_limit(folder):
    description = HeightMapDescription(
        file="grey8.png", size_m=(60, 30), height_range_m=(0, 1), max_triangles=900
    )
    (mesh,) = read_height_map(description, folder, ORIGIN, where="w").meshes
    assert 600 < len(mesh.triangles) <= 900
    np.testing.assert_allclose(mesh.bounds_m[:, 2], [0.0, 1.0], atol=1e-6)


def test_steep_ground_is_grey_and_flat_ground_is_green(folder):
    ramp = np.linspace(0.0, 255.0, 64).astype(np.uint8)
    cv2.imwrite(str(folder / "ramp.png"), np.tile(ramp, (64, 1)))
    means = []
    for high in (1.0, 200.0):
        description = HeightMapDescription(
            file="ramp.png", size_m=(64, 64), height_range_m=(0, high)
        )
        geometry = read_height_map(description, folder, ORIGIN, where="w")
        assert geometry.notes[-1].startswith("colours assumed, not measured: painted")
        (mesh,) = geometry.meshes
        means.append(mesh.texture[:, :64].reshape(-1, 3).mean(axis=0))
        assert mesh.texture.std() > 5.0  # something to hold on to
    (green, grey) = means
    assert green[1] - green[2] > 30
    assert np.ptp(grey) < 20


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"file": "gone.tif"}, "'gone.tif' does not exist.*holds.*dem.tif"),
        ({"file": "../dem.tif"}, "must lie in"),
        ({"file": "picture.png", "height_range_m": (0, 1)}, "expected grey, found colours"),
        ({"max_pixels": 100}, "50 x 40 pixels are more than max_pixels = 100; raise it"),
        ({"file": "grey8.png"}, "height_range_m must be given for a PNG.*add it"),
        ({"height_range_m": (0.0, 1.0)}, "height_range_m .*remove it"),
        ({"size_m": (10.0, 10.0)}, "size_m .*EPSG:32632; remove it"),
        ({"file": "grey8.png", "height_range_m": (0, 1)}, "size_m must be given"),
        ({"image": "dem.tif"}, "dem.tif: not a readable image"),
        ({"image": "none.jpg"}, "height_map: image: 'none.jpg' does not exist"),
        ({"no_data": 100.0}, "only no-data"),
    ],
)
def test_a_wrong_description_names_key_and_way_out(folder, changes, message):
    description = HeightMapDescription(**{"file": "dem.tif", **changes})
    with pytest.raises(UserError, match=message.replace(".", r"\.").replace(r"\.*", ".*")):
        read_height_map(description, folder, ORIGIN, where="world.yaml")


@pytest.mark.parametrize(
    ("values", "keys", "message"),
    [
        (np.full((4, 4), np.nan, np.float32), (), "only no-data"),
        (np.zeros((4, 4, 3), np.uint8), (), "one band of heights"),
        (np.zeros((1, 9), np.float32), (), "at least 2 x 2"),
        (np.zeros((4, 4), np.float32), ((3072, 3857),), "EPSG:3857 is not read"),
        (np.zeros((4, 4), np.float32), ((3076, 9002), (3072, 32632)), "must be the metre"),
        (np.full((4, 4), 1e6, np.float32), ((3072, 32632),), "give its no_data value"),
    ],
)
def test_a_raster_that_cannot_be_used_is_refused_by_name(tmp_path, values, keys, message):
    write_tiff(tmp_path / "dem.tif", values, keys=keys)
    description = HeightMapDescription(file="dem.tif")
    with pytest.raises(UserError, match=rf"dem\.tif: .*{message}"):
        read_height_map(description, tmp_path, None, where="world.yaml")


def test_headers_that_promise_too_much_take_no_memory(folder):
    data = bytearray((folder / "grey8.png").read_bytes())
    data[16:24] = (4000).to_bytes(4, "big") * 2
    (folder / "grey8.png").write_bytes(data)
    description = HeightMapDescription(file="grey8.png", size_m=(60, 30), height_range_m=(0, 1))
    with pytest.raises(UserError, match=r"cannot hold 4000 x 4000 pixels"):
        read_height_map(description, folder, ORIGIN, where="w")


@pytest.mark.parametrize("seed", range(20))
def test_damaged_tiffs_never_get_through(folder, seed):
    rng = np.random.default_rng(seed)
    data = bytearray((folder / "dem.tif").read_bytes())
    for at in rng.integers(0, 300, 6):
        data[at] = rng.integers(256)
    (folder / "dem.tif").write_bytes(data[: rng.integers(8, len(data))])
    with contextlib.suppress(UserError):
        assert read_geotiff(folder / "dem.tif").values.ndim == 2


def test_arrays_of_places_are_those_of_core_point_by_point():
    rng = np.random.default_rng(5)
    latitude, longitude = rng.uniform(-90, 90, 50), rng.uniform(-180, 180, 50)
    altitude = rng.uniform(-1e3, 1e4, 50)
    plane = LocalTangentPlane(ORIGIN)
    expected = [plane.from_geodetic(*p) for p in zip(latitude, longitude, altitude, strict=True)]
    found = enu_from_geodetic(ORIGIN, latitude, longitude, altitude)
    np.testing.assert_allclose(found, expected, atol=EXACT_M)
    with pytest.raises(ValueError, match="EPSG:3857"):
        grid_of(3857)


def test_a_world_file_shows_a_height_map(folder):
    (folder / "world.yaml").write_text(
        f"name: hill\nheight_map: {{file: dem.tif, image: picture.png}}\nlight: {{}}\n{TEXTS}"
    )
    world = load_world(folder)
    assert world.source == "height_map"
    assert world.start_p_map[2] == pytest.approx(100.0, abs=1e-2)
    assert world.meshes[0].light is not None
    assert len(world.notes) == 2
    (folder / "world.yaml").write_text(
        "name: hill\nheight_map: {file: grey8.png, size_m: [9, 9], height_range_m: [0, 1]}\n"
        + TEXTS
    )
    with pytest.raises(UserError, match="'origin' is missing"):
        load_world(folder)
