# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Missions: the items of a plan, what is wrong with them, and how far the flight has come."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aerotwin_core.geodesy import LocalTangentPlane

WAYPOINT, LOITER, LOITER_TIME, RETURN, LAND, TAKEOFF, CHANGE_SPEED = 16, 17, 19, 20, 21, 22, 178
"""MAV_CMD numbers of the items that are flown."""

HORIZONTAL_SPEEDS = (0.0, 1.0)
"""SPEED_TYPE of a CHANGE_SPEED that can be done: airspeed and ground speed, the same here."""
PLACES = (WAYPOINT, LOITER, LOITER_TIME, LAND, TAKEOFF)
SUPPORTED = (*PLACES, RETURN, CHANGE_SPEED)
GLOBAL_FRAMES, RELATIVE_FRAMES, MISSION_FRAME = (0, 5), (3, 6), 2
MAXIMUM_ITEMS = 2000
LOWEST_M, HIGHEST_M = -1e3, 1e5
"""Altitudes that are meant: from below the Dead Sea to the edge of space."""

# MAV_MISSION_RESULT
(
    ACCEPTED, ERROR, UNSUPPORTED_FRAME, UNSUPPORTED, NO_SPACE, INVALID, INVALID_PARAM1,
    INVALID_PARAM2, INVALID_PARAM3, INVALID_PARAM4, INVALID_PARAM5, INVALID_PARAM6, INVALID_PARAM7,
    INVALID_SEQUENCE, DENIED, CANCELLED,
) = range(16)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class MissionItem:
    """One MISSION_ITEM_INT; latitude and longitude in degrees, NaN when not given."""

    command: int
    frame: int
    parameters: tuple[float, float, float, float]
    latitude_deg: float
    longitude_deg: float
    altitude_m: float
    autocontinue: bool = True

    def fault(self) -> int:
        """Return MAV_MISSION_RESULT: ACCEPTED, or what is wrong."""
        if self.command not in SUPPORTED:
            return UNSUPPORTED
        if self.command == CHANGE_SPEED:
            if self.parameters[0] not in HORIZONTAL_SPEEDS:
                return INVALID_PARAM1
            speed = self.parameters[1]
            is_known = 0.0 < speed < math.inf or speed == -1.0
            return ACCEPTED if is_known else INVALID_PARAM2
        if self.command == RETURN:
            return ACCEPTED
        if self.frame not in GLOBAL_FRAMES + RELATIVE_FRAMES:
            return UNSUPPORTED_FRAME
        if self.command not in (TAKEOFF, LAND) and not self.has_place:
            return INVALID_PARAM5
        if self.has_place and abs(self.latitude_deg) > 90.0:
            return INVALID_PARAM5
        if self.has_place and abs(self.longitude_deg) > 180.0:
            return INVALID_PARAM6
        if not math.isfinite(self.altitude_m) and self.command != LAND:
            return INVALID_PARAM7
        if math.isfinite(self.altitude_m) and not LOWEST_M <= self.altitude_m <= HIGHEST_M:
            return INVALID_PARAM7
        return ACCEPTED

    @property
    def has_place(self) -> bool:
        """True when it says where, not only how high."""
        return math.isfinite(self.latitude_deg) and math.isfinite(self.longitude_deg)

    @property
    def hold_s(self) -> float:
        """How long to stay [s]; for ever at a LOITER."""
        if self.command == LOITER:
            return math.inf
        wait = self.parameters[0] if self.command in (WAYPOINT, LOITER_TIME) else 0.0
        return max(0.0, wait) if math.isfinite(wait) else 0.0

    def local(self, plane: LocalTangentPlane, home_altitude_m: float) -> tuple[float, float, float]:
        """Return the place in local axes; NaN for what is not given."""
        altitude = self.altitude_m
        if self.frame in RELATIVE_FRAMES:
            altitude += home_altitude_m
        o = plane.origin
        is_high = math.isfinite(altitude)
        east, north, up = plane.from_geodetic(
            self.latitude_deg if self.has_place else o.latitude_deg,
            self.longitude_deg if self.has_place else o.longitude_deg,
            altitude if is_high else home_altitude_m,
        ).tolist()
        if not self.has_place:
            east = north = math.nan
        return east, north, up if is_high else math.nan


class Mission:
    """The plan that is stored, and which item is flown.

    Attributes
    ----------
    current : int
        Index of the item that is flown or comes first; as many as items when all are done.
    reached : list of int
        Indices reached since somebody last looked.
    """

    def __init__(self) -> None:
        self.items: tuple[MissionItem, ...] = ()
        self.current = 0
        self.reached: list[int] = []

    def store(self, items: Sequence[MissionItem]) -> None:
        """Replace the plan; it begins at its first item."""
        self.items = tuple(items)
        self.current = 0
        self.reached.clear()

    @property
    def item(self) -> MissionItem | None:
        """The item that is flown, None when all are done or there are none."""
        return self.items[self.current] if self.current < len(self.items) else None

    @property
    def is_finished(self) -> bool:
        """True when there is nothing left to fly."""
        return self.current >= len(self.items)

    def set_current(self, index: int) -> bool:
        """Go on with another item; False when there is none of that number."""
        if not 0 <= index < len(self.items):
            return False
        self.current = index
        return True

    def advance(self) -> None:
        """Note that the present item is done and take the next."""
        self.reached.append(self.current)
        self.current += 1
