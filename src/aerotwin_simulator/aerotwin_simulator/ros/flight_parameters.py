# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the simulator's node besides those of the flight itself."""

from dataclasses import dataclass

from aerotwin_core.parameters import group, parameter
from aerotwin_simulator import topics
from aerotwin_simulator.fleet import plan_vehicles
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_worlds.moved_start import StartSettings


@dataclass(frozen=True, kw_only=True)
class FlightNodeParameters(SimulatorParameters):
    """A flight as a ROS node: folder of its results and the nodes that it waits for."""

    runs_dir: str = parameter("runs", text="folder in which the run's own folder is made")
    name: str = parameter("flight", text="second part of the run folder's name")
    wait_for: str = parameter(
        "", text="topic that answers frames or scans; empty = none", choices=("", *topics.ANSWERS)
    )
    wait_start_s: float = parameter(
        120.0, text="longest wait for that node and its first answer", unit="s wall", minimum=0.0
    )
    wait_frame_s: float = parameter(
        10.0, text="longest wait for one frame's answer", unit="s wall", minimum=0.01
    )
    frames_in_flight: int = parameter(
        2, text="camera frames or scans that may be unanswered", minimum=1, maximum=8
    )
    wait_at: str = parameter(
        "auto",
        text="readings that it answers; auto = of the first of these on board",
        choices=("auto", *topics.AWAITED),
    )
    start_paused: bool = parameter(False, text="begin paused; ~/pause or ~/step goes on")
    start: StartSettings = group(StartSettings)

    @property
    def is_followed(self) -> bool:
        """Whether the loop waits for a node that makes camera frames, or processes readings."""
        return bool(self.wait_for)

    @property
    def has_slam(self) -> bool:
        """Whether a SLAM is expected to publish the transforms of the vehicle."""
        return self.wait_for == topics.SLAM_ODOM.name

    @property
    def awaited_sensor(self) -> str:
        """The sensor whose readings that node answers, as `Simulation` takes it."""
        if self.wait_at != "auto":
            return self.wait_at
        return next(filter(self.has, topics.AWAITED), topics.CAMERA)

    @property
    def sees(self) -> bool:
        """Whether there is a camera, a lidar or a radar on board."""
        return any(map(self.has, topics.AWAITED))


def followed_vehicles(parameters: FlightNodeParameters) -> dict[str, FlightNodeParameters]:
    """Return the parameters of the vehicles at whose readings nodes are waited for, by name.

    They are those with a sensor whose readings nodes answer; if none has one, it is the first, at
    the due times of a camera. Raises ParameterError as `plan_vehicles` does.
    """
    own = {plan.name: plan.parameters for plan in plan_vehicles(parameters)}
    followed = {
        name: each
        for name, each in own.items()
        if isinstance(each, FlightNodeParameters) and each.is_followed
    }
    seeing = {name: each for name, each in followed.items() if each.has(each.awaited_sensor)}
    return seeing or dict([*followed.items()][:1])
