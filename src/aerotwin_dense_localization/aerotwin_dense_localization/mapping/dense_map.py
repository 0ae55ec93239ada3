# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The dense map: surfaces, and the selection of those that a camera may see."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import CameraModel
from aerotwin_core.frames import FloatArray
from aerotwin_dense_localization.mapping.parameters import MapParameters
from aerotwin_dense_localization.mapping.surface import SplatSurface
from aerotwin_dense_localization.splats import SplatCloud

_BLOCK = 1024  # splats that are tested together: a square of their grid, so mostly near each other

RIM_PX = 3  # splats are wider by what a pixel averages: those beside the image may reach into it


@dataclass(frozen=True, kw_only=True, eq=False)
class _Blocks:
    """Spheres around runs of splats."""

    centres: FloatArray
    radii: FloatArray

    @classmethod
    def of(cls, cloud: SplatCloud) -> "_Blocks":
        starts = np.arange(0, len(cloud), _BLOCK)
        low = np.minimum.reduceat(cloud.points, starts, axis=0)
        high = np.maximum.reduceat(cloud.points, starts, axis=0)
        reach = 3.0 * np.sqrt(np.maximum.reduceat(cloud.covariances[:, [0, 3, 5]], starts, axis=0))
        radii = 0.5 * np.linalg.norm(high - low, axis=1) + np.linalg.norm(reach, axis=1)
        return cls(centres=0.5 * (low + high), radii=radii)


class DenseMap:
    """A map of splats, stored as surfaces."""

    def __init__(
        self, surfaces: Sequence[SplatSurface], parameters: MapParameters | None = None
    ) -> None:
        self.surfaces = tuple(surface for surface in surfaces if len(surface))
        self.parameters = MapParameters() if parameters is None else parameters
        if not self.surfaces:
            raise ValueError("a dense map must have a surface with points")
        splats = [surface.splats(self.parameters) for surface in self.surfaces]
        self.cloud = SplatCloud.joined(splats)
        self._blocks = _Blocks.of(self.cloud)

    def __len__(self) -> int:
        return len(self.cloud)

    def visible(self, camera: CameraModel, T_map_optical: FloatArray) -> SplatCloud:
        """Return the splats that may be in a camera's view, by their blocks.

        Of the surfaces, those within reach of the one nearest to the camera; occlusion is left to
        the rasteriser.
        """
        R, p = T_map_optical[:3, :3], T_map_optical[:3, 3]
        centres, radii = (self._blocks.centres - p) @ R, self._blocks.radii
        is_seen = centres[:, 2] + radii > 0.0
        for normal in _frustum(camera):
            is_seen &= centres @ normal + radii > 0.0
        is_shown = np.repeat(is_seen, _BLOCK)[: len(self.cloud)]
        ways_m = np.array([np.linalg.norm(s.T_map_surface[:3, 3] - p) for s in self.surfaces])
        is_near = ways_m <= ways_m.min() + self.parameters.reach_m
        if not is_near.all():
            is_shown &= np.repeat(is_near, [len(surface) for surface in self.surfaces])
        return self.cloud.subset(is_shown)

    def pixel_m(self) -> np.ndarray:
        """Return the size of the pixel that each splat came from (n,) float32 [m]."""
        return np.concatenate([surface.pixel_m() for surface in self.surfaces])


def _frustum(camera: CameraModel) -> FloatArray:
    """Return the inward normals (4, 3) of planes through the eye that hold the whole image."""
    width, height = camera.width, camera.height
    u, v = np.meshgrid(*(np.linspace(-RIM_PX, n - 1 + RIM_PX, 9) for n in (width, height)))
    border = camera.rays_at(np.column_stack([u.ravel(), v.ravel()]))
    (x_low, y_low), (x_high, y_high) = np.nanmin(border, axis=0), np.nanmax(border, axis=0)
    normals = np.array([[1, 0, -x_low], [-1, 0, x_high], [0, 1, -y_low], [0, -1, y_high]], float)
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)
