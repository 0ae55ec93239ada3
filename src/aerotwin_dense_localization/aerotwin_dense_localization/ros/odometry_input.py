# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The pose that an odometry message tells, if it is sound and of the frames that are meant."""

import numpy as np
from nav_msgs.msg import Odometry

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import transform_from_pose_message


def pose_of(message: Odometry, parent: str, child: str) -> FloatArray:
    """Return T_parent_child (4, 4) of a message; empty frames in it are taken for those meant.

    Raises
    ------
    ValueError
        If it is of other frames, not finite, or no rotation.
    """
    for found, meant in ((message.header.frame_id, parent), (message.child_frame_id, child)):
        if found not in ("", meant):
            raise ValueError(
                f"it is of {message.header.frame_id!r} and {message.child_frame_id!r}, not of "
                f"{parent!r} and {child!r}; name its frames by parameters"
            )
    T = transform_from_pose_message(message.pose.pose)
    if not np.isfinite(T).all():
        raise ValueError("its pose is not finite")
    return T
