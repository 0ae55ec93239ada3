# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
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
