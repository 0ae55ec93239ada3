# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Generated places: the same from the same seed, drivable, level at their starts, free to fly."""

import dataclasses
import hashlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core import threads
from aerotwin_core.parameters import load_parameters, read_yaml
from aerotwin_generated_worlds import GENERATORS
from aerotwin_generated_worlds.campus import campus_road
from aerotwin_generated_worlds.roads import FreeGround, level_pads, loop_road
from aerotwin_generated_worlds.route import STEEPEST, route_road
from aerotwin_generated_worlds.stadium import FIELD_HALF_M, HALF_SITE_M
from aerotwin_rendering.queries import WorldQueries

ROOT = Path(__file__).resolve().parents[3]
SEEDS = (1000, 1001, 1002)
COARSE = {"spacing_m": 2.0, "texel_m": 0.5}
LENGTH_ERROR = 0.05
"""A polygon of half-metre chords in bends of 10 m radius is 1e-4 shorter than its curve."""


def digest(meshes) -> str:
    sha = hashlib.sha256()
    for mesh in meshes:
        for array in (mesh.vertices_map, mesh.triangles, mesh.uv, mesh.texture, mesh.light):
            sha.update(b"-" if array is None else array.tobytes())
        sha.update(mesh.name.encode())
    return sha.hexdigest()


def test_one_seed_gives_the_same_bytes_on_any_number_of_threads(monkeypatch):
    # The stadium uses every kernel but those of the cliff, whose test is beside the rasteriser's.
    parameters_class, build = GENERATORS["stadium"]
    choice = parameters_class(seed=1004, spacing_m=4.0, texel_m=0.5)
    other = dataclasses.replace(choice, seed=1005)
    digests = []
    for n_threads in (1, 3):
        monkeypatch.setattr(threads, "default_thread_count", lambda n=n_threads: n)
        digests.append(digest(build(choice)))
    assert digests[0] == digests[1] != digest(build(other))


def test_every_generator_has_a_world_a_picture_and_a_mission():
    listed = (ROOT / "worlds" / "README.md").read_text(encoding="utf-8")
    for name in GENERATORS:
        assert read_yaml(ROOT / "worlds" / f"{name}.yaml")["generator"] == name
        assert (ROOT / "worlds" / "pictures" / f"{name}.jpg").is_file()
        assert f"pictures/{name}.jpg" in listed
        assert (ROOT / "config" / "missions" / f"{name}.yaml").is_file()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_campus_loop_is_three_hundred_metres_and_closes(seed):
    road = campus_road(seed)
    assert road.s_m[-1] == pytest.approx(300.0, abs=LENGTH_ERROR)
    assert np.array_equal(road.points_m[0], road.points_m[-1])
    steps = np.diff(road.points_m, axis=0)
    turns = np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])))
    assert turns.sum() == pytest.approx(2.0 * np.pi, abs=0.2)  # once round, counter-clockwise
    assert np.abs(turns).max() < 0.5 / 6.0  # no bend is tighter than 6 m
    # Left is the inside of a loop driven counter-clockwise.
    inside = road.beside(3.0)
    assert (np.hypot(*inside.T) < np.hypot(*road.points_m.T)).mean() > 0.95


@pytest.mark.parametrize("seed", SEEDS)
def test_the_route_is_a_kilometre_without_crossing_itself(seed):
    road = route_road(seed)
    assert road.s_m[-1] == pytest.approx(1000.0, abs=LENGTH_ERROR)
    np.testing.assert_allclose(road.points_m[[0, -1], 0], [-235.0, 235.0], atol=1e-6)
    steps = np.diff(road.points_m, axis=0)
    turns = np.diff(np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])))
    assert np.abs(turns).max() < 0.5 / 6.0
    far = np.abs(road.s_m[:, None] - road.s_m) > 60.0
    apart = np.linalg.norm(road.points_m[:, None] - road.points_m, axis=-1)
    assert apart[far].min() > 25.0


@pytest.mark.parametrize("name", ["campus", "route"])
def test_the_road_can_be_driven(name, coarse_worlds, world_of):
    road = campus_road(1001) if name == "campus" else route_road(1002)
    queries = WorldQueries(world_of(*coarse_worlds[name]))
    lanes = [road.beside(offset)[4:-4] for offset in (-2.0, 0.0, 2.0)]
    heights = [queries.height(*lane.T) for lane in lanes]
    for z in heights:
        # Nothing stands on the road, and along it a ground robot never climbs more than stated.
        assert np.abs(np.diff(z)).max() < 0.5 * (STEEPEST + 0.03)
        mean_slope = np.abs(z[8:] - z[:-8]) / 4.0
        assert mean_slope.max() < STEEPEST + 0.005
    across = np.abs(heights[2] - heights[0]) / 4.0
    assert across.max() < 0.06


