# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera models: from points in front of a lens to pixels, and from pixels to rays.

Pixel centres lie at integer coordinates, (0, 0) is the centre of the upper left pixel (OpenCV).
Points are in the optical frame: x right, y down, z along the axis (REP-103). A ray is the pair
x/z, y/z. Names, order and meaning of the coefficients are those of OpenCV and CameraInfo.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import FloatArray
from aerotwin_core.lens import (
    brown_distort,
    brown_undistort,
    invert_odd_polynomial,
    odd_polynomial,
    turning_point,
)

_BAND_ROWS = 32  # rays are made in bands that stay in the cache
WIDEST_FIELD_DEG = 160.0  # full angle; x/z of a ray is 5.7 at its edge, and infinite at 180


class CameraModel(Protocol):
    """What renderers and messages need of a camera; equal cameras hash alike."""

    def __hash__(self) -> int:
        """Return the hash: values derived from a camera may be cached by it."""

    @property
    def width(self) -> int:
        """Columns of the image [px]."""

    @property
    def height(self) -> int:
        """Rows of the image [px]."""

    @property
    def matrix(self) -> FloatArray:
        """The intrinsic matrix K (3, 3)."""

    @property
    def distortion_model(self) -> str:
        """Name of the model in CameraInfo."""

    @property
    def distortion(self) -> tuple[float, ...]:
        """Coefficients in the order of CameraInfo."""

    def project(self, points_optical: ArrayLike) -> FloatArray:
        """Return pixels (n, 2) of points (n, 3) [m]; NaN where the model has no image."""

    def rays_at(self, pixels: ArrayLike) -> FloatArray:
        """Return x/z and y/z (n, 2) of the rays through pixels (n, 2); NaN where there is none."""

    def rays(self) -> FloatArray:
        """Return x/z and y/z (h, w, 2) of the ray through every pixel centre."""


@dataclass(frozen=True, kw_only=True)
class _Camera:
    """Size, intrinsic matrix and what follows from a lens's two functions; lengths in pixels.

    fx, fy, cx, cy are focal lengths and principal point; (0, 0) is the centre of the upper left
    pixel. `skew` is K[0, 1]: the columns that a pixel moves to the right per fy-th of a unit down.
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    skew: float = 0.0

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError(f"image size must be positive, got {self.width} x {self.height}")
        if not (0.0 < self.fx < math.inf and 0.0 < self.fy < math.inf):
            raise ValueError(f"focal lengths must be positive, got {self.fx}, {self.fy}")
        values = (self.cx, self.cy, self.skew, *self.distortion)
        if not all(math.isfinite(value) for value in values):
            raise ValueError(f"camera parameters must be finite, got {values}")

    @property
    def distortion_model(self) -> str:
        """Name of the model in CameraInfo."""
        return "plumb_bob"

    @property
    def distortion(self) -> tuple[float, ...]:
        """Coefficients in the order of CameraInfo."""
        return (0.0,) * 5

    @property
    def matrix(self) -> FloatArray:
        """The intrinsic matrix K (3, 3)."""
        return np.array([[self.fx, self.skew, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def project(self, points_optical: ArrayLike) -> FloatArray:
        """Return pixels (n, 2) of points (n, 3) [m]; NaN where the model has no image."""
        points = np.asarray(points_optical, dtype=np.float64)
        depth = np.where(points[:, 2] > 0.0, points[:, 2], np.nan)
        x, y = self._distort(points[:, :2] / depth[:, None]).T
        return np.column_stack([self.fx * x + self.skew * y + self.cx, self.fy * y + self.cy])

    def shows(self, points_optical: ArrayLike) -> np.ndarray:
        """Return which points (n, 3) [m] lie between the centres of the image's corners (n,)."""
        pixels = self.project(points_optical)
        is_in = (pixels >= 0.0) & (pixels <= [self.width - 1, self.height - 1])
        return np.asarray(is_in.all(axis=1))

    def rays_at(self, pixels: ArrayLike) -> FloatArray:
        """Return x/z and y/z (n, 2) of the rays through pixels (n, 2); NaN where there is none."""
        u, v = np.asarray(pixels, dtype=np.float64).T
        y = (v - self.cy) / self.fy
        return self._undistort(np.column_stack([(u - self.cx - self.skew * y) / self.fx, y]))

    def rays(self) -> FloatArray:
        """Return x/z and y/z (h, w, 2) of the ray through every pixel centre."""
        rays = np.empty((self.height, self.width, 2))
        for top in range(0, self.height, _BAND_ROWS):
            band = rays[top : top + _BAND_ROWS]
            v, u = np.mgrid[top : top + len(band), 0 : self.width]
            pixels = np.column_stack([u.ravel(), v.ravel()])
            band[...] = self.rays_at(pixels).reshape(band.shape)
        return rays

    def unproject(self, pixels: ArrayLike, depth: ArrayLike) -> FloatArray:
        """Return points (n, 3) [m] at pixels (n, 2) whose z coordinate is depth (n,) [m]."""
        z = np.asarray(depth, dtype=np.float64)
        return np.column_stack([self.rays_at(pixels) * z[:, None], z])

    def _border(self) -> FloatArray:
        """Return the centres (n, 2) of the pixels at the edge of the image."""
        across, down = np.arange(self.width), np.arange(self.height)
        rows = [(across, np.full(self.width, v)) for v in (0, self.height - 1)]
        columns = [(np.full(self.height, u), down) for u in (0, self.width - 1)]
        return np.concatenate([np.column_stack(edge) for edge in rows + columns])

    def _distort(self, xy: FloatArray) -> FloatArray:
        return xy

    def _undistort(self, distorted: FloatArray) -> FloatArray:
        return distorted


