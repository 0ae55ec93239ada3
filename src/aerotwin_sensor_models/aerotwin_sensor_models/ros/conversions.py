# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Truth from messages, read by attribute, from rclpy or `aerotwin_core.messages`."""

from typing import Any

import numpy as np

from aerotwin_core import messages
from aerotwin_core.frames import FloatArray, rotation_from_quaternion
from aerotwin_sensor_models.ros.truth import Truth

_LENGTH_TOLERANCE = 1e-3  # of a quaternion: float32 in the sender, or unset


def truth_from_messages(
    odometry: Any, accel: Any, vibration: tuple[Any, Any] | None = None
) -> Truth:
    """Return the motion in truth/odom and truth/accel of one stamp.

    Parameters
    ----------
    odometry, accel : nav_msgs/Odometry, geometry_msgs/AccelStamped
        Truth of the body.
    vibration : (geometry_msgs/AccelStamped, geometry_msgs/TwistStamped), optional
        Effect of the rotors: specific force and angular acceleration, angular velocity.

    Raises
    ------
    ValueError
        If the attitude is not a unit quaternion or a number is not finite.
    """
    moved, added = accel.accel, np.zeros(9)
    if vibration is not None:
        shaken, turned = vibration[0].accel, vibration[1].twist
        parts = (shaken.linear, turned.angular, shaken.angular)
        added = np.concatenate([_array(part) for part in parts])
    return _truth(
        odometry,
        a_body=_array(moved.linear),
        alpha_body=_array(moved.angular),
        vibration=added,
    )


def truth_from_odometry(odometry: Any) -> Truth:
    """Return the motion in truth/odom alone, for sensors that do not measure acceleration.

    Raises ValueError as `truth_from_messages`.
    """
    still = np.zeros(3)
    return _truth(odometry, a_body=still, alpha_body=still, vibration=np.zeros(9))


def _truth(
    odometry: Any, *, a_body: FloatArray, alpha_body: FloatArray, vibration: FloatArray
) -> Truth:
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
        a_body=a_body,
        omega_body=_array(twist.angular),
        alpha_body=alpha_body,
        vibration=vibration,
    )
    if not truth.is_finite():
        raise ValueError(f"truth of {truth.stamp_ns} ns must be finite, got {truth}")
    return truth


def _array(vector: Any) -> FloatArray:
    return np.array([vector.x, vector.y, vector.z])
