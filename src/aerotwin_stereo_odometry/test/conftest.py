# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import functools

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera, StereoRig

TEXTURE_SIZE = 1024
TEXEL_M = 0.012
WALL_NORMAL, WALL_DISTANCE_M = np.array([-0.15, 0.1, 1.0]), 6.0  # normal . x = distance


class SlantedWall:
    """An analytic world: one textured plane, sampled exactly, in the first camera's axes."""

    def __init__(self):
        rng = np.random.default_rng(3)
        noise = rng.standard_normal((TEXTURE_SIZE, TEXTURE_SIZE))
        texture = sum(gaussian_filter(noise, s, mode="wrap") * s * 30.0 for s in (1.5, 4.0, 12.0))
        self.texture = np.clip(120.0 + texture, 5.0, 250.0)
        self.rig = StereoRig(
            camera=PinholeCamera(width=320, height=240, fx=220.0, fy=220.0, cx=159.5, cy=119.5),
            baseline_m=0.2,
        )
        self.rays = rays_of(self.rig.camera)

    def view(self, T_world_optical, camera=None):
        rays = self.rays if camera is None else rays_of(camera)
        rays = rays @ T_world_optical[:3, :3].T
        origin = T_world_optical[:3, 3]
        depth = (WALL_DISTANCE_M - WALL_NORMAL @ origin) / (rays @ WALL_NORMAL)
        points = origin + depth[:, None] * rays
        where = points[:, 1::-1].T / TEXEL_M
        grey = map_coordinates(self.texture, where, order=1, mode="grid-wrap")
        return grey.reshape(self.rig.camera.height, self.rig.camera.width)

    def pair(self, T_world_optical, rng, noise=1.0, camera=None):
        T_left_right = np.eye(4)
        T_left_right[0, 3] = self.rig.baseline_m
        places = (T_world_optical, T_world_optical @ T_left_right)
        images = [self.view(T, camera) for T in places]
        noisy = [im + noise * rng.standard_normal(im.shape) for im in images]
        return [np.clip(np.rint(im), 0, 255).astype(np.uint8) for im in noisy]

    def poses(self, n):
        """Slide to the right at 0.08 m a frame, nodding and turning a little."""
        T = np.tile(np.eye(4), (n, 1, 1))
        k = np.arange(n)
        T[:, 0, 3] = 0.08 * k
        T[:, 1, 3] = 0.1 * np.sin(k / 9.0)
        T[:, 2, 3] = 0.15 * (1.0 - np.cos(k / 11.0))
        angles = np.column_stack([0.03 * np.sin(k / 7.0), 0.06 * np.sin(k / 12.0), 0.002 * k])
        T[:, :3, :3] = Rotation.from_euler("xyz", angles).as_matrix()
        return T


@functools.cache
def rays_of(camera):
    """Return the ray (h * w, 3) of every pixel."""
    rays = camera.rays().reshape(-1, 2)
    return np.column_stack([rays, np.ones(len(rays))])


@pytest.fixture(scope="session")
def wall():
    return SlantedWall()


@pytest.fixture(scope="session")
def sequence(wall):
    """Poses (n, 4, 4) and noisy stereo pairs of a flight along the wall."""
    rng = np.random.default_rng(11)
    poses = wall.poses(45)
    return poses, [wall.pair(T, rng) for T in poses]
