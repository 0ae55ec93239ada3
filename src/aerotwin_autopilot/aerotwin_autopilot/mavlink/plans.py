# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The three kinds of plan of the mission protocol: where each is stored, what each may hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.geofence import fence_fault, fence_plan_fault
from aerotwin_autopilot.mission import MissionItem
from aerotwin_autopilot.modes import FlightModes

MISSION, FENCE, RALLY, ALL = 0, 1, 2, 255  # MAV_MISSION_TYPE
RALLY_POINT = 5100
MOST_FENCE_ITEMS, MOST_RALLY_POINTS = 64, 8  # as many as PX4 v1.14 stores (dataman.h)


def _rally_fault(item: MissionItem) -> int:
    if item.command != RALLY_POINT:
        return plan.UNSUPPORTED
    if item.frame not in plan.GLOBAL_FRAMES + plan.RELATIVE_FRAMES:
        return plan.UNSUPPORTED_FRAME
    return item.place_fault()


@dataclass(frozen=True, kw_only=True)
class PlanStore:
    """One kind of plan: its items, how many fit, what is wrong with one or with all."""

    items: Callable[[], Sequence[MissionItem]]
    store: Callable[[Sequence[MissionItem]], None]
    maximum: int
    fault: Callable[[MissionItem], int]
    plan_fault: Callable[[Sequence[MissionItem]], int] = lambda _: plan.ACCEPTED


def plan_stores(modes: FlightModes) -> dict[int, PlanStore]:
    """Return the stores of a vehicle by MAV_MISSION_TYPE."""

    def store_mission(items: Sequence[MissionItem]) -> None:
        modes.mission.store(items)
        modes.restart_mission_item()

    def store_rally(items: Sequence[MissionItem]) -> None:
        modes.course.haven.rally = tuple(items)

    return {
        MISSION: PlanStore(
            items=lambda: modes.mission.items,
            store=store_mission,
            maximum=plan.MAXIMUM_ITEMS,
            fault=MissionItem.fault,
        ),
        FENCE: PlanStore(
            items=lambda: modes.geofence.items,
            store=modes.geofence.store,
            maximum=MOST_FENCE_ITEMS,
            fault=fence_fault,
            plan_fault=fence_plan_fault,
        ),
        RALLY: PlanStore(
            items=lambda: modes.course.haven.rally,
            store=store_rally,
            maximum=MOST_RALLY_POINTS,
            fault=_rally_fault,
        ),
    }
