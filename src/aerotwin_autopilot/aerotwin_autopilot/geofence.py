# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Geofences: the areas of a plan of type FENCE, the test of a position, the action on a breach.

Semantics of PX4 v1.14: inside means in one of the inclusion areas, if there are any, and in none of
the exclusion areas. A breach acts once; the pilot may then choose another mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.mission import MissionItem
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings
from aerotwin_core.geodesy import LocalTangentPlane

RETURN_POINT, POLYGON_IN, POLYGON_OUT, CIRCLE_IN, CIRCLE_OUT = 5000, 5001, 5002, 5003, 5004
"""MAV_CMD numbers of the items of a fence."""
FEWEST_CORNERS = 3
NO_ACTION, WARN, HOLD, RETURN, TERMINATE, LAND = range(6)  # GF_ACTION
ACTIONS = {HOLD: Mode.HOLD, RETURN: Mode.RETURN, LAND: Mode.LAND}


def fence_fault(item: MissionItem) -> int:
    """Return MAV_MISSION_RESULT of one item of a fence."""
    if item.command not in (RETURN_POINT, POLYGON_IN, POLYGON_OUT, CIRCLE_IN, CIRCLE_OUT):
        return plan.UNSUPPORTED
    if item.frame not in plan.GLOBAL_FRAMES + plan.RELATIVE_FRAMES:
        return plan.UNSUPPORTED_FRAME
    if item.command in (POLYGON_IN, POLYGON_OUT) and not item.parameters[0] >= FEWEST_CORNERS:
        return plan.ERROR
    if item.command in (CIRCLE_IN, CIRCLE_OUT) and not item.parameters[0] > 0.0:
        return plan.INVALID_PARAM1
    return item.place_fault()


def fence_plan_fault(items: Sequence[MissionItem]) -> int:
    """Return MAV_MISSION_RESULT of a whole fence: the corners of a polygon are consecutive."""
    at = 0
    while at < len(items):
        first = items[at]
        is_polygon = first.command in (POLYGON_IN, POLYGON_OUT)
        n = round(first.parameters[0]) if is_polygon else 1
        corners = items[at : at + n]
        if len(corners) < n or any(item.command != first.command for item in corners):
            return plan.INVALID_PARAM1
        at += n
    return plan.ACCEPTED


def is_inside_polygon(point: np.ndarray, corners: np.ndarray) -> bool:
    """Return whether a point (2,) lies in a polygon (n, 2): even-odd rule, edges half open."""
    x, y = point
    x0, y0 = corners.T
    x1, y1 = np.roll(corners, 1, axis=0).T
    crosses = (y0 > y) != (y1 > y)
    rise = np.where(crosses, y1 - y0, 1.0)
    return bool(np.count_nonzero(crosses & (x < x0 + (y - y0) * (x1 - x0) / rise)) % 2)


@dataclass(frozen=True, kw_only=True)
class Area:
    """A polygon or a circle in local axes; a circle has one corner, its centre, and a radius."""

    corners: np.ndarray
    radius_m: float
    is_inclusion: bool

    def contains(self, point: np.ndarray) -> bool:
        """Return whether a point (2,) is inside."""
        if self.radius_m > 0.0:
            return bool(np.hypot(*(point - self.corners[0])) <= self.radius_m)
        return is_inside_polygon(point, self.corners)


def areas_of(items: Sequence[MissionItem], plane: LocalTangentPlane) -> list[Area]:
    """Return the areas of a fence; the first parameter of a polygon is its number of items."""
    areas, rest = [], list(items)
    while rest:
        first = rest[0]
        is_polygon = first.command in (POLYGON_IN, POLYGON_OUT)
        n = max(1, round(first.parameters[0])) if is_polygon else 1
        corners = np.array([item.local(plane, 0.0)[:2] for item in rest[:n]])
        del rest[:n]
        if first.command != RETURN_POINT:
            areas.append(
                Area(
                    corners=corners,
                    radius_m=0.0 if is_polygon else first.parameters[0],
                    is_inclusion=first.command in (POLYGON_IN, CIRCLE_IN),
                )
            )
    return areas


class Geofence:
    """The stored fence and the limits round home; it watches and acts once per breach.

    `settings` hold the action and the largest distances from home (0: any).
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.items: tuple[MissionItem, ...] = ()
        self._areas: list[Area] | None = None
        self._is_breached = False

    def store(self, items: Sequence[MissionItem]) -> None:
        """Replace the fence."""
        self.items = tuple(items)
        self._areas = None

    def breach(
        self, position: np.ndarray, plane: LocalTangentPlane | None, home: np.ndarray | None
    ) -> str:
        """Return the violation by a position (local axes), an empty text without one."""
        s = self._settings.values
        if plane is not None and self.items:
            if self._areas is None:
                self._areas = areas_of(self.items, plane)
            inside = [area.contains(position[:2]) for area in self._areas if area.is_inclusion]
            outside = any(a.contains(position[:2]) for a in self._areas if not a.is_inclusion)
            if outside or (inside and not any(inside)):
                return "Geofence violation"
        if home is not None and s.fence_height_m and position[2] - home[2] > s.fence_height_m:
            return "Geofence violation: altitude"
        if home is None or not s.fence_radius_m:
            return ""
        is_far = float(np.hypot(*(position - home)[:2])) > s.fence_radius_m
        return "Geofence violation: distance from home" if is_far else ""

    def act(
        self, position: np.ndarray, plane: LocalTangentPlane | None, home: np.ndarray | None
    ) -> tuple[Mode | None, str]:
        """Return the mode that a new breach leads to, if any, and a text for the pilot."""
        action = self._settings.values.fence_action
        reason = self.breach(position, plane, home) if action != NO_ACTION else ""
        is_new = bool(reason) and not self._is_breached
        self._is_breached = bool(reason)
        return (ACTIONS.get(action), reason) if is_new else (None, "")
