# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The interface of every back-end, and its inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_faults import ActiveFault
from aerotwin_multirotor_dynamics import Airframe
from aerotwin_px4_bridge import AutopilotEstimate, Commander, MissionPlan
from aerotwin_px4_bridge.autopilot_state import AutopilotState
from aerotwin_px4_bridge.common_start import CommonStart
from aerotwin_px4_bridge.embedded_host import EmbeddedHost
from aerotwin_px4_bridge.setpoint_stream import Target
from aerotwin_simulator.controllers.sensor_topics import SensorTopics
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.readings import Readings

OFF, THROTTLES, SPEEDS = 0.0, 1.0, 2.0
"""Kinds of motor commands, as in `aerotwin_multirotor_dynamics.layout.IS_ARMED`."""


@dataclass(frozen=True, kw_only=True)
class BackendSetup:
    """Inputs of a back-end."""

    vehicle: str  # name in a fleet, "" for a single vehicle
    parameters: SimulatorParameters
    airframe: Airframe
    plane: LocalTangentPlane  # the map frame
    home: GeodeticPoint  # start of the vehicle
    p_map_start: np.ndarray  # the same in map (3,) [m]
    heading_deg: float  # there, clockwise from north
    mission: MissionPlan | None  # of an autopilot; None leaves it to an outside client
    folder: Path  # of the logs
    spin: Callable[[float], None] = lambda _: None  # delivers messages for at most this wall time
    has_commander: Callable[[], bool] = lambda: True  # whether a node publishes rotor commands
    has_ground_station: bool = False  # whether that of a scenario commands it, too
    sensors: SensorTopics = field(default_factory=SensorTopics)
    link_faults: Sequence[ActiveFault] = ()  # at place `companion`; the list may change
    host: EmbeddedHost | None = None  # process of the fleet's embedded autopilots
    common_start: CommonStart | None = None  # of missions that are flown side by side

    @property
    def title(self) -> str:
        """Name of the vehicle in messages."""
        return self.vehicle or f"vehicle {self.parameters.fleet.instance}"


@dataclass(slots=True)
class Motors:
    """Motor command until the next one: throttles in [0, 1] or rotor speeds [rad/s], by `kind`."""

    values: np.ndarray
    kind: float = field(default=OFF)


@runtime_checkable
class Commanded(Protocol):
    """A back-end that obeys orders, and set-points while it flies no mission.

    What cannot be done now raises UserError.
    """

    @property
    def is_connected(self) -> bool:
        """Whether it can be commanded yet."""

    @property
    def takes_setpoints(self) -> bool:
        """Whether set-points from outside are flown: no mission is."""

    def arm(self, is_armed: bool) -> None:
        """Arm or disarm it."""

    def take_off(self, height_m: float) -> None:
        """Take off to a height above here."""

    def hold(self) -> None:
        """Hover here; a mission waits."""

    def resume(self) -> None:
        """Continue the mission after `hold`."""

    def land(self) -> None:
        """Land here; a mission is abandoned."""

    def return_home(self) -> None:
        """Return to the start and land there; a mission is abandoned."""

    def set_target(self, target: Target) -> None:
        """Fly a set-point from outside. Raises ValueError if it is not finite."""


class Backend(Protocol):
    """The controller of one vehicle."""

    motors: Motors
    """The present command."""

    commanders: Sequence[Commander]
    """Outside clients that commanded it, known once it is closed."""

    @property
    def phase(self) -> str:
        """Its phase, as text."""

    @property
    def progress(self) -> float | None:
        """Finished share of its task, in [0, 1]; None if not reported."""

    @property
    def waypoint(self) -> int | None:
        """Number of the mission's way-point that it flies to, from 1; None if there is none."""

    @property
    def failure(self) -> str | None:
        """Reason of its failure."""

    @property
    def is_finished(self) -> bool:
        """Whether its task is done."""

    @property
    def has_end(self) -> bool:
        """Whether its task ends: the flight lasts until all of these are finished."""

    @property
    def n_missed(self) -> int:
        """Steps for which no command came in time."""

    @property
    def estimate(self) -> AutopilotEstimate | None:
        """Estimate of an autopilot."""

    @property
    def autopilot_state(self) -> AutopilotState | None:
        """State reported by an autopilot; None of any other controller."""

    @property
    def setpoint(self) -> Any:
        """Desired state: `p_map`, `yaw`; None if there is none."""

    def start(self) -> None:
        """Begin slow work (start a process); `wait` follows."""

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """Wait until it is ready; `on_wait` gets the seconds waited and may raise."""

    def send_readings(self, readings: Readings) -> None:
        """Send the readings of a step, without waiting for an answer."""

    def receive_command(self) -> None:
        """Wait, within limits, for the answer, and set `motors`; raise AutopilotLost at the end."""

    def counters(self) -> dict[str, str]:
        """Return values for diagnostics."""

    def close(self) -> None:
        """End it; safe to call twice, or without a start."""
