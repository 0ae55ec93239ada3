# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages that command the vehicle, and their senders: each kind once per client."""

from typing import Any

from aerotwin_autopilot.mavlink.requests import REQUESTS
from aerotwin_px4_bridge.commanders import Commander, command_name

RUN_CHECKS = 401
COMMANDS = ("COMMAND_LONG", "COMMAND_INT")
ORDERS = frozenset(
    {
        *COMMANDS, "SET_MODE", "SET_POSITION_TARGET_LOCAL_NED", "SET_POSITION_TARGET_GLOBAL_INT",
        "SET_ATTITUDE_TARGET", "MANUAL_CONTROL", "RC_CHANNELS_OVERRIDE",
        "SET_GPS_GLOBAL_ORIGIN", "ODOMETRY", "VISION_POSITION_ESTIMATE",
        "FOLLOW_TARGET", "PARAM_SET", "MISSION_COUNT", "MISSION_CLEAR_ALL", "MISSION_SET_CURRENT",
        "LOG_ERASE",
    }
)  # fmt: skip
"""Messages that change actions, estimate or storage of the vehicle, unlike requests."""
MOST = 100  # limit of recorded commands: a client that invents senders must not fill the log


class Senders:
    """Records commands of clients other than the scenario's own; `unsaid` are not yet printed."""

    def __init__(self) -> None:
        self.unsaid: list[Commander] = []
        self._known: set[tuple[int, int, str, str]] = set()

    def note(
        self, name: str, message: Any, source: tuple[int, int], address: str, time_s: float
    ) -> None:
        """Record a message for this vehicle, if it is a command and the first of its kind."""
        if name not in ORDERS or len(self._known) >= MOST:
            return
        order = name
        if name in COMMANDS:
            if message.command in REQUESTS or message.command == RUN_CHECKS:
                return
            order = command_name(message.command)
        key = (*source, address, order)
        if key in self._known:
            return
        self._known.add(key)
        self.unsaid.append(
            Commander(
                system_id=source[0],
                component_id=source[1],
                address=address,
                order=order,
                time_s=time_s,
            )
        )
