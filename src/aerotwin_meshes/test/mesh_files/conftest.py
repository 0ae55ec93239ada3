# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What meshes of files are asked: areas, volumes, and the colour that a triangle shows."""

import numpy as np
import pytest


class Measure:
    """Closed forms of triangle meshes, and a slow look-up of their colours."""

    @staticmethod
    def area(*meshes):
        return sum(np.linalg.norm(Measure._doubled(m), axis=1).sum() for m in meshes) / 2

    @staticmethod
    def _doubled(mesh):
        a, b, c = (mesh.vertices_map[mesh.triangles[:, k]] for k in range(3))
        return np.cross(b - a, c - a)

    @staticmethod
    def volume(*meshes):
        """Of closed meshes whose triangles are counter-clockwise from outside (divergence)."""
        first = [m.vertices_map[m.triangles[:, 0]] for m in meshes]
        return sum((a * Measure._doubled(m)).sum() for a, m in zip(first, meshes, strict=True)) / 6

    @staticmethod
    def normals(mesh):
        doubled = Measure._doubled(mesh)
        return doubled / np.linalg.norm(doubled, axis=1, keepdims=True)

    @staticmethod
    def colour(mesh, triangle, weights=(1 / 3, 1 / 3, 1 / 3)):
        """Bilinear colour of a triangle at barycentric weights, texel by texel."""
        h, w = mesh.texture.shape[:2]
        u, v = np.array(weights) @ mesh.uv[mesh.triangles[triangle]]
        if mesh.repeats:
            u, v = u % 1.0, v % 1.0
        x, y = u * w - 0.5, v * h - 0.5
        total = np.zeros(3)
        for j in (int(np.floor(y)), int(np.floor(y)) + 1):
            for i in (int(np.floor(x)), int(np.floor(x)) + 1):
                share = (1 - abs(x - i)) * (1 - abs(y - j))
                row = j % h if mesh.repeats else min(max(j, 0), h - 1)
                column = i % w if mesh.repeats else min(max(i, 0), w - 1)
                total += share * mesh.texture[row, column]
        return total


@pytest.fixture(scope="session")
def measure():
    """The class `Measure`."""
    return Measure
