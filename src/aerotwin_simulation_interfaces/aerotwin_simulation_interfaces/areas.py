# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Overlap of axis-aligned boxes with spheres, boxes and convex hulls, in map [m]."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

MAX_HULL_POINTS = 1000


def overlaps_sphere(box: np.ndarray, centre: ArrayLike, radius_m: float) -> bool:
    """Return whether a box, lowest and highest corner (2, 3), touches a sphere."""
    centre = np.asarray(centre, float)
    nearest = np.clip(centre, box[0], box[1])
    return bool(np.linalg.norm(nearest - centre) <= radius_m)


def overlaps_box(box: np.ndarray, other: ArrayLike) -> bool:
    """Return whether two boxes touch; the corners of the other one may be in any order."""
    low, high = np.min(other, axis=0), np.max(other, axis=0)
    return bool((box[0] <= high).all() and (low <= box[1]).all())


def overlaps_hull(box: np.ndarray, points: ArrayLike) -> bool:
    """Return whether a box touches the convex hull of points (n, 3), flat ones included.

    They touch if some weights, none negative and of sum 1, make a point of the box.
    """
    points = np.asarray(points, float)
    if len(points) > MAX_HULL_POINTS:
        raise ValueError(f"a hull must have at most {MAX_HULL_POINTS} points, got {len(points)}")
    found = linprog(
        np.zeros(len(points)),
        A_ub=np.vstack([points.T, -points.T]),
        b_ub=np.concatenate([box[1], -box[0]]),
        A_eq=np.ones((1, len(points))),
        b_eq=[1.0],
        bounds=(0.0, None),
    )
    return found.status == 0
