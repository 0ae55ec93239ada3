# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of a surface that a sensor saw from true poses: only this part must be mapped.

The mask comes from true poses and the reference alone, never from the evaluated map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from aerotwin_core.camera import CameraModel, PinholeCamera
from aerotwin_core.frames import invert_transform, transform_points
from aerotwin_registration.point_tree import curve_order

# Limit of poses used; of longer paths an even share.
MAX_VIEWS = 120
# A sample lies on the surface that the ray hits: float32 and grazing rays need this much [m].
SURFACE_TOLERANCE_M = 0.005
_BLOCK = 256
_ROUNDING = 1e-6  # of ranges [m] and angles [rad] by which blocks of points are left out

InView = Callable[[np.ndarray], np.ndarray]
"""Tells which points (n, 3) in a sensor's axes lie in its view.

Its attribute `half_angle`, if it has one, is the largest angle of those to the z axis [rad].
"""


class Occluder(Protocol):
    """Anything that can hide points."""

    def visible(
        self, points_map: np.ndarray, p_map_eye: np.ndarray, tolerance_m: float
    ) -> np.ndarray:
        """Return which points (n, 3) are not occluded from an eye (3,)."""
        ...


@dataclass(frozen=True, kw_only=True)
class FieldOfView:
    """Elevations [deg] that a lidar sees, all around: x forward, y left, z up."""

    lower_deg: float
    upper_deg: float

    def __post_init__(self) -> None:
        if not self.lower_deg < self.upper_deg:
            raise ValueError(
                f"lower_deg must lie below upper_deg, got {self.lower_deg:g} and {self.upper_deg:g}"
            )

    def __call__(self, points_sensor: np.ndarray) -> np.ndarray:
        """Return which points (n, 3) lie in it."""
        x, y, z = points_sensor.T
        elevation = np.degrees(np.arctan2(z, np.hypot(x, y)))
        return (elevation >= self.lower_deg) & (elevation <= self.upper_deg)


@dataclass(frozen=True)
class CameraFieldOfView:
    """What a camera has in its image: optical axes, z forward."""

    camera: CameraModel

    def __call__(self, points_optical: np.ndarray) -> np.ndarray:
        """Return which points (n, 3) lie in it."""
        camera = self.camera
        ahead = points_optical[:, 2] > 1e-3
        seen = np.zeros(len(points_optical), dtype=bool)
        u, v = camera.project(points_optical[ahead]).T
        # Half a pixel around the centres of the outermost pixels belongs to the picture.
        inside = (u >= -0.5) & (u <= camera.width - 0.5) & (v >= -0.5)
        seen[ahead] = inside & (v <= camera.height - 0.5)
        return seen

    @cached_property
    def half_angle(self) -> float:
        """Largest angle from the optical axis to what it shows [rad].

        That of the image's corners; pi where a lens may show more.
        """
        if not isinstance(self.camera, PinholeCamera):
            return np.pi
        right, low = self.camera.width - 0.5, self.camera.height - 0.5
        corners = self.camera.rays_at([[-0.5, -0.5], [right, -0.5], [-0.5, low], [right, low]])
        return float(np.arctan(np.linalg.norm(corners, axis=1).max()))


def visible_samples(
    occluder: Occluder,
    samples_map: np.ndarray,
    T_map_sensor: np.ndarray,
    in_view: InView,
    *,
    max_range_m: float,
    tolerance_m: float = SURFACE_TOLERANCE_M,
) -> np.ndarray:
    """Return the samples (m, 3) that a sensor saw from any of its true poses.

    `samples_map` (n, 3): samples of the reference [m]. `T_map_sensor` (k, 4, 4): true poses; at
    most 120, evenly spread along the path, are used. `in_view`: returns which points, in the
    sensor's axes, are in its view. `max_range_m`, `tolerance_m`: range limit, and how far in front
    of a sample the ray may end [m].
    """
    pick = np.linspace(0, len(T_map_sensor) - 1, min(len(T_map_sensor), MAX_VIEWS))
    blocks = _Blocks(samples_map)
    points = blocks.points
    is_seen = np.zeros(len(points), dtype=bool)
    half_angle = getattr(in_view, "half_angle", np.pi)
    for T in np.asarray(T_map_sensor)[np.unique(pick.round().astype(np.int64))]:
        open_ = np.flatnonzero(blocks.near(T, max_range_m, half_angle) & ~is_seen)
        gap = points[open_] - T[:3, 3]
        open_ = open_[np.einsum("ij,ij->i", gap, gap) < max_range_m**2]
        open_ = open_[in_view(transform_points(invert_transform(T), points[open_]))]
        if len(open_):
            is_seen[open_] = occluder.visible(points[open_], T[:3, 3], tolerance_m)
    return samples_map[np.sort(blocks.order[is_seen])]


class _Blocks:
    """Points (n, 3) in blocks of neighbours, to leave out those that a sensor cannot have in view.

    `points` are along a Z-curve, `order` is the index of each in the input.
    """

    def __init__(self, points: np.ndarray) -> None:
        self.order = curve_order(points)
        self.points = points[self.order]
        starts = np.arange(0, len(points), _BLOCK)
        low, high = (f.reduceat(self.points, starts) for f in (np.minimum, np.maximum))
        self._sizes = np.diff(np.append(starts, len(points)))
        self._centres = (low + high) / 2.0
        self._radii = np.linalg.norm(high - low, axis=1) / 2.0

    def near(self, T_map_sensor: np.ndarray, range_m: float, half_angle: float) -> np.ndarray:
        """Return which points (n,) lie in a block that reaches into a cone around the z axis."""
        at = transform_points(invert_transform(T_map_sensor), self._centres)
        distance = np.maximum(np.linalg.norm(at, axis=1), 1e-12)
        off_axis = np.arccos(np.clip(at[:, 2] / distance, -1.0, 1.0))
        width = np.arcsin(np.minimum(self._radii / distance, 1.0))
        reaches = (off_axis - width <= half_angle + _ROUNDING) | (self._radii >= distance)
        reaches &= distance - self._radii <= range_m + _ROUNDING
        return np.repeat(reaches, self._sizes)
