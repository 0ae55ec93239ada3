# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground robot in wall time, which stops when no client commands it any more."""

from collections.abc import Callable

from aerotwin_core.time import NANOSECONDS_PER_SECOND, from_seconds
from aerotwin_ground_dynamics import GroundVehicle, VelocityCommand
from aerotwin_ground_simulator.robot import (
    GroundRobotParameters,
    carried_sensors,
    load_vehicle,
    make_ground_simulation,
    start_pose,
)
from aerotwin_ground_simulator.sensing import LidarTurn
from aerotwin_ground_simulator.simulation import STEP_NS, GroundSimulation
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import RadarScan
from aerotwin_worlds import load_world
from aerotwin_worlds.loading import find_world
from aerotwin_worlds.moved_start import StartSettings, with_moved_start

MOST_STEPS = 10
"""Late steps that are made up for at once; steps later than that are skipped: the run is late."""


class PacedRobot:
    """Steps a `GroundSimulation` at a multiple of wall time.

    `speed` is simulated over wall time, `command_timeout_s` the simulated time after a command at
    which the robot stops, `clock` a monotonic wall clock [s]. While it `is_paused`, no step is due.
    """

    def __init__(
        self,
        simulation: GroundSimulation[LidarTurn | RadarScan],
        *,
        speed: float,
        command_timeout_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._simulation, self._clock = simulation, clock
        self.is_paused = False
        self.set_speed(speed)
        self._timeout_ns = from_seconds(command_timeout_s)
        self._commanded_ns: int | None = None
        self.counters = {"n_commands": 0, "n_timeouts": 0, "n_scans": 0, "n_steps_skipped": 0}

    @property
    def stamp_ns(self) -> int:
        """Simulated time."""
        return self._simulation.stamp_ns

    @property
    def vehicle(self) -> GroundVehicle:
        """The vehicle."""
        return self._simulation.vehicle

    def set_speed(self, speed: float) -> None:
        """Go on at another multiple of wall time."""
        self._steps_per_s = speed * NANOSECONDS_PER_SECOND / STEP_NS
        self._forget_pace()

    def pause(self, is_paused: bool) -> None:
        """Let time stand still, or go on."""
        self.is_paused = is_paused
        self._forget_pace()

    def return_to_start(self) -> None:
        """Place the robot where it began, at rest, without a command; time goes on."""
        self._commanded_ns = None
        self._simulation.return_to_start()

    def _forget_pace(self) -> None:
        self._start_s: float | None = None
        self._n_made = 0

    def set_command(self, command: VelocityCommand) -> None:
        """Set a command now."""
        self.counters["n_commands"] += 1
        self._commanded_ns = self.stamp_ns
        self._simulation.set_command(command)

    def n_steps_due(self) -> int:
        """Return how many steps the wall clock is ahead; time begins with the first call."""
        if self.is_paused:
            return 0
        now = self._clock()
        if self._start_s is None:
            self._start_s = now
        n_due = int((now - self._start_s) * self._steps_per_s) - self._n_made
        n_skipped = max(n_due - MOST_STEPS, 0)
        self._n_made += n_due
        self.counters["n_steps_skipped"] += n_skipped
        return n_due - n_skipped

    def step(self) -> list[LidarTurn | RadarScan]:
        """Make one step; return the scans that it completes."""
        if self._commanded_ns is not None and self.stamp_ns - self._commanded_ns > self._timeout_ns:
            self.counters["n_timeouts"] += 1
            self._commanded_ns = None
            self._simulation.set_command(VelocityCommand())
        scans = self._simulation.advance_to(self.stamp_ns + STEP_NS)
        self.counters["n_scans"] += len(scans)
        return scans


def check_robot(parameters: GroundRobotParameters, world_spec: str) -> None:
    """Raise UserError if there is no such vehicle, lidar, radar or world; nothing is loaded."""
    load_vehicle(parameters.vehicle)
    carried_sensors(parameters)
    find_world(world_spec)


def robot_in_world(
    parameters: GroundRobotParameters, world_spec: str, start: StartSettings
) -> GroundSimulation[LidarTurn | RadarScan]:
    """Return a robot at a start in its world, on the highest surface there.

    Errors of the robot are reported before the world is loaded. Raises UserError if there is no
    such vehicle, lidar, radar or world, or the start lies beside it.
    """
    load_vehicle(parameters.vehicle)
    sensors = carried_sensors(parameters)
    world = with_moved_start(load_world(world_spec), start)
    queries = WorldQueries(world)
    queries.warm_up()
    return make_ground_simulation(sensors, parameters, queries, start_pose(world))
