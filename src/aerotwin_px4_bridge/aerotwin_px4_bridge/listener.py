# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who listens to an autopilot that somebody else commands; same face as a `MissionClient`."""

from math import nan

from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge.onboard import STREAMS_US, AutopilotEstimate, OnboardLink
from aerotwin_px4_bridge.path import PathSetpoint

_SECOND_NS = 1_000_000_000
_AUTO_LOITER = (4, 3)
"""PX4's main and sub mode."""


class AutopilotListener:
    """Hears the autopilot's state and estimate on the onboard link; commands what it is told to."""

    failure: str | None = None
    is_finished = False
    progress: float | None = None
    setpoint: PathSetpoint | None = None

    def __init__(self, plane: LocalTangentPlane, instance: int) -> None:
        self.link = OnboardLink(plane, instance)
        self._due_ns = 0

    @property
    def phase(self) -> str:
        """What the vehicle does, as far as the autopilot says."""
        state = self.link.state
        if state.heartbeat_ns is None:
            return "waiting for the autopilot"
        if state.is_armed:
            return "in the air" if state.is_in_air else "armed"
        return "ready for a client" if state.is_ready else "waiting until it can arm"

    @property
    def estimate(self) -> AutopilotEstimate | None:
        """The autopilot's own estimate as last received."""
        return self.link.state.estimate

    def poll(self, stamp_ns: int) -> None:
        """Read what has come; once a second say that we are here and ask for our streams."""
        self.link.poll_datagrams(stamp_ns)
        if stamp_ns < self._due_ns:
            return
        self._due_ns = stamp_ns + _SECOND_NS
        self.link.send_heartbeat()
        if self.estimate is None:
            for message_id, interval_us in STREAMS_US.items():
                command = mavlink.MAV_CMD_SET_MESSAGE_INTERVAL
                self.link.send_command(command, message_id, interval_us)

    def hold(self) -> None:
        """Ask the autopilot to hover here: whoever commands it loses it to HOLD."""
        self.link.send_command(mavlink.MAV_CMD_DO_SET_MODE, 1.0, *_AUTO_LOITER)

    def resume(self) -> None:
        """Refuse: what was held is not known here.

        Raises
        ------
        UserError
            Always.
        """
        raise UserError("resume: no mission is flown here; command the mode from your client")

    def land(self) -> None:
        """Ask the autopilot to land here."""
        self.link.send_command(mavlink.MAV_CMD_NAV_LAND, 0.0, 0.0, 0.0, nan, nan, nan, 0.0)

    def close(self) -> None:
        """Free the port."""
        self.link.close()
