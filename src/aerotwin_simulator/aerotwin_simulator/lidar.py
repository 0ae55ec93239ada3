# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The lidar of a vehicle: collects its motion over a turn, and casts the turn when it is over."""

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import quaternion_from_rotation
from aerotwin_core.messages import serialize, transform_stamped
from aerotwin_core.time import Schedule
from aerotwin_core.trajectory import Trajectory
from aerotwin_multirotor_dynamics import layout
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import Lidar, LidarParameters, load_preset, scan_message
from aerotwin_simulator import topics
from aerotwin_simulator.mounting import T_body_sensor
from aerotwin_simulator.parameters import LidarSettings, SimulatorParameters
from aerotwin_simulator.truth import TruthStep

LIDAR_FRAME = "lidar"


class Turns:
    """Collects the motion of the body and returns that of the lidar, turn by turn.

    Turn k begins at k / `rate_hz`; the first one is the first that begins at or after the first
    pose. The mounting `T_body_lidar` is (4, 4).
    """

    def __init__(self, rate_hz: float, T_body_lidar: np.ndarray) -> None:
        self._rate_hz = rate_hz
        self._p_body_lidar = T_body_lidar[:3, 3]
        self._q_body_lidar = Rotation.from_matrix(T_body_lidar[:3, :3])
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
        """Add a later pose; yield (begin, end, T_map_lidar) of each turn [ns] that it completes."""
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
        p_map_lidar = poses[:, :3] + q_map_body.apply(self._p_body_lidar)
        q_map_lidar = (q_map_body * self._q_body_lidar).as_quat()
        return Trajectory(np.array(self._stamps), p_map_lidar, q_map_lidar)

    def _drop_before(self, begin_ns: int) -> None:
        """Drop all poses before the last one at or before an instant."""
        n = max(sum(stamp <= begin_ns for stamp in self._stamps) - 1, 0)
        del self._stamps[:n], self._poses[:n]


class BodyLidar:
    """The lidar on the body, mounted at `T_body_lidar`; `seed` and `instance` select its noise."""

    def __init__(
        self,
        sensor: LidarParameters,
        T_body_lidar: np.ndarray,
        queries: WorldQueries,
        *,
        seed: int,
        instance: int,
        vehicle: str = "",
    ) -> None:
        self._lidar, self._queries = Lidar(sensor, seed, instance), queries
        self._turns = Turns(sensor.rate_hz, T_body_lidar)
        self._frame = topics.frame(vehicle, LIDAR_FRAME)
        self._last_ns = -1
        self.topic = topics.below(vehicle)(topics.LIDAR_POINTS)

    def warm_up(self) -> None:
        """Cast once so that no turn of the flight pays for compilation or the ray tracing scene."""
        level = np.array([0.0, 0.0, 0.0, 1.0])
        stamps = np.array([0, 2 * self._lidar.parameters.period_ns])
        motion = Trajectory(stamps, np.zeros((2, 3)), np.tile(level, (2, 1)))
        self._lidar.scan(self._queries.beams, motion, 0)

    def clouds(self, step: TruthStep) -> Iterator[tuple[int, int, bytes]]:
        """Yield (begin, end, message) of the turns that end in a step [ns]; stamp: the begin."""
        if self._last_ns < 0:
            yield from self.scan_to_pose(step.start_ns, step.start[layout.POSITION], _q(step.start))
        yield from self.scan_to_pose(step.end_ns, step.end[layout.POSITION], _q(step.end))

    def scan_to_pose(
        self, stamp_ns: int, p_map_body: np.ndarray, q_map_body: np.ndarray
    ) -> Iterator[tuple[int, int, bytes]]:
        """Add a pose, later than the last; yield (begin, end, message) of the completed turns."""
        self._last_ns = stamp_ns
        for begin_ns, end_ns, motion in self._turns.add(stamp_ns, p_map_body, q_map_body):
            scan = self._lidar.scan(self._queries.beams, motion, begin_ns)
            yield begin_ns, end_ns, serialize(scan_message(scan, self._frame))

    def forget(self) -> None:
        """Begin a new turn, as after a jump in time."""
        self._turns.forget()


def make_lidar(
    parameters: SimulatorParameters, queries: WorldQueries, vehicle: str = ""
) -> BodyLidar:
    """Return the lidar that the parameters name."""
    return BodyLidar(
        load_preset("lidar", parameters.lidar.preset),
        lidar_mounting(parameters.lidar),
        queries,
        seed=parameters.seed,
        instance=parameters.fleet.instance,
        vehicle=vehicle,
    )


def lidar_mounting(lidar: LidarSettings) -> np.ndarray:
    """Return T_body_lidar of an aircraft or robot."""
    return T_body_sensor(
        [lidar.x_m, lidar.y_m, lidar.z_m],
        roll_deg=lidar.roll_deg,
        pitch_deg=lidar.pitch_deg,
        yaw_deg=lidar.yaw_deg,
    )


def lidar_transform(lidar: LidarSettings, vehicle: str = "") -> object:
    """Return the mounting, `base_link` to `lidar`, as TransformStamped."""
    T = lidar_mounting(lidar)
    names = topics.frame(vehicle, "base_link"), topics.frame(vehicle, LIDAR_FRAME)
    return transform_stamped(0, *names, T[:3, 3], quaternion_from_rotation(T[:3, :3]))


def _q(state: np.ndarray) -> np.ndarray:
    return state[layout.QUATERNION]
