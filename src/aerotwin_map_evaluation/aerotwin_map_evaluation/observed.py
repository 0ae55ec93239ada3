# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of a surface that a sensor saw from true poses: only this part must be mapped.

The mask comes from true poses and the reference alone, never from the evaluated map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aerotwin_core.camera import CameraModel
from aerotwin_core.frames import invert_transform, transform_points

# Limit of poses used; of longer paths an even share.
MAX_VIEWS = 120
# A sample lies on the surface that the ray hits: float32 and grazing rays need this much [m].
SURFACE_TOLERANCE_M = 0.005

InView = Callable[[np.ndarray], np.ndarray]
"""Tells which points (n, 3) in a sensor's axes lie in its view."""


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


def camera_view(camera: CameraModel) -> InView:
    """Return a function for which points in optical axes (z forward) are in a camera's image."""

    def in_view(points_optical: np.ndarray) -> np.ndarray:
        ahead = points_optical[:, 2] > 1e-3
        seen = np.zeros(len(points_optical), dtype=bool)
        u, v = camera.project(points_optical[ahead]).T
        # Half a pixel around the centres of the outermost pixels belongs to the picture.
        inside = (u >= -0.5) & (u <= camera.width - 0.5) & (v >= -0.5)
        seen[ahead] = inside & (v <= camera.height - 0.5)
        return seen

    return in_view


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
    is_seen = np.zeros(len(samples_map), dtype=bool)
    for T in np.asarray(T_map_sensor)[np.unique(pick.round().astype(np.int64))]:
        gap = samples_map - T[:3, 3]
        open_ = np.flatnonzero(~is_seen & (np.einsum("ij,ij->i", gap, gap) < max_range_m**2))
        open_ = open_[in_view(transform_points(invert_transform(T), samples_map[open_]))]
        if len(open_):
            is_seen[open_] = occluder.visible(samples_map[open_], T[:3, 3], tolerance_m)
    return samples_map[is_seen]
