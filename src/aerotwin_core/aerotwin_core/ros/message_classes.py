# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""rclpy's class of a message type, by its name."""

import importlib
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import (
    BatteryState,
    CameraInfo,
    FluidPressure,
    Image,
    Imu,
    JointState,
    Joy,
    MagneticField,
    NavSatFix,
    PointCloud2,
)
from tf2_msgs.msg import TFMessage

from aerotwin_core.errors import UserError

MESSAGE_CLASSES: dict[str, Any] = {
    f"{cls.__module__.partition('.')[0]}/msg/{cls.__name__}": cls
    for cls in (
        AccelStamped,
        BatteryState,
        CameraInfo,
        Clock,
        DiagnosticArray,
        FluidPressure,
        Image,
        Imu,
        JointState,
        Joy,
        MagneticField,
        NavSatFix,
        Odometry,
        PointCloud2,
        PoseStamped,
        TFMessage,
        TwistStamped,
    )
}
"""rclpy's class of each message type that the simulator publishes."""


def message_class(msgtype: str) -> Any:
    """Return rclpy's class of a message type; those of extra sensors are looked for.

    Raises
    ------
    UserError
        If ROS has no such type.
    """
    if msgtype in MESSAGE_CLASSES:
        return MESSAGE_CLASSES[msgtype]
    package, _, name = msgtype.rpartition("/")
    try:
        return getattr(importlib.import_module(package.replace("/", ".")), name)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"message type {msgtype}: expected one of this ROS installation, found none; "
            f"install the package {package.partition('/')[0]}"
        ) from error
