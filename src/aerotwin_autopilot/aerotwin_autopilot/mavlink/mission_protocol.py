# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink mission protocol: upload, download, clear, choice of the present item.

MAVLink developer guide, "Mission Protocol", for missions, fences and rally points. Items are
requested as MISSION_ITEM_INT; MISSION_REQUEST is answered by MISSION_ITEM, which is accepted, too.
Timeouts run in simulated time.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.geofence import fence_fault, fence_plan_fault
from aerotwin_autopilot.mavlink.status import mission_current
from aerotwin_autopilot.mavlink.streams import MavlinkProtocol
from aerotwin_autopilot.mission import MISSION_FRAME, MissionItem
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


RETRY_S = 1.0
MAXIMUM_RETRIES = 5
NOT_SET = -0x80000000
NAN = math.nan
DEGREE_1E7 = 1e-7

Send = Callable[..., None]
Partner = tuple[int, int]


def item_from_message(message: Any) -> MissionItem:
    """Return the item of a MISSION_ITEM_INT or MISSION_ITEM; position 0, 0 means: missing."""
    m = message
    scale = DEGREE_1E7 if m.get_type() == "MISSION_ITEM_INT" else 1.0
    has_place = m.frame != MISSION_FRAME and m.x != NOT_SET and m.y != NOT_SET
    has_place = has_place and (m.x != 0 or m.y != 0)
    return MissionItem(
        command=m.command,
        frame=m.frame,
        parameters=(m.param1, m.param2, m.param3, m.param4),
        latitude_deg=m.x * scale if has_place else NAN,
        longitude_deg=m.y * scale if has_place else NAN,
        altitude_m=m.z,
        autocontinue=bool(m.autocontinue),
        x=0 if has_place else round(m.x),
        y=0 if has_place else round(m.y),
    )


class Upload:
    """An incoming plan: its sender, received items, time of the pending request."""

    def __init__(self, link: Any, partner: Partner, kind: int, count: int, time_s: float) -> None:
        self.link = link
        self.partner = partner
        self.kind = kind
        self.count = count
        self.items: list[MissionItem] = []
        self.asked_at = time_s
        self.n_retries = 0

    def is_from(self, link: Any, partner: Partner) -> bool:
        """Return whether a link and partner are those of the sender."""
        return self.link is link and self.partner == partner


