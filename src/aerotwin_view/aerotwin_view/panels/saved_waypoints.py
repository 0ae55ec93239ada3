# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Places as files: a mission that is flown, a route that is taught, an area; what is wrong."""

import json
import math
from itertools import combinations
from typing import Any

import numpy as np
import yaml

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
from aerotwin_core.geodesy import MapProjection
from aerotwin_core.parameters import load_parameters
from aerotwin_px4_bridge.mission import MissionPlan
from aerotwin_rendering import WorldQueries

CLEARANCE_M = 0.5
"""A way-point that is flown lies at least so far above the ground."""
_LEVEL_M = 1.0
"""Legs shorter than this from above have no heading."""


def mission_text(positions: FloatArray, queries: WorldQueries) -> str:
    """Return the mission file of way-points (n, 3) in map [m], each looking along its leg.

    Raises
    ------
    ParameterError
        If it is no mission, or would not fly freely: a way-point is in or close to the ground, or
        a leg goes through something.
    """
    _check_clearance(positions, queries)
    waypoints: list[dict[str, Any]] = [{"position_m": _rounded(p)} for p in positions]
    for k, leg in enumerate(np.diff(positions, axis=0), start=1):
        if math.hypot(*leg[:2]) > _LEVEL_M:
            waypoints[k]["yaw_deg"] = round(math.degrees(math.atan2(leg[1], leg[0])), 1)
    content = {"takeoff_altitude_m": 5.0, "speed_m_s": 2.0, "waypoints": waypoints}
    load_parameters(MissionPlan, content, where="the mission")
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None)


def route_text(positions: FloatArray, world: str) -> str:
    """Return the route file of way-points (n, 3) in map [m], as `aerotwin teach --route` reads it.

    Raises ParameterError if there are fewer than two different ones.
    """
    points = [_rounded(p[:2]) for p in positions]
    points = [p for k, p in enumerate(points) if k == 0 or p != points[k - 1]]
    if len(points) < 2:
        raise ParameterError(f"a route has at least 2 way-points, found {len(points)}; click more")
    content = {"name": "driven", "world": world, "is_closed": False, "waypoints_m": points}
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None)


def area_text(ground: FloatArray, plane: MapProjection, world: str) -> str:
    """Return the area within places (n, 3) of the ground in map [m], as GeoJSON.

    A Polygon in longitude and latitude, counterclockwise (RFC 7946, 3.1.6), with its corners in map
    and its level area. Raises ParameterError if there are fewer than three, or its sides cross.
    """
    if len(ground) < 3:
        raise ParameterError(f"an area has at least 3 corners, found {len(ground)}; click more")
    sides = [(ground[k, :2], ground[(k + 1) % len(ground), :2]) for k in range(len(ground))]
    for (k, first), (m, second) in combinations(enumerate(sides, start=1), 2):
        if _cross(*first, *second):
            raise ParameterError(
                f"the sides from place {k} and from place {m} cross; put the places in order"
            )
    corners = ground if _signed_area_m2(ground) > 0.0 else ground[::-1]
    ring = [[round(lon, 8), round(lat, 8)] for lat, lon, _ in map(plane.to_geodetic, corners)]
    feature = {
        "type": "Feature",
        "properties": {
            "world": world,
            "corners_map_m": [_rounded(p[:2]) for p in corners],
            "level_area_m2": round(level_area_m2(ground), 2),
        },
        "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
    }
    return json.dumps(feature, indent=2) + "\n"


def level_area_m2(ground: FloatArray) -> float:
    """Return the area within corners (n, 3) in map [m], seen from above.

    >>> level_area_m2(np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 2.0, 5.0]]))
    3.0
    """
    return abs(_signed_area_m2(ground))


def _signed_area_m2(ground: FloatArray) -> float:
    """Return the area, positive of corners counterclockwise (shoelace formula)."""
    x, y = (ground - ground[0])[:, :2].T
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2.0


def _cross(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> bool:
    """Return whether segments a b and c d (2,) cross; to have an end in common is no crossing."""

    def side(p: FloatArray, q: FloatArray, r: FloatArray) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0.0 and side(c, d, a) * side(c, d, b) < 0.0


def _check_clearance(positions: FloatArray, queries: WorldQueries) -> None:
    if not len(positions):
        raise ParameterError("no place is clicked yet: click the ground")
    heights = queries.height_above_ground(positions)
    for k, height_m in enumerate(heights, start=1):
        if not height_m >= CLEARANCE_M:
            raise ParameterError(
                f"place {k} is {height_m:.1f} m above the ground, at least {CLEARANCE_M:g} m are "
                "flown; raise it"
            )
    for k, (start, leg) in enumerate(
        zip(positions, np.diff(positions, axis=0), strict=False), start=1
    ):
        length_m = float(np.linalg.norm(leg))
        hit_m = queries.cast_one(start, leg) if length_m > 0.0 else math.inf
        if hit_m < length_m:
            raise ParameterError(
                f"the way from place {k} to {k + 1} meets something after {hit_m:.1f} of "
                f"{length_m:.1f} m; lead it around or above"
            )


def _rounded(values: FloatArray) -> list[float]:
    return [round(float(value), 3) for value in values]
