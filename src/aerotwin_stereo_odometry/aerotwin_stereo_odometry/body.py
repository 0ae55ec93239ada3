# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From the camera to its body: pose, twist and their covariances."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_stereo_odometry.covariance import compose_covariance
from aerotwin_stereo_odometry.odometry import StereoOdometryFrame

UNKNOWN_STD = 1e3  # of a twist that nothing is known about [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class BodyOdometry:
    """Odometry of the body."""

    stamp_ns: int
    # T_odom_body and pose_covariance: pose, and its covariance: position, rotation vector; odom
    # axes [m, rad]
    T_odom_body: np.ndarray  # (4, 4)
    pose_covariance: np.ndarray  # (6, 6)
    # twist_in_body and twist_covariance: mean velocity and angular velocity since the previous
    # frame, body axes [m/s, rad/s]
    twist_in_body: np.ndarray  # (6,)
    twist_covariance: np.ndarray  # (6, 6)


def body_odometry(
    frame: StereoOdometryFrame, T_body_optical, before: BodyOdometry | None
) -> BodyOdometry:
    """Return the body's odometry from the camera's.

    `T_body_optical` is the pose of the camera on the body; the twist is relative to `before`.
    """
    T_odom_body = frame.T_odom_optical @ np.linalg.inv(T_body_optical)
    lever = T_odom_body[:3, 3] - frame.T_odom_optical[:3, 3]
    pose_covariance = compose_covariance(frame.covariance, lever, np.zeros((6, 6)))
    twist, twist_covariance = np.zeros(6), np.eye(6) * UNKNOWN_STD**2
    if before is not None:
        dt = 1e-9 * (frame.stamp_ns - before.stamp_ns)
        T_before_now = np.linalg.inv(before.T_odom_body) @ T_odom_body
        turn = Rotation.from_matrix(T_before_now[:3, :3]).as_rotvec()
        # mean attitude of the interval: axes halfway between the two frames
        half = Rotation.from_rotvec(-0.5 * turn).as_matrix()
        twist = np.concatenate([half @ T_before_now[:3, 3], turn]) / dt
        axes = np.kron(np.eye(2), T_odom_body[:3, :3].T)
        local = compose_covariance(frame.frame_covariance, lever, np.zeros((6, 6)))
        twist_covariance = axes @ (2.0 * local / dt**2) @ axes.T
    return BodyOdometry(
        stamp_ns=frame.stamp_ns,
        T_odom_body=T_odom_body,
        pose_covariance=pose_covariance,
        twist_in_body=twist,
        twist_covariance=0.5 * (twist_covariance + twist_covariance.T),
    )
