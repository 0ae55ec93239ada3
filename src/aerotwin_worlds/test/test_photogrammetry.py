# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Surveys straight from a world file: the village's surface, colours of a point cloud."""

import json
import shutil
import struct

import cv2
import numpy as np
import pytest
import tifffile

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_worlds import load_world
from aerotwin_worlds.photogrammetry import PhotogrammetryDescription, read_photogrammetry
from aerotwin_worlds.transverse_mercator import utm
from aerotwin_worlds.village import build_village

SINGLE_M = 2e-5  # a GLB file holds positions in single precision: 150 m and 24 bits
TEXTS = {"name": "v", "attribution": "a", "licence": "l"}
WEST, NORTH, PIXEL, N = 500000.0, 4500000.0, 0.5, 100
OFFSET = (499000.0, 4499000.0, 0.0)


def write_cloud(path, points, colours):
    """Write a binary PLY cloud."""
    kinds = [*(f"float {n}" for n in "xyz"), *(f"uchar {n}" for n in ("red", "green", "blue"))]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    header += [*(f"property {kind}" for kind in kinds), "end_header", ""]
    rows = (struct.pack("<3f3B", *p, *c) for p, c in zip(points, colours, strict=True))
    path.write_bytes("\n".join(header).encode() + b"".join(rows))


@pytest.fixture
def folder(tmp_path):
    """A slope z = 5 + 0.1 x, a picture that is red in the west, a cloud that is green in the east.

    Over every second cell of the cloud hangs a higher, white point.
    """
    heights = np.tile(5.0 + 0.1 * (np.arange(N, dtype=np.float32) + 0.5) * PIXEL, (N, 1))
    keys = (1, 1, 0, 1, 3072, 0, 1, 32629)
    tifffile.imwrite(
        tmp_path / "dsm.tif",
        heights,
        extratags=[
            (33550, 12, 3, (PIXEL, PIXEL, 0.0)),
            (33922, 12, 6, (0.0, 0.0, 0.0, WEST, NORTH, 0.0)),
            (34735, 3, len(keys), keys),
        ],
    )
    picture = np.full((50, 50, 3), 60, np.uint8)
    picture[:, :25, 2], picture[:, 25:, 0] = 200, 200
    quality = [cv2.IMWRITE_JPEG_QUALITY, 100]
    cv2.imwrite(str(tmp_path / "ortho_from_cloud_0p2m.jpg"), picture, quality)
    bounds = {"minx": WEST, "maxx": WEST + 50, "miny": NORTH - 50, "maxy": NORTH}
    (tmp_path / "odm_georeferenced_model.summary.json").write_text(
        json.dumps({"summary": {"bounds": bounds}})
    )
    e, n = np.meshgrid(np.arange(0.5, 50.0), np.arange(0.5, 50.0))
    ground = np.column_stack([e.ravel(), -n.ravel(), 5.0 + 0.1 * e.ravel()])
    ground += (WEST - OFFSET[0], NORTH - OFFSET[1], 0.0)
    colours = np.where(e.ravel()[:, None] < 25, (200, 60, 60), (60, 200, 60))
    above = ground[::2] + np.array([0.0, 0.0, 3.0])
    points = np.concatenate([above, ground])
    write_cloud(tmp_path / "cloud.ply", points, [*[(255,) * 3] * len(above), *colours])
    return tmp_path


ORTHO = {
    "orthophoto": "ortho_from_cloud_0p2m.jpg",
    "orthophoto_bounds": "odm_georeferenced_model.summary.json",
}
CLOUD = {"cloud": "cloud.ply", "cloud_offset_m": OFFSET, "texel_m": 1.0}


def read(folder, **keys):
    return read_photogrammetry(PhotogrammetryDescription(**keys), folder, None, where="world.yaml")


def test_the_surface_lies_where_utm_and_tangent_plane_put_it(folder):
    geometry, summary = read(folder, **ORTHO)
    (mesh,) = geometry.meshes
    plane = LocalTangentPlane(geometry.origin)
    for row, column in [(0, 0), (0, N - 1), (N - 1, 3), (50, 50)]:
        e, n = WEST + (column + 0.5) * PIXEL, NORTH - (row + 0.5) * PIXEL
        latitude, longitude = utm(32629).to_geodetic(e, n)
        expected = plane.from_geodetic(float(latitude), float(longitude), 5.0 + 0.1 * (e - WEST))
        np.testing.assert_allclose(mesh.vertices_map[row * N + column], expected, atol=1e-5)
    assert summary.n_surface_pixels == N * N
    assert (summary.n_surface_filled, summary.n_colour_filled) == (0, 0)
    assert geometry.notes == ()


