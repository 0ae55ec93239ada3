# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Landmarks of the local map: points with the image patch that identifies each of them."""

from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

PATCH_MARGIN_PX = 6  # a key patch is this much wider on each side, so that it can be warped


class Columns:
    """A dataclass of arrays of equal length."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def select(self, rows) -> Self:
        """Return the rows of a mask or of row numbers."""
        return type(self)(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @classmethod
    def joined(cls, tables) -> Self:
        """Return the rows of tables, of which there is at least one."""
        names = [f.name for f in fields(cls)]
        return cls(**{name: np.concatenate([getattr(t, name) for t in tables]) for name in names})


@dataclass(kw_only=True)
class Landmarks(Columns):
    """One row per landmark, in order of creation."""

    ident: np.ndarray  # (n,) int64 identifiers, ascending
    # points and information: position in odom [m], and its information for fixed poses [1/m^2]
    points: np.ndarray  # (n, 3)
    information: np.ndarray  # (n, 3, 3)
    patches: np.ndarray  # (n, s, s) float32 key patches [DN]
    key_T_cam_odom: np.ndarray  # (n, 4, 4) pose of odom in the key camera when the patch was cut
    uv: np.ndarray  # (n, 2) pixel in the last frame that observed it [px]
    # n_missed and n_seen: frames since the last observation, and keyframes that observed it
    n_missed: np.ndarray  # (n,) int64
    n_seen: np.ndarray  # (n,) int64
    is_tracked: np.ndarray  # (n,) bool still searched for

    def __len__(self):
        return len(self.ident)

    def rows_of(self, ident) -> np.ndarray:
        """Return the row of each identifier, -1 where it was removed."""
        if len(self) == 0:
            return np.full(len(ident), -1)
        rows = np.minimum(np.searchsorted(self.ident, ident), len(self) - 1)
        return np.where(self.ident[rows] == ident, rows, -1)


def new_landmarks(first_ident, points, patches, uv, T_cam_odom) -> Landmarks:
    """Return landmarks as created in a keyframe."""
    n = len(points)
    return Landmarks(
        ident=np.arange(first_ident, first_ident + n, dtype=np.int64),
        points=points,
        information=np.zeros((n, 3, 3)),
        patches=patches,
        key_T_cam_odom=np.repeat(T_cam_odom[None], n, axis=0),
        uv=uv.copy(),
        n_missed=np.zeros(n, dtype=np.int64),
        n_seen=np.ones(n, dtype=np.int64),
        is_tracked=np.ones(n, dtype=bool),
    )


def no_landmarks(patch_size: int) -> Landmarks:
    """Return an empty table for patches of a size [px]."""
    patches = np.empty((0, patch_size, patch_size), dtype=np.float32)
    return new_landmarks(0, np.empty((0, 3)), patches, np.empty((0, 2)), np.eye(4))
