# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pinhole cameras and rectified stereo pairs; pixel centres lie at integer coordinates (OpenCV)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import FloatArray


@dataclass(frozen=True, kw_only=True)
class PinholeCamera:
    """An undistorted camera.

    Attributes
    ----------
    width, height : int
        Image size [px].
    fx, fy : float
        Focal lengths [px].
    cx, cy : float
        Principal point [px]; (0, 0) is the centre of the upper left pixel.
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError(f"image size must be positive, got {self.width} x {self.height}")
        if not (self.fx > 0.0 and self.fy > 0.0):
            raise ValueError(f"focal lengths must be positive, got {self.fx}, {self.fy}")

    @property
    def matrix(self) -> FloatArray:
        """The intrinsic matrix K (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def project(self, points_optical: ArrayLike) -> FloatArray:
        """Return pixels (n, 2) of points (n, 3) [m]; NaN for points that are not in front."""
        points = np.asarray(points_optical, dtype=np.float64)
        depth = np.where(points[:, 2] > 0.0, points[:, 2], np.nan)
        return np.column_stack(
            [
                self.fx * points[:, 0] / depth + self.cx,
                self.fy * points[:, 1] / depth + self.cy,
            ]
        )

    def unproject(self, pixels: ArrayLike, depth: ArrayLike) -> FloatArray:
        """Return points (n, 3) [m] at pixels (n, 2) whose z coordinate is depth (n,) [m]."""
        u, v = np.asarray(pixels, dtype=np.float64).T
        z = np.asarray(depth, dtype=np.float64)
        return np.column_stack([(u - self.cx) / self.fx * z, (v - self.cy) / self.fy * z, z])


@dataclass(frozen=True, kw_only=True)
class StereoRig:
    """Two equal rectified cameras; the right one stands baseline_m along the left one's x axis."""

    camera: PinholeCamera
    baseline_m: float

    def __post_init__(self) -> None:
        if not self.baseline_m > 0.0:
            raise ValueError(f"baseline_m must be positive, got {self.baseline_m}")