def test_a_world_file_gives_the_same_surface_as_the_village_command(folder):
    build_village(folder, folder / "out", max_triangles=5000, **TEXTS)
    keys = "".join(f"  {key}: {value}\n" for key, value in ORTHO.items())
    (folder / "world.yaml").write_text(
        f"name: v\nattribution: a\nlicence: l\nphotogrammetry:\n  max_triangles: 5000\n{keys}"
    )
    (direct,), (village,) = load_world(folder).meshes, load_world(folder / "out").meshes
    np.testing.assert_allclose(direct.vertices_map, village.vertices_map, atol=SINGLE_M)
    np.testing.assert_array_equal(direct.triangles, village.triangles)
    np.testing.assert_array_equal(direct.texture, village.texture)


def test_colours_of_a_cloud_are_those_of_its_highest_points(folder):
    (mesh,) = read(folder, **CLOUD)[0].meshes
    texture = mesh.texture.reshape(-1, 3)
    assert mesh.texture.shape == (50, 50, 3)
    np.testing.assert_array_equal(texture[::2], 255)
    np.testing.assert_array_equal(mesh.texture[3, 1], (200, 60, 60))
    np.testing.assert_array_equal(mesh.texture[3, 49], (60, 200, 60))


def test_gaps_of_a_cloud_are_filled_from_their_surroundings_and_reported(folder):
    geometry, summary = read(folder, **{**CLOUD, "texel_m": 0.5})
    assert summary.n_colour_filled == pytest.approx(0.75 * summary.n_colour_pixels, rel=0.02)
    assert "had no colour and were filled" in geometry.notes[0]
    assert geometry.meshes[0].texture.min() >= 60


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({**CLOUD, "cloud_offset_m": (0.0, 0.0, 0.0)}, "no point lies over .*cloud_offset_m"),
        ({**CLOUD, "cloud": "gone.ply"}, r"cloud: 'gone\.ply' does not exist"),
        ({**CLOUD, "cloud": "dsm.tif"}, r"dsm\.tif: .*no PLY header"),
        ({**ORTHO, "surface": "../dsm.tif"}, "surface: .*must lie in"),
        ({**ORTHO, "surface": "ortho_from_cloud_0p2m.jpg"}, "not a readable GeoTIFF"),
    ],
)
def test_a_broken_survey_names_key_and_way_out(folder, keys, message):
    with pytest.raises(UserError, match=message):
        read(folder, **keys)


def test_a_cloud_without_colours_and_a_surface_without_place_are_refused(folder):
    points = np.zeros((3, 3), np.float32)
    data = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\n"
    data += b"property float y\nproperty float z\nend_header\n" + points.tobytes()
    (folder / "cloud.ply").write_bytes(data)
    with pytest.raises(UserError, match="no colours"):
        read(folder, **CLOUD)
    tifffile.imwrite(folder / "dsm.tif", np.zeros((9, 9), np.float32))
    with pytest.raises(UserError, match="names no coordinate system"):
        read(folder, **ORTHO)


@pytest.mark.parametrize("keys", [{}, {**ORTHO, **CLOUD}, {"orthophoto": "o.jpg"}])
def test_colours_come_from_exactly_one_source(folder, keys):
    with pytest.raises((ParameterError, ValueError), match=r"either|belong together"):
        PhotogrammetryDescription(**keys)


def test_the_real_survey_is_read_directly(shared_data, tmp_path):
    source = shared_data("worlds/odm_portugal_uav")
    for name in ("dsm.tif", "cloud_rgb_0p5m.ply"):
        shutil.copyfile(source / name, tmp_path / name)
    (tmp_path / "world.yaml").write_text(
        "name: village\nattribution: a\nlicence: l\nphotogrammetry:\n  max_triangles: 50000\n"
        "  cloud: cloud_rgb_0p5m.ply\n  cloud_offset_m: [554000, 4505700, 0]\n  texel_m: 0.5\n"
    )
    world = load_world(tmp_path)
    assert world.source == "photogrammetry"
    assert world.n_triangles <= 50_000
    assert world.bounds_m[0, 2] > -19.0 and world.bounds_m[1, 2] < 49.5
    # The picture of the data was made from the same cloud: same colours, another raster.
    ortho, _ = read(source, **ORTHO, max_triangles=50_000)
    rng = np.random.default_rng(3)
    chosen = rng.integers(0, len(world.meshes[0].uv), 20_000)
    seen = []
    for mesh in (world.meshes[0], ortho.meshes[0]):
        row, column = (mesh.uv[chosen, ::-1] * mesh.texture.shape[:2]).astype(int).T
        seen.append(mesh.texture[row, column].ravel())
    assert np.corrcoef(seen)[0, 1] > 0.75
