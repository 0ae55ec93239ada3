# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where along its route a vehicle is, followed from pose to pose, over cusps to the end."""

from numpy.typing import ArrayLike

from aerotwin_teach_repeat.tracking.route_path import RoutePath, RouteProjection

WINDOW_M = 1.0
"""How far a vehicle comes between two poses at most: 0.5 s at 1.5 m/s and some."""
CUSP_REACHED_M = 0.02
"""A cusp counts as reached when less than this is left: the accuracy of a good localisation."""


class RouteProgress:
    """Follows the arc length of a vehicle.

    Parameters
    ----------
    route : RoutePath
        The route.
    s_m : float
        Where on it the vehicle is at first [m].
    """

    def __init__(self, route: RoutePath, s_m: float = 0.0) -> None:
        self._route = route
        self._s_m = s_m

    @property
    def s_m(self) -> float:
        """Arc length of the last pose [m]."""
        return self._s_m

    @property
    def left_m(self) -> float:
        """What is left of the route [m]."""
        return self._route.length_m - self._s_m

    def update(self, T_map_base: ArrayLike, window_m: float = WINDOW_M) -> RouteProjection:
        """Take over a pose (4, 4) and return its projection.

        At a cusp the way changes over to the next segment; until then only the present one counts,
        though the next lies on top of it.
        """
        projection = self._route.project(T_map_base, self._s_m, window_m)
        segment = self._route.segment_at(self._s_m)
        self._s_m = projection.s_m
        if segment.stop_s_m - projection.s_m < CUSP_REACHED_M:
            self._s_m = segment.stop_s_m
        return projection
