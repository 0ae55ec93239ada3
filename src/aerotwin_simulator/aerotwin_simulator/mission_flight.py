# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A mission flown by an autopilot without ROS, faster than real time, only watched."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from aerotwin_core.parameters import parameter
from aerotwin_core.time import Schedule
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_worlds import World

Positioning = Literal["gnss", "tracker", "given"]
"""How the autopilot knows its place: by GNSS; by a tracker on the ground, such as a motion capture;
or by poses passed to `SimulatedVehicle.on_external_odometry`, in whose frame the mission is flown.
With the last two there is no GNSS, from the first moment to the last."""
_CHOICES: dict[Positioning, dict[str, Any]] = {
    "gnss": {},
    "tracker": {"gnss": "none", "external_vision": "simulated", "anchor_mission": False},
    "given": {
        "gnss": "none",
        "external_vision": "topic",
        "anchor_mission": False,
        "pin_cpu": -2,  # who makes the poses works in the same thread, and needs all processors
    },
}


@dataclass(frozen=True, kw_only=True)
class AutopilotChoice:
    """Who flies."""

    controller: str = parameter("embedded", text="who flies", choices=("embedded", "px4"))
    px4_dir: str = parameter("", text="PX4 source folder with a built SITL (controller px4)")


EMBEDDED = AutopilotChoice()


@contextmanager
def mission_flight(
    world: World,
    mission: Path,
    folder: Path,
    *,
    seed: int,
    instance: int = 0,
    positioning: Positioning = "gnss",
    vision_delay_s: float = 0.0,
    autopilot: AutopilotChoice = EMBEDDED,
) -> Iterator[Simulation]:
    """Start a flight without cameras and recording; end it with the block.

    Parameters
    ----------
    world : World
    mission : Path
        Its file.
    folder : Path
        Where the autopilot's log goes.
    seed : int
        Of all noise in flight.
    instance : int
        Number of the vehicle: its ports on this machine.
    positioning : str
        How the autopilot knows its place: see `Positioning`.
    vision_delay_s : float
        Age of the poses that the caller gives, when they are given [s].
    autopilot : AutopilotChoice
    """
    parameters = SimulatorParameters(
        world=world.name, mission=str(mission), camera=False, record="none", seed=seed,
        instance=instance, controller=autopilot.controller, px4_dir=autopilot.px4_dir,
        vision_delay_s=vision_delay_s, **_CHOICES[positioning],
    )  # fmt: skip
    simulation = Simulation(parameters, world, folder, [])
    try:
        simulation.start()
        yield simulation
    finally:
        simulation.close()


def flown(
    simulation: Simulation, rate_hz: float, on_progress: Callable[[float], object]
) -> Iterator[Simulation]:
    """Fly to the end; yield the simulation at a rate, and tell which share of the mission is flown.

    Whether it came to its end well is `Simulation.is_success`.
    """
    due = Schedule(rate_hz)
    while simulation.outcome is None:
        simulation.advance()
        if due.until(simulation.stamp_ns):
            on_progress(simulation.progress or 0.0)
            yield simulation
