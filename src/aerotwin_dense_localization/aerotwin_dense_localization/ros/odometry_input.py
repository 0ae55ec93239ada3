# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The validated pose of an odometry message."""

import numpy as np
from nav_msgs.msg import Odometry

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import transform_from_pose_message


def pose_of(message: Odometry, frame: str) -> FloatArray:
    """Return T_frame_base (4, 4) of a message; its child frame may have any name.

    Raises ValueError if it is in another frame, not finite, or no rotation.
    """
    found = message.header.frame_id
    if found not in ("", frame):
        raise ValueError(f"its frame must be {frame!r}, got {found!r}")
    T = transform_from_pose_message(message.pose.pose)
    if not np.isfinite(T).all():
        raise ValueError("its pose is not finite")
    return T
