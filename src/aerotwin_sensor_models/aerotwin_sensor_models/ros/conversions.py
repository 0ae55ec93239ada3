# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Truth from messages, readings as messages; pure functions.

Messages that go out are CDR bytes; those that come in are read by attribute, be they rclpy's or
those of `aerotwin_core.messages`.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import FloatArray, rotation_from_quaternion
from aerotwin_core.messages import serialize
from aerotwin_sensor_models.gnss import GnssSample
from aerotwin_sensor_models.ros.truth import Truth

_LENGTH_TOLERANCE = 1e-3  # of a quaternion: float32 in the sender, or none given at all


def truth_from_messages(odometry: Any, accel: Any) -> Truth:
    """Return the motion that truth/odom and truth/accel of one stamp tell.

    Raises
    ------
    ValueError
        If the attitude is not a unit quaternion or a number is not finite.
    """
    pose, twist = odometry.pose.pose, odometry.twist.twist
    q = pose.orientation
    q_map_body = np.array([q.x, q.y, q.z, q.w])
    length = float(np.linalg.norm(q_map_body))
    if not abs(length - 1.0) < _LENGTH_TOLERANCE:
        raise ValueError(f"truth/odom must hold a unit quaternion, got one of length {length:g}")
    truth = Truth(
        stamp_ns=messages.stamp_ns(odometry),
        p_map_body=_array(pose.position),
        v_map_body=rotation_from_quaternion(q_map_body) @ _array(twist.linear),
        q_map_body=q_map_body / length,
        a_body=_array(accel.accel.linear),
        omega_body=_array(twist.angular),
        alpha_body=_array(accel.accel.angular),
    )
    if not truth.is_finite():
        raise ValueError(f"truth of {truth.stamp_ns} ns must be finite, got {truth}")
    return truth


def _array(vector: Any) -> FloatArray:
    return np.array([vector.x, vector.y, vector.z])


def white_std(density: float, rate_hz: float) -> float:
    """Return the standard deviation of one sample of white noise of a density."""
    return density * sqrt(rate_hz)


def imu_layout(frame: str, force_std: float, rate_std: float) -> FixedLayout:
    """Return sensor_msgs/Imu of specific force [m/s^2] and angular velocity [rad/s]."""

    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.imu_message(
            stamp_ns,
            frame,
            values[:3],
            values[3:],
            specific_force_std=force_std,
            angular_velocity_std=rate_std,
        )

    return FixedLayout(build, 6)


def magnetic_field_layout(frame: str, std_tesla: float) -> FixedLayout:
    """Return sensor_msgs/MagneticField [T]."""

    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.magnetic_field_message(stamp_ns, frame, values, std_tesla)

    return FixedLayout(build, 3)


def pressure_layout(frame: str, std_pa: float) -> FixedLayout:
    """Return sensor_msgs/FluidPressure [Pa]."""

    def build(stamp_ns: int, values: Sequence[float]) -> object:
        return messages.fluid_pressure_message(stamp_ns, frame, values[0], std_pa)

    return FixedLayout(build, 1)


def fix_bytes(stamp_ns: int, frame: str, sample: GnssSample) -> bytes:
    """Return sensor_msgs/NavSatFix: WGS84, altitude above the ellipsoid."""
    return serialize(
        messages.nav_sat_fix_message(
            stamp_ns,
            frame,
            sample.latitude_deg,
            sample.longitude_deg,
            sample.altitude_m,
            sample.position_std_m,
        )
    )


def velocity_bytes(stamp_ns: int, sample: GnssSample) -> bytes:
    """Return geometry_msgs/TwistStamped: the receiver's velocity in map axes [m/s]."""
    return serialize(messages.twist_stamped_message(stamp_ns, "map", sample.v_map))
