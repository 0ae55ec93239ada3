# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulation of a ground robot with a lidar: its own loop on integer nanoseconds.

Steps of 10 ms move the vehicle; at every turn of its lidar the way through the turn is cast on the
true mesh, each column from where the lidar then was. What an algorithm commands acts later, by its
latency, which is a number here and not the time that it took: the same seed gives the same bytes on
any machine, under any load.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_core.trajectory import Trajectory
from aerotwin_ground_dynamics import (
    BicycleParameters,
    Command,
    CommandDelay,
    GroundVehicle,
    UnicycleParameters,
)
from aerotwin_sensor_models import Lidar, LidarParameters
from aerotwin_sensor_models.lidar import POINT
from aerotwin_simulator.ground.faults import NO_FAULTS, GroundFaults, Kidnapping
from aerotwin_simulator.ground.terrain import TerrainBelow
from aerotwin_simulator.lidar import Turns
from aerotwin_worlds import WorldQueries

STEP_NS = 10_000_000
"""Step of the vehicle: 100 Hz."""


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What a turn of the lidar brought.

    Attributes
    ----------
    stamp_ns : int
        When the turn began [ns].
    end_ns : int
        When it was over [ns].
    cloud : (n,) array of aerotwin_sensor_models.lidar.POINT
        Its returns, in the order of time, as measured: not de-skewed.
    """

    stamp_ns: int
    end_ns: int
    cloud: np.ndarray

    @property
    def points_lidar(self) -> np.ndarray:
        """Places (n, 3) float32 [m] in the lidar's frame at their own times."""
        return np.ascontiguousarray(_words(self.cloud)[:, :3])

    @property
    def times_s(self) -> np.ndarray:
        """Times of the points since the stamp (n,) float32 [s]."""
        return self.cloud["time"].copy()

    def __len__(self) -> int:
        return len(self.cloud)


def stand_vehicle(
    queries: WorldQueries,
    parameters: UnicycleParameters | BicycleParameters,
    *,
    seed: int,
    T_map_base: np.ndarray,
) -> GroundVehicle:
    """Return a vehicle on the ground of a world.

    Parameters
    ----------
    queries : WorldQueries
        The world.
    parameters : UnicycleParameters or BicycleParameters
        The vehicle.
    seed : int
        Of its slip.
    T_map_base : (4, 4) array
        Where it stands; the ground there is the highest surface up to 0.5 m above its z.

    Raises
    ------
    aerotwin_ground_dynamics.NoGroundError
        If there is no ground.
    """
    ground = TerrainBelow(queries, float(T_map_base[2, 3]))
    return GroundVehicle(parameters, ground, seed=seed, T_map_base=T_map_base)


class GroundSimulation:
    """A ground robot with a lidar in a world.

    Parameters
    ----------
    queries : WorldQueries
        What the lidar sees.
    vehicle : GroundVehicle
        See `stand_vehicle`.
    lidar : LidarParameters
        See `aerotwin_sensor_models.load_preset`.
    T_base_lidar : (4, 4) array
        The mounting.
    seed : int
        Of the lidar's noise.
    latency_s : float
        A command given at a time acts this much later [s]; the delay of the vehicle adds to it.
    faults : GroundFaults
        What goes wrong.
    """

    def __init__(
        self,
        queries: WorldQueries,
        vehicle: GroundVehicle,
        lidar: LidarParameters,
        T_base_lidar: np.ndarray,
        *,
        seed: int,
        latency_s: float = 0.1,
        faults: GroundFaults = NO_FAULTS,
    ) -> None:
        self.vehicle = vehicle
        self.stamp_ns = 0
        self._queries, self._faults = queries, faults
        self._lidar = Lidar(lidar, seed)
        self._turns = Turns(lidar.rate_hz, np.asarray(T_base_lidar, np.float64))
        self._delay = CommandDelay(from_seconds(latency_s))
        self._kidnappings = sorted(faults.kidnappings, key=lambda fault: fault.at_s)
        self._stamps: list[int] = []
        self._poses: list[np.ndarray] = []
        self._n_cast = 0
        self._note()

    def give(self, command: Command) -> None:
        """Give a command now; it acts after the latency."""
        self._delay.give(self.stamp_ns, command)

    def advance_to(self, stamp_ns: int) -> list[Scan]:
        """Advance in steps of 10 ms until a time [ns] is reached; return the turns that are over.

        Raises
        ------
        aerotwin_ground_dynamics.NoGroundError
            If the vehicle leaves the world.
        """
        scans = []
        while self.stamp_ns + STEP_NS <= stamp_ns:
            self._step()
            if self._kidnappings and to_seconds(self.stamp_ns) >= self._kidnappings[0].at_s:
                scans += self._cast_turns()
                self._carry_away(self._kidnappings.pop(0))
        return scans + self._cast_turns()

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
        """Put the vehicle down elsewhere; the turn of the lidar meanwhile is lost."""
        before = self._poses[-1]
        after = before @ fault.T_base_moved
        ground = self.vehicle.ground
        if isinstance(ground, TerrainBelow):
            ground = ground.carried(before[:2, 3], after[:2, 3])
        self.vehicle.place(after, ground=ground)
        self._turns.forget()

    def _cast_turns(self) -> list[Scan]:
        """Return the scans of the turns that are over since the last call."""
        scans = []
        fresh = _trajectory(self._stamps[self._n_cast :], self._poses[self._n_cast :])
        self._n_cast = len(self._poses)
        for pose in zip(fresh.stamps_ns.tolist(), fresh.p_ref_body, fresh.q_ref_body):
            for begin_ns, end_ns, motion in self._turns.add(*pose):
                if not self._faults.is_silent(to_seconds(end_ns)):
                    scans.append(self._scan(begin_ns, end_ns, motion))
        return scans

    def _scan(self, begin_ns: int, end_ns: int, motion: Trajectory) -> Scan:
        scan = self._lidar.scan(self._queries.beams, motion, begin_ns)
        is_seen = self._faults.seen(scan.points, to_seconds(end_ns))
        cloud = scan.cloud.reshape(-1)
        if is_seen is not None:
            cloud = _words(cloud)[is_seen].view(POINT).reshape(-1)
        return Scan(stamp_ns=begin_ns, end_ns=end_ns, cloud=cloud)


def _words(cloud: np.ndarray) -> np.ndarray:
    """Return a cloud as rows of float32, its unused bytes included; a view."""
    return cloud.view(np.float32).reshape(len(cloud), POINT.itemsize // 4)


def _trajectory(stamps_ns: list[int], poses: list[np.ndarray]) -> Trajectory:
    T = np.array(poses).reshape(-1, 4, 4)
    quaternions = Rotation.from_matrix(T[:, :3, :3]).as_quat() if len(T) else np.empty((0, 4))
    return Trajectory(np.array(stamps_ns, np.int64), T[:, :3, 3], quaternions)
