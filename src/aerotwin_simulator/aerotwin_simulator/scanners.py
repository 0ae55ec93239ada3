# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lidar and radar of a vehicle: they collect its motion over a turn, then cast the turn."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import quaternion_from_rotation
from aerotwin_core.messages import serialize, transform_stamped
from aerotwin_core.time import Schedule
from aerotwin_core.trajectory import Trajectory
from aerotwin_faults import ActiveFault, Echoes
from aerotwin_faults.together import is_silent, met_echoes
from aerotwin_multirotor_dynamics import layout
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import (
    Lidar,
    LidarParameters,
    Radar,
    RadarParameters,
    RadarScan,
    load_preset,
    polar_message,
    polar_scan,
    scan_message,
    targets_message,
)
from aerotwin_sensor_models.lidar import Cast
from aerotwin_simulator import topics
from aerotwin_simulator.mounting import T_body_sensor
from aerotwin_simulator.parameters import ScannerSettings, SimulatorParameters
from aerotwin_simulator.sensor_setup import plain_pose
from aerotwin_simulator.topics import Topic
from aerotwin_simulator.truth import TruthStep

LIDAR_FRAME, RADAR_FRAME = "lidar", "radar"
Messages = list[tuple[Topic, bytes]]
OBJECTS_NS = 2_000_000
"""Time for which what moves is cast at one pose: a car at 14 m/s is off by 14 mm at most."""


class Turns:
    """Collects the motion of the body and returns that of the sensor, turn by turn.

    Turn k begins at k / `rate_hz`; the first one is the first that begins at or after the first
    pose. The mounting `T_body_sensor` is (4, 4).
    """

    def __init__(self, rate_hz: float, T_body_sensor: np.ndarray) -> None:
        self._rate_hz = rate_hz
        self._p_body_sensor = T_body_sensor[:3, 3]
        self._q_body_sensor = Rotation.from_matrix(T_body_sensor[:3, :3])
        self.forget()

    def forget(self) -> None:
        """Restart, as after a jump in time."""
        self._stamps: list[int] = []
        self._poses: list[np.ndarray] = []
        self._schedule: Schedule | None = None
        self._begin_ns: int | None = None

    def add(
        self, stamp_ns: int, p_map_body: np.ndarray, q_map_body: np.ndarray
    ) -> Iterator[tuple[int, int, Trajectory]]:
        """Add a later pose; yield (begin, end, T_map_sensor) of the turns [ns] completed."""
        if self._schedule is None:
            self._schedule = Schedule(self._rate_hz, stamp_ns - 1)
        self._stamps.append(stamp_ns)
        self._poses.append(np.concatenate([p_map_body, q_map_body]))
        for due_ns in self._schedule.until(stamp_ns):
            if self._begin_ns is not None:
                yield self._begin_ns, due_ns, self._motion()
            self._begin_ns = due_ns
            self._drop_before(due_ns)

    def _motion(self) -> Trajectory:
        poses = np.array(self._poses)
        q_map_body = Rotation.from_quat(poses[:, 3:])
        p_map_sensor = poses[:, :3] + q_map_body.apply(self._p_body_sensor)
        q_map_sensor = (q_map_body * self._q_body_sensor).as_quat()
        return Trajectory(np.array(self._stamps), p_map_sensor, q_map_sensor)

    def _drop_before(self, begin_ns: int) -> None:
        """Drop all poses before the last one at or before an instant."""
        n = max(sum(stamp <= begin_ns for stamp in self._stamps) - 1, 0)
        del self._stamps[:n], self._poses[:n]


