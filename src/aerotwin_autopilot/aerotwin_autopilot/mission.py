# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Missions: the items of a plan, their faults, and the progress of the flight."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aerotwin_core.geodesy import LocalTangentPlane

WAYPOINT, LOITER, LOITER_TIME, RETURN, LAND, TAKEOFF, LOITER_TO_ALT = 16, 17, 19, 20, 21, 22, 31
DELAY, JUMP, CHANGE_SPEED = 93, 177, 178
ROI_LOCATION, ROI_NONE, ROI_OLDER, ROI_OLDEST = 195, 197, 201, 80
"""MAV_CMD numbers of the items that change the flight."""

HORIZONTAL_SPEEDS = (0.0, 1.0)
"""SPEED_TYPE of a CHANGE_SPEED that can be done: airspeed and ground speed, the same here."""
PLACES = (WAYPOINT, LOITER, LOITER_TIME, LAND, TAKEOFF, LOITER_TO_ALT)
PAYLOAD = (
    187, 189, 196, 200, 203, 204, 205, 206, 214, 260, 530, 531, 532, 1000, 1001, 2000, 2001, 2003,
    2500, 2501,
)  # fmt: skip
"""MAV_CMD numbers that PX4 passes on to camera, trigger, gimbal and actuators, and the landing
marker: there is no such payload, so they are done as soon as it is their turn."""
WITH_PLACE = (*PLACES, ROI_LOCATION, ROI_OLDER, ROI_OLDEST)
WITHOUT_PLACE = (RETURN, DELAY, JUMP, CHANGE_SPEED, ROI_NONE, ROI_OLDER, ROI_OLDEST, *PAYLOAD)
"""What PX4 takes in global frames, and in MAV_FRAME_MISSION."""
ROI_AT_LOCATION, ROI_WITHOUT_PLACE = 3.0, (0.0, 1.0, 2.0)
"""MAV_ROI of the older region-of-interest items, by frame."""
GLOBAL_FRAMES, RELATIVE_FRAMES, MISSION_FRAME = (0, 5), (3, 6), 2
MAXIMUM_ITEMS = 2000
LOWEST_M, HIGHEST_M = -1e3, 1e5  # plausible altitudes: from below the Dead Sea to the edge of space

# MAV_MISSION_RESULT
(
    ACCEPTED, ERROR, UNSUPPORTED_FRAME, UNSUPPORTED, NO_SPACE, INVALID, INVALID_PARAM1,
    INVALID_PARAM2, INVALID_PARAM3, INVALID_PARAM4, INVALID_PARAM5, INVALID_PARAM6, INVALID_PARAM7,
    INVALID_SEQUENCE, DENIED, CANCELLED,
) = range(16)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class MissionItem:
    """One MISSION_ITEM_INT; latitude and longitude in degrees, NaN when not provided.

    In MAV_FRAME_MISSION, `x` and `y` replace them.
    """

    command: int
    frame: int
    parameters: tuple[float, float, float, float]
    latitude_deg: float
    longitude_deg: float
    altitude_m: float
    autocontinue: bool = True
    x: int = 0
    y: int = 0

    def fault(self) -> int:
        """Return MAV_MISSION_RESULT: ACCEPTED, or the fault."""
        if self.frame == MISSION_FRAME:
            return self._order_fault() if self.command in WITHOUT_PLACE else UNSUPPORTED
        if self.frame not in GLOBAL_FRAMES + RELATIVE_FRAMES:
            return UNSUPPORTED_FRAME
        if self.command not in WITH_PLACE:
            return UNSUPPORTED
        if self.command in (ROI_OLDER, ROI_OLDEST) and self.parameters[0] != ROI_AT_LOCATION:
            return INVALID_PARAM1
        is_here = self.command in (TAKEOFF, LAND) and not self.has_place
        fault = ACCEPTED if is_here else self.place_fault()
        if fault == ACCEPTED and not math.isfinite(self.altitude_m) and self.command != LAND:
            return INVALID_PARAM7
        return fault

    def _order_fault(self) -> int:
        """Return the fault of an item without a position."""
        first, second = self.parameters[:2]
        if self.command == CHANGE_SPEED:
            if first not in HORIZONTAL_SPEEDS:
                return INVALID_PARAM1
            is_known = 0.0 < second < math.inf or second == -1.0
            return ACCEPTED if is_known else INVALID_PARAM2
        if self.command in (ROI_OLDER, ROI_OLDEST) and first not in ROI_WITHOUT_PLACE:
            return INVALID_PARAM1
        if self.command == JUMP and not (math.isfinite(first) and first >= 0.0):
            return INVALID_PARAM1
        return ACCEPTED

    def place_fault(self) -> int:
        """Return the fault of the position; a missing altitude is none."""
        if not (self.has_place and abs(self.latitude_deg) <= 90.0):
            return INVALID_PARAM5
        if abs(self.longitude_deg) > 180.0:
            return INVALID_PARAM6
        if math.isfinite(self.altitude_m) and not LOWEST_M <= self.altitude_m <= HIGHEST_M:
            return INVALID_PARAM7
        return ACCEPTED

    @property
    def has_place(self) -> bool:
        """True when it has a horizontal position, not only a height."""
        return math.isfinite(self.latitude_deg) and math.isfinite(self.longitude_deg)

    @property
    def hold_s(self) -> float:
        """Time to stay [s]; infinite at a LOITER."""
        if self.command == LOITER:
            return math.inf
        wait = self.parameters[0] if self.command in (WAYPOINT, LOITER_TIME, DELAY) else 0.0
        return max(0.0, wait) if math.isfinite(wait) else 0.0

    def local(self, plane: LocalTangentPlane, home_altitude_m: float) -> tuple[float, float, float]:
        """Return the position in local axes; NaN for missing values."""
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


class StoredMission:
    """The stored plan, and the item that is flown.

    `current`: index of the present or first item; the number of items when all are done. `reached`:
    indices reached since the list was last cleared. `roi`: latitude and longitude of the region of
    interest that the nose points at [deg].
    """

    def __init__(self) -> None:
        self.items: tuple[MissionItem, ...] = ()
        self.current = 0
        self.reached: list[int] = []
        self.roi: tuple[float, float] | None = None
        self._jumps: dict[int, int] = {}

    def store(self, items: Sequence[MissionItem]) -> None:
        """Replace the plan; it begins at its first item."""
        self.items = tuple(items)
        self.current = 0
        self.reached.clear()
        self.roi = None
        self._jumps.clear()

    @property
    def item(self) -> MissionItem | None:
        """The present item, None when all are done or there are none."""
        return self.items[self.current] if self.current < len(self.items) else None

    @property
    def is_finished(self) -> bool:
        """True when there is nothing left to fly."""
        return self.current >= len(self.items)

    def set_current(self, index: int) -> bool:
        """Continue with another item; False when there is none of that number."""
        if not 0 <= index < len(self.items):
            return False
        self.current = index
        return True

    def advance(self) -> None:
        """Record the present item as done and continue with the next."""
        self.reached.append(self.current)
        self.current += 1

    def jump(self) -> None:
        """Follow the present DO_JUMP, or continue with the next item after its last repeat."""
        target, repeats = self.items[self.current].parameters[:2]
        done = self._jumps.get(self.current, 0)
        if target < len(self.items) and (done < repeats or repeats < 0.0):
            self._jumps[self.current] = done + 1
            self.current = round(target)
        else:
            self._jumps.pop(self.current, None)
            self.current += 1
