# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Covariance of odometry poses in the odom frame, propagated along the chain of keyframes."""

import numpy as np


def increment_to_odom(covariance_cam, T_cam_odom):
    """Return the covariance (position, rotation; odom axes) of a camera-frame left increment."""
    R = T_cam_odom[:3, :3].T
    axes = np.zeros((6, 6))
    axes[:3, :3] = R
    axes[3:, 3:] = R
    return axes @ covariance_cam @ axes.T


def compose_covariance(covariance_base, displacement_odom, covariance_relative):
    """Return the covariance of a pose known relative to an uncertain base pose.

    Covariances (6, 6) are of position and rotation in odom axes [m, rad]. `displacement_odom` (3,)
    from the base to the pose [m] is a lever on the base's rotation error.
    """
    x, y, z = displacement_odom
    transport = np.eye(6)
    transport[:3, 3:] = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    return transport @ covariance_base @ transport.T + covariance_relative
