# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A part of the map: points on the image grid of one pose, updated by later key-frames."""

from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.threads import run_ranges
from aerotwin_dense_localization.mapping.kernels import learn_points, make_splats
from aerotwin_dense_localization.mapping.parameters import MapParameters
from aerotwin_dense_localization.splats import SplatCloud


def to_lab(image: np.ndarray) -> np.ndarray:
    """Return colours (..., 3) or greys (..., 1), 0 to 255, as they are fused: L*a*b*, or grey.

    CIE 1976 L*a*b* (D65, sRGB primaries, as in OpenCV), which is perceptually uniform; times 2.55,
    so that white has 255.
    """
    if image.shape[-1] == 1:
        return np.ascontiguousarray(image, dtype=np.float32)
    flat = np.ascontiguousarray(image.reshape(-1, 1, 3), dtype=np.float32) / 255.0
    return cv2.cvtColor(flat, cv2.COLOR_RGB2Lab).reshape(image.shape) * np.float32(2.55)


def from_lab(colours: np.ndarray) -> np.ndarray:
    """Invert `to_lab`, within rounding, 0 to 255 float32."""
    if colours.shape[-1] == 1:
        return colours
    flat = np.ascontiguousarray(colours.reshape(-1, 1, 3), dtype=np.float32) / np.float32(2.55)
    rgb = cv2.cvtColor(flat, cv2.COLOR_Lab2RGB).reshape(colours.shape) * 255.0
    return np.clip(rgb, 0.0, 255.0).astype(np.float32)


@dataclass(kw_only=True, eq=False)
class SplatSurface:
    """Points on an image grid.

    Attributes
    ----------
    T_map_surface : (4, 4) array
        Pose of the optical frame of the grid, whose camera is `camera`.
    pixels : (n,) int32 array
        Row times width plus column of each point.
    depth, variance : (n,) float32 arrays
        Along the optical axis, and the variance [m, m^2].
    slopes : (n, 2) float32 array
        Of the log of the depth per unit of x/z and y/z.
    colours : (n, c) float32 array
        As from `to_lab`.
    n_seen : (n,) int64 array
        Key-frames that agreed on the point.
    """

    camera: PinholeCamera
    T_map_surface: FloatArray
    pixels: np.ndarray
    depth: np.ndarray
    variance: np.ndarray
    slopes: np.ndarray
    colours: np.ndarray
    n_seen: np.ndarray

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def rays(self) -> np.ndarray:
        """x/z and y/z of the points (n, 2) float32."""
        rows, columns = np.divmod(self.pixels, self.camera.width)
        return self.camera.rays_at(np.column_stack([columns, rows])).astype(np.float32)

    def keep(self, is_retained: np.ndarray) -> None:
        """Remove the points outside a mask (n,)."""
        for name in ("pixels", "depth", "variance", "slopes", "colours", "n_seen"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[is_retained]))

    def learn(
        self,
        key_map: tuple[np.ndarray, np.ndarray, np.ndarray],
        kind: np.ndarray,
        camera: PinholeCamera,
        T_map_optical: FloatArray,
        parameters: MapParameters,
    ) -> int:
        """Update points with a key-frame, remove those that it replaces; return how many.

        `key_map` holds depth (h, w), variance (h, w) and colours (h, w, c) of the key-frame with
        `camera` and pose, `kind` (h, w) uint8 the class of each pixel, from `classify_pixels`.
        """
        T = np.ascontiguousarray((invert_transform(T_map_optical) @ self.T_map_surface)[:3])
        is_retained = np.ones(len(self), np.uint8)
        run_ranges(
            learn_points, len(self), self.rays, self.depth, self.variance, self.colours,
            self.n_seen, T, camera.matrix, *key_map, kind, parameters.gate,
            parameters.depth_tolerance, is_retained,
        )  # fmt: skip
        if is_retained.all():
            return 0
        before = len(self)
        self.keep(is_retained.astype(bool))
        return before - len(self)

    def splats(self, parameters: MapParameters) -> SplatCloud:
        """Return the points as splats in the map frame, coloured 0 to 255."""
        n = len(self)
        points, covariances = np.empty((n, 3), np.float32), np.empty((n, 6), np.float32)
        T = np.ascontiguousarray(self.T_map_surface[:3])
        run_ranges(
            make_splats, n, self.rays, self.depth, self.variance, self.slopes, T,
            1.0 / self.camera.fx, parameters.splat_px, parameters.max_depth_slope, points,
            covariances,
        )  # fmt: skip
        return SplatCloud(points=points, colours=from_lab(self.colours), covariances=covariances)

    def pixel_m(self) -> np.ndarray:
        """Return the size of each point's pixel at its depth (n,) float32 [m]."""
        return self.depth / np.float32(self.camera.fx)
