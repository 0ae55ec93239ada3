# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Way-points as files: a mission that is flown, a route that is taught; what is wrong with them."""

import math
from typing import Any

import numpy as np
import yaml

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
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
