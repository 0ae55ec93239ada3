# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The last pose of a topic of odometry, read from the bytes of its messages."""

import math
import struct

import numpy as np

from aerotwin_core.frames import FloatArray, transform_from_pose

FARTHEST_M = 1e7
"""What is farther from the origin of its frame is left out: it cannot be drawn."""
_HEAD, _POSE, _COVARIANCE = struct.Struct("<iII"), struct.Struct("<7d"), struct.Struct("<15d")


class HeardPose:
    """The last pose on a topic; NaN before the first."""

    def __init__(self) -> None:
        self.stamp_ns = -1
        self.frame = ""
        self.p: FloatArray = np.full(3, np.nan)
        self.q_xyzw: FloatArray = np.array([0.0, 0.0, 0.0, 1.0])
        self._cdr, self._after_pose = b"", 0

    @property
    def T_frame_body(self) -> FloatArray:
        """The pose as a matrix (4, 4)."""
        return transform_from_pose(self.p, self.q_xyzw)

    def set(self, odometry: bytes) -> bool:
        """Take over a message, its CDR bytes; return False if it is left out, for it is no pose."""
        try:
            stamp_ns, frame, numbers, after_pose = _pose_of_odometry(odometry)
        except (struct.error, IndexError):
            return False
        length = math.hypot(*numbers[3:])
        if not (all(map(math.isfinite, numbers)) and 0.0 < length < math.inf):
            return False
        if max(map(abs, numbers[:3])) > FARTHEST_M:
            return False
        self.stamp_ns, self.frame = stamp_ns, frame
        self.p = np.array(numbers[:3])
        self.q_xyzw = np.array(numbers[3:]) / length
        self._cdr, self._after_pose = odometry, after_pose
        return True

    def position_covariance(self) -> FloatArray | None:
        """Return the covariance (3, 3) of the position in its frame [m^2], None if there is none.

        The numbers are as in the message, whatever they are.
        """
        try:
            rows = _COVARIANCE.unpack_from(self._cdr, self._after_pose)
        except struct.error:
            return None
        return np.array([rows[0:3], rows[6:9], rows[12:15]])


def _pose_of_odometry(cdr: bytes) -> tuple[int, str, tuple[float, ...], int]:
    """Return stamp [ns], frame, position with quaternion xyzw, and where the covariance begins.

    Read from the bytes of a nav_msgs/Odometry (little endian, as on every machine that ROS
    supports): to make the message with its covariances first takes ten times as long, which counts
    for a hundred robots.
    """
    seconds, nanoseconds, length = _HEAD.unpack_from(cdr, 4)
    at = 16 + length
    frame = cdr[16 : at - 1].decode(errors="replace")
    at += -at % 4
    at += 4 + int.from_bytes(cdr[at : at + 4], "little")
    at += (4 - at) % 8  # numbers are aligned behind the four bytes of the encapsulation
    stamp_ns = seconds * 1_000_000_000 + nanoseconds
    return stamp_ns, frame.strip("/"), _POSE.unpack_from(cdr, at), at + _POSE.size