@dataclass(frozen=True, kw_only=True)
class PinholeCamera(_Camera):
    """An undistorted camera."""


@dataclass(frozen=True, kw_only=True)
class BrownCamera(_Camera):
    """A camera with radial and decentring distortion, OpenCV's default model (`plumb_bob`).

    Attributes
    ----------
    k1, k2, k3, p1, p2 : float
        Radial (k) and decentring, also called tangential, (p) coefficients.

    Raises
    ------
    ValueError
        If the image has pixels that no ray reaches: there the polynomial has turned back, and
        points behind the turn would be seen twice.
    """

    k1: float = 0.0
    k2: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    k3: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        n_lost = int(np.isnan(self.rays_at(self._border())[:, 0]).sum())
        if n_lost:
            turn = turning_point(self._radial)
            raise ValueError(
                f"distortion k1 {self.k1}, k2 {self.k2}, p1 {self.p1}, p2 {self.p2}, k3 {self.k3}"
                f" must grow outwards in the whole image of {self.width} x {self.height}; it turns"
                f" back at x/z = {turn:.3g}, inside {n_lost} pixels of the edge; take smaller"
                " coefficients, a longer focal length or a fisheye model"
            )

    @property
    def distortion(self) -> tuple[float, ...]:
        """K1 k2 p1 p2 k3 (`plumb_bob` and OpenCV)."""
        return (self.k1, self.k2, self.p1, self.p2, self.k3)

    @property
    def _radial(self) -> tuple[float, float, float]:
        return (self.k1, self.k2, self.k3)

    def _distort(self, xy: FloatArray) -> FloatArray:
        beyond = np.hypot(xy[:, 0], xy[:, 1]) > turning_point(self._radial)
        distorted, _ = brown_distort(self._radial, (self.p1, self.p2), xy)
        return np.where(beyond[:, None], np.nan, distorted)

    def _undistort(self, distorted: FloatArray) -> FloatArray:
        return brown_undistort(self._radial, (self.p1, self.p2), distorted)


