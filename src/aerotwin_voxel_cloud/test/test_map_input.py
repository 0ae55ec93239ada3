# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is given as reference or estimate comes in metres, and says what it is."""

import json

import numpy as np
import pytest

from aerotwin_core.bag import BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.messages import point_cloud_message, serialize
from aerotwin_registration import write_cloud
from aerotwin_voxel_cloud import (
    GridFrame,
    TriangleSurface,
    grid_of_points,
    load_map,
    write_binvox,
)
from aerotwin_voxel_cloud.map_input import METRES_PER_UNIT, doubts, metres_of

FLOAT32 = 1e-5
SQUARE = "v 0 0 0\nv 4 0 0\nv 4 2 1\nv 0 2 1\nf 1 2 3 4\n"


def some_points(n=50):
    return np.random.default_rng(1).uniform(-20, 20, (n, 3))


def test_a_cloud_reports_what_was_assumed(tmp_path):
    write_cloud(tmp_path / "a.npz", some_points())
    found = load_map(tmp_path / "a.npz")
    np.testing.assert_array_equal(found.points, some_points())
    assert (found.kind, found.frame, found.unit) == ("cloud (npz)", "unknown", "m (assumed)")
    assert (found.is_surface, found.origin, found.notes) == (False, None, ())
    plain = json.loads(json.dumps(found.plain()))
    assert (plain["n_points"], plain["n_triangles"]) == (50, 0)
    assert plain["bounds_high_m"] == some_points().max(axis=0).round(3).tolist()
    assert "50 points" in found.describe() and "unit m (assumed)" in found.describe()
    np.testing.assert_array_equal(load_map(tmp_path / "a.npz").content, some_points())


@pytest.mark.parametrize(("unit", "metres"), [*METRES_PER_UNIT.items(), ("0.25", 0.25)])
def test_coordinates_in_other_units_become_metres(tmp_path, unit, metres):
    np.save(tmp_path / "a.npy", some_points())
    found = load_map(tmp_path / "a.npy", unit=unit)
    np.testing.assert_allclose(found.points, some_points() * metres)
    assert found.unit == f"{unit} to m (as asked)"


@pytest.mark.parametrize("unit", ["miles", "-1", "0", "nan", "inf"])
def test_units_that_are_none_are_refused(unit):
    with pytest.raises(UserError, match="--unit must be one of m, mm"):
        metres_of(unit)


def test_sizes_that_no_map_has_are_doubted():
    assert "its unit may be the millimetre (--unit mm)" in doubts([[0, 0, 0], [2e5, 1e5, 3e4]])[0]
    assert "x and y may be degrees" in doubts([[8.50, 47.1, 400], [8.51, 47.11, 430]])[0]
    assert doubts([[0, 0, 0], [250, 250, 40]]) == ()
    assert doubts([[0, 0, 0], [0.6, 0.5, 0.7]]) == ()  # a chair


def test_a_cloud_in_millimetres_is_suspected_and_can_be_declared(tmp_path):
    np.save(tmp_path / "a.npy", some_points() * 1e4)
    assert "millimetre" in load_map(tmp_path / "a.npy").notes[0]
    assert load_map(tmp_path / "a.npy", unit="mm").notes == ()


def test_a_cloud_beyond_all_maps_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", some_points() * 1e300)
    with pytest.raises(UserError, match=r"a\.npy: its coordinates reach .* which no map does"):
        load_map(tmp_path / "a.npy")


def test_a_las_in_feet_becomes_metres_by_its_own_word(tmp_path):
    laspy = pytest.importorskip("laspy")
    header = laspy.LasHeader(point_format=6, version="1.4")
    header.scales = np.full(3, 0.001)
    wkt = b'PROJCS["Somewhere (ft)",GEOGCS["a",UNIT["degree",0.01745]],UNIT["foot",0.3048]]'
    header.vlrs.append(laspy.VLR("LASF_Projection", 2112, "", wkt))
    las = laspy.LasData(header)
    las.x, las.y, las.z = some_points().T
    las.write(tmp_path / "a.las")
    found = load_map(tmp_path / "a.las")
    np.testing.assert_allclose(found.points, some_points() * 0.3048, atol=1e-3)
    assert (found.frame, found.unit) == ("Somewhere (ft)", "0.3048 m (the file says so)")
    asked = load_map(tmp_path / "a.las", unit="m")
    np.testing.assert_allclose(asked.points, some_points(), atol=1e-3)
    assert asked.unit == "m to m (as asked)"


