# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin --version` says."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

_ROS_OF_RCLPY = {"3": "Humble", "7": "Jazzy", "9": "Kilted"}
"""The distribution by the major version of its rclpy."""


def version_line() -> str:
    """Return the versions of this package, of Python and of ROS, in one line.

    That of ROS is read from its metadata: it is not imported, and need not be there.
    """
    ros = "no ROS"
    for name in ("ros-rclpy", "rclpy"):  # of a wheel, of apt
        with suppress(PackageNotFoundError):
            rclpy = version(name)
            distribution = _ROS_OF_RCLPY.get(rclpy.partition(".")[0], "distribution not known")
            ros = f"ROS 2 {distribution} (rclpy {rclpy})"
            break
    return f"aerotwin {version('aerotwin_core')}, Python {platform.python_version()}, {ros}"
