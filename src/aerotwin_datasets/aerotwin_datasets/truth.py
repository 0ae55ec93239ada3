# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Truth of a sensor's frame from that of base_link, with velocities and the biases of the IMU."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.messages import stamp_ns
from aerotwin_core.trajectory import Trajectory
from aerotwin_datasets.recording import Recording


@dataclass(frozen=True, kw_only=True)
class BodyTruth:
    """True states of a body frame in `map`.

    Attributes
    ----------
    trajectory : Trajectory
        Poses of the body.
    v_map_body : (n, 3) array
        Its velocity in map axes [m/s].
    gyroscope_bias, accelerometer_bias : (n, 3) arrays
        Of the IMU [rad/s, m/s^2]; NaN where they are not known.
    """

    trajectory: Trajectory
    v_map_body: np.ndarray
    gyroscope_bias: np.ndarray
    accelerometer_bias: np.ndarray


def truth_of(recording: Recording, T_base_body: np.ndarray) -> BodyTruth | None:
    """Return the truth of a frame that is fixed to base_link in the part that is taken.

    None if the bag has no truth.
    """
    if recording.truth_topic is None:
        return None
    rows = [
        (stamp_ns(message), _pose(message.pose.pose), _twist(message.twist.twist))
        for _, _, message in recording.messages([recording.truth_topic])
    ]
    rows = [row for k, row in enumerate(rows) if k == 0 or row[0] > rows[k - 1][0]]
    stamps = np.array([row[0] for row in rows], dtype=np.int64)
    poses = np.array([row[1] for row in rows]).reshape(-1, 7)
    twists = np.array([row[2] for row in rows]).reshape(-1, 6)
    base = Trajectory(stamps, poses[:, :3], poses[:, 3:])
    # The velocity of another point of a rigid body: v + omega x lever.
    lever = T_base_body[:3, 3]
    v_in_base = twists[:, :3] + np.cross(twists[:, 3:], lever)
    v_map_body = np.einsum("nij,nj->ni", base.R_ref_body, v_in_base)
    gyroscope, accelerometer = _biases(recording, stamps)
    return BodyTruth(
        trajectory=_of_body(base, T_base_body),
        v_map_body=v_map_body,
        gyroscope_bias=gyroscope,
        accelerometer_bias=accelerometer,
    )


def _of_body(base: Trajectory, T_base_body: np.ndarray) -> Trajectory:
    if np.array_equal(T_base_body, np.eye(4)):
        return base  # to the last digit
    T_map_body = base.transforms() @ T_base_body
    q = Rotation.from_matrix(T_map_body[:, :3, :3]).as_quat()
    return Trajectory(base.stamps_ns, T_map_body[:, :3, 3], q)


def _biases(recording: Recording, stamps_ns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the biases at stamps, linear between messages and constant before and after them."""
    unknown = np.full((len(stamps_ns), 3), np.nan)
    if recording.bias_topic is None:
        return unknown, unknown
    at, values = [], []
    for _, _, message in recording.bag.messages([recording.bias_topic]):
        rate, force = message.angular_velocity, message.linear_acceleration
        at.append(stamp_ns(message))
        values.append((rate.x, rate.y, rate.z, force.x, force.y, force.z))
    if not at:
        return unknown, unknown
    first_ns = at[0]
    known_s = (np.array(at) - first_ns) * 1e-9
    requested_s = (stamps_ns - first_ns) * 1e-9
    columns = [np.interp(requested_s, known_s, column) for column in np.array(values).T]
    table = np.column_stack(columns)
    return table[:, :3], table[:, 3:]


def _pose(pose: Any) -> tuple[float, ...]:
    p, q = pose.position, pose.orientation
    return p.x, p.y, p.z, q.x, q.y, q.z, q.w


def _twist(twist: Any) -> tuple[float, ...]:
    v, w = twist.linear, twist.angular
    return v.x, v.y, v.z, w.x, w.y, w.z
