# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A person and a car: sizes, where they stand, closed surfaces, light from above."""

from collections import Counter

import numpy as np
import pytest

from aerotwin_generated_worlds.figures import (
    GROUND_LIGHT,
    SKY_LIGHT,
    TRACK_M,
    WHEEL_RADIUS_M,
    WHEELBASE_M,
    build_car,
    build_person,
)

FIGURES = {"person": build_person, "car": build_car}


@pytest.mark.parametrize(
    ("name", "size", "largest"),
    [("person", (0.66, 0.53, 1.75), 350), ("car", (4.5, 1.8, 1.5), 700)],
)
def test_they_have_the_size_of_a_person_and_a_car(name, size, largest):
    (mesh,) = FIGURES[name]()
    low, high = mesh.bounds_m
    np.testing.assert_allclose(high - low, size, atol=0.005)
    assert low[2] == pytest.approx(0.0, abs=1e-9)
    assert mesh.name == name
    assert 100 < len(mesh.triangles) < largest


@pytest.mark.parametrize("name", FIGURES)
def test_their_surfaces_are_closed_and_face_outwards(name):
    (mesh,) = FIGURES[name]()
    points, index = np.unique(mesh.vertices_map.round(9), axis=0, return_inverse=True)
    corners = index.ravel()[mesh.triangles]
    edges = Counter()
    for a, b in ((0, 1), (1, 2), (2, 0)):
        edges.update(zip(corners[:, a].tolist(), corners[:, b].tolist(), strict=True))
    # the rims of a car are discs on its closed tyres
    open_edges = [edge for edge, n in edges.items() if edges[edge[::-1]] != n]
    assert len(open_edges) == (4 * 10 if name == "car" else 0)
    a, b, c = (points[corners[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    assert 0.05 < volume < (0.2 if name == "person" else 12.0)


@pytest.mark.parametrize("name", FIGURES)
def test_light_comes_from_above_alike_for_every_heading(name):
    (mesh,) = FIGURES[name]()
    a, b, c = (mesh.vertices_map[mesh.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    up = normal[:, 2] / np.linalg.norm(normal, axis=1)
    light = mesh.light[mesh.triangles].mean(axis=1)
    assert light.min() >= GROUND_LIGHT
    assert light.max() <= SKY_LIGHT
    assert np.corrcoef(up, light)[0, 1] > 0.9


def test_a_car_stands_on_its_wheels():
    (mesh,) = build_car()
    on_ground = mesh.vertices_map[mesh.vertices_map[:, 2] < 0.001]
    assert {*np.abs(on_ground[:, 0]).round(3)} == {WHEELBASE_M / 2}
    assert np.abs(on_ground[:, 1]).mean() == pytest.approx(TRACK_M / 2, abs=0.02)
    assert WHEEL_RADIUS_M < 0.4


def test_a_person_walks_ahead_and_left_is_left():
    (mesh,) = build_person()
    shoes = mesh.vertices_map[mesh.vertices_map[:, 2] < 0.09]
    assert shoes[shoes[:, 1] > 0.0, 0].mean() > 0.1
    assert shoes[shoes[:, 1] < 0.0, 0].mean() < -0.1


def test_they_are_the_same_at_every_call():
    for build in FIGURES.values():
        first, second = build()[0], build()[0]
        for name in ("vertices_map", "uv", "texture", "light"):
            assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
