# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a simulation asks of everything that moves in it under a controller of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.convex_body import ConvexBody
from aerotwin_multirotor_body.vehicle_faults import VehicleFaults
from aerotwin_px4_bridge import Commander
from aerotwin_px4_bridge.odometry_transforms import OdometryTransforms
from aerotwin_simulator.collision import Collision
from aerotwin_simulator.controllers import Backend
from aerotwin_simulator.fleet import VehiclePlan
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.sensor_setup import Setup
from aerotwin_simulator.surroundings import Surroundings
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep

FLOWN, LANDED = "the mission is flown", "it has landed"
"""Outcomes of a flight with a mission, and of one without that ends when it has landed."""
SINGLE = "vehicle"
"""Name of a vehicle whose topics have no prefix, where it needs one."""
Status = tuple[str, int, str, dict[str, str]]
"""Name, level, message and values of a diagnostic_msgs/DiagnosticStatus."""


@dataclass(frozen=True, kw_only=True)
class RobotShape:
    """What others see of a robot, and what they hit: a mesh and a convex hull, body axes."""

    mesh: TexturedMesh
    hull: ConvexBody


class Stepped(Protocol):
    """What a simulation steps: a robot, or several that are computed together."""

    @property
    def robots(self) -> Sequence["SimulatedRobot"]:
        """The robots that it steps."""

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Their states before and after the step, (n, N_HEAD); the next one overwrites them."""

    def move(self, begin_ns: int, end_ns: int) -> bool:
        """Move by one step; return whether anything could."""

    def measure(self) -> None:
        """Publish the readings of the step."""

    def send_readings(self) -> None:
        """Send the readings of the step to the controllers."""

    def receive_command(self, end_ns: int) -> None:
        """Receive the controllers' answers to the step, and check whether a flight is over."""


class SimulatedRobot(Protocol):
    """A multirotor, a point mass or a ground robot in a simulation.

    `name` is "" for a single one; `outcome` is how its run ended, None while it lasts, `is_success`
    whether its task is done; `has_left` says that it was taken out of the world. `step` is its
    motion over the last step, `faults` act on it, `transforms` its estimate on /tf, None for none.
    """

    name: str
    parameters: SimulatorParameters
    backend: Backend
    faults: VehicleFaults
    outcome: str | None
    is_success: bool
    has_left: bool
    step: TruthStep
    transforms: OdometryTransforms | None
    commanders: tuple[Commander, ...]

    @property
    def title(self) -> str:
        """Its name in messages."""

    @property
    def kind(self) -> str:
        """What it is, in words: multirotor iris, flown by embedded."""

    @property
    def shape(self) -> RobotShape:
        """What others see and hit."""

    @property
    def stepped(self) -> Stepped:
        """What steps it: itself, or what computes several together."""

    @property
    def truth(self) -> np.ndarray:
        """State array, laid out as in `aerotwin_multirotor_dynamics.layout`; not to change."""

    @property
    def p_map_body(self) -> np.ndarray:
        """Position (3,) [m]."""

    @property
    def ground_m(self) -> float:
        """Height of the ground below it in map [m]."""

    @property
    def wind_map(self) -> np.ndarray:
        """Velocity of the air around it (3,) [m/s]."""

    @property
    def box_map(self) -> np.ndarray:
        """Lowest and highest corner of its outline in map, (2, 3) [m]."""

    @property
    def n_missed(self) -> int:
        """Steps for which no command came in time, over all resets."""

    @property
    def look_back_s(self) -> float:
        """Time that the longest reading takes that is made when it is complete [s]."""

    @property
    def awaited_topics(self) -> tuple[Topic, ...]:
        """Topics of a reading, one of which nodes that answer it read."""

    @property
    def published(self) -> list[Topic]:
        """The topics of its own equipment."""

    def warm_up(self) -> None:
        """Do once what the first step would pay for."""

    def sensor_setup(self) -> Setup:
        """Return the sensor data that an estimator needs."""

    def static_transforms(self) -> list[Any]:
        """Return the frames fixed to it as TransformStamped messages."""

    def publish_description(self) -> None:
        """Publish its URDF."""

    def hit(self, collision: Collision) -> None:
        """Crash; the first collision is the one that is reported."""

    def place(
        self, p_map: np.ndarray, q_map_body: np.ndarray, v_map: np.ndarray, omega_body: np.ndarray
    ) -> str:
        """Move it between two steps; return why it cannot be there, "" if it is."""

    def look_again(self) -> None:
        """Check for collisions at the next step."""

    def publish_status(self, stamp_ns: int) -> Status:
        """Publish the status of its controller, and return it."""

    def end(self, outcome: str, *, is_success: bool) -> None:
        """Set the outcome of its run; the first one stays."""

    def leave(self) -> None:
        """End its controller, and be stepped no more; what it was last stays."""

    def reset(self, stamp_ns: int) -> None:
        """Reset it to its start, with a fresh controller."""

    def close(self) -> None:
        """End its controller."""


MakeRobot = Callable[[VehiclePlan, Surroundings, int], SimulatedRobot]
"""Makes a robot of a plan that begins at an instant [ns]."""
