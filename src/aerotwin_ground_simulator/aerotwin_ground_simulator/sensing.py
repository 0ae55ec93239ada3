# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors of a ground robot: a lidar or a radar that turns, and the result of a turn."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from aerotwin_core.time import to_seconds
from aerotwin_core.trajectory import Trajectory
from aerotwin_ground_simulator.faults import GroundFaults
from aerotwin_sensor_models import Lidar, LidarParameters, Radar, RadarParameters, RadarScan
from aerotwin_sensor_models.lidar import POINT, Cast

TurnT_co = TypeVar("TurnT_co", covariant=True)


class TurningSensor(Protocol[TurnT_co]):
    """A sensor that turns and returns one turn after the other."""

    @property
    def rate_hz(self) -> float:
        """Turns per second."""

    def turn(
        self, cast: Cast, motion: Trajectory, begin_ns: int, end_ns: int, faults: GroundFaults
    ) -> TurnT_co:
        """Return a turn, cast in the world from T_map_sensor over its time."""


@dataclass(frozen=True, kw_only=True)
class LidarTurn:
    """One turn of the lidar, from `stamp_ns` to `end_ns`.

    `cloud` (n,) of `aerotwin_sensor_models.lidar.POINT` holds its returns, in the order of time, as
    measured: not de-skewed.
    """

    stamp_ns: int
    end_ns: int
    cloud: np.ndarray

    @property
    def points_lidar(self) -> np.ndarray:
        """Points (n, 3) float32 [m] in the lidar's frame at their own times."""
        return np.ascontiguousarray(_as_float32_rows(self.cloud)[:, :3])

    @property
    def times_s(self) -> np.ndarray:
        """Times of the points since the stamp (n,) float32 [s]."""
        return self.cloud["time"].copy()

    def __len__(self) -> int:
        return len(self.cloud)


class LidarSensing:
    """A lidar; parameters as `Lidar`. Its scans are lists of points as measured."""

    def __init__(self, lidar: LidarParameters, seed: int) -> None:
        self.rate_hz = lidar.rate_hz
        self._lidar = Lidar(lidar, seed)

    def turn(
        self, cast: Cast, motion: Trajectory, begin_ns: int, end_ns: int, faults: GroundFaults
    ) -> LidarTurn:
        """Return a scan without blocked points."""
        scan = self._lidar.scan(cast, motion, begin_ns)
        is_seen = faults.seen(scan.points, to_seconds(end_ns))
        cloud = scan.cloud.reshape(-1)
        if is_seen is not None:
            cloud = _as_float32_rows(cloud)[is_seen].view(POINT).reshape(-1)
        return LidarTurn(stamp_ns=begin_ns, end_ns=end_ns, cloud=cloud)


class RadarSensing:
    """A radar; parameters as `Radar`."""

    def __init__(self, radar: RadarParameters, seed: int) -> None:
        self.rate_hz = radar.rate_hz
        self._radar = Radar(radar, seed)
        self._directions = np.column_stack([np.cos(radar.azimuths), np.sin(radar.azimuths)])

    def turn(
        self, cast: Cast, motion: Trajectory, begin_ns: int, end_ns: int, faults: GroundFaults
    ) -> RadarScan:
        """Return the power of a turn; zero in blocked directions."""
        scan = self._radar.scan(cast, motion, begin_ns)
        is_seen = faults.seen(self._directions, to_seconds(end_ns))
        if is_seen is not None:
            scan.levels[~is_seen] = 0
        return scan


def _as_float32_rows(cloud: np.ndarray) -> np.ndarray:
    """Return a cloud as rows of float32, its unused bytes included; a view."""
    return cloud.view(np.float32).reshape(len(cloud), POINT.itemsize // 4)
