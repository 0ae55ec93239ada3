# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a pose slides: tests the motions that the surface hardly constrains."""

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.rms import rms_length
from aerotwin_registration.observability import OpenDirection


def sliding_along(
    points: np.ndarray,
    directions: tuple[OpenDirection, ...],
    step_m: float,
    is_as_good: Callable[[np.ndarray], bool],
) -> str:
    """Return the first open motion along which the points fit as well elsewhere; "" if none.

    An open direction is one of small steps: normals hardly constrain them. Over metres a wall at
    the end of a road does, and then the pose is determined. A plane goes on. The source's `points`
    (n, 3) are moved by `step_m` forward and backward; `is_as_good` judges the moved points.
    """
    for direction in directions:
        for step in (-step_m, step_m):
            if is_as_good(_slid(points, direction, step)):
                return direction.text
    return ""


def _slid(points: np.ndarray, direction: OpenDirection, step_m: float) -> np.ndarray:
    """Return points moved by a step along a direction, whose turns are in units of the radius."""
    centre = points.mean(axis=0)
    arms = points - centre
    radius = max(rms_length(arms), 1e-12)
    turn = Rotation.from_rotvec(step_m / radius * direction.rotation)
    growth = np.exp(step_m / radius * direction.growth)
    return centre + step_m * direction.translation + growth * turn.apply(arms)
