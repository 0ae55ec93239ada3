# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A mission flown by an autopilot without ROS, faster than real time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aerotwin_core.parameters import parameter, replaced
from aerotwin_core.time import Schedule
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.controller_settings import NO_CPU
from aerotwin_worlds import World

Positioning = Literal["gnss", "tracker", "given"]
"""Position source of the autopilot: GNSS; a tracker on the ground, such as a motion capture; or
poses passed to `SimulatedVehicle.on_external_odometry`, in whose frame the mission is flown. The
last two are without GNSS from beginning to end."""
_BLIND: dict[str, Any] = {"sensors.gnss": "none", "mission.is_anchored": False}
_CHOICES: dict[Positioning, dict[str, Any]] = {
    "gnss": {},
    "tracker": {**_BLIND, "vision.source": "simulated"},
    "given": {
        **_BLIND,
        "vision.source": "topic",
        # The source of the poses runs in the same thread, and needs all processors.
        "autopilot.pin_cpu": NO_CPU,
    },
}


@dataclass(frozen=True, kw_only=True)
class AutopilotChoice:
    """Who flies."""

    controller: str = parameter("embedded", text="who flies", choices=("embedded", "px4"))
    px4_dir: str = parameter(
        "", text="PX4 of controller px4: tree, build or prefix; empty = PX4_DIR or a usual place"
    )


EMBEDDED = AutopilotChoice()


@contextmanager
def mission_flight(
    world: World,
    mission: Path,
    folder: Path,
    *,
    seed: int,
    instance: int = 0,
    port_shift: int = 0,
    positioning: Positioning = "gnss",
    vision_delay_s: float = 0.0,
    autopilot: AutopilotChoice = EMBEDDED,
) -> Iterator[Simulation]:
    """Start a flight without cameras and recording; end it with the block.

    `folder` is that of the autopilot's log, `seed` that of all noise; the ports follow from
    `instance` and `port_shift`, which sets nothing else. `vision_delay_s` is the age of the
    caller's poses when they are passed.
    """
    own = {
        "world": world.name, "mission.file": str(mission), "camera.is_rendered": False,
        "record": "none", "seed": seed, "fleet.instance": instance,
        "fleet.port_shift": port_shift,
        "controller.kind": autopilot.controller, "px4.dir": autopilot.px4_dir,
        "vision.delay_s": vision_delay_s,
    }  # fmt: skip
    parameters = replaced(SimulatorParameters(), own | _CHOICES[positioning])
    simulation = Simulation(parameters, world, folder, [])
    try:
        simulation.start()
        yield simulation
    finally:
        simulation.close()


def flown(
    simulation: Simulation, rate_hz: float, on_progress: Callable[[float], object]
) -> Iterator[Simulation]:
    """Fly to the end; yield the simulation at a rate, and report the flown share of the mission."""
    due = Schedule(rate_hz)
    while simulation.outcome is None:
        simulation.advance()
        if due.until(simulation.stamp_ns):
            on_progress(simulation.progress or 0.0)
            yield simulation
