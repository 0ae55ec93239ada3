# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""In how many ways drivers and SLAMs publish images, IMU samples and poses."""

from typing import Any

from geometry_msgs.msg import (
    Point,
    Pose,
    PoseStamped,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    TransformStamped,
)
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CompressedImage, Image, Imu
from tf2_msgs.msg import TFMessage

from aerotwin_core.ros.conversions import image_from_compressed
from aerotwin_core.ros.intake import TopicSource


def image_sources(topic: str) -> tuple[TopicSource, ...]:
    """Return raw images, else those compressed by image_transport, passed on as Image."""
    return (
        TopicSource(topic=topic, kind=Image),
        TopicSource(
            topic=topic,
            suffix="/compressed",
            kind=CompressedImage,
            convert=image_from_compressed,
        ),
    )


def imu_sources() -> tuple[TopicSource, ...]:
    """Return imu/data_raw, else imu/data, which has an orientation, too (REP 145)."""
    return TopicSource(topic="imu/data_raw", kind=Imu), TopicSource(topic="imu/data", kind=Imu)


def pose_sources(topic: str, *, frames: tuple[str, str] | None = None) -> dict[str, TopicSource]:
    """Return every way in which poses are published, by its name, passed on as Odometry.

    `frames` are the parent and the child of the pose in /tf; without them /tf is left out.
    """
    sources = {
        "odometry": TopicSource(topic=topic, kind=Odometry),
        "pose": TopicSource(topic=topic, kind=PoseStamped, convert=_of_pose),
        "pose_with_covariance": TopicSource(
            topic=topic, kind=PoseWithCovarianceStamped, convert=_of_pose_with_covariance
        ),
        "transform": TopicSource(topic=topic, kind=TransformStamped, convert=odometry_of_transform),
    }
    if frames is not None:
        sources["tf"] = TopicSource(
            topic="/tf", kind=TFMessage, convert=lambda m: _in_tree(m, *frames)
        )
    return sources


def odometry_of_transform(message: TransformStamped) -> Odometry:
    """Return the pose of the child frame, without velocity and covariance."""
    translation = message.transform.translation
    pose = Pose(
        position=Point(x=translation.x, y=translation.y, z=translation.z),
        orientation=message.transform.rotation,
    )
    return Odometry(
        header=message.header,
        child_frame_id=message.child_frame_id,
        pose=PoseWithCovariance(pose=pose),
    )


def _of_pose(message: PoseStamped) -> Odometry:
    return Odometry(header=message.header, pose=PoseWithCovariance(pose=message.pose))


def _of_pose_with_covariance(message: PoseWithCovarianceStamped) -> Odometry:
    return Odometry(header=message.header, pose=message.pose)


def _in_tree(message: TFMessage, parent: str, child: str) -> Any:
    for item in message.transforms:
        if (item.header.frame_id, item.child_frame_id) == (parent, child):
            return odometry_of_transform(item)
    return None