def test_start_places_are_level_and_free(world_of):
    for name, (parameters_class, build) in GENERATORS.items():
        if name == "cliff":
            continue  # has a test of its own
        file = read_yaml(ROOT / "worlds" / f"{name}.yaml")
        choice = load_parameters(parameters_class, file["parameters"], where=name)
        choice = dataclasses.replace(choice, **COARSE)
        queries = WorldQueries(world_of(*build(choice)))
        x0, y0 = file["start"]["x_m"], file["start"]["y_m"]
        x, y = np.meshgrid(np.linspace(-0.5, 0.5, 9), np.linspace(-0.5, 0.5, 9))
        heights = queries.height(x0 + x, y0 + y)
        assert np.ptp(heights) < 0.04, name  # at most 4 % over the landing gear
        above = np.column_stack(
            [np.full(20, x0), np.full(20, y0), heights.max() + 1 + np.arange(20)]
        )
        assert (queries.distance(above) > 0.95).all(), name
        _mission_is_clear(name, queries, above[0])


def _mission_is_clear(name, queries, start) -> None:
    """Straight ways between way-points keep two metres from everything."""
    mission = read_yaml(ROOT / "config" / "missions" / f"{name}.yaml")
    takeoff = start + np.array([0.0, 0.0, mission["takeoff_altitude_m"] - 1.0])
    places = [takeoff, *(np.array(w["position_m"]) for w in mission["waypoints"])]
    for a, b in pairwise(places):
        assert not queries.segment_hits(a, b), name
        way = a + np.linspace(0.0, 1.0, 40)[:, None] * (b - a)
        # The coarse ground lies up to 15 cm beside that of the mission's world.
        assert queries.distance(way).min() > 1.85, (name, a, b)


def test_the_field_has_its_size_and_the_site_is_250_metres(coarse_worlds, world_of):
    stadium = world_of(*coarse_worlds["stadium"])
    ground = [m for m in stadium.meshes if m.name.startswith("ground")]
    low = np.min([m.bounds_m[0] for m in ground], axis=0)
    high = np.max([m.bounds_m[1] for m in ground], axis=0)
    np.testing.assert_allclose(high[:2] - low[:2], 2.0 * HALF_SITE_M, atol=1e-9)
    np.testing.assert_allclose(2.0 * np.array(FIELD_HALF_M), [109.728, 48.77], atol=0.01)
    queries = WorldQueries(stadium)
    x = np.linspace(-40.0, 35.0, 16)
    assert np.abs(queries.height(x, 0.0)).max() < 0.4
    # The northern stand: first row 1.9 m, last (26th) 11.9 m above z = 0.
    np.testing.assert_allclose(queries.height(x, 32.5 + 1.6 + 0.4), 1.9, atol=1e-6)
    np.testing.assert_allclose(queries.height(x, 32.5 + 1.6 + 25.5 * 0.8), 11.9, atol=1e-6)


def test_pieces_of_ground_join_without_gaps(coarse_worlds):
    for name, meshes in coarse_worlds.items():
        ground = [m.vertices_map for m in meshes if m.name.startswith("ground")]
        vertices, counts = np.unique(np.concatenate(ground), axis=0, return_counts=True)
        # One place, one height: neighbouring pieces hold the very same vertices on their border.
        assert len(np.unique(vertices[:, :2], axis=0)) == len(vertices), name
        assert (counts > 1).sum() > 100


def test_textures_are_within_their_limits(coarse_worlds):
    for meshes in coarse_worlds.values():
        assert max(max(m.texture.shape[:2]) for m in meshes) <= 8192
        assert len({m.name for m in meshes}) == len(meshes)
        for mesh in meshes:
            assert mesh.texture.std() > 4.0, mesh.name


def test_free_ground_is_taken_once():
    free = FreeGround(np.array([-10.0, -10.0]), np.array([10.0, 10.0]))
    square = np.array([[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]])
    assert free.reserve(square)
    assert not free.reserve(square + 3.0)
    assert free.reserve(square + np.array([5.5, 0.0]))
    assert not free.reserve(square - np.array([9.0, 0.0]))  # beyond the border
    free.reserve_line(np.array([[-9.0, 7.0], [9.0, 7.0]]), 2.0)
    assert not free.reserve_disc(0.0, 7.0, 1.0)


def test_a_pad_is_level_and_its_slopes_end_at_its_reach():
    line = np.linspace(-20.0, 20.0, 81)
    x, _ = np.meshgrid(line, line)
    z = level_pads(line, line, 0.1 * x, [(2.0, 3.0, 0.0, 6.0, 4.0, 1.0)], reach_m=5.0)
    row, columns = np.searchsorted(line, 3.0), np.searchsorted(line, [-1.0, 0.0, 2.0, 5.0])
    np.testing.assert_allclose(z[row, columns], 1.0)
    np.testing.assert_allclose(z[row, line > 10.0], 0.1 * line[line > 10.0])


def test_a_loop_through_a_circle_is_a_circle_of_the_length_asked_for():
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    road = loop_road(np.column_stack([np.cos(angle), np.sin(angle)]), 200.0, 4.0)
    np.testing.assert_allclose(np.hypot(*road.points_m.T), 200.0 / (2 * np.pi), rtol=1e-3)
    x, y, yaw = road.at(50.0, 2.0)  # a quarter round, two metres inwards
    np.testing.assert_allclose([x, y], [0.0, 200.0 / (2 * np.pi) - 2.0], atol=0.05)
    assert abs(yaw) == pytest.approx(np.pi, abs=0.02)
    assert road.nearest(np.array(0.0), np.array(0.0))[0] == pytest.approx(31.83, abs=0.02)
