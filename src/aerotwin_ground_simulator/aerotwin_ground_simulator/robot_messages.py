# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages of a ground robot, serialised: clock, odometry of the wheels, truth, transforms."""

import numpy as np

from aerotwin_core.frames import pose_from_transform
from aerotwin_core.messages import (
    clock_message,
    odometry_message,
    serialize,
    transform_message,
    transform_stamped,
)
from aerotwin_ground_dynamics import GroundVehicle, Twist
from aerotwin_ground_simulator.sensing import LidarTurn
from aerotwin_multirotor_dynamics.truth_messages import TRUTH_FRAME
from aerotwin_sensor_models import LidarScan, RadarScan, scan_message
from aerotwin_simulator.scanners import LIDAR_FRAME, RADAR_FRAME, radar_messages
from aerotwin_simulator.topics import frame

WHEEL_TWIST_VARIANCES = (0.05**2, 0.01**2, 0.01**2, 0.01**2, 0.01**2, 0.1**2)
"""Slip of 5 % at 1 m/s and of 15 % at 0.5 rad/s, with other errors; none sideways."""
WHEEL_POSE_VARIANCES = (1.0, 1.0, 1.0, 0.1, 0.1, 1.0)
"""They grow with the distance; these are of some ten metres."""


def clock(stamp_ns: int) -> bytes:
    """Return /clock."""
    return serialize(clock_message(stamp_ns))


def truth_odometry(stamp_ns: int, vehicle: GroundVehicle, name: str = "") -> bytes:
    """Return truth/odom: map to base_link_truth; `name` is that in a fleet, as below."""
    T, twist = vehicle.T_map_base, vehicle.twist
    return serialize(_odometry(stamp_ns, ("map", frame(name, TRUTH_FRAME)), T, twist))


def wheel_odometry(stamp_ns: int, vehicle: GroundVehicle, name: str = "") -> bytes:
    """Return odom: odom to base_link, as estimated from the wheels."""
    said = vehicle.wheel_odometry
    message = _odometry(
        stamp_ns,
        (frame(name, "odom"), frame(name, "base_link")),
        said.T_odom_base,
        said.twist,
        pose_variances=WHEEL_POSE_VARIANCES,
        twist_variances=WHEEL_TWIST_VARIANCES,
    )
    return serialize(message)


def odometry_transform(stamp_ns: int, vehicle: GroundVehicle, name: str = "") -> bytes:
    """Return the edge odom to base_link of the wheels for /tf."""
    frames = frame(name, "odom"), frame(name, "base_link")
    return _transform(stamp_ns, frames, vehicle.wheel_odometry.T_odom_base)


def cloud(scan: LidarTurn) -> bytes:
    """Return lidar/points; its header has the start of the turn."""
    row = LidarScan(stamp_ns=scan.stamp_ns, cloud=scan.cloud[None], is_organised=False)
    return serialize(scan_message(row, LIDAR_FRAME))


def radar_turn(scan: RadarScan) -> tuple[bytes, bytes]:
    """Return radar/polar and radar/points; their headers have the start of the turn."""
    return radar_messages(scan, RADAR_FRAME)


def _odometry(stamp_ns: int, frames: tuple[str, str], T: np.ndarray, twist: Twist, **variances):
    v, omega = (twist.v_m_s, 0.0, 0.0), (0.0, 0.0, twist.omega_rad_s)
    return odometry_message(stamp_ns, *frames, *pose_from_transform(T), v, omega, **variances)


def _transform(stamp_ns: int, frames: tuple[str, str], T: np.ndarray) -> bytes:
    edge = transform_stamped(stamp_ns, *frames, *pose_from_transform(T))
    return serialize(transform_message([edge]))
