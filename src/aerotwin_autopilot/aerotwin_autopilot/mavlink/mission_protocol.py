# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink mission protocol: upload, download, clear, choice of the present item.

MAVLink developer guide, "Mission Protocol". Items travel as MISSION_ITEM_INT; fences and rally
points are not supported and are answered so. Timeouts run in simulated time.
"""

import math
from collections.abc import Callable
from typing import Any

from aerotwin_autopilot import mission as plan
from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mission import MissionItem
from aerotwin_autopilot.px4_modes import Mode

PLAN_TYPE = 0
RETRY_S = 1.0
MAXIMUM_RETRIES = 5
NOT_GIVEN = -0x80000000
NAN = math.nan

Send = Callable[..., None]


def item_from_message(message: Any) -> MissionItem:
    """Return the item of a MISSION_ITEM_INT; latitude and longitude 0, 0 mean: not given."""
    m = message
    is_given = m.x != NOT_GIVEN and m.y != NOT_GIVEN and (m.x != 0 or m.y != 0)
    return MissionItem(
        command=m.command,
        frame=m.frame,
        parameters=(m.param1, m.param2, m.param3, m.param4),
        latitude_deg=m.x * 1e-7 if is_given else NAN,
        longitude_deg=m.y * 1e-7 if is_given else NAN,
        altitude_m=m.z,
        autocontinue=bool(m.autocontinue),
    )


def _scaled(angle_deg: float) -> int:
    return round(angle_deg * 1e7) if math.isfinite(angle_deg) else 0


class Upload:
    """A plan on its way in: who sends it, what has come, what is asked for since when."""

    def __init__(self, link: Any, partner: tuple[int, int], count: int, time_s: float) -> None:
        self.link = link
        self.partner = partner
        self.count = count
        self.items: list[MissionItem] = []
        self.asked_at = time_s
        self.n_retries = 0


class MissionProtocol:
    """The autopilot's side of the protocol, on all links; one upload at a time.

    Parameters
    ----------
    autopilot : Autopilot
        Whose mission it is.
    send : callable
        Called with (link, message name, values in wire order).
    """

    def __init__(self, autopilot: Autopilot, send: Send) -> None:
        self._autopilot = autopilot
        self._send = send
        self._upload: Upload | None = None
        self.handlers = {
            "MISSION_REQUEST_LIST": self._on_list,
            "MISSION_REQUEST_INT": self._on_request,
            "MISSION_REQUEST": self._on_request,
            "MISSION_COUNT": self._on_count,
            "MISSION_ITEM_INT": self._on_item,
            "MISSION_CLEAR_ALL": self._on_clear,
            "MISSION_SET_CURRENT": self._on_set_current,
            "MISSION_ACK": self._on_ack,
        }

    @property
    def is_busy(self) -> bool:
        """True while a plan is on its way in."""
        return self._upload is not None

    def keep_going(self, time_s: float) -> None:
        """Ask again for an item that does not come, and give up in the end."""
        upload = self._upload
        if upload is None or time_s - upload.asked_at < RETRY_S:
            return
        if upload.n_retries >= MAXIMUM_RETRIES:
            self._upload = None
            self._ack(upload.link, upload.partner, plan.CANCELLED)
            self._autopilot.say("Mission upload given up: items missing", is_warning=True)
            return
        upload.n_retries += 1
        self._ask(upload, time_s)

    # --- upload ----------------------------------------------------------------------------

    def _on_count(self, link: Any, message: Any) -> None:
        partner = _partner(message)
        if message.mission_type != PLAN_TYPE:
            self._ack(link, partner, plan.UNSUPPORTED, message.mission_type)
            return
        upload = self._upload
        if upload is not None and (upload.link is not link or upload.partner != partner):
            self._ack(link, partner, plan.DENIED)
        elif message.count > plan.MAXIMUM_ITEMS:
            self._ack(link, partner, plan.NO_SPACE)
        elif message.count == 0:
            self._store([])
            self._ack(link, partner, plan.ACCEPTED)
        else:
            self._upload = Upload(link, partner, message.count, self._autopilot.time_s)
            self._ask(self._upload, self._autopilot.time_s)

    def _on_item(self, link: Any, message: Any) -> None:
        upload, partner = self._upload, _partner(message)
        if message.mission_type != PLAN_TYPE:
            self._ack(link, partner, plan.UNSUPPORTED, message.mission_type)
            return
        if upload is None or upload.link is not link or upload.partner != partner:
            self._ack(link, partner, plan.INVALID_SEQUENCE)
            return
        if message.seq != len(upload.items):  # sent twice, or too early: the request stands
            return
        item = item_from_message(message)
        fault = item.fault()
        if fault != plan.ACCEPTED:
            self._upload = None
            self._ack(link, partner, fault)
            self._autopilot.say(f"Mission item {message.seq} refused", is_warning=True)
            return
        upload.items.append(item)
        upload.n_retries = 0
        if len(upload.items) < upload.count:
            self._ask(upload, self._autopilot.time_s)
            return
        self._upload = None
        self._store(upload.items)
        self._ack(link, partner, plan.ACCEPTED)

    def _ask(self, upload: Upload, time_s: float) -> None:
        upload.asked_at = time_s
        self._send(
            upload.link, "MISSION_REQUEST_INT", len(upload.items), *upload.partner, PLAN_TYPE
        )

    def _store(self, items: list[MissionItem]) -> None:
        modes = self._autopilot.modes
        modes.mission.store(items)
        modes.restart_mission_item()

    def _on_clear(self, link: Any, message: Any) -> None:
        if message.mission_type in (PLAN_TYPE, 255):
            self._upload = None
            self._store([])
        self._ack(link, _partner(message), plan.ACCEPTED, message.mission_type)

    # --- download --------------------------------------------------------------------------

    def _on_list(self, link: Any, message: Any) -> None:
        is_plan = message.mission_type == PLAN_TYPE
        count = len(self._autopilot.modes.mission.items) if is_plan else 0
        self._send(link, "MISSION_COUNT", count, *_partner(message), message.mission_type)

    def _on_request(self, link: Any, message: Any) -> None:
        mission, partner = self._autopilot.modes.mission, _partner(message)
        if message.mission_type != PLAN_TYPE or message.seq >= len(mission.items):
            self._ack(link, partner, plan.INVALID_SEQUENCE, message.mission_type)
            return
        i = mission.items[message.seq]
        self._send(
            link, "MISSION_ITEM_INT",
            *i.parameters, _scaled(i.latitude_deg), _scaled(i.longitude_deg), i.altitude_m,
            message.seq, i.command, *partner, i.frame, int(message.seq == mission.current),
            int(i.autocontinue), PLAN_TYPE,
        )  # fmt: skip

    def _on_ack(self, link: Any, message: Any) -> None:
        """End an upload that its sender cancels; the end of a download needs nothing."""
        upload = self._upload
        if upload is not None and upload.link is link and upload.partner == _partner(message):
            self._upload = None

    def _on_set_current(self, link: Any, message: Any) -> None:
        modes = self._autopilot.modes
        if modes.mission.set_current(message.seq):
            modes.restart_mission_item()
        else:
            self._autopilot.say(f"Mission: no item {message.seq}", is_warning=True)
        self._send(link, "MISSION_CURRENT", *mission_current(self._autopilot))

    def _ack(
        self, link: Any, partner: tuple[int, int], result: int, mission_type: int = PLAN_TYPE
    ) -> None:
        self._send(link, "MISSION_ACK", *partner, result, mission_type)


def mission_current(autopilot: Autopilot) -> tuple[int, int, int, int]:
    """Return the fields of MISSION_CURRENT: item, total, state, whether in mission mode."""
    modes = autopilot.modes
    mission, is_flying = modes.mission, modes.mode is Mode.MISSION
    total = len(mission.items)
    if total == 0:
        state = 1  # MISSION_STATE_NO_MISSION
    elif mission.is_finished:
        state = 5  # COMPLETE
    else:
        state = 3 if is_flying and modes.is_armed else (2 if mission.current == 0 else 4)
    return min(mission.current, max(total - 1, 0)), total or 65535, state, 1 if is_flying else 2


def _partner(message: Any) -> tuple[int, int]:
    return message.get_srcSystem(), message.get_srcComponent()
