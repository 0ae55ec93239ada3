# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Villages from photogrammetry: grids, holes, georeferencing, the commands."""

import argparse
import json

import cv2
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import info_command, load_world, render_command, village_command
from aerotwin_worlds.holes import enclosed_holes, fill_holes
from aerotwin_worlds.transverse_mercator import utm
from aerotwin_worlds.village import build_village

CENTIMETRE_DEG = 1e-7
TEXTS = {"name": "v", "attribution": "a", "licence": "l"}


def run(command, *tokens) -> int:
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return command.run(parser.parse_args([str(token) for token in tokens]))


def test_utm_has_the_example_of_geographiclib():
    # GeoConvert, Baghdad: 33.3 44.4 <-> 38n 444140.54 3684706.36.
    latitude, longitude = utm(32638).to_geodetic(444140.54, 3684706.36)
    assert latitude == pytest.approx(33.3, abs=CENTIMETRE_DEG)
    assert longitude == pytest.approx(44.4, abs=CENTIMETRE_DEG)


def test_utm_south_mirrors_north():
    north = utm(32629).to_geodetic(554201.0, 4505899.0)
    south = utm(32729).to_geodetic(554201.0, 1e7 - 4505899.0)
    np.testing.assert_allclose(south, [-north[0], north[1]], atol=1e-12)
    with pytest.raises(ValueError, match="UTM"):
        utm(3857)


def test_holes_are_filled_from_their_rim_and_known_values_stay():
    y, x = np.mgrid[0:40, 0:50]
    values = (2.0 * x + 3.0 * y).astype(np.float32)
    known = np.ones(values.shape, bool)
    known[10:14, 20:25] = False
    filled = fill_holes(np.where(known, values, -9999), known)
    np.testing.assert_array_equal(filled[known], values[known])
    assert np.abs(filled - values)[~known].max() < 16.0  # within the rim's range, 4 to 5 pixels
    assert filled.min() >= values.min()


def test_only_holes_inside_are_enclosed():
    known = np.ones((9, 9), bool)
    known[4, 4] = known[0, 3] = known[1, 3] = False
    np.testing.assert_array_equal(np.argwhere(enclosed_holes(known)), [[4, 4]])


