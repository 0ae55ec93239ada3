# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Listens to an autopilot without a mission, and forwards commands and set-points to it.

Same interface as `MissionClient`.
"""

from math import nan

from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge.autopilot_state import SILENT, WAITING, AutopilotEstimate
from aerotwin_px4_bridge.dialects import PX4, Dialect, FlightMode
from aerotwin_px4_bridge.onboard import OnboardLink
from aerotwin_px4_bridge.path import PathSetpoint
from aerotwin_px4_bridge.setpoint_stream import SetpointStream
from aerotwin_px4_bridge.streams import streams_us

_SECOND_NS = 1_000_000_000


class AutopilotListener:
    """Reads the autopilot's state and estimate on the onboard link; sends what is requested.

    Attributes
    ----------
    setpoints : SetpointStream
        Set-points from outside.
    is_finished : bool
        Whether the vehicle has flown and is disarmed.
    """

    failure: str | None = None
    is_finished = False
    progress: float | None = None
    waypoint: int | None = None
    setpoint: PathSetpoint | None = None

    def __init__(self, plane: LocalTangentPlane, instance: int, dialect: Dialect = PX4) -> None:
        self.link = OnboardLink(plane, instance, dialect=dialect)
        self.setpoints = SetpointStream(self.link)
        self._due_ns = 0
        self._has_flown = False

    @property
    def phase(self) -> str:
        """State of the vehicle, as reported by the autopilot."""
        state = self.link.state
        if state.heartbeat_ns is None:
            return SILENT
        if self.setpoints.is_active:
            return "flying set-points"
        if state.is_armed:
            return "in the air" if state.is_in_air else "armed"
        return "ready for a client" if state.can_fly else WAITING

    @property
    def estimate(self) -> AutopilotEstimate | None:
        """The autopilot's last received estimate."""
        return self.link.state.estimate

    def poll(self, stamp_ns: int) -> None:
        """Read received messages; once a second send a heartbeat and request our streams."""
        self.link.poll_datagrams(stamp_ns)
        self.setpoints.poll(stamp_ns)
        state = self.link.state
        self._has_flown |= state.is_armed and state.is_in_air
        self.is_finished = self._has_flown and not state.is_armed
        if stamp_ns < self._due_ns:
            return
        self._due_ns = stamp_ns + _SECOND_NS
        self.link.send_heartbeat()
        if self.estimate is None:
            for message_id, interval_us in streams_us(self.link.state.dialect).items():
                command = mavlink.MAV_CMD_SET_MESSAGE_INTERVAL
                self.link.send_command(command, message_id, interval_us)

    def begin_again(self) -> None:
        """Meet an autopilot that was started again: its streams are requested anew."""
        self.link.begin_again()
        self.setpoints.leave()
        self._has_flown, self._due_ns = False, 0

    def hold(self) -> None:
        """Request a hover here: the commanding client loses control."""
        self._request_mode(self.link.state.dialect.hold)

    def return_home(self) -> None:
        """Request a flight to where it took off, and a landing there."""
        self._request_mode(self.link.state.dialect.return_home)

    def resume(self) -> None:
        """Refuse: the interrupted flight is not known here.

        Raises UserError always.
        """
        raise UserError("resume: no mission is flown here; command the mode from your client")

    def land(self) -> None:
        """Request a landing here."""
        self.setpoints.leave()
        self.link.send_command(mavlink.MAV_CMD_NAV_LAND, 0.0, 0.0, 0.0, nan, nan, nan, 0.0)

    def _request_mode(self, mode: FlightMode) -> None:
        self.setpoints.leave()
        values = self.link.state.dialect.set_mode_values(mode)
        self.link.send_command(mavlink.MAV_CMD_DO_SET_MODE, *values)

    def close(self) -> None:
        """Free the port."""
        self.link.close()
