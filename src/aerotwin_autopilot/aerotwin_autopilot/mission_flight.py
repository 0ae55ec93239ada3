# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flying a mission: each item sets a target, and is done when the vehicle is there."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.control.guidance import Guidance
from aerotwin_autopilot.mission import MissionItem, StoredMission
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge.messages import yaw_map_from_ned

NOSE_AHEAD_M = 1.0  # legs longer than this are flown with the nose ahead (as PX4's MIS_YAWMODE 1)
WITH_HEADING = (plan.WAYPOINT, plan.LOITER, plan.LAND)
"""Items whose fourth parameter is the heading (common.xml; a LOITER_TIME's is not)."""
ROIS = (plan.ROI_LOCATION, plan.ROI_NONE, plan.ROI_OLDER, plan.ROI_OLDEST)
CLIMB_FIRST = (plan.WAYPOINT, plan.LOITER, plan.LOITER_TIME)
"""Items before which a vehicle on the ground takes off straight up (as PX4)."""
PER_DECISION = 100  # limit of items without flight in one decision


@dataclass(frozen=True, kw_only=True)
class MissionStep:
    """Result of a mission decision: another mode with its reason, another speed."""

    mode: Mode | None = None
    text: str = ""
    speed: float = math.nan


class MissionFlight:
    """Turns the present item into a target, and moves on."""

    def __init__(self, mission: StoredMission, settings: Settings) -> None:
        self._mission = mission
        self._settings = settings
        self._begun = -1
        self._reached_at: float | None = None
        self._is_on_ground = self._is_climbing = False

    def restart(self, *, from_ground: bool = False) -> None:
        """Restart the present item after a change of mode, plan or item."""
        self._begun = -1
        self._reached_at = None
        self._is_on_ground = from_ground
        self._is_climbing = False

    def step(
        self,
        guidance: Guidance,
        position: np.ndarray,
        plane: LocalTangentPlane,
        home: np.ndarray,
        time_s: float,
    ) -> MissionStep:
        """Set the target of the present item; continue with the next when it is done."""
        speed = math.nan
        for _ in range(PER_DECISION):
            item = self._mission.item
            if item is None:
                return MissionStep(mode=Mode.HOLD, text="finished, holding", speed=speed)
            if item.command == plan.JUMP:
                self._mission.jump()
                self._reached_at = None
                continue
            if item.command == plan.CHANGE_SPEED:
                speed = item.parameters[1] if item.parameters[1] > 0.0 else speed
            elif item.command in ROIS:
                self._mission.roi = (
                    (item.latitude_deg, item.longitude_deg) if item.has_place else None
                )
            elif item.command == plan.RETURN:
                self._mission.advance()
                return MissionStep(mode=Mode.RETURN, text="returning", speed=speed)
            elif item.command not in plan.PAYLOAD and not self._is_done(
                item, guidance, position, plane, home, time_s
            ):
                self._look_at_roi(guidance, position, plane)
                return MissionStep(speed=speed)
            self._mission.advance()
            self._reached_at = None
            if item.command == plan.LAND:
                return MissionStep(mode=Mode.LAND, text="landing", speed=speed)
            if not item.autocontinue:
                return MissionStep(mode=Mode.HOLD, text="item done, holding", speed=speed)
        return MissionStep(speed=speed)

    def _is_done(
        self,
        item: MissionItem,
        guidance: Guidance,
        position: np.ndarray,
        plane: LocalTangentPlane,
        home: np.ndarray,
        time_s: float,
    ) -> bool:
        """Start towards an item, once; return whether it is reached and its hold time is over."""
        if item.command == plan.DELAY:
            self._reached_at = time_s if self._reached_at is None else self._reached_at
            return time_s - self._reached_at >= item.hold_s
        if self._begun != self._mission.current:
            self._begun = self._mission.current
            place = np.array(item.local(plane, plane.to_geodetic(home)[2]))
            self._is_climbing = self._is_on_ground and item.command in CLIMB_FIRST
            self._is_on_ground = False
            if self._is_climbing:
                height = position[2] + self._settings.values.takeoff_altitude_m
                guidance.target[:] = *guidance.reference[:2], max(place[2], height)
            else:
                self._set_out(item, guidance, place)
        if self._reached_at is None:
            if np.linalg.norm(guidance.target - position) > self._radius(item):
                return False
            if self._is_climbing:
                self._is_climbing, self._begun = False, -1
                return False
            self._reached_at = time_s
        return time_s - self._reached_at >= item.hold_s

    def _look_at_roi(
        self, guidance: Guidance, position: np.ndarray, plane: LocalTangentPlane
    ) -> None:
        """Turn the nose to the region of interest, unless it is right below."""
        if self._mission.roi is None:
            return
        east, north = plane.from_geodetic(*self._mission.roi, plane.origin.altitude_m)[:2]
        way = east - position[0], north - position[1]
        if math.hypot(*way) > self._settings.values.acceptance_radius_m:
            guidance.yaw = math.atan2(way[1], way[0])

    def _set_out(self, item: MissionItem, guidance: Guidance, place: np.ndarray) -> None:
        """Write the target: a take-off is vertical, a landing first flies above its position."""
        assert item.command in plan.PLACES
        if item.command == plan.TAKEOFF:
            place[:2] = math.nan
        if item.command == plan.LAND:
            place[2] = math.nan
        target = guidance.target
        target[:] = np.where(np.isfinite(place), place, guidance.reference[:3])
        way = target - guidance.reference[:3]
        heading = item.parameters[3]
        if math.isfinite(heading) and item.command in WITH_HEADING:
            guidance.yaw = yaw_map_from_ned(math.radians(math.remainder(heading, 360.0)))
        elif math.hypot(way[0], way[1]) > NOSE_AHEAD_M:
            guidance.yaw = math.atan2(way[1], way[0])

    def _radius(self, item: MissionItem) -> float:
        own = item.parameters[1]
        is_own = item.command == plan.WAYPOINT and math.isfinite(own) and own > 0.0
        return own if is_own else self._settings.values.acceptance_radius_m
