# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink mission protocol: hand a plan to an autopilot, which then flies it by itself.

References
----------
MAVLink developer guide, "Mission Protocol": the vehicle asks for one item after the other.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees, isfinite, nan

from aerotwin_px4_bridge.mavlink2 import (
    MISSION_ACK,
    MISSION_COUNT,
    MISSION_ITEM_INT,
    MISSION_REQUEST,
    MISSION_REQUEST_INT,
)
from aerotwin_px4_bridge.messages import yaw_ned_from_map
from aerotwin_px4_bridge.onboard import OnboardLink
from aerotwin_px4_bridge.telemetry import DECODERS

WAYPOINT, LAND, TAKE_OFF = 16, 21, 22
"""MAV_CMD_NAV_*."""

_FRAME_GLOBAL_INT = 5
_TARGET_COMPONENT = 1
_ACCEPTED = 0
_COUNT = struct.Struct("<HBBB")
_ITEM = struct.Struct("<4f2if2H6B")
_RESEND_NS = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class MissionItem:
    """One item of a plan.

    Attributes
    ----------
    command : int
        `TAKE_OFF`, `WAYPOINT` or `LAND`.
    p_map : (3,) tuple
        Where, in map [m].
    yaw : float
        From east, counter-clockwise [rad]; NaN leaves it to the autopilot.
    hold_s : float
        How long it stays there (way-points).
    """

    command: int
    p_map: tuple[float, float, float]
    yaw: float = nan
    hold_s: float = 0.0


class MissionUpload:
    """An upload under way; call `poll` after the link has received.

    Parameters
    ----------
    link : OnboardLink
        To whom.
    items : sequence of MissionItem
        The plan, at least one.
    limit_s : float
        How long it may take, in simulated time.

    Attributes
    ----------
    is_finished : bool
        Whether the autopilot has taken the plan.
    failure : str or None
        Why not.
    """

    def __init__(
        self, link: OnboardLink, items: Sequence[MissionItem], *, limit_s: float = 20.0
    ) -> None:
        if not items:
            raise ValueError("a mission must have at least one item, got none")
        self._link = link
        self._items = tuple(items)
        self._limit_s = limit_s
        self._limit_ns: int | None = None
        self._due_ns = 0
        self._n_sent = 0
        self.is_finished = False
        self.failure: str | None = None
        link.mission_frames.clear()

    def poll(self, stamp_ns: int) -> None:
        """Answer what the autopilot asked for; say again that there is a plan until it does."""
        if self.is_finished or self.failure is not None:
            return
        if self._limit_ns is None:
            self._limit_ns = stamp_ns + round(self._limit_s * 1e9)
        while self._link.mission_frames:
            frame = self._link.mission_frames.popleft()
            message = DECODERS[frame.message_id](frame.payload)
            if frame.message_id in (MISSION_REQUEST, MISSION_REQUEST_INT):
                self._send_item(message.item)
            elif frame.message_id == MISSION_ACK:
                self._take_result(message.result)
        if not self._n_sent and stamp_ns >= self._due_ns:
            self._send_count()
            self._due_ns = stamp_ns + _RESEND_NS
        if not self.is_finished and stamp_ns >= self._limit_ns:
            self.failure = (
                f"the autopilot did not take the mission within {self._limit_s:g} s: it asked for "
                f"{self._n_sent} of {len(self._items)} items"
            )

    def _take_result(self, result: int) -> None:
        if result == _ACCEPTED:
            self.is_finished = True
        else:
            self.failure = (
                f"the autopilot refused the mission: MAV_MISSION_RESULT {result} after "
                f"{self._n_sent} of {len(self._items)} items"
            )

    def _send_count(self) -> None:
        system_id = self._link.system_id
        payload = _COUNT.pack(len(self._items), system_id, _TARGET_COMPONENT, 0)
        self._link.send(MISSION_COUNT, payload)

    def _send_item(self, number: int) -> None:
        if number >= len(self._items):
            return
        self._n_sent = max(self._n_sent, number + 1)
        item = self._items[number]
        latitude, longitude, altitude = self._link.plane.to_geodetic(
            item.p_map + self._link.shift_map
        )
        yaw_deg = degrees(yaw_ned_from_map(item.yaw)) if isfinite(item.yaw) else nan
        payload = _ITEM.pack(
            item.hold_s, 0.0, 0.0, yaw_deg,
            round(latitude * 1e7), round(longitude * 1e7), altitude,
            number, item.command, self._link.system_id, _TARGET_COMPONENT, _FRAME_GLOBAL_INT,
            number == 0, True, 0,
        )  # fmt: skip
        self._link.send(MISSION_ITEM_INT, payload)
