# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""rclpy's class of a message type, by its name."""

import importlib
from typing import Any

from aerotwin_core.errors import UserError


def message_class(msgtype: str) -> Any:
    """Return rclpy's class of a message type, such as "sensor_msgs/msg/Imu".

    Raises `UserError` if ROS has no such type.
    """
    package, _, name = msgtype.rpartition("/")
    try:
        return getattr(importlib.import_module(package.replace("/", ".")), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(
            f"message type {msgtype}: expected one of this ROS installation, found none; "
            f"install the package {package.partition('/')[0]}"
        ) from error
