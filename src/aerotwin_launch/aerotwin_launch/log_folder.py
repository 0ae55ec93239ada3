# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Location of the logs of launched processes: beside those of ROS's own launch."""

import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path

from aerotwin_core.home_path import expanded
from aerotwin_launch.errors import LaunchError


def make_log_folder(environment: Mapping[str, str]) -> Path:
    """Create a new folder below ROS_LOG_DIR, or $ROS_HOME/log, or ~/.ros/log."""
    home = environment.get("ROS_HOME") or "~/.ros"
    root = expanded(environment.get("ROS_LOG_DIR") or Path(home, "log"))
    stamp = time.strftime("%Y-%m-%d-%H-%M-%S")
    folder = root / f"{stamp}-{platform.node()}-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = (
            f"log folder '{folder}': {error.strerror}; set ROS_LOG_DIR to one that can be written"
        )
        raise LaunchError(None, message) from None
    return folder
