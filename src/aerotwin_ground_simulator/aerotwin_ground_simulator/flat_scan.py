# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The planar scan of a robot that moves during a turn of its lidar, alone and in a fleet."""

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_core.messages import deserialize, laser_scan_message, serialize, stamp_ns
from aerotwin_core.time import to_seconds
from aerotwin_ground_dynamics import Twist
from aerotwin_ground_simulator.sensing import LidarTurn
from aerotwin_sensor_models import FlatScanParameters, LidarParameters, flat_ranges, load_preset
from aerotwin_sensor_models.lidar import POINT
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.scanners import mounting_of
from aerotwin_simulator.topics import Topic

SCAN = Topic("scan", "sensor_msgs/msg/LaserScan", 10.0, frame_id="base_link")


class FlatScanner:
    """Makes scans of the turns of a lidar on a robot; T_base_lidar (4, 4) is its mounting.

    `name` is that of the robot in a fleet, "" alone; `topic` is that of the scans, `cloud` that of
    the turns.
    """

    def __init__(
        self,
        lidar: LidarParameters,
        T_base_lidar: np.ndarray,
        parameters: FlatScanParameters,
        name: str = "",
    ) -> None:
        self.topic, self.cloud = map(topics.below(name), (SCAN, topics.LIDAR_POINTS))
        self._lidar, self._T_base_lidar, self._parameters = lidar, T_base_lidar, parameters
        self._frame = topics.frame(name, "base_link")

    def scan(self, turn: LidarTurn, twist: Twist) -> bytes:
        """Return scan, serialised: the obstacles of a turn in the plane of base_link at its stamp.

        `twist` of the wheel odometry takes the robot's motion during the turn out of them.
        """
        points_base = transform_points(self._T_base_lidar, turn.points_lidar)
        if not self._lidar.is_deskewed:
            points_base = deskewed(points_base, turn.times_s, twist)
        message = laser_scan_message(
            turn.stamp_ns,
            self._frame,
            flat_ranges(points_base, self._parameters),
            limits_m=(self._parameters.min_range_m, self._lidar.maximum_range_m),
            scan_time_s=to_seconds(turn.end_ns - turn.stamp_ns),
        )
        return serialize(message)

    def scan_of_cloud(self, cdr: bytes, twist: Twist) -> tuple[int, bytes]:
        """Return the end [ns] of the turn in a message of `lidar/points`, and its scan."""
        message = deserialize(cdr, topics.LIDAR_POINTS.msgtype)
        begin_ns = stamp_ns(message)
        end_ns = begin_ns + self._lidar.period_ns
        cloud = np.array(message.data).view(POINT)  # a copy: aligned
        return end_ns, self.scan(LidarTurn(stamp_ns=begin_ns, end_ns=end_ns, cloud=cloud), twist)


def flat_scanner_of(parameters: SimulatorParameters, name: str) -> FlatScanner | None:
    """Return the scanner of a ground robot of a fleet, None without a lidar."""
    if not parameters.lidar.is_mounted:
        return None
    lidar = load_preset("lidar", parameters.lidar.preset)
    settings = parameters.ground_robot.scan
    return FlatScanner(lidar, mounting_of(parameters.lidar), settings, name)


def deskewed(points_base: np.ndarray, times_s: np.ndarray, twist: Twist) -> np.ndarray:
    """Return points (n, 3) in base_link at the stamp, of those measured `times_s` (n,) after it.

    The robot moves on the arc of a constant twist, as in `aerotwin_ground_dynamics.arc`.
    """
    x, y, z = np.asarray(points_base, dtype=np.float64).T
    turn = twist.omega_rad_s * np.asarray(times_s, dtype=np.float64)
    chord_m = twist.v_m_s * times_s * np.sinc(turn / (2.0 * np.pi))
    cos, sin = np.cos(turn), np.sin(turn)
    return np.column_stack(
        [
            cos * x - sin * y + chord_m * np.cos(turn / 2.0),
            sin * x + cos * y + chord_m * np.sin(turn / 2.0),
            z,
        ]
    )
