# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The true path of a vehicle as a file of poses, from which a route is taught."""

import errno
import os
from pathlib import Path
from typing import TextIO

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, invert_transform, pose_from_transform
from aerotwin_core.tum import tum_line

STEP_M, STEP_RAD = 0.05, 0.02
"""A pose is written after this distance, or turn: six to a vertex of a route."""


class DrivenPath:
    """Writes poses as they are driven: an aborted drive is complete up to its end.

    The new file is TUM: seconds, T_map_base as x y z qx qy qz qw. Raises UserError if there is
    such a file already, or it cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self._last: FloatArray | None = None
        try:
            self._file: TextIO = path.open("x", encoding="utf-8", buffering=1)
        except OSError as error:
            raise _not_writable(path, error.strerror) from None

    def add(self, stamp_ns: int, T_map_base: FloatArray) -> None:
        """Write a pose (4, 4), if the vehicle has moved since the last one."""
        if self._last is not None and not _has_moved(self._last, T_map_base):
            return
        p, q = pose_from_transform(T_map_base)
        self._file.write(f"{tum_line(stamp_ns, p, q)}\n")
        self._last = T_map_base

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def check_new(path: Path) -> None:
    """Raise UserError, as `DrivenPath`, if there is a file of this name, or no folder for it."""
    if path.exists():
        raise _not_writable(path, os.strerror(errno.EEXIST))
    if not path.parent.is_dir():
        raise _not_writable(path, os.strerror(errno.ENOENT))


def _not_writable(path: Path, reason: str | None) -> UserError:
    return UserError(f"{path}: the path of a drive cannot be written ({reason}); name a new file")


def _has_moved(T_a: FloatArray, T_b: FloatArray) -> bool:
    T = invert_transform(T_a) @ T_b
    turn = np.arctan2(T[1, 0], T[0, 0])
    return bool(np.linalg.norm(T[:3, 3]) >= STEP_M or abs(turn) >= STEP_RAD)
