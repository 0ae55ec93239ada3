# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest
from scipy.ndimage import label

from aerotwin_core.errors import ParameterError
from aerotwin_meshes.mesh import TexturedMesh, grid_triangles
from aerotwin_reconstruction.degradation import (
    PRESETS,
    DegradationParameters,
    degrade,
    degrade_meshes,
    load_degradation,
    sample_surface,
)
from aerotwin_reconstruction.degradation.changes import ground_of, in_holes, is_covered, smoothed

ROUNDING = 1e-9
SIDE_M = 60.0


def sheet(name="ground 0-0", z=0.0, low=0.0, high=SIDE_M, n=121):
    line = np.linspace(low, high, n)
    x, y = np.meshgrid(line, line)
    uv = np.stack([x, y], axis=-1).reshape(-1, 2) / SIDE_M
    return TexturedMesh(
        vertices_map=np.column_stack([x.ravel(), y.ravel(), np.full(n * n, z)]),
        triangles=grid_triangles(n, n),
        uv=uv.astype(np.float32),
        texture=np.full((4, 4, 3), 128, np.uint8),
        light=np.ones(n * n, np.float32),
        name=name,
    )


def car(k, x):
    small = sheet(f"car {k}", z=1.0, low=0.0, high=2.0, n=5)
    return dataclasses.replace(small, vertices_map=small.vertices_map + np.array([x, 5.0, 0.0]))


@pytest.fixture(scope="module")
def plane():
    return sample_surface([sheet()], 0.2, seed=0).points_map


def choices(**provided):
    return DegradationParameters(**provided)


def test_nothing_is_wrong_by_default(plane):
    done = degrade(plane, choices(), seed=1)
    np.testing.assert_array_equal(done.points_map, plane)
    np.testing.assert_array_equal(done.source, np.arange(len(plane)))


def test_a_sampled_surface_is_even(plane):
    assert len(plane) == pytest.approx((SIDE_M / 0.2) ** 2, abs=5.0 * SIDE_M / 0.2)
    counts, _, _ = np.histogram2d(plane[:, 0], plane[:, 1], bins=6)
    mean = len(plane) / 36
    np.testing.assert_allclose(counts, mean, atol=5.0 * np.sqrt(mean))


def test_bending_moves_points_by_the_field_alone(plane):
    done = degrade(plane, load_degradation("warp_30cm"), seed=1000)
    left = done.points_map - plane[done.source] - done.field(plane[done.source])
    sample_error = 5.0 / np.sqrt(2.0 * left.size)
    assert left.std() == pytest.approx(0.05, rel=sample_error)
    np.testing.assert_allclose(left.mean(axis=0), 0.0, atol=5.0 * 0.05 / np.sqrt(len(left)))


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_holes_take_their_share_of_the_ground_in_blobs_of_their_size(plane, share):
    size = 4.0
    lost = in_holes(plane, share, size, seed=4)
    assert lost.mean() == pytest.approx(share, rel=0.05)  # of cells exactly, of points nearly
    cells, _, _ = np.histogram2d(*plane[lost, :2].T, bins=120, range=[[0, SIDE_M]] * 2)
    blobs, n = label(cells > 0)
    areas = np.bincount(blobs.ravel())[1:] * (SIDE_M / 120) ** 2
    typical = np.sqrt((areas**2).sum() / areas.sum())
    assert 0.4 * size < typical < 4.0 * size
    assert n > 3


def test_holes_take_all_that_stands_on_a_place():
    column = np.column_stack([np.tile([[5.0, 5.0]], (50, 1)), np.linspace(0.0, 9.0, 50)])
    ground = np.random.default_rng(0).uniform(0.0, 30.0, (20_000, 3)) * [1.0, 1.0, 0.0]
    for seed in range(6):
        lost = in_holes(np.vstack([column, ground]), 0.5, 3.0, seed=seed)[:50]
        assert lost.all() or not lost.any()


