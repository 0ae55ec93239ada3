# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Truth as the sensors need it, at the instants of messages and between them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aerotwin_core import messages
from aerotwin_core.frames import FloatArray, rotation_from_quaternion, slerp


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The motion of the body origin at one instant; `_body` vectors are in body axes.

    The acceleration is that of the motion, without gravity. `vibration` (9,) is the effect of the
    rotors on specific force, angular velocity and its rate, body axes.
    """

    stamp_ns: int
    p_map_body: FloatArray
    v_map_body: FloatArray
    q_map_body: FloatArray
    a_body: FloatArray
    omega_body: FloatArray
    alpha_body: FloatArray
    vibration: FloatArray = field(default_factory=lambda: np.zeros(9))

    @property
    def R_map_body(self) -> FloatArray:
        """Attitude as a matrix (3, 3)."""
        return rotation_from_quaternion(self.q_map_body)

    def is_finite(self) -> bool:
        """Return whether every number is finite."""
        parts = (self.p_map_body, self.v_map_body, self.q_map_body, self.a_body)
        felt = (self.omega_body, self.alpha_body, self.vibration)
        return bool(np.isfinite(np.concatenate([*parts, *felt])).all())


def interpolate(before: Truth, after: Truth, stamp_ns: int) -> Truth:
    """Return the motion between two others: cubic position, slerp attitude, the rest linear."""
    if stamp_ns == after.stamp_ns:
        return after
    span = after.stamp_ns - before.stamp_ns
    u, dt = (stamp_ns - before.stamp_ns) / span, span * 1e-9

    def blend(a: FloatArray, b: FloatArray) -> FloatArray:
        return (1.0 - u) * a + u * b

    drawn = u * (1.0 - u) * dt * ((1.0 - u) * before.v_map_body - u * after.v_map_body)
    weight = u * u * (3.0 - 2.0 * u)
    return Truth(
        stamp_ns=stamp_ns,
        p_map_body=before.p_map_body + weight * (after.p_map_body - before.p_map_body) + drawn,
        v_map_body=blend(before.v_map_body, after.v_map_body),
        q_map_body=slerp(before.q_map_body, after.q_map_body, u),
        a_body=blend(before.a_body, after.a_body),
        omega_body=blend(before.omega_body, after.omega_body),
        alpha_body=blend(before.alpha_body, after.alpha_body),
    )


_LENGTH_TOLERANCE = 1e-3  # of a quaternion: float32 in the sender, or unset


def truth_from_messages(
    odometry: Any, accel: Any, vibration: tuple[Any, Any] | None = None
) -> Truth:
    """Return the motion in truth/odom and truth/accel of one stamp.

    `vibration` is the effect of the rotors: an AccelStamped of specific force and angular
    acceleration, a TwistStamped of angular velocity. Raises ValueError if the attitude is not a
    unit quaternion or a number is not finite.
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
    """Return the motion in truth/odom alone, for sensors that do not measure acceleration."""
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
