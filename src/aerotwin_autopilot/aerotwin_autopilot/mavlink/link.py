# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One MAVLink channel."""

from collections import deque

from pymavlink.dialects.v20 import common

from aerotwin_autopilot.mavlink.streams import QUIET_HZ, Streams


class MavlinkChannel:
    """One MAVLink channel: its parser, its streams, its frame counter, its outbox."""

    def __init__(self, rates_hz: dict[str, float]) -> None:
        self.streams = Streams(rates_hz)
        self.parser = new_parser()
        self.sequence = 0
        self.outbox: list[bytes] = []
        self.parameters_to_send: deque[int] = deque()
        self._is_heard = True
        self._quiet = Streams(QUIET_HZ)

    @property
    def is_heard(self) -> bool:
        """Whether a client listens at the other end; if not, only heartbeats are sent."""
        return self._is_heard

    @is_heard.setter
    def is_heard(self, value: bool) -> None:
        if value and not self._is_heard:
            self.streams.restart()
        self._is_heard = value

    @property
    def active(self) -> Streams:
        """The streams that are sent now."""
        return self.streams if self._is_heard else self._quiet


def new_parser() -> common.MAVLink:
    """Return a parser that survives garbage."""
    parser = common.MAVLink(None)
    parser.robust_parsing = True
    return parser