def test_what_lies_under_a_canopy_is_lost():
    ground = sample_surface([sheet()], 0.2, seed=0).points_map
    crown = ground[(ground[:, 0] < 20.0)] + np.array([0.0, 0.0, 5.0])
    points = np.vstack([ground, crown])
    covered = is_covered(points, 2.0)
    assert not covered[len(ground) :].any()
    under = ground[:, 0] < 19.5  # but for the rim's cells
    assert covered[: len(ground)][under].mean() > 0.99
    assert not covered[: len(ground)][ground[:, 0] > 20.5].any()
    done = degrade(points, choices(covered_loss=1.0), seed=0)
    assert done.counts["covered"] == covered.sum()
    half = degrade(points, choices(covered_loss=0.5), seed=0).counts["covered"]
    assert half == pytest.approx(covered.sum() / 2, abs=5.0 * np.sqrt(covered.sum()) / 2)


def test_edges_are_rounded_and_planes_are_not():
    line = np.arange(0.0, 4.0, 0.05)
    x, y = (v.ravel() for v in np.meshgrid(line, line))
    floor = np.column_stack([x, y, np.zeros_like(x)])
    wall = np.column_stack([np.zeros_like(x), y, x])
    points = np.vstack([floor, wall[x > 0.0]])
    radius = 0.2
    moved = np.linalg.norm((smoothed(points, radius) - points)[:, [0, 2]], axis=1)
    away = np.maximum(points[:, 0], points[:, 2])
    inner = (points[:, 1] > 0.5) & (points[:, 1] < 3.5) & (away < 3.5)
    at_edge = inner & (away < 0.03)
    assert moved[at_edge].mean() > 0.03
    normal = np.where(points[:, 0] > 0, 2, 0)  # plane z = 0, wall x = 0
    shift = np.abs(smoothed(points, radius) - points)[np.arange(len(points)), normal]
    assert shift[inner & (away > radius + 0.05)].max() < ROUNDING


def test_the_ground_rises_evenly_between_its_limits_and_nothing_else_does(plane):
    roof = plane[:2000] + np.array([0.0, 0.0, 6.0])
    both = np.vstack([plane, roof])
    season = choices(ground_rise_m=(0.05, 0.30), ground_rise_correlation_m=2.0)
    done = degrade(both, season, seed=7)
    higher = done.points_map[: len(plane), 2]
    assert higher.min() >= 0.05
    assert higher.max() <= 0.30
    # 60 m hold some (60 / 2)^2 / pi independent places.
    np.testing.assert_allclose(
        np.quantile(higher, [0.25, 0.5, 0.75]), [0.1125, 0.175, 0.2375], atol=5.0 * 0.07 / 17.0
    )
    np.testing.assert_array_equal(done.points_map[len(plane) :], roof)


def test_ground_is_distinguished_from_what_stands_on_it(plane):
    tree = np.random.default_rng(0).uniform([4, 4, 1], [6, 6, 5], (500, 3))
    slope = plane.copy()
    slope[:, 2] = 0.05 * slope[:, 0]
    found = ground_of(np.vstack([slope, tree]))
    assert found[: len(plane)].mean() > 0.99
    assert not found[len(plane) :].any()


def test_half_of_the_changed_cars_are_gone_and_the_others_stand_elsewhere():
    cars = [car(k, 6.0 * k) for k in range(8)]
    meshes = [sheet(), *cars]
    done = degrade_meshes(meshes, choices(cars_changed_share=0.5), seed=3)
    names = {mesh.name for mesh in done.meshes}
    assert len(names) == 7  # ground and six of eight cars
    before = {mesh.name: mesh.vertices_map for mesh in cars}
    moved = [
        mesh for mesh in done.meshes
        if mesh.name in before and np.abs(mesh.vertices_map - before[mesh.name]).max() > ROUNDING
    ]  # fmt: skip
    assert len(moved) == 2
    for mesh in moved:
        middle = mesh.vertices_map.mean(axis=0) - before[mesh.name].mean(axis=0)
        assert 0.5 <= np.linalg.norm(middle) <= 4.0
        lengths = [np.linalg.norm(v[0] - v[-1]) for v in (mesh.vertices_map, before[mesh.name])]
        assert lengths[0] == pytest.approx(lengths[1])
    surface = sample_surface(meshes, 0.1, seed=0)
    cloud = degrade(
        surface.points_map, choices(cars_changed_share=0.5), seed=3,
        is_ground=surface.is_ground, car=surface.car,
    )  # fmt: skip
    left = np.unique(surface.car[cloud.source])
    assert {f"car {k - 1}" for k in left if k > 0} == names - {"ground 0-0"}


