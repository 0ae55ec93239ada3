# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stereo odometry, the SLAM under test that is included.

Corners are tracked by optical flow and aligned to the patch of the keyframe that created them;
depth comes from a rectified pair; poses from RANSAC and a bundle adjustment over the last
keyframes, weighted by the covariance of each position and disparity. Frames: odom, and the left
camera as `optical` (x right, y down, z forward). No ROS is needed: see `StereoOdometry`.
"""

from aerotwin_stereo_odometry.odometry import StereoOdometry, StereoOdometryFrame
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters
from aerotwin_stereo_odometry.warm_up import warm_up

__all__ = ["StereoOdometry", "StereoOdometryFrame", "StereoOdometryParameters", "warm_up"]
