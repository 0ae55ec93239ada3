# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A small world to repeat routes in: level ground with boxes on both sides of the x axis."""

from pathlib import Path

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.teaching import teach_route
from aerotwin_worlds import World

LIDAR = """
source: a test
parameters: {n_rings: 16, n_columns: 512, elevation_top_deg: 15.0, elevation_bottom_deg: -15.0,
             range_noise_m: 0.01}
"""
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def box(x, y, half, height, name):
    """Return a box that stands on the ground."""
    low, high = np.array([x - half, y - half, -0.1]), np.array([x + half, y + half, height])
    corners = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)], float)
    triangles = [t for a, b, c, d in FACES for t in ((a, b, c), (a, c, d))]
    return mesh(low + corners * (high - low), triangles, name)


def mesh(vertices, triangles, name):
    """Return a grey mesh."""
    return TexturedMesh(
        vertices_map=np.asarray(vertices, float),
        triangles=np.asarray(triangles, np.int32),
        uv=np.zeros((len(vertices), 2), np.float32),
        texture=np.full((4, 4, 3), 128, np.uint8),
        name=name,
    )


def box_world():
    """Return boxes of different sizes from -12 to 32 m along x."""
    rng = np.random.default_rng(2)
    places = [(x, side * rng.uniform(4, 12)) for x in range(-12, 32, 4) for side in (-1, 1)]
    boxes = [
        box(x + rng.uniform(-1, 1), y, rng.uniform(0.4, 1.5), rng.uniform(1, 5), f"box {k}")
        for k, (x, y) in enumerate(places)
    ]
    ground = [[-40, -40, 0], [50, -40, 0], [50, 40, 0], [-40, 40, 0]]
    return World(
        name="boxes",
        meshes=(mesh(ground, [[0, 1, 2], [0, 2, 3]], "ground"), *boxes),
        origin=GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=488.0),
        attribution="test",
        licence="Apache-2.0",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )


def teach_in(world: World, along_m: float) -> RouteGraph:
    """Return a graph along a gentle S of that length, taught on points of the true surface."""
    from aerotwin_reconstruction.degradation import sample_surface

    x = np.linspace(0.0, along_m, round(along_m))
    waypoints = np.column_stack([x, 0.5 * np.sin(x / 3.0)])
    return teach_route(sample_surface(world.meshes, 0.12, seed=0).points_map, waypoints)


def lidar_file(folder: Path) -> str:
    """Write the preset of a small lidar; return its path."""
    path = folder / "lidar.yaml"
    path.write_text(LIDAR)
    return str(path)


def never(seed, folder):
    raise AssertionError("what was judged is not taught again")