def test_meshes_are_surfaces_and_their_vertices_alone_are_clouds(tmp_path):
    (tmp_path / "a.obj").write_text(SQUARE)
    found = load_map(tmp_path / "a.obj", unit="2")
    assert isinstance(found.content, TriangleSurface)
    assert (found.kind, found.plain()["n_triangles"]) == ("surface", 2)
    assert found.bounds_m.tolist() == [[0, 0, 0], [8, 4, 2]]
    write_cloud(tmp_path / "b.ply", some_points())
    assert load_map(tmp_path / "b.ply").kind == "cloud (ply)"


def test_the_cells_of_a_grid_are_its_centres_in_both_dialects(tmp_path):
    frame = GridFrame(origin_m=np.array([-4.0, -4.0, -4.0]), resolution_m=1.0, dims=(8, 8, 8))
    grid = grid_of_points(some_points() / 8.0, frame)
    write_binvox(tmp_path / "a.binvox", grid)
    found = load_map(tmp_path / "a.binvox")
    np.testing.assert_allclose(found.points, grid.centres())
    assert found.kind == "binvox (binvox)" and found.notes == ("centres of cells of 1 m",)
    write_binvox(tmp_path / "b.binvox", grid, dialect="airsim")
    found = load_map(tmp_path / "b.binvox", dialect="airsim")
    np.testing.assert_allclose(found.points, grid.centres())
    assert (found.kind, found.frame) == ("binvox (airsim)", "ENU")


def test_the_clouds_of_a_bag_are_named_behind_a_colon(tmp_path):
    path = tmp_path / "run:1" / "bag"  # a colon of its own
    with BagWriter(path) as writer:
        for topic in ("/slam/map", "/lidar/points"):
            writer.add_topic(topic, "sensor_msgs/msg/PointCloud2")
            message = point_cloud_message(1, "odom", some_points() + len(topic))
            writer.write(topic, 1, serialize(message))
    found = load_map(f"{path}:/slam/map")
    np.testing.assert_allclose(found.points, some_points() + 9, atol=FLOAT32)
    assert (found.kind, found.frame, found.unit) == ("bag", "odom", "m (REP-103)")
    found = load_map(f"{path / 'bag_0.mcap'}:/lidar/points")
    np.testing.assert_allclose(found.points, some_points() + 13, atol=FLOAT32)
    with pytest.raises(UserError, match="it has: /lidar/points, /slam/map"):
        load_map(path)
    with pytest.raises(UserError, match="no topic /odom"):
        load_map(f"{path}:/slam/map@/odom")


def test_worlds_and_tilesets_are_surfaces_with_their_place(shared_data, tmp_path):
    (tmp_path / "a.obj").write_text(SQUARE)
    (tmp_path / "world.yaml").write_text(
        "name: square\nmesh: a.obj\norigin: {latitude_deg: 47.0, longitude_deg: 8.0, "
        "altitude_m: 400.0}\nlicence: CC0-1.0\nattribution: nobody\n"
    )
    found = load_map(tmp_path)
    assert (found.kind, found.frame, found.unit) == ("surface", "map (ENU)", "m (world)")
    assert found.plain()["origin"]["latitude_deg"] == 47.0
    pit = load_map(shared_data("worlds/lunar_pit_landform/tileset.json"))
    assert pit.plain()["n_triangles"] == 177_950
    assert pit.unit == "m (3-D Tiles)"


def test_real_grids_and_meshes_have_the_known_size(shared_data):
    for name, n in {"airsim_ppo/map": 43_519, "trimesh/chair_model": 1932}.items():
        assert len(load_map(shared_data(f"binvox/{name}.binvox")).points) == n
    chair = load_map(shared_data("binvox/trimesh/chair_model.obj"))
    np.testing.assert_allclose(chair.bounds_m[1], [0.2655, 0.3319, 0.2634], atol=1e-4)


@pytest.mark.parametrize("spec", ["nothing.ply", "nothing", "nothing.bin", "a.docx"])
def test_what_is_not_there_is_named(tmp_path, spec):
    with pytest.raises(UserError, match=spec.replace(".", r"\.")):
        load_map(tmp_path / spec)
