# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A coarse mesh of a fine one, in an instant: what a page shows until the fine one has arrived."""

import dataclasses

import numpy as np

from aerotwin_meshes import TexturedMesh

_CHART = 1.0 / 16.0
"""Vertices in one cell whose places in the texture differ by more stay apart: a seam is between."""


def coarse_mesh(mesh: TexturedMesh, cell_m: float) -> TexturedMesh:
    """Return a mesh whose vertices in a cell of space and texture are one, their mean.

    Vertices on its border stay, so that neighbours still meet. It is the mesh itself if nothing
    would be left. Clustering is that of Rossignac and Borrel, "Multi-resolution 3D approximations
    for rendering complex scenes", 1993.
    """
    keys = np.column_stack(
        [np.floor(mesh.vertices_map / cell_m), np.floor(mesh.uv / _CHART), np.zeros(len(mesh.uv))]
    ).astype(np.int64)
    border = np.flatnonzero(_is_border(mesh))
    keys[border, -1] = 1 + np.arange(len(border))
    cells, n = _numbered(keys)
    a, b, c = cells[mesh.triangles].T
    triangles = np.column_stack([a, b, c])[(a != b) & (b != c) & (c != a)]
    if len(triangles) == 0:
        return mesh
    counts = np.bincount(cells, minlength=n)

    def mean(values: np.ndarray) -> np.ndarray:
        sums = [np.bincount(cells, column, minlength=n) for column in values.T]
        return np.column_stack(sums) / counts[:, None]

    light = None if mesh.light is None else mean(mesh.light[:, None])[:, 0].astype(np.float32)
    return dataclasses.replace(
        mesh,
        vertices_map=mean(mesh.vertices_map),
        triangles=triangles.astype(np.int32),
        uv=mean(mesh.uv).astype(np.float32),
        light=light,
    )


def _is_border(mesh: TexturedMesh) -> np.ndarray:
    """Return which vertices (n,) lie on an edge of one triangle only; seams are no border."""
    places, n = _numbered(np.ascontiguousarray(mesh.vertices_map).view(np.int64))
    triangles = places[mesh.triangles]
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges, uses = np.unique(ends.min(axis=1) * n + ends.max(axis=1), return_counts=True)
    lone = edges[uses == 1]
    is_border = np.zeros(n, bool)
    is_border[lone // n] = is_border[lone % n] = True
    return np.asarray(is_border[places])


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """Return a number for each row (n, k), equal for equal rows, and how many there are."""
    order = np.lexsort(rows.T)
    is_new = np.any(rows[order[1:]] != rows[order[:-1]], axis=1)
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(is_new)])
    return numbers, int(numbers.max()) + 1
