# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes through the generated worlds: along their roads, whatever the seed.

The routes of `config/routes` are these for the default seed; other seeds bend the roads otherwise.
"""

import re

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_teach_repeat.teaching import RouteFile, marker_stations, smooth_waypoints

DEFAULT_SEED = 7
WAYPOINT_M = 8.0
"""Between way-points on a road: a spline through them stays within a decimetre of it."""
END_M = 1.0
"""Left out at both ends of an open road, where the world ends."""
RING_M = (62.0, 55.0)
"""Half axes of the ring through the grassland."""
ROUTES = ("campus", "route", "grassland")


def route_of_world(spec: str) -> RouteFile:
    """Return the route of a generated world, `NAME` or `NAME@SEED`.

    Raises `UserError` if it is none of `ROUTES`.
    """
    match = re.fullmatch(r"(\w+)(?:@(\d{1,9}))?", spec)
    if match is None or match[1] not in ROUTES:
        raise UserError(
            f"{spec}: has no route of its own; those of {', '.join(ROUTES)} (with @SEED) have, "
            "for others name a file by --route"
        )
    name, seed = match[1], int(match[2] or DEFAULT_SEED)
    waypoints, is_closed = _LINES[name](seed)
    waypoints = waypoints.round(2)
    length_m = smooth_waypoints(waypoints, is_closed=is_closed).length_m
    return RouteFile(
        name=name,
        world=f"{name}@{seed}",
        is_closed=is_closed,
        waypoints_m=tuple((float(x), float(y)) for x, y in waypoints),
        markers_s_m=marker_stations(length_m),
    )


def _campus(seed: int) -> tuple[FloatArray, bool]:
    from aerotwin_generated_worlds.campus import campus_road

    road = campus_road(seed)
    s = np.arange(0.0, road.s_m[-1] - WAYPOINT_M / 2.0, WAYPOINT_M)
    return np.array([road.at(value)[:2] for value in s]), True


def _country_road(seed: int) -> tuple[FloatArray, bool]:
    from aerotwin_generated_worlds.route import route_road

    road = route_road(seed)
    s = np.linspace(END_M, road.s_m[-1] - END_M, round(road.s_m[-1] / WAYPOINT_M))
    return np.array([road.at(value)[:2] for value in s]), False


def _ring(seed: int) -> tuple[FloatArray, bool]:
    """A ring that swings to both sides, other ways for every seed."""
    rng = np.random.default_rng([seed, 81])
    turn = np.arange(0.0, 2.0 * np.pi, 2.0 * np.pi / 60.0)
    swing = np.zeros_like(turn)
    for waves in (3, 5):
        swing += rng.uniform(2.0, 5.0) * np.sin(waves * turn + rng.uniform(0.0, 2.0 * np.pi))
    across, up = (half + swing for half in RING_M)
    return np.column_stack([across * np.cos(turn), up * np.sin(turn)]), True


_LINES = {"campus": _campus, "route": _country_road, "grassland": _ring}
