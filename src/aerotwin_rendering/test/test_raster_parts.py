# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clusters, mip-maps and noise: the parts below the rasteriser and the generator."""

import numpy as np
import pytest

from aerotwin_core.luma import LUMA_REC601
from aerotwin_generated_worlds import noise
from aerotwin_rendering.rasteriser.clusters import (
    CLUSTER_TRIANGLES,
    build_clusters,
    join_clusters,
    triangles_of,
    vertices_of,
)
from aerotwin_rendering.rasteriser.mipmaps import build_pyramid, texture_table

ROUNDING = 1e-9
BYTE = 0.51  # every level is rounded to bytes once, from unrounded averages


def cluster_points(clusters, c):
    first, last = clusters.vertex_start[c], clusters.vertex_start[c + 1]
    return clusters.xyz_map[3 * first : 3 * last].reshape(3, -1).T


def test_clusters_hold_every_triangle_once_and_lie_in_their_boxes(coarse_cliff):
    clusters = join_clusters([build_clusters(mesh) for mesh in coarse_cliff])
    rebuilt = []
    for c in range(len(clusters.mesh)):
        first, last = clusters.triangle_start[c], clusters.triangle_start[c + 1]
        points = cluster_points(clusters, c)
        assert (points >= clusters.box_low[c]).all()
        assert (points <= clusters.box_high[c]).all()
        local = clusters.corners[3 * first : 3 * last].reshape(3, -1).T
        assert len(local) <= CLUSTER_TRIANGLES
        rebuilt.append(points[local].reshape(-1, 9))
    rebuilt = np.concatenate(rebuilt)
    source = np.concatenate([m.vertices_map[m.triangles].reshape(-1, 9) for m in coarse_cliff])
    np.testing.assert_array_equal(rebuilt[np.lexsort(rebuilt.T)], source[np.lexsort(source.T)])
    joined = vertices_of(clusters)[triangles_of(clusters)].reshape(-1, 9)
    np.testing.assert_array_equal(joined, rebuilt)


def test_clusters_are_compact(coarse_cliff):
    wall = build_clusters(coarse_cliff[0])
    # 256 triangles cover 20 m2 of the front and 55 m2 of the flanks, in strips; the wall: 170 m.
    assert np.median((wall.box_high - wall.box_low).max(axis=1)) < 20.0


@pytest.mark.parametrize("shape", [(64, 128), (37, 51), (1, 5)])
@pytest.mark.parametrize(("encoding", "weights"), [("mono8", LUMA_REC601), ("rgb8", np.eye(3))])
def test_every_level_of_a_pyramid_keeps_the_mean(shape, encoding, weights):
    texture = np.random.default_rng(2).integers(0, 256, (*shape, 3)).astype(np.uint8)
    pyramid = build_pyramid(texture, encoding)
    expected = texture @ np.asarray(weights, float).T
    np.testing.assert_allclose(pyramid.level(0), expected.reshape(*shape, -1), atol=BYTE)
    last = len(pyramid.width) - 1
    assert (pyramid.width[last], pyramid.height[last]) == (1, 1)
    mean = expected.reshape(shape[0] * shape[1], -1).mean(axis=0)
    np.testing.assert_allclose(pyramid.level(last).ravel(), mean, atol=BYTE)


def test_a_table_of_textures_points_to_their_levels():
    textures = [np.full((4, 8, 3), 7, np.uint8), np.full((2, 2, 3), 9, np.uint8)]
    pyramids = [build_pyramid(texture, "rgb8") for texture in textures]
    table = texture_table(pyramids, np.arange(2, dtype=np.int32), np.zeros(2, bool))
    np.testing.assert_array_equal(table.n_levels, [4, 2])
    start = pyramids[0].texels.ctypes.data
    np.testing.assert_array_equal(table.address[0] - start, [0, 96, 120, 126])
    np.testing.assert_array_equal(table.width[0], [8, 4, 2, 1])


def test_gradient_noise_vanishes_at_lattice_points_and_has_no_jumps():
    values = [noise.gradient_noise(float(i), float(j), 5) for i in range(4) for j in range(4)]
    np.testing.assert_allclose(values, 0.0, atol=ROUNDING)
    line = np.array([noise.gradient_noise(x, 0.37, 5) for x in np.linspace(-3, 3, 6001)])
    assert np.abs(np.diff(line)).max() < 0.01  # slope at most about 4 over steps of 0.001
    assert line.std() > 0.1


def test_hash_is_spread_evenly():
    values = np.array([noise.hash_unit(i, j, 9) for i in range(-50, 50) for j in range(100)])
    counts, _ = np.histogram(values, 10, (0.0, 1.0))
    # 10000 values: 1000 in each tenth, standard deviation 30; five of them allowed.
    assert np.abs(counts - 1000).max() < 150


def test_cell_noise_finds_the_two_nearest_points():
    seed, points = 4, []
    for i in range(-2, 4):
        for j in range(-2, 4):
            h = 4096.0 * noise.hash_unit(i, j, seed)
            points.append((i + int(h) / 4096.0, j + h - int(h)))
    for x, y in np.random.default_rng(3).uniform(0.0, 1.0, (50, 2)):
        distances = sorted(np.hypot(px - x, py - y) for px, py in points)
        first, second, _ = noise.cell_noise(x, y, seed)
        assert first == pytest.approx(distances[0], abs=ROUNDING)
        # The second may lie two cells away, where it is not looked for: then it is farther.
        assert second >= distances[1] - ROUNDING
