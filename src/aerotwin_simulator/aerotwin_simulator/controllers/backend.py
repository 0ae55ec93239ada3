# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The face of every back-end, and what each is made from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import Airframe
from aerotwin_px4_bridge import AutopilotEstimate, Commander, MissionPlan
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.readings import Readings

OFF, THROTTLES, SPEEDS = 0.0, 1.0, 2.0
"""Kinds of motor commands, as `aerotwin_multirotor_dynamics.layout.IS_ARMED` takes them."""


@dataclass(frozen=True, kw_only=True)
class BackendSetup:
    """What a back-end is made from.

    Attributes
    ----------
    vehicle : str
        Name of the vehicle in a fleet, "" for a single one.
    parameters : SimulatorParameters
        Those of the vehicle.
    airframe : Airframe
        What is flown.
    plane : LocalTangentPlane
        The map frame.
    home : GeodeticPoint
        Where the vehicle starts.
    p_map_start : (3,) array
        The same in map [m].
    mission : MissionPlan or None
        What an autopilot is to fly; None leaves that to an outside client.
    folder : Path
        Where logs go.
    spin : callable
        Delivers messages of other nodes for at most the given wall time [s].
    has_commander : callable
        Tells whether somebody publishes rotor commands.
    """

    vehicle: str
    parameters: SimulatorParameters
    airframe: Airframe
    plane: LocalTangentPlane
    home: GeodeticPoint
    p_map_start: np.ndarray
    mission: MissionPlan | None
    folder: Path
    spin: Callable[[float], None] = lambda _: None
    has_commander: Callable[[], bool] = lambda: True

    @property
    def title(self) -> str:
        """How messages call the vehicle."""
        return self.vehicle or f"vehicle {self.parameters.instance}"


@dataclass(slots=True)
class Motors:
    """What the motors are asked for until the next command.

    Attributes
    ----------
    values : (n,) array
        Throttles in [0, 1] or rotor speeds [rad/s], by `kind`.
    kind : float
        `OFF`, `THROTTLES` or `SPEEDS`.
    """

    values: np.ndarray
    kind: float = field(default=OFF)


class Backend(Protocol):
    """Who flies one vehicle."""

    motors: Motors
    """The present command."""

    commanders: Sequence[Commander]
    """Outside clients that commanded it, known once it is closed."""

    @property
    def phase(self) -> str:
        """What it does, in words."""

    @property
    def progress(self) -> float | None:
        """Share of its task done, in [0, 1]; None if it does not say."""

    @property
    def failure(self) -> str | None:
        """Why it gave up."""

    @property
    def is_finished(self) -> bool:
        """Whether its task is done."""

    @property
    def has_end(self) -> bool:
        """Whether there is a task that ends: the flight lasts until all of these are finished."""

    @property
    def n_missed(self) -> int:
        """Steps for which no command came in time."""

    @property
    def estimate(self) -> AutopilotEstimate | None:
        """Where an autopilot believes to be."""

    @property
    def setpoint(self) -> Any:
        """Where the vehicle should be: `p_map`, `yaw`; None if nobody says."""

    def start(self) -> None:
        """Begin what takes time (a process); `wait` follows."""

    def wait(self, on_wait: Callable[[float], None] | None) -> None:
        """Wait until it is there; `on_wait` gets the seconds waited and may raise."""

    def send_readings(self, readings: Readings) -> None:
        """Pass on what was read in a step, without waiting for an answer."""

    def receive_command(self) -> None:
        """Wait, within limits, for the answer, and set `motors`; raise AutopilotLost at the end."""

    def counters(self) -> dict[str, str]:
        """Return what a diagnosis shows."""

    def close(self) -> None:
        """End it; safe to call twice, or without a start."""
