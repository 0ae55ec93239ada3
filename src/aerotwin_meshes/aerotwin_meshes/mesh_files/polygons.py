# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Triangulate polygons: fans where correct, ear clipping where a polygon is not convex."""

import numpy as np


def fan(n_corners: int) -> np.ndarray:
    """Return the triangles (n - 2, 3) of a convex polygon with corners 0 .. n - 1."""
    second = np.arange(1, n_corners - 1)
    return np.column_stack([np.zeros_like(second), second, second + 1])


def triangulated(polygons: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut m polygons (m, k), vertex indices of their corners in order, into triangles.

    Returns the corners 0 .. k - 1 of the triangles, (m (k - 2), 3), polygon by polygon, in the
    polygon's orientation; and the polygon of each triangle.
    """
    m, k = polygons.shape
    corners = np.repeat(fan(k)[None], m, axis=0)
    if k > 3:
        points = vertices[polygons]
        for i in np.flatnonzero(~_fan_is_right(points)):
            corners[i] = _ears(points[i])
    return corners.reshape(-1, 3), np.repeat(np.arange(m), k - 2)


def _fan_is_right(points: np.ndarray) -> np.ndarray:
    """Tell which polygons (m, k, 3) have only triangles of one orientation in their fan."""
    spokes = points[:, 1:] - points[:, :1]
    normals = np.cross(spokes[:, :-1], spokes[:, 1:])
    return (np.einsum("mij,mj->mi", normals, normals.sum(axis=1)) >= 0.0).all(axis=1)


def _ears(points: np.ndarray) -> np.ndarray:
    """Cut a simple polygon (k, 3) by clipping ears (Meisters 1975), projected along its normal.

    A polygon that crosses itself has no correct triangulation: its rest is cut as a fan.
    """
    flat = _seen_along_normal(points)
    left = list(range(len(points)))
    triangles = []
    while len(left) > 3:
        at = next((i for i in range(len(left)) if _is_ear(flat, left, i)), None)
        if at is None:
            break
        triangles.append([left[at - 1], left[at], left[(at + 1) % len(left)]])
        del left[at]
    triangles += np.array(left)[fan(len(left))].tolist()
    return np.array(triangles)


def _seen_along_normal(points: np.ndarray) -> np.ndarray:
    """Project onto the plane of Newell's normal, counter-clockwise, (k, 2)."""
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    axis = int(np.abs(normal).argmax())
    retained = [(1, 2), (2, 0), (0, 1)][axis]
    flat = points[:, retained]
    return flat if normal[axis] > 0.0 else flat * (1.0, -1.0)


def _is_ear(flat: np.ndarray, left: list[int], at: int) -> bool:
    """Tell whether a corner is convex and no other corner lies in its triangle."""
    a, b, c = flat[left[at - 1]], flat[left[at]], flat[left[(at + 1) % len(left)]]
    if _turn(a, b, c) <= 0.0:
        return False
    around = {left[at - 1], left[at], left[(at + 1) % len(left)]}
    others = np.array([flat[i] for i in left if i not in around])
    inside = [_turn(p, q, others) >= 0.0 for p, q in ((a, b), (b, c), (c, a))]
    return not np.logical_and.reduce(inside).any()


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Twice the area of a, b, c; positive if counter-clockwise."""
    return (b[0] - a[0]) * (c[..., 1] - a[1]) - (b[1] - a[1]) * (c[..., 0] - a[0])
