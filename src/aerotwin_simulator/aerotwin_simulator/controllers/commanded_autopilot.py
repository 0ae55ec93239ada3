# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is common to the autopilots that a mission client commands over MAVLink."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_ardupilot_bridge import JsonLink
from aerotwin_core.errors import UserError
from aerotwin_faults.together import link_delay_s
from aerotwin_px4_bridge import AutopilotEstimate, Commander, HilLink, MissionClient
from aerotwin_px4_bridge.autopilot_state import AutopilotState
from aerotwin_px4_bridge.dialects import Dialect
from aerotwin_px4_bridge.listener import AutopilotListener
from aerotwin_px4_bridge.setpoint_stream import Target
from aerotwin_px4_bridge.sticks import Sticks
from aerotwin_simulator.controllers.backend import OFF, BackendSetup, Motors

_CLIENT_PERIOD_NS = 20_000_000
"""Period, in simulated time, at which the mission client polls its link: a poll costs a system
call, and no message comes faster than at 20 Hz."""
_PHASES, _PHASE_NS = 25, 4_000_000
"""Clients of a fleet begin at different steps of the common period of polls and reports, 0.1 s.

At a step in which all autopilots report, which they do at 20 Hz from when the client requests it,
the loop would wait for them, and they for it where it reads all reports."""
_ARMS_WITHIN_NS = 2_000_000_000
"""Of simulated time: what is reported once a second says by then whether it has armed."""
_RATIOS = (
    "velocity_ratio",
    "horizontal_position_ratio",
    "vertical_position_ratio",
    "magnetometer_ratio",
)


