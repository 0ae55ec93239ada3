# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose of a body at the stamp of an image, interpolated from odometry at other stamps."""

from collections import deque

import numpy as np
from nav_msgs.msg import Odometry

from aerotwin_core.frames import FloatArray, pose_from_transform
from aerotwin_core.ros.conversions import transform_from_pose_message
from aerotwin_core.time import from_seconds
from aerotwin_core.trajectory import Trajectory

N_RETAINED = 1000


class PoseBuffer:
    """Buffers the last poses; interpolates between them, except across gaps above `max_gap_s`."""

    def __init__(self, max_gap_s: float) -> None:
        self._max_gap_ns = from_seconds(max_gap_s)
        self._poses: deque[tuple[int, FloatArray]] = deque(maxlen=N_RETAINED)

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the last pose [ns]; None without any."""
        return self._poses[-1][0] if self._poses else None

    def add(self, stamp_ns: int, T_odom_base: FloatArray) -> None:
        """Add a pose (4, 4); if time goes back, all earlier ones are dropped."""
        if self._poses and stamp_ns <= self._poses[-1][0]:
            self._poses.clear()
        self._poses.append((stamp_ns, T_odom_base))

    def has_passed(self, stamp_ns: int) -> bool:
        """Return whether a pose of this time or a later one was received."""
        return self.newest_ns is not None and self.newest_ns >= stamp_ns

    def at(self, stamp_ns: int) -> FloatArray | None:
        """Return the pose at a time between two poses; None before, after and in a wide gap."""
        before = None
        for after in reversed(self._poses):
            if after[0] == stamp_ns:
                return after[1]
            if after[0] < stamp_ns:
                return None if before is None else self._between(after, before, stamp_ns)
            before = after
        return None

    def near(self, stamp_ns: int) -> FloatArray | None:
        """Return the pose at a time, or the last one before it if that is recent."""
        if self._poses and 0 < stamp_ns - self._poses[-1][0] <= self._max_gap_ns:
            return self._poses[-1][1]
        return self.at(stamp_ns)

    def _between(
        self, a: tuple[int, FloatArray], b: tuple[int, FloatArray], stamp_ns: int
    ) -> FloatArray | None:
        if b[0] - a[0] > self._max_gap_ns:
            return None
        places = [pose_from_transform(T) for _, T in (a, b)]
        pair = Trajectory(
            np.array([a[0], b[0]]),
            np.array([p for p, _ in places]),
            np.array([q for _, q in places]),
        )
        return pair.interpolate(np.array([stamp_ns])).transforms()[0]


def pose_of(message: Odometry, frame: str) -> FloatArray:
    """Return T_frame_base (4, 4) of a message; ValueError if in another frame or not finite."""
    found = message.header.frame_id
    if found not in ("", frame):
        raise ValueError(f"its frame must be {frame!r}, got {found!r}")
    T = transform_from_pose_message(message.pose.pose)
    if not np.isfinite(T).all():
        raise ValueError("its pose is not finite")
    return T
