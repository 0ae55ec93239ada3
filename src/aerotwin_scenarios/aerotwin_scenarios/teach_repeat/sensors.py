# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensors for repeating a route: a lidar or a radar."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_rendering import WorldQueries
from aerotwin_scenarios.teach_repeat.study import RepeatStudy
from aerotwin_sensor_models import RadarParameters, RadarScan, load_preset
from aerotwin_simulator.ground import (
    GroundFaults,
    GroundRobotParameters,
    GroundSimulation,
    LidarTurn,
    RadarSensing,
    make_ground_simulation,
    make_simulation_with,
)
from aerotwin_teach_repeat.localization import ScanOdometry, SubmapLocalizer
from aerotwin_teach_repeat.radar import (
    BeamView,
    RadarOdometry,
    RadarProtocol,
    detect,
    peak_points,
    radar_localizer,
)
from aerotwin_teach_repeat.route_graph import RouteGraph

Senses = Callable[[RouteGraph, Sequence[int], RepeatStudy], tuple[ScanOdometry, SubmapLocalizer]]
"""Makes odometry and localiser."""


class RobotSensor(Protocol):
    """Simulation, measurements and localisation of a sensor."""

    @property
    def period_ns(self) -> int:
        """Time of a turn [ns]."""

    def simulate(
        self, robot: GroundRobotParameters, queries: WorldQueries, T_map_base: FloatArray,
        faults: GroundFaults,
    ) -> GroundSimulation[Any]:  # fmt: skip
        """Return a robot that carries it."""

    def measured(self, turn: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return points in base (n, 3) [m], as measured, and their times since the stamp [s]."""

    def senses(
        self, graph: RouteGraph, route_ids: Sequence[int], study: RepeatStudy
    ) -> tuple[ScanOdometry, SubmapLocalizer]:
        """Return odometry and localiser, which are under test."""


def sensor_of(study: RepeatStudy) -> RobotSensor:
    """Return the sensor of a study.

    Raises `ParameterError` if there is no such preset.
    """
    return RadarSensor(study) if study.radar else LidarSensor(study)


class LidarSensor:
    """A lidar, and localisation by it."""

    def __init__(self, study: RepeatStudy) -> None:
        self.period_ns: int = load_preset("lidar", study.robot.lidar).period_ns
        self._T_base_lidar = study.robot.T_base_lidar

    def simulate(
        self, robot: GroundRobotParameters, queries: WorldQueries, T_map_base: FloatArray,
        faults: GroundFaults,
    ) -> GroundSimulation[LidarTurn]:  # fmt: skip
        """Return a robot with the lidar."""
        return make_ground_simulation(robot, queries, T_map_base, faults=faults)

    def measured(self, turn: LidarTurn) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of a scan in base, and their times."""
        return in_base(turn, self._T_base_lidar), turn.times_s

    def senses(
        self, graph: RouteGraph, route_ids: Sequence[int], study: RepeatStudy
    ) -> tuple[ScanOdometry, SubmapLocalizer]:
        """Return odometry and localiser by lidar."""
        return ScanOdometry(), SubmapLocalizer(graph, route_ids, study.localization)


class RadarSensor:
    """A radar where the lidar would be, and localisation by it."""

    def __init__(self, study: RepeatStudy) -> None:
        self.radar: RadarParameters = load_preset("radar", study.radar)
        self.period_ns = self.radar.period_ns
        self.T_base_radar = study.robot.T_base_lidar
        self.protocol = known_of_the_radar(study.radar_protocol, self.radar, self.T_base_radar)

    def simulate(
        self, robot: GroundRobotParameters, queries: WorldQueries, T_map_base: FloatArray,
        faults: GroundFaults,
    ) -> GroundSimulation[RadarScan]:  # fmt: skip
        """Return a robot with the radar."""
        sensing = RadarSensing(self.radar, robot.seed)
        return make_simulation_with(sensing, robot, queries, T_map_base, faults=faults)

    def measured(self, turn: RadarScan) -> tuple[np.ndarray, np.ndarray]:
        """Return the peaks of a turn in base, and their times."""
        peaks = detect(turn.levels, self.radar.bin_m, self.protocol.detector)
        points = peak_points(peaks, self.radar.azimuths)
        return _turned(points, self.T_base_radar), turn.times_s[peaks.azimuth]

    def senses(
        self, graph: RouteGraph, route_ids: Sequence[int], study: RepeatStudy
    ) -> tuple[RadarOdometry, SubmapLocalizer]:
        """Return odometry and localiser by radar."""
        odometry = RadarOdometry(self.protocol.odometry, self.T_base_radar[:3, 3])
        return odometry, radar_localizer(graph, route_ids, self.protocol)


def known_of_the_radar(
    protocol: RadarProtocol, radar: RadarParameters, T_base_radar: FloatArray
) -> RadarProtocol:
    """Return a protocol that knows its radar's data sheet: Doppler shift, beam, height."""
    view: BeamView = dataclasses.replace(
        protocol.view, height_m=float(T_base_radar[2, 3]), beam_deg=radar.beam_elevation_deg
    )
    odometry = dataclasses.replace(protocol.odometry, doppler_shift_s=radar.doppler_shift_s)
    return dataclasses.replace(protocol, view=view, odometry=odometry)


def in_base(scan: LidarTurn, T_base_lidar: FloatArray) -> np.ndarray:
    """Return the points of a scan in the base frame, (n, 3) float32 [m], each at its own time."""
    return _turned(scan.points_lidar, T_base_lidar)


def _turned(points: np.ndarray, T_base_sensor: FloatArray) -> np.ndarray:
    T = np.asarray(T_base_sensor, np.float32)
    return points @ T[:3, :3].T + T[:3, 3]
