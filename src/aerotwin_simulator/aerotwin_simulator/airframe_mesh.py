# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a multirotor, from its airframe: what others of its simulation see of it, and hit.

Body axes, the origin at the centre of mass. Fewer than 200 triangles for up to six rotors.
"""

import math

import numpy as np

from aerotwin_meshes import TexturedMesh
from aerotwin_multirotor_dynamics import Airframe
from aerotwin_simulator.collision import N_DIRECTIONS
from aerotwin_simulator.robot_description import UNKNOWN_RADIUS_M

BODY, ARM, ROTOR = 0, 1, 2
_COLOURS = np.array([[[64, 64, 71], [24, 24, 26], [26, 115, 204]]], np.uint8)
_BODY_SHARE, _BODY_HALF_HEIGHT = 0.3, 0.25
"""Half length of the body over the reach of the hubs; half its height over its half length."""
_HALF_ARM_M, _HALF_LEG_M = 0.01, 0.006
_LIGHT_BELOW = 0.5
"""Light of what lies below the middle of its part, over that above: an even sky."""
_BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_BOX_QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
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
    parts: list[Part] = [(body, _quads(_BOX_QUADS), BODY)]
    parts += [_beam(middle, hub, _HALF_ARM_M) for hub in hubs]
    parts += [_beam(0.5 * foot * (1.0, 1.0, 0.0), foot, _HALF_LEG_M, above=True) for foot in feet]
    parts += [_disc(hub, radius or UNKNOWN_RADIUS_M) for hub in hubs]
    starts = np.cumsum([0] + [len(vertices) for vertices, _, _ in parts])
    vertices = np.concatenate([part[0] for part in parts])
    triangles = [part[1] + start for part, start in zip(parts, starts)]
    u = np.concatenate([np.full(len(v), (colour + 0.5) / 3.0) for v, _, colour in parts])
    return TexturedMesh(
        vertices_map=vertices,
        triangles=np.concatenate(triangles).astype(np.int32),
        uv=np.column_stack([u, np.full(len(u), 0.5)]).astype(np.float32),
        texture=_COLOURS,
        light=np.concatenate([_light(part[0]) for part in parts]),
        name=airframe.name,
    )


def _body(airframe: Airframe, hubs: np.ndarray) -> np.ndarray:
    """Return the corners (8, 3) of the body, the lowest first."""
    half = _BODY_SHARE * max(float(np.linalg.norm(hubs[:, :2], axis=1).max()), 0.1)
    low, high = -_BODY_HALF_HEIGHT * half, _BODY_HALF_HEIGHT * half
    if airframe.contact.hull_m:
        heights = np.array(airframe.contact.hull_m)[:, 2]
        low, high = min(low, heights.min()), max(high, heights.max())
    bottom = max(low, min(foot[2] for foot in airframe.contact.feet_m))
    corners = _BOX * [half, 0.5 * half, 0.0]
    corners[:, 2] = np.where(_BOX[:, 2] < 0.0, bottom, high)
    return corners


def _beam(start: np.ndarray, end: np.ndarray, half: float, *, above: bool = False) -> Part:
    """Return an open beam with a square section; it ends in a point if that is below it."""
    way = end - start
    way = way / max(float(np.linalg.norm(way)), 1e-9)
    side = np.cross(way, [0.0, 0.0, 1.0] if abs(way[2]) < 0.9 else [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    up = np.cross(side, way)
    ring = half * np.array([side + up, -side + up, -side - up, side - up])
    vertices = np.vstack([start + ring, end[None] if above else end + ring])
    return vertices, _sides(4, is_pointed=above), ARM


def _sides(n: int, *, is_pointed: bool) -> np.ndarray:
    here = np.arange(n)
    after = (here + 1) % n
    if is_pointed:
        return np.column_stack([here, after, np.full(n, n)])
    return np.vstack(
        [np.column_stack([here, after, after + n]), np.column_stack([here, after + n, here + n])]
    )


def _disc(hub: np.ndarray, radius: float) -> Part:
    angle = 2.0 * math.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(N_DIRECTIONS)])
    k = np.arange(1, N_DIRECTIONS - 1)
    return hub + radius * rim, np.column_stack([np.zeros_like(k), k, k + 1]), ROTOR


def _quads(corners: tuple[tuple[int, ...], ...]) -> np.ndarray:
    return np.array([t for a, b, c, d in corners for t in ((a, b, c), (a, c, d))])


def _light(vertices: np.ndarray) -> np.ndarray:
    z = vertices[:, 2]
    return np.where(z < 0.5 * (z.min() + z.max()), _LIGHT_BELOW, 1.0).astype(np.float32)
