# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lenses: the rays of a camera's pixels, and which pixels can see a box of directions.

Straight edges stay straight in the plane of the rays (x/z, y/z), however the lens bends them in
the image. So a triangle's bounding box is computed in that plane, exactly from its corners, and a
table gives the pixels whose rays are inside: it is built from the rays themselves, needs no formula
of the lens, and loses no pixel.
"""

from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

import numpy as np

from aerotwin_core.camera import CameraModel, PinholeCamera
from aerotwin_core.kernel_cache import njit
from aerotwin_rendering.rasteriser.memory import with_spare

# Rays beyond this x/z are squeezed towards the axis, so that the table's cells hold about equally
# many pixels: x/z reaches 5.7 at 160 degrees.
WIDE = 2.0
EMPTY_LOW, EMPTY_HIGH = 32767, -1
LARGEST_SIDE = EMPTY_LOW
MOST_LENSES = 16
"""So many are kept, or all of one frame if they are more: one of a megapixel has 28 MB."""


class Lens(NamedTuple):
    """The rays of a camera for compiled kernels.

    The grid coordinate of a ray x/z = t is ``u_scale * t / (1 + squeeze |t|) + u_offset``, and in
    the same way for y. For a pinhole it is the pixel coordinate itself; for others it counts table
    cells.

    Attributes
    ----------
    x, y : (h, w) arrays, or (1, w) and (h, 1) where rows and columns are independent
        Rays of the pixel centres, x/z and y/z; NaN where there is none. Kernels may read `SPARE`
        elements behind these and the next one.
    half_log2_area : (h, w) or (1, 1) float32 array
        Half the binary logarithm of a pixel's area in the plane of the rays.
    low_x, high_x, low_y, high_y : float
        Bounds of all rays.
    cells : (n, 4) int16 array
        First and last column, first and last row of the pixels whose rays lie in a cell; levels of
        halved resolution follow one another. Empty for a pinhole.
    levels : (k, 3) int64 array
        First cell, width and height of each level.
    """

    x: np.ndarray
    y: np.ndarray
    half_log2_area: np.ndarray
    squeeze: float
    u_scale: float
    u_offset: float
    v_scale: float
    v_offset: float
    low_x: float
    high_x: float
    low_y: float
    high_y: float
    cells: np.ndarray
    levels: np.ndarray


class Lenses:
    """Cache of the lenses of a renderer's cameras."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._cached: dict[CameraModel, Lens] = {}

    def of(self, cameras: Iterable[CameraModel]) -> list[Lens]:
        """Return the lenses of a frame's cameras; call it before the threads share the work."""
        requested = list(cameras)
        with self._lock:
            for camera in requested:
                # Put last those used now: the first is then the one not used for longest.
                lens = self._cached.pop(camera, None)
                self._cached[camera] = lens_of(camera) if lens is None else lens
            lenses = [self._cached[camera] for camera in requested]
            while len(self._cached) > max(MOST_LENSES, len(set(requested))):
                del self._cached[next(iter(self._cached))]
        return lenses


def lens_of(camera: CameraModel) -> Lens:
    """Return the lens of a camera: takes seconds if it bends straight edges; see `Lenses`."""
    if max(camera.width, camera.height) > LARGEST_SIDE:
        raise ValueError(f"an image side must be at most {LARGEST_SIDE} px, got {camera}")
    if isinstance(camera, PinholeCamera) and camera.skew == 0.0:
        return _pinhole_lens(camera)
    return _table_lens(camera.rays())


def _pinhole_lens(camera: PinholeCamera) -> Lens:
    x = (np.arange(camera.width) - camera.cx) / camera.fx
    y = (np.arange(camera.height) - camera.cy) / camera.fy
    area = np.float32(-0.5 * np.log2(camera.fx * camera.fy))
    return Lens(
        x=with_spare(x[None, :]),
        y=with_spare(y[:, None]),
        half_log2_area=with_spare(np.array([[area]])),
        squeeze=0.0,
        u_scale=float(camera.fx),
        u_offset=float(camera.cx),
        v_scale=float(camera.fy),
        v_offset=float(camera.cy),
        low_x=x[0],
        high_x=x[-1],
        low_y=y[0],
        high_y=y[-1],
        cells=np.empty((0, 4), np.int16),
        levels=np.empty((0, 3), np.int64),
    )