@dataclass(frozen=True, kw_only=True)
class FisheyeCamera(_Camera):
    """A wide lens after Kannala and Brandt, OpenCV's fisheye model (`equidistant`).

    The radius in the image is theta (1 + k1 theta^2 + k2 theta^4 + k3 theta^6 + k4 theta^8), with
    the angle theta from the axis. All zero is the equidistant lens.

    Attributes
    ----------
    field_of_view_deg : float
        Full angle beyond which the lens shows nothing, at most 160 [deg].

    Raises
    ------
    ValueError
        If the radius turns back inside both the image and the field of view, or if no pixel is in
        the field of view.
    """

    k1: float = 0.0
    k2: float = 0.0
    k3: float = 0.0
    k4: float = 0.0
    field_of_view_deg: float = WIDEST_FIELD_DEG

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.field_of_view_deg <= WIDEST_FIELD_DEG:
            raise ValueError(
                f"field_of_view_deg must lie in 0..{WIDEST_FIELD_DEG:g}, got"
                f" {self.field_of_view_deg:g}"
            )
        turn = turning_point(self.distortion)
        x, y = ((self._border() - [self.cx, self.cy]) / [self.fx, self.fy]).T
        farthest = float(np.hypot(x - self.skew / self.fx * y, y).max())
        if turn < self._edge and odd_polynomial(self.distortion, np.array([turn]))[0][0] < farthest:
            raise ValueError(
                f"distortion k1..k4 {self.distortion} must grow outwards up to"
                f" {math.degrees(self._edge):.1f} degrees from the axis or the corner of the image;"
                f" it turns back at {math.degrees(turn):.1f} degrees; take smaller coefficients or"
                " a smaller field_of_view_deg"
            )
        nearest = np.clip(np.rint([self.cx, self.cy]), 0, [self.width - 1, self.height - 1])
        if np.isnan(self.rays_at(np.vstack([nearest, self._border()]))).all():
            raise ValueError(
                f"the field of view of {self.field_of_view_deg:g} degrees about the principal point"
                f" ({self.cx:g}, {self.cy:g}) must hold a pixel of the image of {self.width} x"
                f" {self.height}, and holds none; take another cx, cy or focal length"
            )

    @property
    def distortion_model(self) -> str:
        """Name of the model in CameraInfo."""
        return "equidistant"

    @property
    def distortion(self) -> tuple[float, ...]:
        """K1 k2 k3 k4 (`equidistant` and OpenCV's fisheye)."""
        return (self.k1, self.k2, self.k3, self.k4)

    @property
    def _edge(self) -> float:
        """Largest angle from the axis [rad]."""
        return math.radians(self.field_of_view_deg) / 2.0

    def _distort(self, xy: FloatArray) -> FloatArray:
        radius = np.hypot(xy[:, 0], xy[:, 1])
        theta = np.arctan(radius)
        limit = min(self._edge, turning_point(self.distortion))
        theta = np.where(theta <= limit, theta, np.nan)
        bent = odd_polynomial(self.distortion, theta)[0]
        return xy * _ratio(bent, radius)[:, None]

    def _undistort(self, distorted: FloatArray) -> FloatArray:
        radius = np.hypot(distorted[:, 0], distorted[:, 1])
        limit = min(self._edge, turning_point(self.distortion))
        theta = invert_odd_polynomial(self.distortion, radius, limit)
        return distorted * _ratio(np.tan(theta), radius)[:, None]


def _ratio(value: FloatArray, radius: FloatArray) -> FloatArray:
    """Return value / radius, and its limit 1 at the axis."""
    with np.errstate(invalid="ignore"):
        return np.where(radius > 0.0, value / radius, 1.0)


@dataclass(frozen=True, kw_only=True)
class StereoRig:
    """Two equal rectified cameras; the right one is baseline_m [m] along the left one's x axis."""

    camera: PinholeCamera
    baseline_m: float

    def __post_init__(self) -> None:
        if not self.baseline_m > 0.0:
            raise ValueError(f"baseline_m must be positive, got {self.baseline_m}")
