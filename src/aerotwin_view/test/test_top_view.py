# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A world from straight above: every surface at its place, whatever its height."""

import dataclasses

import numpy as np
import pytest

from aerotwin_rendering import WorldQueries
from aerotwin_view.start.top_view import read_top_view, render_top_view, write_top_view
from aerotwin_worlds import load_world

COARSE = {"spacing_m": 1.0}
RIM = 0.01
"""Share of pixels whose middle is at the rim of a surface: either answer is right."""
TOWER_M, TOWER_RGB = 60.0, (255, 0, 0)
ONE_PX = 1


@pytest.fixture(scope="module")
def world():
    return load_world("cliff", parameters=COARSE)


def test_there_is_ground_where_the_world_has_a_surface(world):
    view, picture, is_ground = render_top_view(world, most_px=300)
    assert picture.shape == (view.height, view.width, 3) and is_ground.shape == picture.shape[:2]
    columns, rows = np.meshgrid(np.arange(view.width), np.arange(view.height))
    x = world.start_p_map[0] + view.west_m + (columns + 0.5) * view.m_per_px
    y = world.start_p_map[1] + view.north_m - (rows + 0.5) * view.m_per_px
    expected = np.isfinite(WorldQueries(world).height(x, y))
    assert (expected != is_ground).mean() < RIM
    assert not expected.all()


def test_the_top_of_a_tower_is_where_its_foot_is(world):
    """A picture with perspective would show it metres farther out."""
    mesh = world.meshes[0]
    low, high = world.bounds_m
    x, y = low[:2] + 0.1 * (high - low)[:2]
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]) + np.array([x, y])
    tower = dataclasses.replace(
        mesh,
        vertices_map=np.column_stack([corners, np.full(4, high[2] + TOWER_M)]),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.full((2, 2, 3), TOWER_RGB, np.uint8),
        light=None,
    )
    with_tower = dataclasses.replace(world, meshes=(*world.meshes, tower))
    view, picture, _ = render_top_view(with_tower, most_px=400)
    rows, columns = np.nonzero((picture == TOWER_RGB).all(axis=2))
    east, north = (x, y) - world.start_p_map[:2]
    first, last = view.pixel(east, north + 4.0), view.pixel(east + 4.0, north)
    found = (columns.min(), rows.min(), columns.max(), rows.max())
    assert found == pytest.approx((*first, *last), abs=ONE_PX)


def test_the_start_of_the_world_has_a_pixel_and_a_place_far_away_has_none(world):
    view, _, is_ground = render_top_view(world, most_px=300)
    column, row = view.pixel(0.0, 0.0)
    assert is_ground[row, column]
    assert view.start_yaw_deg == pytest.approx(90.0)
    assert view.pixel(1000.0, 0.0) is None and view.pixel(0.0, -1000.0) is None


def test_what_is_written_is_read(tmp_path):
    write_top_view("meadow", tmp_path)
    view, is_ground = read_top_view(tmp_path)
    assert is_ground.shape == (view.height, view.width) and is_ground.any()
    assert "meadow" in view.attribution