def test_cars_that_are_not_named_are_not_changed_in_silence(plane):
    with pytest.raises(ValueError, match="car"):
        degrade(plane, choices(cars_changed_share=0.5), seed=0)


def test_meshes_are_bent_like_clouds_and_do_not_tear():
    left, right = sheet("a", high=30.0), sheet("b", low=30.0)
    bent = choices(displacement_rms_m=0.3, noise_m=0.02)
    done = degrade_meshes([left, right], bent, seed=9)
    seam = [m.vertices_map[np.isclose(o.vertices_map[:, 0], 30.0)] for m, o in
            zip(done.meshes, (left, right), strict=True)]  # fmt: skip
    shared = {tuple(v) for v in seam[0].round(9)} & {tuple(v) for v in seam[1].round(9)}
    assert shared  # the corner that both have is one place still
    smooth = degrade_meshes([left], choices(displacement_rms_m=0.3), seed=9)
    np.testing.assert_allclose(
        smooth.meshes[0].vertices_map, left.vertices_map + smooth.field(left.vertices_map),
        atol=ROUNDING,
    )  # fmt: skip


def test_holes_in_meshes_take_their_share_of_triangles_and_keep_the_rest_whole():
    mesh = sheet()
    done = degrade_meshes([mesh], choices(hole_share=0.2), seed=2)
    part = done.meshes[0]
    assert done.counts["in_holes"] == pytest.approx(0.2 * len(mesh.triangles), rel=0.05)
    assert len(part.triangles) == len(mesh.triangles) - done.counts["in_holes"]
    corners = {tuple(map(tuple, t)) for t in mesh.vertices_map[mesh.triangles].round(6)}
    assert {tuple(map(tuple, t)) for t in part.vertices_map[part.triangles].round(6)} <= corners
    np.testing.assert_allclose(part.uv * SIDE_M, part.vertices_map[:, :2], atol=1e-5)
    assert part.light.shape == (len(part.vertices_map),)


def test_triangles_under_a_roof_are_lost():
    roof = sheet("roof", z=4.0, high=20.0)
    done = degrade_meshes([sheet(), roof], choices(covered_loss=1.0), seed=0)
    ground = next(mesh for mesh in done.meshes if mesh.name.startswith("ground"))
    middles = ground.vertices_map[ground.triangles].mean(axis=1)
    assert not ((middles[:, 0] < 19.5) & (middles[:, 1] < 19.5)).any()
    assert len(done.meshes) == 2


def test_the_same_seed_gives_the_same_cloud(plane):
    requested = load_degradation("radiance_field")
    first, again, other = (degrade(plane[:3000], requested, seed=s).points_map for s in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_loads(name):
    assert isinstance(load_degradation(name), DegradationParameters)


def test_a_file_of_choices_is_read_strictly(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("displacement_rms_m: 0.1\nground_rise_m: [0.05, 0.1]\n")
    assert load_degradation(file).ground_rise_m == (0.05, 0.1)
    file.write_text("displacement_rms: 0.1\n")
    with pytest.raises(ParameterError, match="displacement_rms_m"):
        load_degradation(file)
    with pytest.raises(ParameterError, match="warp_30cm"):
        load_degradation("wrap")
    with pytest.raises(ValueError, match="least and most"):
        choices(ground_rise_m=(0.3, 0.1))