def _table_lens(rays: np.ndarray) -> Lens:
    x, y = (np.ascontiguousarray(rays[..., axis]) for axis in (0, 1))
    if np.isnan(x).all():
        raise ValueError("the camera must have a ray for some pixel, got none; check its lens")
    low = np.array([np.nanmin(x), np.nanmin(y)])
    high = np.array([np.nanmax(x), np.nanmax(y)])
    squeeze = 1.0 if max(-low.min(), high.max()) > WIDE else 0.0
    first, last = (t / (1.0 + squeeze * np.abs(t)) for t in (low, high))
    # One cell per pixel on average; a margin keeps the outermost rays off the grid's rim.
    size = np.array([x.shape[1], x.shape[0]])
    scale = (size - 0.5) / np.maximum(last - first, 1e-9)
    offset = 0.25 - first * scale
    columns, rows = (
        (s * (t / (1.0 + squeeze * np.abs(t))) + o)
        for t, s, o in zip((x, y), scale, offset, strict=True)
    )
    levels = _levels(_bin_pixels(columns, rows))
    sizes = np.array([level.shape[:2] for level in levels], np.int64)
    starts = np.cumsum(np.append(0, sizes.prod(axis=1)))[:-1]
    return Lens(
        x=with_spare(x),
        y=with_spare(y),
        half_log2_area=with_spare(_half_log2_area(x, y)),
        squeeze=squeeze,
        u_scale=scale[0],
        u_offset=offset[0],
        v_scale=scale[1],
        v_offset=offset[1],
        low_x=low[0],
        high_x=high[0],
        low_y=low[1],
        high_y=high[1],
        cells=np.concatenate([level.reshape(-1, 4) for level in levels]),
        levels=np.column_stack([starts, sizes[:, ::-1]]),
    )


@njit(nogil=True, cache=True)
def _bin_pixels(columns, rows):
    """Return, for each cell of the grid, the box of the pixels whose rays lie in it."""
    h, w = columns.shape
    cells = np.empty((h, w, 4), np.int16)
    cells[..., 0], cells[..., 2] = EMPTY_LOW, EMPTY_LOW
    cells[..., 1], cells[..., 3] = EMPTY_HIGH, EMPTY_HIGH
    for v in range(h):
        for u in range(w):
            if columns[v, u] == columns[v, u]:
                cell = cells[int(rows[v, u]), int(columns[v, u])]
                cell[0], cell[1] = min(cell[0], u), max(cell[1], u)
                cell[2], cell[3] = min(cell[2], v), max(cell[3], v)
    return cells


def _levels(cells: np.ndarray) -> list[np.ndarray]:
    """Return the cells and their unions of 2 x 2, 4 x 4, ... up to one cell."""
    levels = [cells]
    while max(levels[-1].shape[:2]) > 1:
        fine = levels[-1]
        fine = np.pad(fine, [(0, n % 2) for n in fine.shape[:2]] + [(0, 0)], mode="edge")
        quarters = np.stack([fine[i::2, j::2] for i in (0, 1) for j in (0, 1)])
        union = quarters.min(axis=0)
        union[..., 1::2] = quarters[..., 1::2].max(axis=0)
        levels.append(union)
    return levels


def _half_log2_area(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Half the binary logarithm of each pixel's area in the plane of the rays."""
    (x_down, x_right), (y_down, y_right) = (_slopes(x), _slopes(y))
    area = np.abs(x_right * y_down - x_down * y_right)
    return (0.5 * np.log2(np.maximum(area, 1e-20))).astype(np.float32)


def _slopes(values: np.ndarray) -> list[np.ndarray]:
    """Return the mean of the differences to the neighbours on both sides, down and right."""
    slopes = []
    for axis in (0, 1):
        step = np.diff(values, axis=axis)
        around = np.full((2, *values.shape), np.nan)
        np.moveaxis(around[0], axis, 0)[:-1] = np.moveaxis(step, axis, 0)
        np.moveaxis(around[1], axis, 0)[1:] = np.moveaxis(step, axis, 0)
        known = np.isfinite(around)
        slopes.append(np.where(known, around, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    return slopes
