# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Real tiles with known numbers of triangles and known extent."""

import collections

import numpy as np

from aerotwin_tiles.tile_content import read_content

MILLIMETRE = 1e-3
PIT = "worlds/lunar_pit_landform"
DRAGON = "worlds/cesium_samples/1.0/TilesetWithDiscreteLOD"
# Counted by others (README beside the data); the root's file is root.b3dm, others are their path
# in the quadtree.
PIT_TRIANGLES = {0: 1_966, 1: 7_085, 2: 26_884, 3: 97_128, 4: 165_294}
PIT_EXTENT_M = [[54.652, 0.129, -30.229], [377.802, 64.470, 211.661]]


def read(path, **options):
    def resolve(uri):
        raise AssertionError(uri)

    return read_content(path.read_bytes(), uri=path.name, resolve=resolve, **options)


def test_the_textured_pit_has_its_triangles_and_its_extent(shared_data):
    triangles, bounds = collections.Counter(), []
    files = sorted(shared_data(PIT).glob("*.b3dm"))
    for path in files:
        level = 0 if path.stem == "root" else len(path.stem)
        for mesh in read(path, up_axis="z"):
            triangles[level] += len(mesh.shape.triangles)
            bounds += [mesh.shape.positions.min(axis=0), mesh.shape.positions.max(axis=0)]
            assert mesh.shape.texture.shape == (256, 256, 3)
            assert not mesh.shape.repeats
            assert 0 <= mesh.shape.uv.min() <= mesh.shape.uv.max() <= 1
    assert len(files) == 293
    assert triangles == PIT_TRIANGLES
    extent = [np.min(bounds, axis=0), np.max(bounds, axis=0)]
    np.testing.assert_allclose(extent, PIT_EXTENT_M, atol=MILLIMETRE)


def test_the_dragons_have_their_triangles(shared_data):
    for name, expected in (("low", 2_312), ("medium", 14_782)):
        meshes = read(shared_data(f"{DRAGON}/dragon_{name}.b3dm"))
        assert sum(len(mesh.shape.triangles) for mesh in meshes) == expected
        # 0.64 of the light is 0.82 of the screen's range.
        assert all(mesh.shape.texture.tolist() == [[[209, 209, 209]]] for mesh in meshes)
