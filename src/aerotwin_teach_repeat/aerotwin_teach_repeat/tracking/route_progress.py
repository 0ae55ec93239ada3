# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Progress of a vehicle along its route, tracked from pose to pose, over cusps to the end."""

from numpy.typing import ArrayLike

from aerotwin_teach_repeat.tracking.route_path import RoutePath, RouteProjection

WINDOW_M = 1.0
"""Largest motion of a vehicle between two poses: 0.5 s at 1.5 m/s plus a margin."""
CUSP_REACHED_M = 0.02
"""A cusp counts as reached when less than this is left: the accuracy of a good localisation."""


class RouteProgress:
    """Tracks the arc length of a vehicle, from an initial one [m]."""

    def __init__(self, route: RoutePath, s_m: float = 0.0) -> None:
        self._route = route
        self._s_m = s_m

    @property
    def s_m(self) -> float:
        """Arc length of the last pose [m]."""
        return self._s_m

    @property
    def left_m(self) -> float:
        """Remaining length of the route [m]."""
        return self._route.length_m - self._s_m

    def update(self, T_map_base: ArrayLike, window_m: float = WINDOW_M) -> RouteProjection:
        """Return the projection of a pose (4, 4), and advance to it.

        At a cusp the next segment becomes active; until then only the present one counts, though
        the next lies on top of it.
        """
        projection = self._route.project(T_map_base, self._s_m, window_m)
        segment = self._route.segment_at(self._s_m)
        self._s_m = projection.s_m
        if segment.stop_s_m - projection.s_m < CUSP_REACHED_M:
            self._s_m = segment.stop_s_m
        return projection