@pytest.fixture
def folder(tmp_path):
    """A hill z = 10 + 0.1 x_east with a hole, and a picture that is red in the west."""
    import tifffile

    west, north, pixel, n = 500000.0, 4500000.0, 0.5, 200
    heights = np.tile(10.0 + 0.1 * (np.arange(n, dtype=np.float32) + 0.5) * pixel, (n, 1))
    heights[50:54, 60:66] = -9999.0
    heights[:, -20:] = -9999.0
    keys = (1, 1, 0, 1, 3072, 0, 1, 32629)
    tifffile.imwrite(
        tmp_path / "dsm.tif",
        heights,
        extratags=[
            (33550, 12, 3, (pixel, pixel, 0.0)),
            (33922, 12, 6, (0.0, 0.0, 0.0, west, north, 0.0)),
            (34735, 3, len(keys), keys),
            (42113, 2, 0, "-9999"),
        ],
    )
    picture = np.zeros((100, 100, 3), np.uint8)
    picture[:, :50, 2], picture[:, 50:, 0] = 200, 200
    picture[20:26, 20:26] = 0
    cv2.imwrite(
        str(tmp_path / "ortho_from_cloud_0p2m.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 100]
    )
    bounds = {"minx": west, "maxx": west + 100, "miny": north - 100, "maxy": north}
    (tmp_path / "odm_georeferenced_model.summary.json").write_text(
        json.dumps({"summary": {"bounds": bounds}})
    )
    return tmp_path


def test_a_synthetic_survey_becomes_its_hill(folder, tmp_path):
    out = tmp_path / "world"
    summary = build_village(folder, out, max_triangles=20000, **TEXTS)
    assert summary.n_surface_filled == 24
    assert summary.n_surface_outside == 200 * 20
    assert summary.n_triangles <= 20000
    assert 20 < summary.n_colour_filled < 50
    world = load_world(out)
    assert world.licence == "l"
    # A point of the grid, by the exact way: UTM, latitude and longitude, tangent plane.
    latitude, longitude = utm(32629).to_geodetic(500030.0, 4499960.0)
    x, y, z = LocalTangentPlane(world.origin).from_geodetic(
        float(latitude), float(longitude), 10.0 + 0.1 * 30.0
    )
    assert WorldQueries(world).height(x, y) == pytest.approx(z, abs=1e-3)
    mesh = world.meshes[0]
    row, column = (mesh.uv[0, ::-1] * [99, 99]).astype(int)
    assert mesh.texture[row, column, 0] > 150  # the first vertex is the north-west corner: red
    assert mesh.texture[20:26, 20:26, 0].min() > 90  # the hole took its rim's colour


def test_the_real_village_is_where_its_files_say(shared_data, tmp_path):
    source = shared_data("worlds/odm_portugal_uav")
    summary = build_village(source, tmp_path / "v", max_triangles=100_000, **TEXTS)
    world = load_world(tmp_path / "v")
    assert world.n_triangles == summary.n_triangles <= 100_000
    assert world.origin.latitude_deg == pytest.approx(40.70, abs=0.01)
    assert world.origin.longitude_deg == pytest.approx(-8.36, abs=0.01)
    extent = world.bounds_m[1] - world.bounds_m[0]
    np.testing.assert_allclose(extent[:2], [307.0, 325.0], atol=3.0)  # dsm.tif's raster
    assert world.bounds_m[0, 2] > -19.0
    assert world.bounds_m[1, 2] < 49.5
    _, normal = WorldQueries(world).ground_plane(world.start_p_map)
    assert normal[2] > 0.98
    # Highest points of the cloud, by the known result of the data: 90 % within 0.46 m of the
    # surface model; the grid here is 3 times as coarse as its pixels.
    cloud = source / "cloud_rgb_0p5m.ply"
    data = cloud.read_bytes()
    start = data.index(b"end_header\n") + len(b"end_header\n")
    kind = [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("rgb", "u1", 3)]
    points = np.frombuffer(data, kind, offset=start)[::50]
    e, n = points["x"] + 554000.0, points["y"] + 4505700.0
    plane = LocalTangentPlane(world.origin)
    geodetic = zip(*utm(32629).to_geodetic(e, n), points["z"], strict=True)
    p_map = np.array([plane.from_geodetic(*map(float, p)) for p in geodetic])
    above = p_map[:, 2] - WorldQueries(world).height(p_map[:, 0], p_map[:, 1])
    above = above[np.isfinite(above)]
    assert abs(np.median(above)) < 0.15
    assert np.quantile(np.abs(above), 0.6) < 0.46


@pytest.mark.parametrize(
    ("broken", "content", "message"),
    [
        ("dsm.tif", None, r"'dsm\.tif' does not exist"),
        ("dsm.tif", b"II*\0", "dsm.tif"),
        ("ortho_from_cloud_0p2m.jpg", b"no picture", "not a readable image"),
        ("odm_georeferenced_model.summary.json", b"{}", "summary.bounds"),
    ],
)
def test_a_broken_survey_is_refused_by_name(folder, broken, content, message):
    (folder / broken).unlink()
    if content is not None:
        (folder / broken).write_bytes(content)
    with pytest.raises(UserError, match=message):
        build_village(folder, folder / "out", max_triangles=1000, **TEXTS)


def test_commands_build_show_and_render_a_world(folder, capsys):
    out, record, picture = folder / "out", folder / "info.json", folder / "p.png"
    assert run(village_command, folder, "-o", out, "--max-triangles", 5000) == 0
    assert "n_colour_filled" in capsys.readouterr().out
    assert run(info_command, out, "--json", record) == 0
    assert json.loads(record.read_text())["licence"] == "no licence stated: internal test only"
    tokens = ["--position-m", "0", "0", "30", "--above-ground", "--pitch-deg", "90"]
    assert run(render_command, out, *tokens, "--size-px", "64", "48", "-o", picture) == 0
    pixels = cv2.imread(str(picture))
    # Yaw 0 puts north left and east up: the blue east is above the red west.
    assert pixels[8, 32, 0] > 150
    assert pixels[40, 32, 2] > 150


def test_commands_refuse_what_makes_no_sense(folder):
    with pytest.raises(UserError, match="max-triangles"):
        run(village_command, folder, "-o", folder / "o", "--max-triangles", 5)
    with pytest.raises(UserError, match="no such folder"):
        run(village_command, folder / "gone", "-o", folder / "o")
