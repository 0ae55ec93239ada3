# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From where a robot is seen: nothing of the world stands between."""

from collections.abc import Callable

import numpy as np

from aerotwin_core.frames import FloatArray

Cast = Callable[[FloatArray, FloatArray], float]
"""Returns the distance [m] from a point (3,) to the surface in a direction (3,)."""
DISTANCE_M = 9.8
_ABOVE_M = 0.5
"""A robot that it is looked out from, because the ground touches one that stands."""
_MARGIN_M = 1.0
"""From the camera to what is behind it."""
_TURNS_RAD = np.radians([207.0, 252.0, 162.0, 297.0, 117.0, 342.0, 72.0, 27.0])
_HEIGHTS_RAD = np.radians([24.0, 50.0, 75.0])


def clear_view(p_map: FloatArray, cast: Cast | None) -> FloatArray:
    """Return from where to look at a robot (3,) in map [m]: from behind, if that is free.

    Else from another side, or from higher; without a world, or where all is hidden, from behind.
    """
    directions = [
        np.array([np.cos(up) * np.cos(turn), np.cos(up) * np.sin(turn), np.sin(up)])
        for up in _HEIGHTS_RAD
        for turn in _TURNS_RAD
    ]
    body = p_map + np.array([0.0, 0.0, _ABOVE_M])
    needed_m = DISTANCE_M + _MARGIN_M
    free = (each for each in directions if cast is None or cast(body, each) > needed_m)
    return body + DISTANCE_M * next(free, directions[0])
