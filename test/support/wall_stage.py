# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A world with a painted wall on level ground, for tests of dense localisation."""

import cv2
import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_worlds import World

WALL_Y_M, HALF_M, HIGH_M = 20.0, 14.0, 16.0
NORTH = np.pi / 2


def painting():
    """Return a grey picture with something to see at every scale."""
    rng, picture = np.random.default_rng(3), np.zeros((1024, 1792))
    for n in (16, 48, 128, 384, 1024):
        coarse = rng.normal(0.0, 22.0, (n, n * 7 // 4)).astype(np.float32)
        picture += cv2.resize(coarse, (1792, 1024), interpolation=cv2.INTER_CUBIC)
    grey = np.clip(120.0 + picture, 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def quad(corners, texture):
    return TexturedMesh(
        vertices_map=np.array(corners, float),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=texture,
    )


def wall_world():
    """Return the world; a vehicle starts at the origin and looks at the wall."""
    h, y = HALF_M, WALL_Y_M
    ground = quad([[-40, -40, 0], [40, -40, 0], [40, 40, 0], [-40, 40, 0]],
                  np.full((8, 8, 3), 90, np.uint8))  # fmt: skip
    wall = quad([[-h, y, 0], [h, y, 0], [h, y, HIGH_M], [-h, y, HIGH_M]], painting())
    return World(
        name="wall", meshes=(ground, wall), attribution="", licence="", start_p_map=np.zeros(3),
        origin=GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0),
        start_yaw=NORTH,
    )  # fmt: skip