class BodyScanner:
    """A sensor that turns on the body; its `topics` are those of the messages of a turn.

    `messages` makes them of a cast, T_map_sensor over the turn and its beginning [ns]; `mounting`
    is on the body. Turns that begin while a fault silences the sensor are not measured, beams meet
    what one lets them meet.
    """

    def __init__(
        self,
        sensor: LidarParameters | RadarParameters,
        messages: Callable[[Cast, Trajectory, int], Messages],
        mounting: ScannerSettings,
        queries: WorldQueries,
        *,
        topics: tuple[Topic, ...],
        frames: tuple[str, str],
    ) -> None:
        self.sensor, self.topics, self.frames = sensor, topics, frames
        self.T_body_sensor = mounting_of(mounting)
        self._messages, self._queries = messages, queries
        self._turns = Turns(sensor.rate_hz, self.T_body_sensor)
        self._faults: Sequence[ActiveFault] = ()
        self._last_ns = -1

    def apply_faults(self, faults: Sequence[ActiveFault]) -> None:
        """Let the faults of this list act from now on; others that join it act, too."""
        self._faults = faults

    def warm_up(self) -> None:
        """Cast once so that no turn of the flight pays for compilation or the ray tracing scene."""
        level = np.array([0.0, 0.0, 0.0, 1.0])
        stamps = np.array([0, 2 * self.sensor.period_ns])
        motion = Trajectory(stamps, np.zeros((2, 3)), np.tile(level, (2, 1)))
        self._messages(self._queries.beams, motion, 0)

    def turns(self, step: TruthStep) -> Iterator[tuple[int, int, Messages]]:
        """Yield (begin, end, messages) of the turns that end in a step [ns]; stamp: the begin."""
        if self._last_ns < 0:
            yield from self.turn_to_pose(step.start_ns, step.start[layout.POSITION], _q(step.start))
        yield from self.turn_to_pose(step.end_ns, step.end[layout.POSITION], _q(step.end))

    def turn_to_pose(
        self, stamp_ns: int, p_map_body: np.ndarray, q_map_body: np.ndarray
    ) -> Iterator[tuple[int, int, Messages]]:
        """Add a pose, later than the last; yield (begin, end, messages) of the completed turns."""
        self._last_ns = stamp_ns
        for begin_ns, end_ns, motion in self._turns.add(stamp_ns, p_map_body, q_map_body):
            if not is_silent(self._faults, begin_ns):
                yield begin_ns, end_ns, self._messages(self._cast(begin_ns), motion, begin_ns)

    def _cast(self, begin_ns: int) -> Cast:
        """Return what casts the beams of a turn into the world, and into what faults put there."""
        faults, sensor = self._faults, self.sensor
        stamps_ns = middles(begin_ns, begin_ns + sensor.period_ns)
        beams = partial(self._queries.beams, stamps_ns=stamps_ns)
        if not faults or not isinstance(sensor, LidarParameters):
            return beams

        def cast(rays: np.ndarray) -> Echoes:
            distance, normal, reflectivity = beams(rays)
            if reflectivity is None:
                reflectivity = np.full(len(rays), sensor.reflectivity, np.float32)
            return met_echoes(faults, Echoes(distance, normal, reflectivity), rays[:, 3:], begin_ns)

        return cast

    def forget(self) -> None:
        """Begin a new turn, as after a jump in time."""
        self._turns.forget()

    def transform(self) -> Any:
        """Return the mounting, `base_link` to the sensor, as TransformStamped."""
        T = self.T_body_sensor
        return transform_stamped(0, *self.frames, T[:3, 3], quaternion_from_rotation(T[:3, :3]))

    def setup(self) -> dict[str, Any]:
        """Return topics, frame, mounting and data sheet for the setup of a vehicle's sensors."""
        return {
            "topics": [topics.resolve(topic.name) for topic in self.topics],
            "frame_id": self.frames[1],
            "rate_hz": float(self.sensor.rate_hz),
            "T_base_sensor": plain_pose(self.T_body_sensor),
            "parameters": dataclasses.asdict(self.sensor),
        }


def middles(begin_ns: int, end_ns: int) -> list[int]:
    """Return the middles of equal parts of a turn, none longer than `OBJECTS_NS` [ns]."""
    n = math.ceil((end_ns - begin_ns) / OBJECTS_NS)
    return [begin_ns + (2 * k + 1) * (end_ns - begin_ns) // (2 * n) for k in range(n)]


def make_scanners(
    parameters: SimulatorParameters, queries: WorldQueries, vehicle: str = ""
) -> dict[str, BodyScanner]:
    """Return the lidar and the radar that the parameters name, by `lidar` and `radar`."""
    found = {}
    if parameters.lidar.is_mounted:
        found["lidar"] = make_lidar(parameters, queries, vehicle)
    if parameters.radar.is_mounted:
        found["radar"] = make_radar(parameters, queries, vehicle)
    return found


def make_lidar(
    parameters: SimulatorParameters, queries: WorldQueries, vehicle: str = ""
) -> BodyScanner:
    """Return the lidar that the parameters name; seed and instance select its noise."""
    sensor = load_preset("lidar", parameters.lidar.preset)
    lidar = Lidar(sensor, parameters.seed, parameters.fleet.instance)
    topic = topics.below(vehicle)(topics.LIDAR_POINTS)
    frames = topics.frame(vehicle, "base_link"), topics.frame(vehicle, LIDAR_FRAME)

    def messages(cast: Cast, motion: Trajectory, begin_ns: int) -> Messages:
        scan = lidar.scan(cast, motion, begin_ns)
        return [(topic, serialize(scan_message(scan, frames[1])))]

    return BodyScanner(sensor, messages, parameters.lidar, queries, topics=(topic,), frames=frames)


def make_radar(
    parameters: SimulatorParameters, queries: WorldQueries, vehicle: str = ""
) -> BodyScanner:
    """Return the radar that the parameters name; seed and instance select its noise."""
    sensor = load_preset("radar", parameters.radar.preset)
    radar = Radar(sensor, parameters.seed, parameters.fleet.instance)
    place = topics.below(vehicle)
    polar, targets = place(topics.RADAR_POLAR), place(topics.RADAR_POINTS)
    frames = topics.frame(vehicle, "base_link"), topics.frame(vehicle, RADAR_FRAME)

    def messages(cast: Cast, motion: Trajectory, begin_ns: int) -> Messages:
        image, cloud = radar_messages(radar.scan(cast, motion, begin_ns), frames[1])
        return [(polar, image), (targets, cloud)]

    return BodyScanner(
        sensor, messages, parameters.radar, queries, topics=(polar, targets), frames=frames
    )


def radar_messages(scan: RadarScan, frame_id: str) -> tuple[bytes, bytes]:
    """Return radar/polar and radar/points of a turn, serialised."""
    image = polar_message(scan, frame_id)
    cloud = targets_message(polar_scan(image), frame_id, scan.parameters.bin_m)
    return serialize(image), serialize(cloud)


def mounting_of(mounting: ScannerSettings) -> np.ndarray:
    """Return T_body_sensor of a lidar or radar on an aircraft or robot."""
    return T_body_sensor(
        [mounting.x_m, mounting.y_m, mounting.z_m],
        roll_deg=mounting.roll_deg,
        pitch_deg=mounting.pitch_deg,
        yaw_deg=mounting.yaw_deg,
    )


def _q(state: np.ndarray) -> np.ndarray:
    return state[layout.QUATERNION]