class MissionProtocol(MavlinkProtocol):
    """The autopilot's side of the protocol; one upload at a time."""

    def __init__(self, autopilot: Autopilot, send: Send) -> None:
        super().__init__(autopilot, send)
        self._upload: Upload | None = None

    @property
    def is_busy(self) -> bool:
        """True during an upload."""
        return self._upload is not None

    @property
    def _stores(self) -> dict[int, PlanStore]:
        return plan_stores(self._autopilot.modes)

    def keep_going(self, time_s: float) -> None:
        """Request a missing item again, and give up after the last retry."""
        upload = self._upload
        if upload is None or time_s - upload.asked_at < RETRY_S:
            return
        if upload.n_retries >= MAXIMUM_RETRIES:
            self._end(upload, plan.CANCELLED)
            self._autopilot.say("Mission upload given up: items missing", is_warning=True)
            return
        upload.n_retries += 1
        self._ask(upload, time_s)

    # --- upload ----------------------------------------------------------------------------

    def _on_mission_count(self, link: Any, message: Any) -> None:
        partner, kind = _partner(message), message.mission_type
        store, upload = self._stores.get(kind), self._upload
        if store is None:
            self._ack(link, partner, plan.UNSUPPORTED, kind)
        elif upload is not None and not upload.is_from(link, partner):
            self._ack(link, partner, plan.DENIED, kind)
        elif message.count > store.maximum:
            self._ack(link, partner, plan.NO_SPACE, kind)
        elif message.count == 0:
            store.store([])
            self._ack(link, partner, plan.ACCEPTED, kind)
        else:
            self._upload = Upload(link, partner, kind, message.count, self._autopilot.time_s)
            self._ask(self._upload, self._autopilot.time_s)

    def _on_mission_item(self, link: Any, message: Any) -> None:
        upload, partner, kind = self._upload, _partner(message), message.mission_type
        store = self._stores.get(kind)
        if store is None:
            self._ack(link, partner, plan.UNSUPPORTED, kind)
            return
        if upload is None or not upload.is_from(link, partner) or kind != upload.kind:
            self._ack(link, partner, plan.INVALID_SEQUENCE, kind)
            return
        if message.seq != len(
            upload.items
        ):  # sent twice, or too early: the request is still pending
            return
        item = item_from_message(message)
        fault = store.fault(item)
        if fault != plan.ACCEPTED:
            self._end(upload, fault)
            self._autopilot.say(f"Mission item {message.seq} refused", is_warning=True)
            return
        upload.items.append(item)
        upload.n_retries = 0
        if len(upload.items) < upload.count:
            self._ask(upload, self._autopilot.time_s)
            return
        fault = store.plan_fault(upload.items)
        if fault == plan.ACCEPTED:
            store.store(upload.items)
        self._end(upload, fault)

    _on_mission_item_int = _on_mission_item

    def _ask(self, upload: Upload, time_s: float) -> None:
        upload.asked_at = time_s
        self._send(
            upload.link, "MISSION_REQUEST_INT", len(upload.items), *upload.partner, upload.kind
        )

    def _end(self, upload: Upload, result: int) -> None:
        self._upload = None
        self._ack(upload.link, upload.partner, result, upload.kind)

    def _on_mission_clear_all(self, link: Any, message: Any) -> None:
        kind, stores = message.mission_type, self._stores
        kinds = tuple(stores) if kind == ALL else (kind,)
        if not set(kinds) <= set(stores):
            self._ack(link, _partner(message), plan.UNSUPPORTED, kind)
            return
        if self._upload is not None and self._upload.kind in kinds:
            self._upload = None
        for each in kinds:
            stores[each].store([])
        self._ack(link, _partner(message), plan.ACCEPTED, kind)

    # --- download --------------------------------------------------------------------------

    def _on_mission_request_list(self, link: Any, message: Any) -> None:
        store = self._stores.get(message.mission_type)
        count = len(store.items()) if store is not None else 0
        self._send(link, "MISSION_COUNT", count, *_partner(message), message.mission_type)

    def _on_mission_request(self, link: Any, message: Any) -> None:
        partner, kind = _partner(message), message.mission_type
        store = self._stores.get(kind)
        items = store.items() if store is not None else ()
        if message.seq >= len(items):
            self._ack(link, partner, plan.INVALID_SEQUENCE, kind)
            return
        i, is_int = items[message.seq], message.get_type() == "MISSION_REQUEST_INT"
        x, y = (i.latitude_deg, i.longitude_deg) if i.has_place else (i.x, i.y)
        if is_int and i.has_place:
            x, y = round(x * 1e7), round(y * 1e7)
        current = int(kind == MISSION and message.seq == self._autopilot.modes.mission.current)
        self._send(
            link, "MISSION_ITEM_INT" if is_int else "MISSION_ITEM",
            *i.parameters, x, y, i.altitude_m, message.seq, i.command, *partner, i.frame,
            current, int(i.autocontinue), kind,
        )  # fmt: skip

    _on_mission_request_int = _on_mission_request

    def _on_mission_ack(self, link: Any, message: Any) -> None:
        """End an upload that its sender cancels; a download needs no action."""
        upload = self._upload
        if upload is not None and upload.is_from(link, _partner(message)):
            self._upload = None

    def _on_mission_set_current(self, link: Any, message: Any) -> None:
        modes = self._autopilot.modes
        if modes.mission.set_current(message.seq):
            modes.restart_mission_item()
        else:
            self._autopilot.say(f"Mission: no item {message.seq}", is_warning=True)
        self._send(link, "MISSION_CURRENT", *mission_current(self._autopilot))

    def _on_mission_request_partial_list(self, link: Any, message: Any) -> None:
        """Refuse: as PX4, this autopilot exchanges whole plans only."""
        self._ack(link, _partner(message), plan.UNSUPPORTED, message.mission_type)

    _on_mission_write_partial_list = _on_mission_request_partial_list

    def _ack(self, link: Any, partner: Partner, result: int, kind: int) -> None:
        self._send(link, "MISSION_ACK", *partner, result, kind)


def _partner(message: Any) -> Partner:
    return message.get_srcSystem(), message.get_srcComponent()
