# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses straight from CDR bytes: a general deserialiser takes thirty times as long.

The layout of the standard messages is fixed except for the lengths of their frame names. Bytes that
do not match it are left to the deserialiser, which reports the reason.

References
----------
OMG formal/02-06-51, 15.3 (CDR): numbers are aligned to their size, from behind the encapsulation.
"""

import struct
from dataclasses import dataclass

import numpy as np

_LITTLE_ENDIAN = b"\x00\x01"
_BASE = 4  # numbers are aligned from behind the encapsulation
_STAMP, _LENGTH, _POSE = struct.Struct("<iI"), struct.Struct("<I"), struct.Struct("<7d")
_COVARIANCE_BYTES = 36 * 8
_PADDING = 3  # behind a message, which some middlewares fill to four bytes


@dataclass(frozen=True, slots=True)
class PoseRow:
    """One pose as it is in a message, with its header stamp.

    `pose` is x y z [m], quaternion xyzw; `covariance` is (36,) or None.
    """

    stamp_ns: int
    pose: tuple[float, ...]
    covariance: np.ndarray | None
    frame: str
    child_frame: str = ""


@dataclass(frozen=True)
class _Layout:
    n_frames: int
    has_covariance: bool
    n_tail_bytes: int = 0


LAYOUTS = {
    "nav_msgs/msg/Odometry": _Layout(2, True, 6 * 8 + _COVARIANCE_BYTES),
    "geometry_msgs/msg/PoseStamped": _Layout(1, False),
    "geometry_msgs/msg/PoseWithCovarianceStamped": _Layout(1, True),
    "geometry_msgs/msg/TransformStamped": _Layout(2, False),
}


def read_pose_row(cdr: bytes, msgtype: str) -> PoseRow | None:
    """Return the pose of a message of a type of `LAYOUTS`, None if the bytes do not match it."""
    layout = LAYOUTS[msgtype]
    try:
        return _read(cdr, layout) if cdr[:2] == _LITTLE_ENDIAN else None
    except (struct.error, UnicodeDecodeError):
        return None


def _read(cdr: bytes, layout: _Layout) -> PoseRow | None:
    sec, nanosec = _STAMP.unpack_from(cdr, _BASE)
    at, frames = _BASE + _STAMP.size, []
    for _ in range(layout.n_frames):
        (n,) = _LENGTH.unpack_from(cdr, at)
        end = at + _LENGTH.size + n
        if n == 0 or end > len(cdr):
            return None
        frames.append(cdr[at + _LENGTH.size : end - 1].decode())
        at = end + (_BASE - end) % 4
    at += (_BASE - at) % 8
    covariance_end = at + _POSE.size + (_COVARIANCE_BYTES if layout.has_covariance else 0)
    n_over = len(cdr) - covariance_end - layout.n_tail_bytes
    if not 0 <= n_over <= _PADDING:
        return None
    covariance = np.frombuffer(cdr, "<f8", 36, at + _POSE.size) if layout.has_covariance else None
    stamp_ns = sec * 1_000_000_000 + nanosec
    return PoseRow(stamp_ns, _POSE.unpack_from(cdr, at), covariance, *frames)
