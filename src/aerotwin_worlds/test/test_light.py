# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sunlight: Lambert's law in closed form, directions by their names, normals of a sphere."""

import dataclasses

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters
from aerotwin_worlds.light import LightDescription, lit, sun_direction, vertex_normals

ROUNDING = 1e-12
FLOAT32 = 1e-6  # light is stored in single precision
SIN_30, COS_30 = 0.5, np.sqrt(0.75)


@pytest.mark.parametrize(
    ("azimuth", "elevation", "expected"),
    [
        (0, 0, (0, 1, 0)),
        (90, 0, (1, 0, 0)),
        (180, 30, (0, -COS_30, SIN_30)),
        (-90, 30, (-COS_30, 0, SIN_30)),
        (123, 90, (0, 0, 1)),
    ],
)
def test_the_sun_stands_where_its_azimuth_says(azimuth, elevation, expected):
    light = LightDescription(sun_azimuth_deg=azimuth, sun_elevation_deg=elevation)
    np.testing.assert_allclose(sun_direction(light), expected, atol=ROUNDING)


GROUND = [(0, 1, 0), (1, 1, 0), (1, 0, 0), (0, 0, 0)]  # from the upper left, clockwise
GROUND_UP = GROUND[::-1]
SOUTH_WALL = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)]  # faces -y
NORTH_WALL = SOUTH_WALL[::-1]


@pytest.mark.parametrize(
    ("corners", "expected"),
    [
        (GROUND_UP, 0.2 + 0.8 * SIN_30),
        (GROUND, 0.2),
        (SOUTH_WALL, 0.2 + 0.8 * COS_30),
        (NORTH_WALL, 0.2),
    ],
)
def test_ground_and_walls_are_lit_by_lamberts_law(quad, corners, expected):
    light = LightDescription(sun_azimuth_deg=180, sun_elevation_deg=30, ambient=0.2)
    np.testing.assert_allclose(lit(quad(corners), light).light, expected, atol=FLOAT32)


def test_light_that_is_there_is_multiplied_and_all_ambient_changes_nothing(quad):
    mesh = dataclasses.replace(quad(GROUND_UP), light=np.array([0.5, 1, 1, 2], np.float32))
    light = LightDescription(sun_elevation_deg=90, ambient=0.3)
    np.testing.assert_allclose(lit(mesh, light).light, [0.5, 1, 1, 2], atol=FLOAT32)
    dark = LightDescription(sun_elevation_deg=0, ambient=0.3)
    np.testing.assert_allclose(lit(mesh, dark).light, [0.15, 0.3, 0.3, 0.6], atol=FLOAT32)
    plain = LightDescription(sun_elevation_deg=10, ambient=1.0)
    np.testing.assert_allclose(lit(quad(NORTH_WALL), plain).light, 1.0, atol=FLOAT32)


def sphere(n):
    """A globe of n rings, its triangles counter-clockwise from outside."""
    polar, azimuth = np.meshgrid(
        np.linspace(0.05, np.pi - 0.05, n), np.arange(2 * n) * np.pi / n, indexing="ij"
    )
    points = np.stack(
        [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], -1
    )
    i, j = np.meshgrid(np.arange(n - 1), np.arange(2 * n), indexing="ij")
    a, b = i * 2 * n + j, i * 2 * n + (j + 1) % (2 * n)
    c, d = a + 2 * n, b + 2 * n
    triangles = np.concatenate([np.stack([a, c, b], -1), np.stack([b, c, d], -1)]).reshape(-1, 3)
    return points.reshape(-1, 3), triangles


def test_normals_of_a_sphere_are_its_radii():
    vertices, triangles = sphere(60)
    inner = np.abs(vertices[:, 2]) < np.cos(0.2)  # away from the open poles
    error = np.linalg.norm(vertex_normals(vertices, triangles) - vertices, axis=1)[inner]
    step = np.pi / 60
    assert error.max() < step**2  # second order in the spacing


def test_normals_are_weighted_by_area():
    # At vertex 0 meet a triangle of area 2 facing up and one of area 0.5 facing -y.
    vertices = np.array([(0, 0, 0), (2, 0, 0), (0, 2, 0), (1, 0, 0), (0, 0, 1), (9, 9, 9)], float)
    triangles = np.array([(0, 1, 2), (0, 3, 4)])
    normals = vertex_normals(vertices, triangles)
    np.testing.assert_allclose(normals[0], np.array([0, -1, 4]) / np.sqrt(17), atol=ROUNDING)
    np.testing.assert_allclose(normals[5], 0.0)


@pytest.mark.parametrize(
    ("key", "value"), [("sun_elevation_deg", -1), ("ambient", 1.5), ("sun_azimuth", 10)]
)
def test_light_that_cannot_be_is_refused(key, value):
    with pytest.raises(ParameterError, match=key):
        load_parameters(LightDescription, {key: value}, where="world.yaml: light")
