# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Splats: points that each represent a piece of surface by position, colour and extent."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray

UPPER = (np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2]))
"""Rows and columns of a symmetric 3x3 matrix in the order xx xy xz yy yz zz."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SplatCloud:
    """Splats in one frame.

    Attributes
    ----------
    points : (n, 3) float32 array
        Centres [m].
    colours : (n, c) float32 array
        c is 1 (grey) or 3 (RGB), 0 to 255 [DN]; or other values to be averaged.
    covariances : (n, 6) float32 array
        Extent of each: xx xy xz yy yz zz [m^2].

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or a variance is negative.
    """

    points: np.ndarray
    colours: np.ndarray
    covariances: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.points)
        shapes = {"points": (n, 3), "covariances": (n, 6), "colours": (n, self.colours.shape[-1])}
        for name, shape in shapes.items():
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float32)
            if array.shape != shape:
                raise ValueError(f"{name} of {n} splats must be {shape}, got {array.shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite; leave splats without a place out")
            object.__setattr__(self, name, array)
        if self.colours.shape[1] == 0:
            raise ValueError("colours must have a channel, got none")
        if n and float(self.covariances[:, [0, 3, 5]].min()) < 0.0:
            raise ValueError("variances must be 0 or more; see covariances xx, yy and zz")

    def __len__(self) -> int:
        return len(self.points)

    @property
    def matrices(self) -> FloatArray:
        """The covariances as (n, 3, 3) matrices [m^2]."""
        full = np.empty((len(self), 3, 3))
        full[:, UPPER[0], UPPER[1]] = full[:, UPPER[1], UPPER[0]] = self.covariances
        return full

    def moved(self, T_a_b: FloatArray) -> "SplatCloud":
        """Return the splats of frame b in frame a."""
        R, p = T_a_b[:3, :3], T_a_b[:3, 3]
        matrices = R @ self.matrices @ R.T
        return SplatCloud(
            points=self.points @ R.T.astype(np.float32) + p.astype(np.float32),
            colours=self.colours,
            covariances=matrices[:, UPPER[0], UPPER[1]],
        )

    @classmethod
    def joined(cls, clouds: Sequence["SplatCloud"]) -> "SplatCloud":
        """Return the splats of clouds in one frame, in their order."""
        names = ("points", "colours", "covariances")
        return cls(**{name: np.concatenate([getattr(c, name) for c in clouds]) for name in names})

    def subset(self, chosen: np.ndarray) -> "SplatCloud":
        """Return some of the splats, by index or mask (n,)."""
        return SplatCloud(
            points=self.points[chosen],
            colours=self.colours[chosen],
            covariances=self.covariances[chosen],
        )
