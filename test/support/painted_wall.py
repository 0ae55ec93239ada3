# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A painted plane, of which images and depth have a closed form."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, make_transform
from aerotwin_dense_localization.mapping import StereoKeyframe

CAMERA = PinholeCamera(width=320, height=240, fx=200.0, fy=205.0, cx=159.0, cy=121.0, skew=0.5)
WAVES = np.random.default_rng(1).normal(0.0, 6.0, (40, 2))
PHASES = np.random.default_rng(2).uniform(0.0, 2 * np.pi, 40)


def waves(x, y):
    """Return a grey value that changes everywhere, at scales from 0.3 m."""
    sines = np.sin(WAVES[:, 0] * x[..., None] + WAVES[:, 1] * y[..., None] + PHASES)
    return 120.0 + 8.0 * sines.sum(axis=-1)


def pose(rotvec, p) -> FloatArray:
    """Return a (4, 4) transform."""
    return make_transform(Rotation.from_rotvec(rotvec).as_matrix(), p)


@dataclass(frozen=True, kw_only=True)
class Wall:
    """The plane normal . X = offset_m, painted over x and y."""

    normal: tuple[float, float, float] = (-0.2, 0.1, 1.0)
    offset_m: float = 3.0
    paint: object = waves

    def seen(self, camera, T_map_optical) -> tuple[np.ndarray, np.ndarray]:
        """Return grey values and depth (h, w)."""
        rays = np.concatenate([camera.rays(), np.ones((camera.height, camera.width, 1))], axis=-1)
        directions = rays @ T_map_optical[:3, :3].T
        normal = np.array(self.normal)
        depth = (self.offset_m - normal @ T_map_optical[:3, 3]) / (directions @ normal)
        p = T_map_optical[:3, 3] + depth[..., None] * directions
        return self.paint(p[..., 0], p[..., 1]), depth

    def off(self, points) -> np.ndarray:
        """Return the signed distances (n,) of points from the plane [m]."""
        normal = np.array(self.normal)
        return (points @ normal - self.offset_m) / np.linalg.norm(normal)

    def keyframe(
        self, T_map_optical, *, stamp_ns=0, sigma_m=0.0, seed=0, camera=CAMERA
    ) -> StereoKeyframe:
        """Return a key-frame whose depth has noise of a known size."""
        grey, depth = self.seen(camera, T_map_optical)
        noise = np.random.default_rng(seed).normal(0.0, 1.0, depth.shape)
        return StereoKeyframe(
            stamp_ns=stamp_ns,
            image=np.clip(grey, 0, 255).round().astype(np.uint8),
            depth=(depth + sigma_m * noise).astype(np.float32),
            variance=np.full(depth.shape, max(sigma_m, 1e-3) ** 2, np.float32),
            camera=camera,
            T_map_optical=T_map_optical,
        )
