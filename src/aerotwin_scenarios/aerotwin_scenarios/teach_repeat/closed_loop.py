# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed loop: scans of the true world in, commands out, repeat after repeat.

The repeater computes a command from each scan of lidar or radar, which acts after the latency; the
simulation has no access to the route, and the repeater none to the truth.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, Protocol

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.time import to_seconds
from aerotwin_ground_dynamics import NoGroundError, VelocityCommand
from aerotwin_ground_simulator import (
    GroundFaults,
    GroundRobotParameters,
    GroundSimulation,
    LidarTurn,
    RadarSensing,
    lidar_sensing,
    make_ground_simulation,
)
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import Displacement, NoDisplacement, arc_length, true_poses
from aerotwin_scenarios.teach_repeat.record import RepeatRecord
from aerotwin_scenarios.teach_repeat.study import RepeatStudy
from aerotwin_sensor_models import RadarParameters, RadarScan, detect, load_preset, peak_points
from aerotwin_teach_repeat.localization import ScanOdometry, SubmapLocalizer
from aerotwin_teach_repeat.radar import (
    RadarOdometry,
    RadarSenses,
    known_of_the_radar,
)
from aerotwin_teach_repeat.repeat import Repeater, RepeatState, RepeatStep
from aerotwin_teach_repeat.repeat.step import ENDED
from aerotwin_teach_repeat.route_graph import RouteGraph

Senses = Callable[[RouteGraph, Sequence[int], RepeatStudy], tuple[ScanOdometry, SubmapLocalizer]]
"""Makes odometry and localiser."""

SETTLE_S = 60.0
"""Time beyond that of the way that a repeat may take in any case: to be found, also again."""
OnStep = Callable[[int, RepeatStep], None]


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
    """Return the sensor of a study; raises `ParameterError` if there is no such preset."""
    return RadarSensor(study) if study.radar else LidarSensor(study)


class LidarSensor:
    """A lidar, and localisation by it."""

    def __init__(self, study: RepeatStudy) -> None:
        self.period_ns: int = load_preset("lidar", study.robot.lidar.preset).period_ns
        self._T_base_lidar = study.robot.T_base_lidar

    def simulate(
        self, robot: GroundRobotParameters, queries: WorldQueries, T_map_base: FloatArray,
        faults: GroundFaults,
    ) -> GroundSimulation[LidarTurn]:  # fmt: skip
        """Return a robot with the lidar."""
        sensors = [(lidar_sensing(robot), robot.T_base_lidar)]
        return make_ground_simulation(sensors, robot, queries, T_map_base, faults=faults)

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
        self.protocol = known_of_the_radar(study.radar_protocol, self.radar)

    def simulate(
        self, robot: GroundRobotParameters, queries: WorldQueries, T_map_base: FloatArray,
        faults: GroundFaults,
    ) -> GroundSimulation[RadarScan]:  # fmt: skip
        """Return a robot with the radar."""
        sensors = [(RadarSensing(self.radar, robot.seed), self.T_base_radar)]
        return make_ground_simulation(sensors, robot, queries, T_map_base, faults=faults)

    def measured(self, turn: RadarScan) -> tuple[np.ndarray, np.ndarray]:
        """Return the peaks of a turn in base, and their times."""
        peaks = detect(turn.levels, self.radar.bin_m, self.protocol.detector)
        points = peak_points(peaks, self.radar.azimuths)
        return _turned(points, self.T_base_radar), turn.times_s[peaks.azimuth]

    def senses(
        self, graph: RouteGraph, route_ids: Sequence[int], study: RepeatStudy
    ) -> tuple[RadarOdometry, SubmapLocalizer]:
        """Return odometry and localiser by radar."""
        found = RadarSenses(graph, route_ids, self.protocol, self.T_base_radar)
        return found.odometry, found.localizer


def in_base(scan: LidarTurn, T_base_lidar: FloatArray) -> np.ndarray:
    """Return the points of a scan in the base frame, (n, 3) float32 [m], each at its own time."""
    return _turned(scan.points_lidar, T_base_lidar)


def _turned(points: np.ndarray, T_base_sensor: FloatArray) -> np.ndarray:
    T = np.asarray(T_base_sensor, np.float32)
    return points @ T[:3, :3].T + T[:3, 3]


