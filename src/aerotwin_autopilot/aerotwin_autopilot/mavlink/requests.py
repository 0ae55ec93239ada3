# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands that request messages: once, or at an interval. They do not command the vehicle."""

from collections.abc import Callable
from typing import Any

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink.codec import NAME_OF_ID
from aerotwin_autopilot.mavlink.commands import (
    ACCEPTED,
    DENIED,
    FAILED,
    REJECTED,
    MavlinkCommand,
    finite,
)
from aerotwin_autopilot.mavlink.streams import MavlinkChannel
from aerotwin_autopilot.mavlink.telemetry import KNOWN, Navigation, payloads

GET_INTERVAL, SET_INTERVAL, REQUEST_MESSAGE = 510, 511, 512
NAMED = {
    410: "HOME_POSITION",
    519: "PROTOCOL_VERSION",
    520: "AUTOPILOT_VERSION",
    525: "STORAGE_INFORMATION",
    528: "FLIGHT_INFORMATION",
}
"""Older commands that request one message each."""
REQUESTS = frozenset({GET_INTERVAL, SET_INTERVAL, REQUEST_MESSAGE, *NAMED})


class MessageRequests:
    """Answers as PX4 does: an unknown message is DENIED, an interval FAILED.

    `send` is called with (link, message name, values in wire order), `send_payload` with (link,
    message name, payload).
    """

    def __init__(
        self,
        autopilot: Autopilot,
        send: Callable[..., None],
        send_payload: Callable[[MavlinkChannel, str, bytes], None],
    ) -> None:
        self._autopilot = autopilot
        self._send = send
        self._send_payload = send_payload

    def answer(self, link: MavlinkChannel, command: MavlinkCommand) -> int:
        """Execute a request; return MAV_RESULT."""
        number, message_id = command.number, round(finite(command.parameters[0]))
        if number == SET_INTERVAL:
            interval_us = finite(command.parameters[1])
            time_us = self._autopilot.time_us
            is_set = link.streams.set_interval(message_id, interval_us, time_us)
            return ACCEPTED if is_set else FAILED
        if number == GET_INTERVAL:
            # an interval of 0 says that there is no such message
            self._send(
                link, "MESSAGE_INTERVAL", link.streams.interval_us(message_id) or 0, message_id
            )
            return ACCEPTED
        return self._send_once(link, NAMED.get(number) or NAME_OF_ID.get(message_id, ""))

    def _send_once(self, link: MavlinkChannel, name: Any) -> int:
        if name not in KNOWN:
            return DENIED
        contents = payloads(name, self._autopilot, Navigation(self._autopilot))
        for content in contents:
            self._send_payload(link, name, content)
        return ACCEPTED if contents else REJECTED
