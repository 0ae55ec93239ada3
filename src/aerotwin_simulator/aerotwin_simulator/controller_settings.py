# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of who flies a vehicle."""

from dataclasses import dataclass

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import parameter

ARDUPILOT = "ardupilot"
AUTOPILOTS = ("embedded", "px4", ARDUPILOT)
SERIAL = "serial:"
PYTHON = "python:"
CHOSEN_CPU, NO_CPU = -1, -2
LOOP_HZ = 250
"""Steps of the simulator a second with an autopilot."""


@dataclass(frozen=True, kw_only=True)
class ControllerSettings:
    """Who flies."""

    kind: str = parameter(
        "embedded",
        text="who flies: embedded, px4 or ardupilot, serial:DEVICE:BAUD (hardware in the loop), "
        "ros2 (command/rotors), python:module:Class",
    )
    options: str = parameter("", text="path of a YAML file with the options of a python controller")
    command_wait_s: float = parameter(
        0.0,
        text="controller ros2: longest wait for the command of a step; 0 = hold the last one",
        unit="s wall",
        minimum=0.0,
    )

    def __post_init__(self) -> None:
        kind = self.kind
        is_python = kind.startswith(PYTHON) and kind.count(":") == 2 and not kind.endswith(":")
        if kind not in (*AUTOPILOTS, "ros2") and not is_python and not self.is_serial:
            raise ParameterError(
                "controller.kind: expected embedded, px4, ardupilot, serial:DEVICE:BAUD, ros2 or "
                f"python:module:Class, found '{kind}'"
            )

    @property
    def is_autopilot(self) -> bool:
        """Whether it is a flight controller that is commanded over MAVLink."""
        return self.kind in AUTOPILOTS or self.is_serial

    @property
    def is_ardupilot(self) -> bool:
        """Whether that is stepped by the JSON interface; all others are over MAVLink HIL."""
        return self.kind == ARDUPILOT

    @property
    def is_serial(self) -> bool:
        """Whether that is a flight controller on a serial line."""
        return self.kind.startswith(SERIAL)


@dataclass(frozen=True, kw_only=True)
class Px4Settings:
    """A PX4 SITL, of controller px4."""

    dir: str = parameter(
        "", text="PX4 of controller px4: tree, build or prefix; empty = PX4_DIR or a usual place"
    )
    model: str = parameter("none_iris", text="PX4_SIM_MODEL, PX4's own airframe")
    parameters: str = parameter(
        "", text="path of a YAML file of PX4 parameters by name, set at its start; empty = none"
    )


@dataclass(frozen=True, kw_only=True)
class ArduPilotSettings:
    """An ArduCopter SITL, of controller ardupilot."""

    dir: str = parameter(
        "",
        text="ArduCopter of controller ardupilot: tree or program; empty = ARDUPILOT_DIR or a "
        "usual place",
    )
    parameters: str = parameter(
        "",
        text="path of a YAML file of ArduPilot parameters by name, set at its start; empty = none",
    )
    rate_hz: int = parameter(
        750,
        text="steps of vehicle and IMU a second (SIM_RATE_HZ); a multiple of 250, above the 400 "
        "of its loop",
        unit="Hz",
        minimum=500,
        maximum=2000,
    )

    def __post_init__(self) -> None:
        if self.rate_hz % LOOP_HZ:
            raise ParameterError(
                f"ardupilot.rate_hz: expected a multiple of {LOOP_HZ}, found {self.rate_hz}: "
                "a step of the simulator is divided into whole ones"
            )


@dataclass(frozen=True, kw_only=True)
class AutopilotSettings:
    """The link to the autopilot and its processor."""

    wait_s: float = parameter(
        120.0, text="longest wait for the autopilot to connect", unit="s wall", minimum=0.1
    )
    answer_s: float = parameter(
        1.0,
        text="longest wait for the autopilot's answer to a step, three times in a row before it "
        "is lost; more for one that is stopped in a debugger",
        unit="s wall",
        minimum=0.01,
        maximum=86400.0,
    )
    pin_cpu: int = parameter(
        CHOSEN_CPU,
        text="processor that loop and autopilots share, but the embedded ones of a fleet, which "
        "have the others; -1 = counted from the last allowed one back by the instance, and not for "
        "the autopilots of a fleet; -2 = any",
        minimum=NO_CPU,
    )
