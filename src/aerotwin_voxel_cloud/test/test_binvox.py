# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Known results: binvox/README.md of the shared data."""

import tracemalloc
from contextlib import suppress
from importlib import import_module

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud import (
    GridFrame,
    OccupancyGrid,
    load_surface,
    read_binvox,
    voxelise,
    write_binvox,
)

MAP_LAYERS = [0] * 21
MAP_LAYERS += [10000, 815, 817, 10000, 1861, 1462, 1438, 1296, 1244, 1348, 1656, 1491, 1116, 942]
MAP_LAYERS += [2247, 1719, 877, 431, 1054, 748, 583, 241, 126, 4, 3, 0, 0, 0, 0]
FOUR_DECIMALS = 6e-5  # the README prints four


def grid_of(occupied, origin_m, resolution_m):
    frame = GridFrame(origin_m=origin_m, resolution_m=resolution_m, dims=occupied.shape)
    return OccupancyGrid.from_cells(frame, np.argwhere(occupied))


def some_grid():
    occupied = np.random.default_rng(4).random((7, 40, 3)) < 0.3
    occupied[3] = True
    return grid_of(occupied, np.array([-3.5, 2.0, 0.125]), 0.25)


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
    grid = grid_of(full, np.zeros(3), 1.0)
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


def place(grid):
    return grid.origin_m, grid.resolution_m


@pytest.mark.parametrize("dims", [(7, 40, 3), (8, 6, 10)])
def test_airsims_dialect_is_written_as_it_is_read(tmp_path, dims):
    """Odd and even dims; a grid away from the origin is told by its dialect only."""
    occupied = np.random.default_rng(1000).random(dims) < 0.3
    grid = grid_of(occupied, np.array([-3.5, 2.0, 0.125]), 0.25)
    write_binvox(tmp_path / "a.binvox", grid, dialect="airsim")
    again, header = read_binvox(tmp_path / "a.binvox", dialect="airsim")
    assert (again.dense() == occupied).all()
    assert again.resolution_m == pytest.approx(0.25, rel=1e-12)
    np.testing.assert_allclose(again.origin_m, grid.origin_m, atol=1e-12)
    assert header.dims == (dims[1], dims[2], dims[0])
    assert header.scale == pytest.approx(1.0 / (0.25 * dims[1]))


def test_a_real_airsim_file_written_again_has_its_bytes(shared_data, tmp_path):
    """But for the header's way of writing numbers, and AirSim's split of runs."""
    path = shared_data("binvox/airsim_ppo/map.binvox")
    grid, header = read_binvox(path)
    write_binvox(tmp_path / "a.binvox", grid, dialect="airsim")
    again, header_again = read_binvox(tmp_path / "a.binvox")
    assert header_again == header
    assert (again.words == grid.words).all()
    np.testing.assert_allclose(place(again)[0], place(grid)[0], atol=1e-12)


def test_what_the_header_says_can_be_overridden(shared_data):
    path = shared_data("binvox/airsim_ppo/map.binvox")
    grid, header = read_binvox(path, dialect="binvox")
    assert (header.dialect, grid.dims, grid.n_occupied) == ("binvox", (100, 100, 50), 43_519)
    assert grid.resolution_m == pytest.approx(0.01 / 100)
    grid, _ = read_binvox(path, resolution_m=2.0, origin_m=np.array([1.0, 2.0, 3.0]))
    assert (grid.resolution_m, grid.origin_m.tolist()) == (2.0, [1.0, 2.0, 3.0])


def test_a_metre_around_the_origin_is_binvox(tmp_path):
    """The one grid whose scale is 1/(-2 translate_x) in both dialects."""
    grid = grid_of(np.ones((4, 4, 4), dtype=bool), np.full(3, -0.5), 0.25)
    write_binvox(tmp_path / "a.binvox", grid)
    assert read_binvox(tmp_path / "a.binvox")[1].dialect == "binvox"


def slow_runs(raw):
    """Run lengths by counting, as the format says."""
    pairs, at = [], 0
    while at < len(raw):
        end = at
        while end < len(raw) and raw[end] == raw[at] and end - at < 255:
            end += 1
        pairs += [int(raw[at]), end - at]
        at = end
    return bytes(pairs)


