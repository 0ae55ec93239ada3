# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the loop says to the autopilot when no mission does: streams and single commands."""

from math import nan

from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge import AutopilotEstimate, OnboardLink
from aerotwin_px4_bridge.onboard import STREAMS_US

_SECOND_NS = 1_000_000_000
_AUTO_LOITER = (4, 3)


class IdleClient:
    """Listens to the autopilot while somebody else commands it; same face as a MissionClient."""

    def __init__(self, plane: LocalTangentPlane, instance: int) -> None:
        self.link = OnboardLink(plane, instance)
        self.failure: str | None = None
        self.is_finished = False
        self.progress: float | None = None
        self.setpoint = None
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
        self.link.receive(stamp_ns)
        if stamp_ns < self._due_ns:
            return
        self._due_ns = stamp_ns + _SECOND_NS
        self.link.send_heartbeat()
        if self.link.state.estimate is None:
            for message_id, interval_us in STREAMS_US.items():
                command = mavlink.MAV_CMD_SET_MESSAGE_INTERVAL
                self.link.send_command(command, message_id, interval_us)

    def close(self) -> None:
        """Free the port."""
        self.link.close()


def send_arm(link: OnboardLink, arm: bool) -> None:
    """Ask the autopilot to arm or disarm."""
    link.send_command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, float(arm))


def send_takeoff(link: OnboardLink, height_m: float) -> None:
    """Ask for a take-off to a height [m] above the present altitude."""
    if link.state.altitude_amsl_m is None:
        raise UserError("the autopilot has not said its altitude yet; try again when it is ready")
    altitude = link.state.altitude_amsl_m + height_m
    link.send_command(mavlink.MAV_CMD_NAV_TAKEOFF, nan, 0.0, 0.0, nan, nan, nan, altitude)


def send_land(link: OnboardLink) -> None:
    """Ask for a landing here."""
    link.send_command(mavlink.MAV_CMD_NAV_LAND, 0.0, 0.0, 0.0, nan, nan, nan, 0.0)


def send_hold(link: OnboardLink) -> None:
    """Ask to hold the present position."""
    link.send_command(mavlink.MAV_CMD_DO_SET_MODE, 1.0, *_AUTO_LOITER)
