# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clusters, mip-maps and noise: the parts below the rasteriser and the generator."""

import numpy as np
import pytest

from aerotwin_worlds.generated import noise
from aerotwin_worlds.clusters import CLUSTER_TRIANGLES, build_clusters
from aerotwin_worlds.mipmaps import LUMA_REC601, build_pyramids

ROUNDING = 1e-9
BYTE = 0.51  # every level is rounded to bytes once, from unrounded averages


def test_clusters_hold_every_triangle_once_and_lie_in_their_boxes(coarse_cliff):
    clusters = build_clusters(coarse_cliff)
    rebuilt = []
    for c in range(len(clusters)):
        vertices = slice(clusters.vertex_start[c], clusters.vertex_start[c + 1])
        triangles = slice(clusters.triangle_start[c], clusters.triangle_start[c + 1])
        points = clusters.vertices_map[vertices]
        assert (points >= clusters.box_low[c]).all()
        assert (points <= clusters.box_high[c]).all()
        local = clusters.triangles[triangles]
        assert len(local) <= CLUSTER_TRIANGLES
        rebuilt.append(points[local].reshape(-1, 9))
    rebuilt = np.concatenate(rebuilt)
    source = np.concatenate([m.vertices_map[m.triangles].reshape(-1, 9) for m in coarse_cliff])
    np.testing.assert_array_equal(rebuilt[np.lexsort(rebuilt.T)], source[np.lexsort(source.T)])


def test_clusters_are_compact(coarse_cliff):
    wall = build_clusters(coarse_cliff[:1])
    # 256 triangles cover 20 m2 of the front and 55 m2 of the flanks, in strips; the wall: 170 m.
    assert np.median((wall.box_high - wall.box_low).max(axis=1)) < 20.0


@pytest.mark.parametrize("shape", [(64, 128), (37, 51), (1, 5)])
def test_every_level_of_a_pyramid_keeps_the_mean(shape):
    texture = np.random.default_rng(2).integers(0, 256, (*shape, 3)).astype(np.uint8)
    pyramid = build_pyramids([texture], LUMA_REC601)
    grey = pyramid.texels[: shape[0] * shape[1]].astype(float)
    expected = texture.reshape(-1, 3) @ LUMA_REC601.astype(float)
    np.testing.assert_allclose(grey, expected, atol=BYTE)
    last = pyramid.n_levels[0] - 1
    assert (pyramid.width[0, last], pyramid.height[0, last]) == (1, 1)
    assert abs(pyramid.texels[pyramid.offset[0, last]] - expected.mean()) <= BYTE


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
