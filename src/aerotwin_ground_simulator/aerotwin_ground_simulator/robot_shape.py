# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a ground robot: what others of its simulation see of it, and hit."""

import numpy as np

from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.convex_body import ConvexBody
from aerotwin_meshes.parts import UNIT_BOX, box_triangles, light_of_sky
from aerotwin_simulator.robot import RobotShape
from aerotwin_simulator.robot_description import WHEEL_RADIUS_M

_COLOURS = np.array([[[64, 64, 71], [24, 24, 26]]], np.uint8)


def ground_robot_shape(contacts_base: np.ndarray) -> RobotShape:
    """Return a box on four wheels; it touches the ground at contacts (4, 2), base_link [m]."""
    length, width = np.ptp(contacts_base, axis=0)
    x, y = contacts_base.mean(axis=0)
    radius = WHEEL_RADIUS_M
    boxes = [((x, y, 1.5 * radius), (length, 0.8 * width, radius))]
    boxes += [
        ((wx, wy, radius), (2.0 * radius, 0.5 * radius, 2.0 * radius)) for wx, wy in contacts_base
    ]
    corners = [np.array(middle) + 0.5 * UNIT_BOX * size for middle, size in boxes]
    vertices = np.concatenate(corners)
    triangles = np.concatenate([box_triangles() + len(UNIT_BOX) * k for k in range(len(boxes))])
    u = np.repeat([0.25, *[0.75] * (len(boxes) - 1)], len(UNIT_BOX))
    mesh = TexturedMesh(
        vertices_map=vertices,
        triangles=triangles.astype(np.int32),
        uv=np.column_stack([u, np.full(len(u), 0.5)]).astype(np.float32),
        texture=_COLOURS,
        light=np.concatenate([light_of_sky(part) for part in corners]),
        name="ground_robot",
    )
    return RobotShape(mesh=mesh, hull=ConvexBody(vertices))
