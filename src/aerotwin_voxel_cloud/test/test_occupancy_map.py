# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps for Nav2, read as its documentation of map_server says: not by code of ours."""

import argparse

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud import (
    GridFrame,
    OccupancyGrid,
    command,
    occupancy_map,
    write_occupancy_map,
)
from support.map_server import serve_map

RESOLUTION_M = 0.1


def values_of(served, *places):
    return [int(v) for v in served.values_at(np.array(places))]


def box(x0, y0, z0, x1, y1, z1):
    corners = [(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)]
    sides = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    return corners, sides


@pytest.fixture
def yard(tmp_path):
    """Ground from (-2, -3) to (6, 5), a wall in its north-east, a kerb, a lamp, a slope of 1:2."""
    parts = [
        ([(-2, -3, 1), (6, -3, 1), (6, 5, 1), (-2, 5, 1)], [(0, 1, 2, 3)]),
        box(4.02, 3.02, 1, 4.98, 4.48, 3),  # a wall
        box(0.02, 3.02, 1, 0.98, 3.98, 1.15),  # a kerb
        box(2.02, -1.98, 3.5, 2.98, -1.02, 3.8),  # a lamp, above the robot
        ([(6, -3, 1), (10, -3, 3), (10, 5, 3), (6, 5, 1)], [(0, 1, 2, 3)]),  # a ramp to the east
    ]
    lines, n = [], 1
    for corners, faces in parts:
        lines += [f"v {x} {y} {z}" for x, y, z in corners]
        lines += ["f " + " ".join(str(n + k) for k in face) for face in faces]
        n += len(corners)
    path = tmp_path / "yard.obj"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*arguments):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return command.run(parser.parse_args([str(part) for part in arguments]))


def written(yard, name, *options):
    out = yard.parent / name
    tokens = (yard, "--resolution-m", RESOLUTION_M, "--occupancy-2d", *options, "-o", out)
    assert run(*tokens, "--no-picture") == 0
    return out


def test_a_map_server_finds_walls_where_they_are_with_north_up(yard):
    served = serve_map(written(yard, "yard.yaml"))
    assert (served.resolution_m, served.negate, served.mode) == (RESOLUTION_M, 0, "trinary")
    assert served.origin == pytest.approx([-2.0, -3.0, 0.0], abs=RESOLUTION_M)
    walls = [(4.5, 3.05), (4.06, 4.0), (4.5, 4.4)]
    free = [(3.9, 4.0), (4.5, 2.9), (0.5, 3.05), (2.06, -1.5), (8.0, 1.0), (-1.5, -2.5)]
    assert values_of(served, *walls) == [100] * len(walls)
    assert values_of(served, *free) == [0] * len(free)
    assert set(np.unique(served.data)) <= {-1, 0, 100}


def test_a_band_decides_what_is_an_obstacle(yard):
    kerb, lamp, ramp, far_up = (0.06, 3.5), (2.06, -1.5), (8.0, 1.0), (9.9, 1.0)
    assert values_of(serve_map(written(yard, "a.yaml")), kerb, lamp) == [0, 0]
    served = serve_map(written(yard, "b.yaml", "--band-m", 0.25, 4.0))
    assert values_of(served, kerb, lamp, ramp) == [0, 100, 0]
    served = serve_map(written(yard, "c.yaml", "--ground-z-m", 1.0))
    assert values_of(served, ramp, far_up) == [100, 0]  # 1 m and 2 m above the level


def test_values_survive_any_reader_and_sensible_thresholds(tmp_path):
    frame = GridFrame(origin_m=np.array([-1.0, 2.0, 0.0]), resolution_m=0.1, dims=(5, 3, 9))
    ground = [(x, y, 0) for x in range(4) for y in range(3)]
    grid = OccupancyGrid.from_cells(frame, np.array([*ground, (0, 0, 5), (3, 2, 3), (1, 1, 2)]))
    values = occupancy_map(grid)
    expected = np.zeros((3, 5), int)
    expected[:, 4] = -1
    expected[0, 0] = expected[2, 3] = 100
    np.testing.assert_array_equal(values, expected)
    write_occupancy_map(tmp_path / "map.yaml", values, grid)
    for thresholds in ({}, {"free_thresh": 0.196}, {"free_thresh": 0.4, "occupied_thresh": 0.6}):
        served = serve_map(tmp_path / "map.yaml", **thresholds)
        np.testing.assert_array_equal(served.data, expected)
    assert served.origin == [-1.0, 2.0, 0.0]
    known = expected >= 0
    scaled = serve_map(tmp_path / "map.yaml", mode="scale").data
    np.testing.assert_array_equal(scaled[known], values[known])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "m.ply"), "belong together"),
        (("--band-m", 1, 0.5, "-o", "m.yaml"), "0 < LOW < HIGH, got 1 0.5"),
        (("--band-m", 0.15, 1, "-o", "m.yaml"), r"at most half .*0.075 m\), got 0.1: the steps"),
        (("--points", "surface", "-o", "m.yaml"), "maps hold cells"),
    ],
)
def test_wrong_options_are_refused(yard, monkeypatch, options, message):
    monkeypatch.chdir(yard.parent)
    with pytest.raises(UserError, match=message):
        run(yard, "--resolution-m", RESOLUTION_M, "--occupancy-2d", "--no-picture", *options)
    assert not list(yard.parent.glob("m.*"))