class CommandedAutopilot:
    """An autopilot and the client that commands it, or that listens while another one does.

    Attributes are those of `Backend`; `open_client` makes `client`. `sticks` are those of a radio.
    `client_due_ns` is when the client is polled next.
    """

    client: MissionClient | AutopilotListener
    link: HilLink | JsonLink

    def __init__(self, setup: BackendSetup, dialect: Dialect, *, most_sticks: int) -> None:
        self.setup, self._dialect = setup, dialect
        self.sticks = Sticks(most_sticks)
        self.motors = Motors(np.zeros(len(setup.airframe.rotors)))
        ends_landed = setup.parameters.mission.landing_ends_flight
        self.has_end = setup.mission is not None or ends_landed
        self.commanders: Sequence[Commander] = ()
        self._arming_ns: int | None = None
        self.client_due_ns = 0
        self._is_polled = False
        # By the number of the vehicle, not of its ports: a run is the same on any ports.
        self._phase_ns = (1 + setup.parameters.fleet.instance % _PHASES) * _PHASE_NS

    def open_client(self) -> None:
        """Open the client's port. Raises UserError if it is in use."""
        setup = self.setup
        instance = setup.parameters.fleet.link_number
        if setup.mission is None:
            self.client = AutopilotListener(setup.plane, instance, self._dialect)
            return
        start = setup.p_map_start if setup.parameters.mission.is_anchored else None
        self.client = MissionClient(
            setup.mission,
            setup.plane,
            instance,
            p_map_start=start,
            dialect=self._dialect,
            common_start=setup.common_start,
        )

    def poll_client(self, stamp_ns: int) -> bool:
        """Let the client read and send, if that is due; return whether it was."""
        if stamp_ns < self.client_due_ns:
            return False
        if not self._is_polled:
            self._is_polled = True
            wait_ns = (self._phase_ns - stamp_ns) % (_PHASES * _PHASE_NS)
            if wait_ns > 0:
                self.client_due_ns = stamp_ns + wait_ns
                return False
        self.client_due_ns = stamp_ns + _CLIENT_PERIOD_NS
        self.client.link.delay(link_delay_s(self.setup.link_faults, stamp_ns))
        self.client.poll(stamp_ns)
        return True

    @property
    def is_connected(self) -> bool:
        """Whether the autopilot is connected."""
        return self.link.is_connected

    def arm(self, is_armed: bool) -> None:
        """Command the autopilot to arm or disarm; raises UserError if it says that it cannot."""
        state = self.client.link.state
        if is_armed and not (state.is_armed or state.is_ready):
            raise UserError("arm: the autopilot's pre-arm checks do not pass yet; try again")
        if not is_armed and state.is_armed and state.is_on_ground is False:
            raise UserError(
                "disarm: expected a vehicle on the ground, found it in the air; land first"
            )
        self._arming_ns = state.heartbeat_ns if is_armed else None
        self.client.link.send_command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, float(is_armed))

    def take_off(self, height_m: float) -> None:
        """Command a take-off to a height above here.

        Raises UserError if it is neither armed nor was just told to arm, flies already, or has not
        reported its altitude.
        """
        link, dialect = self.client.link, self.client.link.state.dialect
        if link.state.altitude_amsl_m is None:
            raise UserError("the autopilot has not reported its altitude; try again when ready")
        if link.state.is_in_air or (link.state.is_armed and self._is_taking_off):
            raise UserError(f"take-off: it flies in mode {link.state.mode_name}; land first")
        if not (link.state.is_armed or self._is_arming):
            raise UserError("take-off: it is disarmed; arm it first")
        if dialect.arms_first:
            values = dialect.set_mode_values(dialect.offboard)
            link.send_command(mavlink.MAV_CMD_DO_SET_MODE, *values)
        altitude = link.state.altitude_amsl_m + height_m
        target = dialect.take_off_values(altitude, altitude - self.setup.home.altitude_m)
        link.send_command(mavlink.MAV_CMD_NAV_TAKEOFF, *target)

    @property
    def _is_taking_off(self) -> bool:
        return self.client.link.state.common_mode_name == "TAKEOFF"

    @property
    def _is_arming(self) -> bool:
        """Whether it was told to arm, and may not have reported since that it did."""
        now_ns = self.client.link.state.heartbeat_ns
        if self._arming_ns is None or now_ns is None:
            return False
        return now_ns - self._arming_ns < _ARMS_WITHIN_NS

    def hold(self) -> None:
        """Hover here: the mission waits, or an outside client loses control to a hover.

        Raises UserError if the mission cannot be held now.
        """
        self.client.hold()

    def resume(self) -> None:
        """Continue the mission after `hold`. Raises UserError if no mission is held."""
        self.client.resume()

    def land(self) -> None:
        """Land here; a mission is abandoned.

        Raises UserError if it stands, or the mission cannot be interrupted now.
        """
        self._refuse_standing("land")
        self.client.land()

    def return_home(self) -> None:
        """Return to the start and land there; a mission is abandoned.

        Raises UserError if it stands, or the mission cannot be interrupted now.
        """
        self._refuse_standing("return")
        self.client.return_home()

    def _refuse_standing(self, order: str) -> None:
        state = self.client.link.state
        is_disarmed = state.heartbeat_ns is not None and not (state.is_armed or self._is_arming)
        if self.takes_setpoints and is_disarmed and state.is_on_ground is not False:
            raise UserError(
                f"{order}: expected it in flight, found it disarmed on the ground; take off first"
            )

    @property
    def takes_setpoints(self) -> bool:
        """Whether set-points from outside are flown: no mission is."""
        return isinstance(self.client, AutopilotListener)

    def set_target(self, target: Target) -> None:
        """Fly a set-point from outside in the autopilot's offboard mode.

        Raises
        ------
        UserError
            If a mission is flown.
        ValueError
            If a value is not finite.
        """
        if not isinstance(self.client, AutopilotListener):
            raise UserError("set-points: a mission is flown; fly with mission.file none")
        self.client.setpoints.set_target(target)

    @property
    def phase(self) -> str:
        """Phase of the mission client."""
        return self.client.phase

    @property
    def progress(self) -> float | None:
        """Flown share of the mission's path."""
        return self.client.progress

    @property
    def waypoint(self) -> int | None:
        """Number of the way-point that the mission flies to."""
        return self.client.waypoint

    @property
    def failure(self) -> str | None:
        """Why the mission failed."""
        return None if self.client.failure is None else f"the mission failed: {self.client.failure}"

    @property
    def is_finished(self) -> bool:
        """Whether the mission is flown, or, without one, the vehicle has flown and landed."""
        return self.has_end and self.client.is_finished

    @property
    def estimate(self) -> AutopilotEstimate | None:
        """The autopilot's last received estimate."""
        return self.client.estimate

    @property
    def autopilot_state(self) -> AutopilotState:
        """State reported by the autopilot."""
        return self.client.link.state

    @property
    def setpoint(self) -> Any:
        """Desired state of the mission."""
        return self.client.setpoint

    def reported_values(self) -> dict[str, str]:
        """Return what it reports of itself, for diagnostics."""
        values = {
            **self._estimator_values(),
            "armed": str(self.motors.kind != OFF).lower(),
            "mode": self.autopilot_state.mode_name,
        }
        if self.client.link.texts:
            values["last_warning"] = self.client.link.texts[-1]
        if isinstance(self.client, AutopilotListener):
            values["setpoints_ignored"] = str(self.client.setpoints.n_ignored)
        return values

    def _estimator_values(self) -> dict[str, str]:
        """Return innovations over their gates, and the numbers sent by name (NIS)."""
        state = self.client.link.state
        values = {name: f"{value:.3f}" for name, value in sorted(state.named_values.items())}
        if state.estimator is not None:
            for name in _RATIOS:
                values[name] = f"{getattr(state.estimator, name):.3f}"
        return values