@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.5, 0.98, 1.0])
@pytest.mark.parametrize("seed", [1000, 1001, 1002])
def test_runs_are_those_of_the_slow_way_over_slabs_and_broken_bricks(tmp_path, share, seed):
    rng = np.random.default_rng(seed)
    occupied = rng.random(tuple(rng.integers(1, 28, 3))) < share
    grid = grid_of(occupied, np.zeros(3), 1.0)
    write_binvox(tmp_path / "a.binvox", grid)
    data = (tmp_path / "a.binvox").read_bytes().split(b"data\n", 1)[1]
    assert data == slow_runs(occupied.transpose(0, 2, 1).ravel())
    assert (read_binvox(tmp_path / "a.binvox")[0].dense() == occupied).all()


def test_runs_of_no_cells_and_values_above_one_are_read(tmp_path):
    """AirSim may write empty runs; version 2 of the format has values up to 255."""
    data = b"#binvox 2\ndim 2 2 2\ndata\n" + bytes([0, 0, 7, 3, 1, 0, 0, 5, 1, 0])
    (tmp_path / "a.binvox").write_bytes(data)
    assert read_binvox(tmp_path / "a.binvox")[0].n_occupied == 3


@pytest.mark.parametrize("dim", [b"4000 400 4000", b"1000000 1 1000000", b"16777216 1 1"])
def test_a_header_that_lies_about_its_data_takes_no_memory(tmp_path, dim):
    path = tmp_path / "a.binvox"
    path.write_bytes(b"#binvox 1\ndim " + dim + b"\ndata\n" + bytes([1, 255]) * 10)
    tracemalloc.start()
    with pytest.raises(UserError, match=r"the data fill 2550 cells|does not fit"):
        read_binvox(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000_000  # two numbers for each of two million slabs


def test_a_file_that_unpacks_beyond_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("aerotwin_voxel_cloud.voxelisation"), "MAX_BRICKS", 100)
    path = tmp_path / "bomb.binvox"
    path.write_bytes(b"#binvox 1\ndim 51 51 100\ndata\n" + bytes([1, 255]) * (51 * 20))
    with pytest.raises(UserError, match="at most 100 fit"):
        read_binvox(path)


@pytest.mark.parametrize("seed", range(1000, 1020))
def test_noise_in_a_file_is_refused_or_read_and_never_breaks(tmp_path, seed):
    rng = np.random.default_rng(seed)
    write_binvox(tmp_path / "good.binvox", some_grid())
    good = np.frombuffer((tmp_path / "good.binvox").read_bytes(), np.uint8)
    path = tmp_path / "bad.binvox"
    for _ in range(25):
        bad = good.copy()
        at = rng.integers(0, 80 if rng.random() < 0.7 else len(bad), rng.integers(1, 4))
        bad[at] = rng.integers(0, 256, len(at))
        path.write_bytes(bad[: rng.integers(1, len(bad) + 1)].tobytes())
        with suppress(UserError):
            grid, _ = read_binvox(path)
            assert 0 <= grid.n_occupied <= grid.frame.n_cells


def test_what_stops_the_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.binvox"
    write_binvox(path, some_grid())
    before = path.read_bytes()

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_binvox(path, some_grid(), on_done=interrupt)
    assert [p.name for p in tmp_path.iterdir()] == ["a.binvox"]
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"):
        write_binvox(tmp_path / "file" / "a.binvox", some_grid())


def sampled(surface, n, rng):
    """Return n points spread evenly over a surface."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    t = rng.choice(len(a), n, p=area / area.sum())
    u, v = rng.random((2, n, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return a[t] + u * (b[t] - a[t]) + v * (c[t] - a[t])


def test_trimeshs_grid_lies_as_far_from_its_mesh_as_was_measured(shared_data):
    """Known, by 100 000 samples: 0.0075 in the mean, 95 % within 0.0148; back at most 0.0179."""
    from scipy.spatial import cKDTree

    surface = load_surface(shared_data("binvox/trimesh/chair_model.obj"))
    centres = read_binvox(shared_data("binvox/trimesh/chair_model.binvox"))[0].centres()
    samples = sampled(surface, 100_000, np.random.default_rng(1000))
    distances = cKDTree(samples).query(centres)[0]
    assert distances.mean() == pytest.approx(0.0075, abs=FOUR_DECIMALS)
    assert np.percentile(distances, 95) == pytest.approx(0.0148, abs=FOUR_DECIMALS)
    back = cKDTree(centres).query(samples)[0].max()
    assert back == pytest.approx(0.0179, abs=2 * FOUR_DECIMALS)
