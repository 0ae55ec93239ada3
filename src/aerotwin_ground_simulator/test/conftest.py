# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.parts import UNIT_BOX, box_triangles
from aerotwin_worlds import World


@pytest.fixture(scope="session")
def slope() -> World:
    """A square of 80 m that rises towards the east by 5 %; the start is in its middle."""
    x = np.array([-40.0, 40.0, 40.0, -40.0])
    corners = np.column_stack([x, [-40.0, -40.0, 40.0, 40.0], 0.05 * x])
    ground = TexturedMesh(
        vertices_map=corners,
        triangles=np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.full((8, 8, 3), 128, np.uint8),
    )
    return World(
        name="slope",
        meshes=(ground,),
        origin=GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0),
        attribution="made in a test",
        licence="Apache-2.0",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )


@pytest.fixture(scope="session")
def yard(slope) -> World:
    """A level square of 80 m with boxes on it; the start is in its middle.

    A wall stands 10 m east, a kerb of 12 cm 10 m north, a block of 25 cm 10 m south of it.
    """
    (ground,) = slope.meshes
    level = replace(ground, vertices_map=ground.vertices_map * (1.0, 1.0, 0.0), name="ground")
    boxes = {
        "wall": ([10.5, 0.0, 1.5], [1.0, 40.0, 3.0]),
        "kerb": ([0.0, 15.0, 0.06], [20.0, 10.0, 0.12]),
        "block": ([0.0, -12.0, 0.125], [20.0, 4.0, 0.25]),
    }
    placed = [
        replace(
            ground,
            vertices_map=np.array(middle) + 0.5 * UNIT_BOX * size,
            triangles=box_triangles().astype(np.int32),
            uv=np.zeros((8, 2), np.float32),
            name=name,
        )
        for name, (middle, size) in boxes.items()
    ]
    return replace(slope, name="yard", meshes=(level, *placed))
