# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Known results: binvox/README.md of the shared data."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud import OccupancyGrid, load_surface, read_binvox, voxelise, write_binvox

MAP_LAYERS = [0] * 21
MAP_LAYERS += [10000, 815, 817, 10000, 1861, 1462, 1438, 1296, 1244, 1348, 1656, 1491, 1116, 942]
MAP_LAYERS += [2247, 1719, 877, 431, 1054, 748, 583, 241, 126, 4, 3, 0, 0, 0, 0]
FOUR_DECIMALS = 6e-5  # the README prints four


def some_grid():
    occupied = np.random.default_rng(4).random((7, 40, 3)) < 0.3
    occupied[3] = True
    return OccupancyGrid.from_dense(
        occupied, origin_m=np.array([-3.5, 2.0, 0.125]), resolution_m=0.25
    )


def test_what_is_written_is_read_back_to_the_bit(tmp_path):
    grid = some_grid()
    write_binvox(tmp_path / "a.binvox", grid)
    again, header = read_binvox(tmp_path / "a.binvox")
    assert (again.dense() == grid.dense()).all()
    assert again.resolution_m == pytest.approx(grid.resolution_m, rel=1e-15)
    assert (again.origin_m == grid.origin_m).all()
    assert header.dialect == "binvox"


def test_raw_order_is_x_z_y(tmp_path):
    """The format: index = x * (width * height) + z * width + y."""
    (tmp_path / "a.binvox").write_bytes(
        b"#binvox 1\ndim 2 3 4\ntranslate 0 0 0\nscale 4\ndata\n" + bytes([0, 17, 1, 1, 0, 6])
    )
    grid, _ = read_binvox(tmp_path / "a.binvox")
    assert grid.dims == (2, 4, 3)
    assert grid.cells().tolist() == [[1, 1, 1]]  # 17 = 1*12 + 1*4 + 1


def test_long_runs_are_split(tmp_path):
    full = np.ones((10, 10, 51), dtype=bool)
    grid = OccupancyGrid.from_dense(full, origin_m=np.zeros(3), resolution_m=1.0)
    write_binvox(tmp_path / "a.binvox", grid)
    assert (tmp_path / "a.binvox").read_bytes().endswith(b"data\n" + bytes([1, 255]) * 20)


def test_damaged_files_are_refused_in_words(tmp_path):
    write_binvox(tmp_path / "good.binvox", some_grid())
    good = (tmp_path / "good.binvox").read_bytes()
    for name, data, words in (
        ("cut", good[:-3], "cut off|cells"),
        ("short", good[:-2], "cells, dim says"),
        ("huge", good.replace(b"dim 7", b"dim 7000000000"), "out of range"),
        ("magic", b"PK" + good, "not a binvox"),
        ("nodata", good.replace(b"data\n", b"dtaa\n"), "no 'data'"),
        ("nan", good.replace(b"scale 10.0", b"scale nan"), "finite"),
    ):
        path = tmp_path / f"{name}.binvox"
        path.write_bytes(data)
        with pytest.raises(UserError, match=words):
            read_binvox(path)


def test_patrick_mins_own_file_has_the_known_count(shared_data):
    grid, header = read_binvox(shared_data("binvox/dimatura/chair.binvox"))
    assert (grid.n_occupied, header.dialect) == (1002, "binvox")


def test_trimesh_file_lies_on_its_mesh(shared_data):
    grid, _ = read_binvox(shared_data("binvox/trimesh/chair_model.binvox"))
    centres = grid.centres()
    assert grid.n_occupied == 1932
    np.testing.assert_allclose(centres.min(0), [-0.2551, -0.3215, -0.2530], atol=FOUR_DECIMALS)
    np.testing.assert_allclose(centres.max(0), [0.2634, 0.3215, 0.2656], atol=FOUR_DECIMALS)


def test_our_voxels_of_that_mesh_cover_it(shared_data):
    from scipy.spatial import cKDTree

    surface = load_surface(shared_data("binvox/trimesh/chair_model.obj"))
    theirs, _ = read_binvox(shared_data("binvox/trimesh/chair_model.binvox"))
    ours = voxelise(
        surface.vertices,
        surface.triangles,
        theirs.resolution_m,
        frame=theirs.frame,
    )
    # Their grid was made from the same mesh by another program: neighbours at most.
    reach = theirs.resolution_m * 1.01 * np.sqrt(3.0)
    assert cKDTree(theirs.centres()).query(ours.centres())[0].max() < reach
    assert cKDTree(ours.centres()).query(theirs.centres())[0].max() < reach


def test_airsim_map_has_its_ground_plane_and_layers(shared_data):
    grid, header = read_binvox(shared_data("binvox/airsim_ppo/map.binvox"))
    layers = grid.layer_counts()
    assert (header.dialect, grid.n_occupied) == ("airsim", 43_519)
    assert grid.resolution_m == pytest.approx(1.0)
    assert grid.dims == (100, 100, 50)
    assert layers.tolist() == MAP_LAYERS
    # AirSim tests boxes around whole metres: half a cell below what the header says.
    np.testing.assert_allclose(grid.origin_m, [-50.5, -50.5, -25.5])


def test_airsim_x_is_north(shared_data):
    """Raw order x + nx*(z + nz*y): the fastest axis is AirSim's x, north, our y."""
    path = shared_data("binvox/airsim_ppo/map.binvox")
    data = path.read_bytes()
    pairs = np.frombuffer(data[data.index(b"data") + 5 :], np.uint8)
    raw = np.repeat(pairs[0::2], pairs[1::2])
    occupied = read_binvox(path)[0].dense()
    for east, north, up in ((3, 70, 21), (55, 20, 26), (90, 41, 30), (10, 99, 24)):
        assert occupied[east, north, up] == raw[north + 100 * (up + 50 * east)]


def test_airsim_map_after_filling_contains_the_map_before(shared_data):
    before, _ = read_binvox(shared_data("binvox/airsim_ppo/map.binvox"))
    after, header = read_binvox(shared_data("binvox/airsim_ppo/map2.binvox"))
    assert (after.n_occupied, header.dialect) == (280_026, "airsim")
    assert not (before.dense() & ~after.dense()).any()
