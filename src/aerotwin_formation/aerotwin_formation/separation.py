# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Separation in the metric of the downwash: how near vehicles are, and the sizes that count.

A rotor blows down: what flies below another needs more distance than what flies beside it. All
distances between vehicles are therefore `E`, with

    E^2 = dx^2 + dy^2 + (dz / ratio)^2

as in the planners of the EGO-swarm family (Swarm-Formation, Quan et al. 2022, ratio 2). E is at
most the Euclidean distance, so that E > 2R keeps spheres of radius R apart, too.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from aerotwin_core.frames import FloatArray
from aerotwin_core.kernel_cache import njit
from aerotwin_core.parameters import parameter

SMALL_FLEET = 1000
"""Vehicles up to which all pairs are faster than a tree."""


@dataclass(frozen=True, kw_only=True)
class SeparationParameters:
    """How far vehicles stay apart, and how they avoid each other in flight."""

    radius_m: float = parameter(
        0.4, unit="m", minimum=0.01, maximum=50.0, text="R of a vehicle with its rotors"
    )
    downwash_ratio: float = parameter(
        2.0, minimum=1.0, maximum=10.0, text="height of the ellipsoid over its width; 1 is a sphere"
    )
    margin_m: float = parameter(
        0.1,
        unit="m",
        minimum=0.0,
        maximum=50.0,
        text="on top of 2R, in plans and in flight, for tracking errors",
    )
    unknown_m_s: float = parameter(
        0.3,
        unit="m/s",
        minimum=0.0,
        maximum=10.0,
        text="distance added in flight by the age of a report",
    )
    horizon_s: float = parameter(
        1.5, unit="s", minimum=0.1, maximum=20.0, text="collisions later than this are not avoided"
    )
    contact_s: float = parameter(
        0.3,
        unit="s",
        minimum=0.05,
        maximum=5.0,
        text="in which a pair that is too close moves apart",
    )
    forget_s: float = parameter(
        5.0,
        unit="s",
        minimum=0.1,
        maximum=60.0,
        text="a vehicle that was not heard for so long is no longer avoided",
    )

    @property
    def required_m(self) -> float:
        """Distance E that plans and avoidance keep [m]: 2R and the margin."""
        return 2.0 * self.radius_m + self.margin_m

    @property
    def scale(self) -> FloatArray:
        """Factors (3,) of east, north, up, after which E is the Euclidean distance."""
        return np.array([1.0, 1.0, 1.0 / self.downwash_ratio])


def closest_distance(scaled: ArrayLike) -> float:
    """Return the smallest distance between points (n, 3) [m]; infinite for one point.

    Of positions times `SeparationParameters.scale` it is the smallest E. Cost: n^2 / 2 pairs for
    small fleets, a tree for others.
    """
    points = np.asarray(scaled, dtype=np.float64)
    if len(points) < 2:
        return np.inf
    if len(points) <= SMALL_FLEET:
        return math.sqrt(_least_square(points))
    return float(cKDTree(points).query(points, k=2)[0][:, 1].min())


@njit(cache=True)
def _least_square(points):
    """Return the smallest squared distance of points (n, 3)."""
    least = np.inf
    for i in range(len(points)):
        for j in range(i):
            x = points[i, 0] - points[j, 0]
            y = points[i, 1] - points[j, 1]
            z = points[i, 2] - points[j, 2]
            least = min(least, x * x + y * y + z * z)
    return least


def closest_on_lines(starts: ArrayLike, ends: ArrayLike) -> float:
    """Return the smallest distance of n points on their straight ways (n, 3) -> (n, 3) [m].

    All have gone the same share of their way at any time, as on synchronous minimum-jerk curves:
    the difference of two of them is a + b s with s from 0 to 1, nearest at s = -a b / b^2.
    """
    starts, ends = np.asarray(starts, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    if len(starts) < 2:
        return np.inf
    i, j = np.triu_indices(len(starts), 1)
    a = starts[i] - starts[j]
    b = ends[i] - ends[j] - a
    squares = np.sum(b * b, axis=1)
    share = np.divide(-np.sum(a * b, axis=1), squares, out=np.zeros(len(a)), where=squares > 0.0)
    nearest = a + np.clip(share, 0.0, 1.0)[:, None] * b
    return float(np.sqrt(np.sum(nearest * nearest, axis=1).min()))
