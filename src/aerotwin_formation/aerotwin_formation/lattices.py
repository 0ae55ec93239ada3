# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Patterns for any number of vehicles: a level grid, a cube, a sphere.

`spacing_m` is the distance of neighbours in the plane; upwards it is that times `downwash_ratio`,
so that E (`aerotwin_formation.separation`) of neighbours is `spacing_m` in every direction.
"""

import math

import numpy as np

from aerotwin_formation.patterns import FormationPattern

GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


def grid_pattern(n_vehicles: int, spacing_m: float) -> FormationPattern:
    """Return rows of a level square, the leader at its south-west corner.

    >>> grid_pattern(4, 3.0).offsets.tolist()
    [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [3.0, 3.0, 0.0]]
    """
    side = math.ceil(math.sqrt(n_vehicles))
    k = np.arange(n_vehicles)
    places = np.column_stack([k % side, k // side, 0 * k]).astype(np.float64)
    return FormationPattern(name="grid", offsets=spacing_m * places)


def cube_pattern(
    n_vehicles: int, spacing_m: float, downwash_ratio: float = 2.0
) -> FormationPattern:
    """Return layers of a cube, filled from below; the leader is at its lowest corner."""
    side = 1
    while side**3 < n_vehicles:
        side += 1
    k = np.arange(n_vehicles)
    places = np.column_stack([k % side, k // side % side, downwash_ratio * (k // side**2)])
    return FormationPattern(name="cube", offsets=spacing_m * places)


def sphere_pattern(
    n_vehicles: int, spacing_m: float, downwash_ratio: float = 2.0
) -> FormationPattern:
    """Return a sphere, upright ellipsoid for a downwash ratio above 1, the leader at its top.

    Points of a Fibonacci spiral: equal areas, neighbours a golden angle apart (Swinbank and Purser
    2006, QJRMS 132, 1769-1793).
    """
    k = np.arange(n_vehicles)
    z = 1.0 - (2.0 * k + 1.0) / n_vehicles
    radius = np.sqrt(1.0 - z * z)
    places = np.column_stack(
        [radius * np.cos(GOLDEN_ANGLE * k), radius * np.sin(GOLDEN_ANGLE * k), downwash_ratio * z]
    )
    pattern = FormationPattern(name="sphere", offsets=places - places[0])
    return pattern.with_spacing(spacing_m, downwash_ratio)
