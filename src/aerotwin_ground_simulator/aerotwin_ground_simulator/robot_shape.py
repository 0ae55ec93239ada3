# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a ground robot: its URDF, what others of its simulation see of it, and hit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.convex_body import ConvexBody
from aerotwin_meshes.parts import UNIT_BOX, box_triangles, light_of_sky
from aerotwin_multirotor_dynamics.robot_description import (
    add_box,
    add_visual,
    number_text,
    robot_of_frames,
    urdf_text,
)
from aerotwin_simulator import topics
from aerotwin_simulator.collision import Lines
from aerotwin_simulator.robot import RobotShape

WHEEL_RADIUS_M = 0.15
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


def outline_of(contacts_base: np.ndarray) -> Lines:
    """Return the lines of a ground robot that must not pass through a surface, base_link [m].

    They are the edges of the box around all of it between the axles and the top, with spokes from
    its middle. What is lower than an axle is driven over.
    """
    low, high = contacts_base.min(axis=0), contacts_base.max(axis=0)
    radius = WHEEL_RADIUS_M
    size = np.array([*(high - low + (2.0 * radius, 0.5 * radius)), radius])
    middle = np.array([*0.5 * (low + high), 1.5 * radius])
    box = ConvexBody(middle + 0.5 * UNIT_BOX * size)
    starts, ends = box.corners[box.edges.T]
    spokes = np.broadcast_to(middle, box.corners.shape)
    return np.vstack([starts, spokes]), np.vstack([ends, box.corners])


def ground_robot_description(contacts: np.ndarray, fixed: Sequence[Any], vehicle: str = "") -> str:
    """Return the URDF of a ground robot, a box on four wheels; its model has no masses.

    `contacts` is (4, 2): where the wheels touch the ground, in base_link [m].
    """
    name = topics.frame(vehicle, "base_link")
    robot, links = robot_of_frames("ground_robot", name, fixed)
    base = links[name]
    length, width = np.ptp(contacts, axis=0)
    middle = (*contacts.mean(axis=0).tolist(), 1.5 * WHEEL_RADIUS_M)
    add_box(base, (length, 0.8 * width, WHEEL_RADIUS_M), middle, "body")
    wheel = {"radius": number_text(WHEEL_RADIUS_M), "length": number_text(0.5 * WHEEL_RADIUS_M)}
    sideways = Rotation.from_euler("x", 90.0, degrees=True)
    for x, y in contacts:
        add_visual(base, "cylinder", wheel, "body", (x, y, WHEEL_RADIUS_M), sideways)
    return urdf_text(robot)
