# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A key-frame: an image with depth and its pose from ego-localisation."""

from dataclasses import dataclass, replace

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, invert_transform, transform_points
from aerotwin_core.luma import LUMA_REC601

_GRID = 12  # points per edge of an image by which overlap is found


@dataclass(frozen=True, kw_only=True, eq=False)
class StereoKeyframe:
    """A stereo key-frame.

    Attributes
    ----------
    image : (h, w) or (h, w, 3) uint8 array
        Of the left camera: grey or RGB [DN].
    depth, variance : (h, w) float32 arrays
        Of its pixels [m, m^2]; NaN where unknown.
    T_map_optical : (4, 4) array
        Estimated pose of the left camera's optical frame.
    """

    stamp_ns: int
    image: np.ndarray
    depth: np.ndarray
    variance: np.ndarray
    camera: PinholeCamera
    T_map_optical: FloatArray

    def __post_init__(self) -> None:
        shape = (self.camera.height, self.camera.width)
        for name in ("image", "depth", "variance"):
            if getattr(self, name).shape[:2] != shape:
                found = getattr(self, name).shape
                raise ValueError(f"{name} must be {shape} as the camera, got {found}")
        if self.image.dtype != np.uint8 or self.image.shape[2:] not in ((), (3,)):
            raise ValueError(
                "image must be (h, w) or (h, w, 3) uint8, got "
                f"{self.image.shape} {self.image.dtype}"
            )
        if not np.isfinite(self.T_map_optical).all():
            raise ValueError(f"T_map_optical of key-frame {self.stamp_ns} must be finite")

    @property
    def grey(self) -> np.ndarray:
        """The image in grey (h, w) float32 [DN], by the luma of BT.601."""
        if self.image.ndim == 2:
            return self.image.astype(np.float32)
        return self.image.astype(np.float32) @ LUMA_REC601.astype(np.float32)

    def at(self, T_map_optical: FloatArray) -> "StereoKeyframe":
        """Return the key-frame at another pose."""
        return replace(self, T_map_optical=np.asarray(T_map_optical, dtype=np.float64))

    def points_map(self) -> FloatArray:
        """Return a few points of its surface, (n, 3) [m], evenly over the image."""
        pixels, depth = self._grid()
        known = np.isfinite(depth)
        points = self.camera.unproject(pixels[known], depth[known])
        return transform_points(self.T_map_optical, points)

    def view_shown_from(self, T_map_optical: FloatArray) -> float:
        """Return the share of its view that its camera would show from another pose.

        Unknown depths are replaced by the median of the known ones.
        """
        pixels, depth = self._grid()
        if not np.isfinite(depth).any():
            return 0.0
        points = self.camera.unproject(
            pixels, np.where(np.isfinite(depth), depth, np.nanmedian(depth))
        )
        there = transform_points(invert_transform(T_map_optical) @ self.T_map_optical, points)
        return float(self.camera.shows(there).mean())

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a few pixels (n, 2), evenly over the image, and their depth (n,) [m]."""
        v, u = (
            np.linspace(0.05, 0.95, _GRID) * (size - 1)
            for size in (self.camera.height, self.camera.width)
        )
        rows, columns = (a.ravel().round().astype(int) for a in np.meshgrid(v, u, indexing="ij"))
        return np.column_stack([columns, rows]), self.depth[rows, columns]

    def overlap_with(self, other: "StereoKeyframe") -> float:
        """Return the share of its surface that another key-frame shows."""
        points = self.points_map()
        if len(points) == 0:
            return 0.0
        seen = transform_points(invert_transform(other.T_map_optical), points)
        return float(other.camera.shows(seen).mean())
