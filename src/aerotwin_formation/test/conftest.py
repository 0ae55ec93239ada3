# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Random places for vehicles."""

import numpy as np
import pytest


def _spaced_points(rng, n, spacing_m, *, side_m, height_ratio=1.0):
    """Return points (n, 3) in a cube, the first in its middle, none closer; heights stretched."""
    points = [np.zeros(3)]
    while len(points) < n:
        point = rng.uniform(-0.5 * side_m, 0.5 * side_m, 3)
        if np.min(np.sum((np.array(points) - point) ** 2, axis=1)) > spacing_m**2:
            points.append(point)
    return np.array(points) * [1.0, 1.0, height_ratio]


@pytest.fixture(scope="session")
def spaced_points():
    return _spaced_points
