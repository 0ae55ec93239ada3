# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cut triangles at the faces of a box."""

import dataclasses

import numpy as np

from aerotwin_meshes.mesh import TexturedMesh


def cropped(mesh: TexturedMesh, low: np.ndarray, high: np.ndarray) -> TexturedMesh | None:
    """Return the part of a mesh in a box along the map's axes, corners (3,) [m]; None if empty.

    Each face cuts every triangle that crosses it into one or two (Sutherland and Hodgman,
    Reentrant polygon clipping, CACM 17, 1974, with one plane at a time); texture coordinates and
    light are interpolated. A mesh inside the box is returned as it is.
    """
    bounds = mesh.bounds_m
    if (bounds[0] >= low).all() and (bounds[1] <= high).all():
        return mesh
    light = np.ones(len(mesh.uv)) if mesh.light is None else mesh.light
    rows = np.column_stack([mesh.vertices_map, mesh.uv, light])
    corners = rows[mesh.triangles]
    for axis in range(3):
        corners = _clipped(corners, corners[..., axis] - low[axis])
        corners = _clipped(corners, high[axis] - corners[..., axis])
    if len(corners) == 0:
        return None
    rows, index = np.unique(corners.reshape(-1, rows.shape[1]), axis=0, return_inverse=True)
    return dataclasses.replace(
        mesh,
        vertices_map=np.ascontiguousarray(rows[:, :3]),
        triangles=index.reshape(-1, 3).astype(np.int32),
        uv=rows[:, 3:5].astype(np.float32),
        light=None if mesh.light is None else rows[:, 5].astype(np.float32),
    )


def _clipped(corners: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the parts of triangles (n, 3, k) where a linear function (n, 3) is positive.

    Each triangle is turned until its odd corner, the one alone on its side, comes first.
    """
    n_inside = (inside > 0.0).sum(axis=1)
    odd_inside, odd_outside = n_inside == 1, n_inside == 2
    retained = corners[n_inside == 3]
    tip, left, right = _edges(corners[odd_inside], inside[odd_inside], is_inside=True)
    small = np.stack([tip, left[0], right[0]], axis=1)
    _, left, right = _edges(corners[odd_outside], inside[odd_outside], is_inside=False)
    wide = [
        np.stack([left[0], left[1], right[1]], axis=1),
        np.stack([left[0], right[1], right[0]], axis=1),
    ]
    return np.concatenate([retained, small, *wide])


def _edges(
    corners: np.ndarray, inside: np.ndarray, *, is_inside: bool
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the odd corner, and the crossing and the far end of the two edges that leave it."""
    row = np.arange(len(corners))
    first = np.argmax((inside > 0.0) == is_inside, axis=1)
    a, b, c = (corners[row, (first + k) % 3] for k in range(3))
    f, g, h = (inside[row, (first + k) % 3] for k in range(3))
    at_b = a + (f / (f - g))[:, None] * (b - a)
    at_c = a + (f / (f - h))[:, None] * (c - a)
    return a, (at_b, b), (at_c, c)
