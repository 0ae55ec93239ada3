# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle whose odometry and localisation are told the truth, as far as a test lets them."""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from aerotwin_core.frames import invert_transform
from aerotwin_teach_repeat.repeat import Repeater, RepeatParameters
from aerotwin_teach_repeat.tracking import PurePursuitTracker, RoutePath, TrackerParameters

from .vehicle import TestVehicle, driven

PERIOD_S = 0.1
NOTHING = np.zeros((0, 3))


@dataclass(kw_only=True)
class Stage:
    """A route of 40 m with a bend, its vehicle, and what is wrong at which time."""

    parameters: RepeatParameters = field(default_factory=RepeatParameters)
    lost: object = lambda t: False
    silent: object = lambda t: False
    unusable: object = lambda t: False
    broken: object = lambda t: False
    n_points: int = 1000
    matched_ratio: object = lambda t: 1.0
    poses: np.ndarray = field(
        default_factory=lambda: driven([(12.0, 0.0), (6.0, 0.2), (22.0, 0.0)])
    )
    vehicle: TestVehicle = field(default_factory=TestVehicle)
    make_tracker: object = PurePursuitTracker  # ten times faster than the predictive one

    def __post_init__(self):
        route = RoutePath(self.poses)
        self.route_ids = list(range(100, 100 + len(self.poses)))
        vertices = dict(zip(self.route_ids, self.poses))
        graph = SimpleNamespace(vertex=lambda k: SimpleNamespace(T_map_vertex=vertices[k]))
        self.tracker = self.make_tracker(route, TrackerParameters())
        self.repeater = Repeater(graph, self.route_ids, self, self, self.tracker, self.parameters)
        self.steps, self.truth, self._scan_pose, self.calls = [], [], np.eye(4), []

    # As an odometry: exact, in a frame of its own.
    def add(self, points_base, times_s, stamp_ns, wheel_twist=None):
        if self.unusable(stamp_ns * 1e-9):
            raise ValueError("no points")
        return SimpleNamespace(
            T_odom_base=self.T_odom_map @ self._scan_pose, covariance=np.eye(6),
            twist=np.array([self.vehicle.v, 0, 0, 0, 0, self.vehicle.omega]),
            points_base=np.zeros((self.n_points, 3)), reason="a wall where none was",
            accepted=not self.broken(stamp_ns * 1e-9),
        )  # fmt: skip

    def restart(self):
        self.calls.append("restart")

    T_odom_map = invert_transform(driven([(3.0, 0.5)])[-1])

    # As a localiser: exact, where it is not lost.
    def localize(self, points_base, stamp_ns, T_odom_base, odom_covariance):
        self.calls.append("localize")
        return self._found(stamp_ns)

    def relocalize(self, points_base):
        self.calls.append("relocalize")
        return self._found(self._stamp_ns)

    def reset(self, vertex_id, T_vertex_base):
        self.calls.append(f"reset {vertex_id}")

    def _found(self, stamp_ns):
        lost = self.lost(stamp_ns * 1e-9)
        T = self._scan_pose
        nearest = int(np.argmin(np.linalg.norm(self.poses[:, :2, 3] - T[:2, 3], axis=1)))
        return SimpleNamespace(
            T_map_base=T @ driven([(9.0, 0.0)])[-1] if lost else T, accepted=not lost,
            vertex_id=self.route_ids[nearest], reason="fog" if lost else "matched",
            T_vertex_base=invert_transform(self.poses[nearest]) @ T,
            matched_ratio=self.matched_ratio(stamp_ns * 1e-9),
        )  # fmt: skip

    def put(self, T_map_base):
        """Carry the vehicle to a pose."""
        self.vehicle.x, self.vehicle.y = T_map_base[:2, 3]
        self.vehicle.theta = math.atan2(T_map_base[1, 0], T_map_base[0, 0])

    def carry(self, T_map_base):
        """Carry the vehicle to a pose without its odometry seeing it."""
        T_before = self.vehicle.T_map_base
        self.put(T_map_base)
        self.T_odom_map = self.T_odom_map @ T_before @ invert_transform(T_map_base)

    def run(self, until_s):
        """Scan, command and drive until a time; return the last step."""
        while self.vehicle.time_s < until_s - 1e-6:
            now = self.vehicle.time_s
            self._stamp_ns = round(now * 1e9)
            self._scan_pose = self.vehicle.T_map_base
            wheels = (self.vehicle.v, self.vehicle.omega)
            if self.silent(now):
                step = self.repeater.on_tick(self._stamp_ns, wheels)
            else:
                step = self.repeater.on_scan(NOTHING, np.zeros(0), self._stamp_ns, wheels)
            self.steps.append(step)
            self.truth.append((now, *self.vehicle.T_map_base[:2, 3]))
            leaves = now + self.parameters.latency_s
            self.vehicle.command(leaves, step.v_m_s, step.omega_rad_s)
            self.vehicle.drive(now + PERIOD_S)
        return self.steps[-1]

    @property
    def states(self):
        """The states in the order in which they came."""
        return [str(t.after) for t in self.repeater.transitions]

    def longest_blind_way(self):
        """Return the longest way driven between two localised scans, truly [m]."""
        places = np.array(self.truth)[:, 1:]
        ways = np.r_[0.0, np.hypot(*np.diff(places, axis=0).T)]
        longest = way = 0.0
        for step, metres in zip(self.steps, ways):
            way += metres
            longest = max(longest, way)
            if step.is_localised:
                way = 0.0
        return longest
