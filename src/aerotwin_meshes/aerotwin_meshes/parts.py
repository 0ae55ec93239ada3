# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of simple shapes: vertices (n, 3) [m] and triangles (m, 3) of a box, a beam, a disc."""

import math

import numpy as np

UNIT_BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
"""Corners (8, 3) of a box, in the order of `box_triangles`."""
LIGHT_BELOW = 0.5
"""Light of what lies below the middle of its part, over that above: an even sky."""
_QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def box_triangles() -> np.ndarray:
    """Return the triangles (12, 3) of the corners of a box."""
    return np.array([t for a, b, c, d in _QUADS for t in ((a, b, c), (a, c, d))])


def beam(
    start: np.ndarray, end: np.ndarray, half: float, *, is_pointed: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return an open beam with a square section, which may end in a point."""
    way = end - start
    way = way / max(float(np.linalg.norm(way)), 1e-9)
    side = np.cross(way, [0.0, 0.0, 1.0] if abs(way[2]) < 0.9 else [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    up = np.cross(side, way)
    ring = half * np.array([side + up, -side + up, -side - up, side - up])
    here = np.arange(4)
    after = (here + 1) % 4
    if is_pointed:
        return np.vstack([start + ring, end]), np.column_stack([here, after, np.full(4, 4)])
    lower, upper = (here, after, after + 4), (here, after + 4, here + 4)
    triangles = np.vstack([np.column_stack(lower), np.column_stack(upper)])
    return np.vstack([start + ring, end + ring]), triangles


def disc(centre: np.ndarray, radius: float, n_corners: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a level disc as a polygon, its first corner along x."""
    angle = 2.0 * math.pi * np.arange(n_corners) / n_corners
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n_corners)])
    k = np.arange(1, n_corners - 1)
    return centre + radius * rim, np.column_stack([np.zeros_like(k), k, k + 1])


def light_of_sky(vertices: np.ndarray) -> np.ndarray:
    """Return the light (n,) on the vertices (n, 3) of a part under an even sky."""
    z = vertices[:, 2]
    return np.where(z < 0.5 * (z.min() + z.max()), LIGHT_BELOW, 1.0).astype(np.float32)
