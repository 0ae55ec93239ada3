# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Odometry results as messages; pure functions."""

from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from aerotwin_core.ros.conversions import message_from_transform, pose_message, stamp_from_ns
from aerotwin_stereo_odometry.body import BodyOdometry


def odometry_message(body: BodyOdometry, odom_frame: str, base_frame: str) -> Odometry:
    """Return nav_msgs/Odometry: pose in odom, twist in the body's axes."""
    message = Odometry(child_frame_id=base_frame)
    message.header.stamp = stamp_from_ns(body.stamp_ns)
    message.header.frame_id = odom_frame
    message.pose.pose = pose_message(body.T_odom_body)
    message.pose.covariance = body.pose_covariance.ravel().tolist()
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = body.twist_in_body.tolist()
    message.twist.covariance = body.twist_covariance.ravel().tolist()
    return message


def tf_message(body: BodyOdometry, odom_frame: str, base_frame: str) -> TFMessage:
    """Return the transform odom -> base_link."""
    item = TransformStamped(child_frame_id=base_frame)
    item.header.stamp = stamp_from_ns(body.stamp_ns)
    item.header.frame_id = odom_frame
    item.transform = message_from_transform(body.T_odom_body)
    return TFMessage(transforms=[item])