def run_repeats(
    graph: RouteGraph,
    route_ids: Sequence[int],
    queries: WorldQueries,
    study: RepeatStudy,
    *,
    displacement: Displacement | None = None,
    senses: Senses | None = None,
    on_step: OnStep | None = None,
) -> list[RepeatRecord]:
    """Repeat a taught route in the true world; return all repeats in order, also failed ones.

    Parameters
    ----------
    route_ids : sequence of int
        Ids of the graph's vertices in driving order.
    queries : WorldQueries
        The true world.
    displacement : Displacement, optional
        Difference of the graph's map from the true world; sets the true start of the robot.
    senses : callable, optional
        Makes odometry and localiser of each repeat; by default those of the robot's sensor.
    on_step : callable, optional
        Called with the number of the repeat and each of its steps.
    """
    return [
        run_repeat(
            graph, route_ids, queries, study, number,
            displacement=displacement, senses=senses, on_step=on_step,
        )
        for number in range(study.n_repeats)
    ]  # fmt: skip


def run_repeat(
    graph: RouteGraph,
    route_ids: Sequence[int],
    queries: WorldQueries,
    study: RepeatStudy,
    number: int,
    *,
    displacement: Displacement | None = None,
    senses: Senses | None = None,
    on_step: OnStep | None = None,
) -> RepeatRecord:
    """Repeat a route once; parameters as in `run_repeats`, and the number that sets its seed."""
    began = time.monotonic()
    poses = graph.poses_map(route_ids)
    start = _start(poses, study.start_at_m)
    (reported,) = true_poses(displacement or NoDisplacement(), poses[start : start + 1])
    sensor = sensor_of(study)
    T_map_base = reported @ study.start_error(number)
    simulation = sensor.simulate(study.robot_of(number), queries, T_map_base, study.faults)
    tracker = study.tracker_of(poses, sensor.period_ns)
    odometry, localizer = (senses or sensor.senses)(graph, route_ids, study)
    repeater = Repeater(graph, route_ids, localizer, odometry, tracker, study.repeat)
    repeater.start(vertex_id=route_ids[start], is_anywhere=study.is_start_unknown)
    way_s = tracker.route.length_m / tracker.parameters.reference_speed_m_s
    steps: list[RepeatStep] = []
    try:
        limit_s = SETTLE_S + study.time_limit * way_s
        for step in _drive(simulation, repeater, sensor, limit_s):
            steps.append(step)
            if on_step is not None:
                on_step(number, step)
        state, reason = repeater.state, repeater.reason
    except NoGroundError as error:
        state, reason = RepeatState.FAILED, f"left the world: {error}"
    if state not in ENDED:
        state, reason = RepeatState.FAILED, f"out of time, while it {reason}"
    return RepeatRecord(
        name=f"repeat {number + 1}, seed {study.seed}",
        truth=simulation.truth,
        steps=tuple(steps),
        transitions=tuple(repeater.transitions),
        state=state,
        reason=reason,
        wall_s=time.monotonic() - began,
    )


def _start(poses_map: FloatArray, at_m: float) -> int:
    """Return the index in a route (n, 4, 4) of the vertex nearest to a distance along it [m]."""
    s_m = arc_length(poses_map[:, :2, 3])
    if at_m > s_m[-1]:
        raise UserError(f"--start-at-m must be on the route of {s_m[-1]:.1f} m, got {at_m:g}")
    return int(np.argmin(np.abs(s_m - at_m)))


def _drive(
    simulation: GroundSimulation, repeater: Repeater, sensor: RobotSensor, limit_s: float
) -> Iterator[RepeatStep]:
    """Run the loop, scan by scan, until the repeat or its time is over."""
    for k in count(1):
        turns = simulation.advance_to(k * sensor.period_ns)
        step = _answer(repeater, turns, sensor, simulation)
        simulation.set_command(VelocityCommand(step.v_m_s, step.omega_rad_s))
        yield step
        if repeater.state in ENDED or to_seconds(simulation.stamp_ns) > limit_s:
            return


def _answer(
    repeater: Repeater, turns: list, sensor: RobotSensor, simulation: GroundSimulation
) -> RepeatStep:
    """Return the repeater's step for a scan, or for its absence."""
    wheels = simulation.vehicle.wheel_odometry.twist
    if not turns:
        return repeater.on_tick(simulation.stamp_ns, wheels)
    points, times = sensor.measured(turns[-1])
    return repeater.on_scan(points, times, turns[-1].stamp_ns, wheels)
