# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The true ortho picture: every texel's colour from the picture that looks at it from above.

Texels that are occluded in a picture are filled from the next one; texels without a picture take
the colours around them.
"""

import cv2
import numpy as np

from aerotwin_reconstruction.bundle.align import PhotoAlignment, Report
from aerotwin_reconstruction.dense.cloud import DepthMaps
from aerotwin_reconstruction.surface.heights import SurfaceParameters
from aerotwin_worlds.georaster import Raster
from aerotwin_worlds.height_grid import MAX_TEXTURE_PX
from aerotwin_worlds.holes import fill_holes


def ortho_colours(
    heights: Raster,
    alignment: PhotoAlignment,
    maps: DepthMaps,
    parameters: SurfaceParameters,
    *,
    report: Report = lambda text, share: None,
) -> Raster:
    """Return the colours over the extent of the heights.

    Depth `maps` determine occlusion; colours are those of the pictures at their size.
    """
    rows, columns = heights.is_known.shape
    extent = (columns * heights.pixel[0], rows * heights.pixel[1])
    texel = max(parameters.texel_m, max(extent) / MAX_TEXTURE_PX)
    size = (round(extent[0] / texel), round(extent[1] / texel))
    pixel = (extent[0] / size[0], extent[1] / size[1])
    filled = fill_holes(heights.values, heights.is_known)
    z = cv2.resize(filled, size, interpolation=cv2.INTER_LINEAR)
    canvas = _Canvas(z, heights.west, heights.north, pixel)
    down = -alignment.T_map_optical[:, 2, 2]
    usable = np.flatnonzero(
        alignment.is_tied & (down >= np.cos(np.radians(parameters.max_tilt_deg)))
    )
    for n, k in enumerate(usable):
        canvas.paint(alignment.T_map_optical[k], maps, int(k), parameters.hidden_m)
        report("ortho picture", (n + 1) / len(usable))
    is_known = np.isfinite(canvas.off_axis)
    if is_known.any():
        canvas.colours = np.rint(fill_holes(canvas.colours, is_known)).clip(0, 255).astype(np.uint8)
    return Raster(
        values=canvas.colours,
        is_known=is_known,
        west=heights.west,
        north=heights.north,
        pixel=pixel,
    )


class _Canvas:
    """Texels with their heights, best colours so far, and the viewing angle of those from above."""

    def __init__(
        self, z: np.ndarray, west: float, north: float, pixel: tuple[float, float]
    ) -> None:
        self._z = z
        self._x = west + (np.arange(z.shape[1]) + 0.5) * pixel[0]
        self._y = north - (np.arange(z.shape[0]) + 0.5) * pixel[1]
        self.off_axis = np.full(z.shape, np.inf, np.float32)
        self.colours = np.zeros((*z.shape, 3), np.uint8)

    def paint(self, T_map_optical: np.ndarray, maps: DepthMaps, k: int, hidden_m: float) -> None:
        """Copy the colours of a picture where its view is steeper than those before."""
        window = self._window(T_map_optical, maps)
        if window is None:
            return
        rows, columns = window
        x, y = np.meshgrid(self._x[columns], self._y[rows])
        away = np.stack([x, y, self._z[rows, columns]], axis=-1) - T_map_optical[:3, 3]
        local = (away @ T_map_optical[:3, :3]).astype(np.float32)
        depth = local[..., 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            u = (maps.K[0, 0] * local[..., 0] / depth + maps.K[0, 2]).astype(np.float32)
            v = (maps.K[1, 1] * local[..., 1] / depth + maps.K[1, 2]).astype(np.float32)
            off = (np.hypot(away[..., 0], away[..., 1]) / -away[..., 2]).astype(np.float32)
        h, w = maps.depth.shape[1:]
        inside = (depth > 0) & (u >= 0) & (v >= 0) & (u <= w - 1) & (v <= h - 1)
        shown = cv2.remap(maps.depth[k], u, v, cv2.INTER_NEAREST)
        is_hidden = (shown > 0.0) & (depth > shown + hidden_m)
        better = inside & ~is_hidden & (off < self.off_axis[rows, columns])
        colours = cv2.remap(maps.colours[k], u, v, cv2.INTER_LINEAR)
        self.colours[rows, columns][better] = colours[better]
        self.off_axis[rows, columns][better] = off[better]

    def _window(self, T_map_optical: np.ndarray, maps: DepthMaps) -> tuple[slice, slice] | None:
        """Return the rows and columns that a picture may show: its view cut with the lowest z."""
        h, w = maps.depth.shape[1:]
        corners = np.array([[0, 0, 1], [w, 0, 1], [w, h, 1], [0, h, 1]], float)
        rays = corners @ np.linalg.inv(maps.K).T @ T_map_optical[:3, :3].T
        if (rays[:, 2] > -0.1).any():
            return None
        reach = (float(self._z.min()) - T_map_optical[2, 3]) / rays[:, 2]
        places = T_map_optical[:2, 3] + rays[:, :2] * reach[:, None]
        low, high = places.min(axis=0), places.max(axis=0)
        columns = slice(*np.searchsorted(self._x, [low[0], high[0]]))
        rows = slice(*np.searchsorted(-self._y, [-high[1], -low[1]]))
        if columns.stop <= columns.start or rows.stop <= rows.start:
            return None
        return rows, columns
