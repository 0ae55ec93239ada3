# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Planes to stand on and obstacles on them, as functions and fixtures."""

from dataclasses import replace

import numpy as np
import pytest

from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_simulator.obstacles import ObstacleCourse
from aerotwin_simulator.topics import SinkGroup
from aerotwin_worlds import Obstacle

BOX = (4.0, 2.0, 2.0)


def quad(corners):
    """Return a quadrilateral mesh of four corners."""
    return TexturedMesh(
        vertices_map=np.array(corners, float),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.full((1, 1, 3), 120, np.uint8),
    )


def plane(slope_x=0.0, slope_y=0.0, height=0.0, half=60.0):
    """Return the ground z = height + slopes times x and y, within half of its side [m]."""
    return quad(
        [
            [x, y, height + slope_x * x + slope_y * y]
            for x, y in ((-half, -half), (half, -half), (half, half), (-half, half))
        ]
    )


@pytest.fixture
def queries_of(flat_world):
    """Return queries of a world of meshes."""
    return lambda *meshes: WorldQueries(replace(flat_world, meshes=meshes))


def course_on(queries, *obstacles, start_ns=0):
    """Return the course of obstacles that all start at an instant [ns]."""
    course = ObstacleCourse(queries, SinkGroup([]))
    for obstacle in obstacles:
        course.add(obstacle, start_ns)
    return course


def crossing(**values):
    """Return a car that crosses, or an obstacle with other values."""
    default = {"name": "car", "kind": "car", "waypoints_m": ((-20.0, 5.0), (20.0, 5.0)),
               "speed_m_s": 10.0}  # fmt: skip
    return Obstacle(**{**default, **values})


@pytest.fixture
def box_file(tmp_path):
    """A box on the ground as an OBJ file, 4 m x 2 m x 2 m."""
    x, y, z = BOX[0] / 2, BOX[1] / 2, BOX[2]
    corners = [(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (0, 1)]
    sides = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    lines = [f"v {a} {b} {c}" for a, b, c in corners]
    lines += ["f " + " ".join(map(str, side)) for side in sides]
    path = tmp_path / "box.obj"
    path.write_text("\n".join(lines) + "\n")
    return str(path)
