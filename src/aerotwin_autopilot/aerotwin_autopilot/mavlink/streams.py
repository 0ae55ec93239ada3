# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink channels: the messages of each and their rates, in simulated time."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pymavlink.dialects.v20 import common

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink.codec import NAME_OF_ID
from aerotwin_autopilot.mavlink.telemetry import KNOWN

SECOND_US = 1_000_000
NEVER = 1 << 62
LONGEST_US = (1 << 31) - 1  # longest interval that MESSAGE_INTERVAL can report

ONBOARD_HZ: dict[str, float] = {
    "HEARTBEAT": 1, "SYS_STATUS": 2, "ATTITUDE": 20, "ATTITUDE_QUATERNION": 20,
    "LOCAL_POSITION_NED": 30, "GLOBAL_POSITION_INT": 20, "HOME_POSITION": 0.5,
    "GPS_GLOBAL_ORIGIN": 1, "GPS_RAW_INT": 5, "ALTITUDE": 5, "EXTENDED_SYS_STATE": 5,
    "BATTERY_STATUS": 0.5, "VFR_HUD": 5, "ODOMETRY": 20, "ESTIMATOR_STATUS": 1,
    "SYSTEM_TIME": 1, "POSITION_TARGET_LOCAL_NED": 5, "MISSION_CURRENT": 1,
}  # fmt: skip
OFFBOARD_HZ: dict[str, float] = {
    **ONBOARD_HZ, "HIGHRES_IMU": 50, "SERVO_OUTPUT_RAW": 10,
    "SCALED_PRESSURE": 1, "ORBIT_EXECUTION_STATUS": 5,
}  # fmt: skip
"""The link of MAVSDK and MAVROS carries what PX4's does."""
PAYLOAD_HZ: dict[str, float] = {**ONBOARD_HZ, "NAMED_VALUE_FLOAT": 5}
"""The link to a companion computer carries the innovations of the estimator, too."""
QUIET_HZ: dict[str, float] = {"HEARTBEAT": 1}  # rates of a link without a listener
GROUND_HZ: dict[str, float] = {
    "HEARTBEAT": 1, "SYS_STATUS": 1, "ATTITUDE": 10, "ATTITUDE_QUATERNION": 5,
    "LOCAL_POSITION_NED": 5, "GLOBAL_POSITION_INT": 5, "HOME_POSITION": 0.5,
    "GPS_GLOBAL_ORIGIN": 0.2, "GPS_RAW_INT": 1, "ALTITUDE": 1, "EXTENDED_SYS_STATE": 1,
    "BATTERY_STATUS": 0.5, "VFR_HUD": 4, "ESTIMATOR_STATUS": 0.5, "SYSTEM_TIME": 1,
    "POSITION_TARGET_LOCAL_NED": 1, "MISSION_CURRENT": 1,
    "SERVO_OUTPUT_RAW": 1, "SCALED_PRESSURE": 1, "ORBIT_EXECUTION_STATUS": 2,
}  # fmt: skip


@dataclass(slots=True)
class Stream:
    """One message: its interval and next due time [us]; interval 0 disables it."""

    interval_us: int
    due_us: int


class Streams:
    """The streams of one link, from default rates by message name.

    `earliest_us`: nothing is due before this time.
    """

    def __init__(self, rates_hz: dict[str, float]) -> None:
        self._defaults = {name: round(SECOND_US / hz) for name, hz in rates_hz.items()}
        self._streams = {name: Stream(interval, 0) for name, interval in self._defaults.items()}
        self.earliest_us = 0

    def due(self, time_us: int) -> list[str]:
        """Return the names due at time_us and set their next time."""
        if time_us < self.earliest_us:
            return []
        names = []
        earliest = NEVER
        for name, stream in self._streams.items():
            interval, due = stream.interval_us, stream.due_us
            if not interval:
                continue
            if due <= time_us:
                names.append(name)
                missed = (time_us - due) // interval
                stream.due_us = due = due + (missed + 1) * interval
            if due < earliest:
                earliest = due
        self.earliest_us = earliest
        return names

    def restart(self) -> None:
        """Make all streams due again: simulated time went back."""
        self.earliest_us = 0
        for stream in self._streams.values():
            stream.due_us = 0

    def set_interval(self, message_id: int, interval_us: float, time_us: int) -> bool:
        """Set an interval: -1 stops, 0 is the default; return whether it was set.

        It is not set when it is too long, when the message is unknown, and for HEARTBEAT, without
        which the link counts as lost.
        """
        name = NAME_OF_ID.get(message_id)
        if name not in KNOWN or name == "HEARTBEAT" or interval_us > LONGEST_US:
            return False
        assert name is not None
        interval = self._defaults.get(name, 0) if interval_us == 0.0 else max(0, round(interval_us))
        self._streams[name] = Stream(interval, time_us)
        self.earliest_us = 0
        return True

    def interval_us(self, message_id: int) -> int | None:
        """Return the interval, -1 when stopped, None when the message is unknown."""
        name = NAME_OF_ID.get(message_id)
        if name is None or name not in KNOWN:
            return None
        stream = self._streams.get(name)
        return stream.interval_us or -1 if stream is not None else -1


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


class MavlinkProtocol:
    """Handles messages for one autopilot on all links: method `_on_param_set` handles PARAM_SET.

    `send` is called with (link, message name, values in wire order).
    """

    def __init__(self, autopilot: Autopilot, send: Callable[..., None]) -> None:
        self._autopilot = autopilot
        self._send = send
        self.handlers: dict[str, Callable[[MavlinkChannel, Any], None]] = {
            name.removeprefix("_on_").upper(): getattr(self, name)
            for name in dir(self)
            if name.startswith("_on_")
        }
