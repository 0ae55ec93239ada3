# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulation of a ground robot with sensors: its own loop on integer nanoseconds.

Steps of 10 ms move the vehicle; the motion during each turn of a sensor is cast on the true mesh,
each column from its own pose. Commands act after a latency that is a parameter, not the measured
run time: the same seed gives the same bytes on any machine.
"""

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_core.trajectory import Trajectory
from aerotwin_ground_dynamics import (
    BicycleParameters,
    CommandDelay,
    Ground,
    GroundVehicle,
    UnicycleParameters,
    VelocityCommand,
)
from aerotwin_ground_simulator.faults import NO_FAULTS, GroundFaults, Kidnapping
from aerotwin_ground_simulator.sensing import TurningSensor
from aerotwin_rendering import WorldQueries
from aerotwin_simulator.scanners import Turns

STEP_NS = 10_000_000
"""Step of the vehicle: 100 Hz."""
TurnT = TypeVar("TurnT")


CARRY_M = 0.25
"""Distance between two queries of the ground while a vehicle is carried along it."""


class TerrainBelow:
    """Height of the ground at x, y: the highest surface at most 0.5 m above the last answer.

    Higher surfaces are no ground to drive on to, but a roof or a tree's crown. The height `z_m` at
    the start is needed to 0.5 m.
    """

    def __init__(self, queries: WorldQueries, z_m: float) -> None:
        self._queries = queries
        self._z = float(z_m)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the heights (n,) [m] at x, y (n,) [m]; minus infinity outside the world."""
        points = np.empty((len(x), 3))
        points[:, 0], points[:, 1], points[:, 2] = x, y, self._z
        heights = points[:, 2] - self._queries.height_above_ground(points)
        mean = float(heights.mean())
        if np.isfinite(mean):
            self._z = mean
        return heights

    def carried(self, start: np.ndarray, end: np.ndarray) -> "TerrainBelow":
        """Return the ground at an end (2,) that is reached along the ground from a start (2,)."""
        terrain = TerrainBelow(self._queries, self._z)
        n = max(int(np.ceil(np.linalg.norm(end - start) / CARRY_M)), 1)
        for share in np.arange(n + 1) / n:
            place = start + share * (end - start)
            terrain(place[:1], place[1:])
        return terrain


def stand_vehicle(
    queries: WorldQueries,
    parameters: UnicycleParameters | BicycleParameters,
    *,
    seed: int,
    T_map_base: np.ndarray,
) -> GroundVehicle:
    """Return a vehicle on the ground of a world, with the seed of its slip.

    The ground at the pose (4, 4) is the highest surface up to 0.5 m above its z.

    Raises
    ------
    aerotwin_ground_dynamics.NoGroundError
        If there is no ground.
    """
    ground = TerrainBelow(queries, float(T_map_base[2, 3]))
    return GroundVehicle(parameters, ground, seed=seed, T_map_base=T_map_base)


class GroundSimulation(Generic[TurnT]):
    """A ground robot with turning sensors, in a world.

    `vehicle` is made by `stand_vehicle`. The simulation returns the turns of `sensors`, lidars or
    radars with their mountings T_base_sensor (4, 4). A command acts `latency_s` later; the delay of
    the vehicle adds to it.
    """

    def __init__(
        self,
        queries: WorldQueries,
        vehicle: GroundVehicle,
        sensors: Sequence[tuple[TurningSensor[TurnT], np.ndarray]],
        *,
        latency_s: float = 0.1,
        faults: GroundFaults = NO_FAULTS,
    ) -> None:
        self.vehicle = vehicle
        self.stamp_ns = 0
        self._queries, self._faults = queries, faults
        self._sensors = [
            (sensor, Turns(sensor.rate_hz, np.asarray(T_base_sensor, np.float64)))
            for sensor, T_base_sensor in sensors
        ]
        self._delay = CommandDelay(from_seconds(latency_s))
        self._kidnappings = sorted(faults.kidnappings, key=lambda fault: fault.at_s)
        self._stamps: list[int] = []
        self._poses: list[np.ndarray] = []
        self._n_cast = 0
        self._note()

    def set_command(self, command: VelocityCommand) -> None:
        """Set a command now; it acts after the latency."""
        self._delay.set_command(self.stamp_ns, command)

    def advance_to(self, stamp_ns: int) -> list[TurnT]:
        """Advance in steps of 10 ms to a time [ns]; return the finished turns.

        Raises
        ------
        aerotwin_ground_dynamics.NoGroundError
            If the vehicle leaves the world.
        """
        scans: list[TurnT] = []
        while self.stamp_ns + STEP_NS <= stamp_ns:
            self._step()
            if self._kidnappings and to_seconds(self.stamp_ns) >= self._kidnappings[0].at_s:
                scans += self._cast_turns()
                self._carry_away(self._kidnappings.pop(0))
        return scans + self._cast_turns()

    def return_to_start(self) -> None:
        """Place the vehicle where it began, at rest; time, slip and odometry go on."""
        T_map_base = self._poses[0]
        ground = TerrainBelow(self._queries, float(T_map_base[2, 3]))
        self._delay.forget()
        self.vehicle.forget_commands()
        self._place(T_map_base, ground)

    @property
    def truth(self) -> Trajectory:
        """T_map_base at every step so far, the start included."""
        return _trajectory(self._stamps, self._poses)

    def _step(self) -> None:
        self.vehicle.step(to_seconds(STEP_NS), self._delay.acting(self.stamp_ns))
        self.stamp_ns += STEP_NS
        self._note()

    def _note(self) -> None:
        self._stamps.append(self.stamp_ns)
        self._poses.append(self.vehicle.T_map_base)

    def _carry_away(self, fault: Kidnapping) -> None:
        """Carry the vehicle along the ground."""
        before = self._poses[-1]
        after = before @ fault.T_base_moved
        ground = self.vehicle.ground
        if isinstance(ground, TerrainBelow):
            ground = ground.carried(before[:2, 3], after[:2, 3])
        self._place(after, ground)

    def _place(self, T_map_base: np.ndarray, ground: Ground) -> None:
        """Place the vehicle elsewhere; the turns of the sensors that have begun are lost."""
        self.vehicle.place(T_map_base, ground=ground)
        for _, turns in self._sensors:
            turns.forget()

    def _cast_turns(self) -> list[TurnT]:
        """Return the scans of the turns finished since the last call."""
        scans = []
        fresh = _trajectory(self._stamps[self._n_cast :], self._poses[self._n_cast :])
        self._n_cast = len(self._poses)
        for pose in zip(fresh.stamps_ns.tolist(), fresh.p_ref_body, fresh.q_ref_body):
            for sensor, turns in self._sensors:
                for begin_ns, end_ns, motion in turns.add(*pose):
                    if not self._faults.is_silent(to_seconds(end_ns)):
                        times = (begin_ns, end_ns)
                        scans.append(sensor.turn(self._queries.beams, motion, *times, self._faults))
        return scans


def _trajectory(stamps_ns: list[int], poses: list[np.ndarray]) -> Trajectory:
    T = np.array(poses).reshape(-1, 4, 4)
    quaternions = Rotation.from_matrix(T[:, :3, :3]).as_quat() if len(T) else np.empty((0, 4))
    return Trajectory(np.array(stamps_ns, np.int64), T[:, :3, 3], quaternions)
