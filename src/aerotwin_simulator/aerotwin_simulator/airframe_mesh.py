# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a multirotor, from its airframe: what others of its simulation see of it, and hit.

Body axes, the origin at the centre of mass. Fewer than 200 triangles for up to six rotors.
"""

import functools

import numpy as np

from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.convex_body import ConvexBody
from aerotwin_meshes.parts import UNIT_BOX, beam, box_triangles, disc, light_of_sky
from aerotwin_multirotor_dynamics import Airframe
from aerotwin_multirotor_dynamics.robot_description import UNKNOWN_RADIUS_M
from aerotwin_simulator.collision import N_DIRECTIONS
from aerotwin_simulator.robot import RobotShape

BODY, ARM, ROTOR = 0, 1, 2
_COLOURS = np.array([[[64, 64, 71], [24, 24, 26], [26, 115, 204]]], np.uint8)
_BODY_SHARE, _BODY_HALF_HEIGHT = 0.3, 0.25
"""Half length of the body over the reach of the hubs; half its height over its half length."""
_HALF_ARM_M, _HALF_LEG_M = 0.01, 0.006
Part = tuple[np.ndarray, np.ndarray, int]
"""Vertices (n, 3), triangles (m, 3) of them, colour."""


def airframe_mesh(airframe: Airframe) -> TexturedMesh:
    """Return the mesh of an airframe: body, an arm to each rotor and its disc, a leg to each foot.

    Discs have the propeller's radius, 0.1 m if it has none, and are polygons of `N_DIRECTIONS`
    corners. The body is as high as the points of its hull.

    Examples
    --------
    >>> from aerotwin_multirotor_dynamics import load_airframe
    >>> len(airframe_mesh(load_airframe("iris")).triangles)
    116
    """
    hubs = np.array([rotor.position_m for rotor in airframe.rotors])
    feet, radius = np.array(airframe.contact.feet_m), airframe.propeller.radius_m
    body = _body(airframe, hubs)
    middle = np.array([0.0, 0.0, 0.5 * (body[0, 2] + body[-1, 2])])
    parts: list[Part] = [(body, box_triangles(), BODY)]
    parts += [(*beam(middle, hub, _HALF_ARM_M), ARM) for hub in hubs]
    parts += [
        (*beam(0.5 * foot * (1.0, 1.0, 0.0), foot, _HALF_LEG_M, is_pointed=True), ARM)
        for foot in feet
    ]
    parts += [(*disc(hub, radius or UNKNOWN_RADIUS_M, N_DIRECTIONS), ROTOR) for hub in hubs]
    starts = np.cumsum([0] + [len(vertices) for vertices, _, _ in parts])
    vertices = np.concatenate([part[0] for part in parts])
    triangles = [part[1] + start for part, start in zip(parts, starts)]
    u = np.concatenate([np.full(len(v), (colour + 0.5) / 3.0) for v, _, colour in parts])
    return TexturedMesh(
        vertices_map=vertices,
        triangles=np.concatenate(triangles).astype(np.int32),
        uv=np.column_stack([u, np.full(len(u), 0.5)]).astype(np.float32),
        texture=_COLOURS,
        light=np.concatenate([light_of_sky(part[0]) for part in parts]),
        name=airframe.name,
    )


@functools.cache
def airframe_shape(airframe: Airframe) -> RobotShape:
    """Return the mesh of an airframe, and the hull of that and of its contact points."""
    mesh = airframe_mesh(airframe)
    contacts = np.array(airframe.contact.feet_m + airframe.contact.hull_m)
    return RobotShape(mesh=mesh, hull=ConvexBody(np.vstack([mesh.vertices_map, contacts])))


def _body(airframe: Airframe, hubs: np.ndarray) -> np.ndarray:
    """Return the corners (8, 3) of the body, the lowest first."""
    half = _BODY_SHARE * max(float(np.linalg.norm(hubs[:, :2], axis=1).max()), 0.1)
    low, high = -_BODY_HALF_HEIGHT * half, _BODY_HALF_HEIGHT * half
    if airframe.contact.hull_m:
        heights = np.array(airframe.contact.hull_m)[:, 2]
        low, high = min(low, heights.min()), max(high, heights.max())
    bottom = max(low, min(foot[2] for foot in airframe.contact.feet_m))
    corners = UNIT_BOX * [half, 0.5 * half, 0.0]
    corners[:, 2] = np.where(UNIT_BOX[:, 2] < 0.0, bottom, high)
    return corners
