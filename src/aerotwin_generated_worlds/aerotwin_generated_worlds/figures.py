# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A person and a car that can move through any world.

Each is one mesh in a frame of its own: x ahead, y left, z up, the origin on the ground below its
middle. Their light is that of an even sky, darker from below, so that they may turn.
"""

import math

import cv2
import numpy as np

from aerotwin_generated_worlds.plants import speckle
from aerotwin_generated_worlds.solids import Patch, box, capped, cylinder, fan, join, quads
from aerotwin_meshes.mesh import TexturedMesh

SKY_LIGHT, GROUND_LIGHT = 1.0, 0.5
"""Light on a face that looks up, and on one that looks down."""
_CELLS, _CELL_PX, _RIM = 4, 64, 0.06
"""Of a texture: cells along a side, their size, and the share of one that its border takes."""
WHEELBASE_M, TRACK_M, WHEEL_RADIUS_M = 2.7, 1.58, 0.32
_DARK, _GLASS = (24, 24, 26), (40, 48, 56)


def build_person() -> tuple[TexturedMesh, ...]:
    """Return a walking person, 1.75 m high."""
    image = _cells(
        {0: (158, 52, 44), 1: (52, 58, 76), 2: (44, 36, 32), 3: (206, 158, 128), 4: (158, 52, 44)},
        seed=61,
    )
    _paint(image, 3, [(0.0, 0.0), (1.0, 0.0), (1.0, 0.3), (0.0, 0.3)], (58, 42, 32))
    _paint(image, 3, [(0.2, 0.0), (0.8, 0.0), (0.8, 0.6), (0.2, 0.6)], (58, 42, 32))
    _paint(image, 4, [(0.0, 0.8), (1.0, 0.8), (1.0, 1.0), (0.0, 1.0)], (206, 158, 128))
    torso = _column(
        [[0, 0, 0.84], [0, 0, 1.04], [0.01, 0, 1.30], [0, 0, 1.47]],
        [[0.11, 0.17], [0.10, 0.15], [0.12, 0.19], [0.07, 0.13]],
        sides=8, cell=0,
    )  # fmt: skip
    head = _column(
        [[0, 0, 1.42], [0.01, 0, 1.53], [0.02, 0, 1.62], [0.01, 0, 1.70], [0, 0, 1.75]],
        [[0.05, 0.05], [0.07, 0.06], [0.10, 0.08], [0.09, 0.075], [0.03, 0.03]],
        sides=8, cell=3,
    )  # fmt: skip
    limbs = [limb for side in (1, -1) for limb in _limbs(side)]
    return (_lit(join([torso, head, *limbs]), image, "person", is_round=True),)


def _limbs(side: int) -> list[Patch]:
    """Return leg, shoe and arm of the left (1) or right (-1); the left leg is ahead."""
    y, ahead = 0.095 * side, 0.2 * side
    leg = _column(
        [[ahead, y, 0.05], [0.6 * ahead + 0.03, y, 0.47], [0, 0.9 * y, 0.9]],
        [[0.05, 0.05], [0.062, 0.06], [0.09, 0.085]],
        sides=6, cell=1,
    )  # fmt: skip
    sole = np.array([ahead, y, 0.0])
    low, high = np.array([[-0.08, -0.045, 0.0], [0.18, 0.045, 0.08]]) + sole
    shoe = box(low, high, _uv_box(2))
    y = 0.225 * side
    arm = _column(
        [[-0.9 * ahead, y, 0.78], [-0.4 * ahead - 0.03, y, 1.10], [0, 0.88 * y, 1.42]],
        [[0.036, 0.03], [0.042, 0.042], [0.05, 0.05]],
        sides=5, cell=4,
    )  # fmt: skip
    return [leg, shoe, arm]


# Of the hull: length along it, height of belly and belt, half width [m].
_HULL = (
    (-2.25, 0.40, 0.72, 0.68), (-2.12, 0.26, 0.92, 0.82), (-1.35, 0.20, 0.96, 0.88),
    (0.70, 0.20, 0.93, 0.88), (1.35, 0.20, 0.86, 0.87), (2.00, 0.22, 0.76, 0.82),
    (2.25, 0.36, 0.62, 0.64),
)  # fmt: skip
_CABIN_FOOT, _CABIN_ROOF = (-1.85, 0.95, 0.80, 0.90), (-1.30, 0.15, 0.60, 1.50)
"""Back, front and half width of the cabin at a height [m]."""


def build_car() -> tuple[TexturedMesh, ...]:
    """Return a car, 4.5 m x 1.8 m x 1.5 m."""
    paint = (164, 46, 38)
    colours = {0: paint, 1: _DARK, 2: paint, 3: paint, 4: paint, 5: (232, 232, 220),
               6: (128, 20, 18), 7: (140, 142, 145)}  # fmt: skip
    image = _cells(colours, seed=62)
    for low, high in ((0.08, 0.47), (0.53, 0.92)):
        _paint(image, 2, [(low, 0.14), (high, 0.14), (high, 0.9), (low, 0.9)], _GLASS)
    _paint(image, 3, [(0.06, 0.1), (0.94, 0.1), (0.94, 0.92), (0.06, 0.92)], _GLASS)
    for k in range(5):
        angle = np.array([-0.25, 0.25]) + k * 0.4 * math.pi
        spoke = 0.5 + 0.4 * np.column_stack([np.cos(angle), np.sin(angle)])
        _paint(image, 7, [(0.5, 0.5), *spoke.tolist()], (60, 61, 64))
    loops = [
        [
            [x, side * w, z]
            for side, w, z in (
                (-1, 0.85 * half, low), (1, 0.85 * half, low), (1, half, low + 0.14),
                (1, half, high - 0.12), (1, 0.9 * half, high), (-1, 0.9 * half, high),
                (-1, half, high - 0.12), (-1, half, low + 0.14),
            )
        ]
        for x, low, high, half in _HULL
    ]  # fmt: skip
    hull = capped(np.array(loops), _uv_box(0))
    lamps = [
        box(np.array([x0, y, z]), np.array([x1, y + 0.28, z + 0.13]), _uv_box(cell))
        for y in (0.42, -0.70)
        for x0, x1, z, cell in ((2.0, 2.21, 0.55, 5), (-2.24, -2.0, 0.68, 6))
    ]
    wheels = [
        part
        for x in (0.5 * WHEELBASE_M, -0.5 * WHEELBASE_M)
        for side in (1, -1)
        for part in _wheel(x, side)
    ]
    return (_lit(join([hull, _cabin(), *lamps, *wheels]), image, "car", is_round=False),)


def _cabin() -> Patch:
    """Return windows and roof: four walls and a lid, closed below."""
    (x0, x1, w0, z0), (x2, x3, w1, z1) = _CABIN_FOOT, _CABIN_ROOF
    foot = np.array([[x0, -w0, z0], [x1, -w0, z0], [x1, w0, z0], [x0, w0, z0]])
    roof = np.array([[x2, -w1, z1], [x3, -w1, z1], [x3, w1, z1], [x2, w1, z1]])
    walls = [[foot[a], foot[b], roof[b], roof[a]] for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))]
    corners = np.array([*walls, roof, foot[::-1]])
    uv = np.array([_uv_corners(cell) for cell in (2, 3, 2, 3, 4, 1)])
    return quads(corners, uv)


def _wheel(x: float, side: int) -> list[Patch]:
    """Return tyre, rim and wheel house on the left (1) or right (-1)."""
    outer = 0.9
    tyre = cylinder(
        np.zeros(3), [WHEEL_RADIUS_M] * 2, [outer - 0.2, outer - 0.01], sides=12, uv_box=_uv_box(1)
    )
    house = cylinder(
        np.array([0.0, 0.06, 0.0]), [0.36] * 2, [0.5, outer - 0.015], sides=12, uv_box=_uv_box(1)
    )
    angle = np.arange(10) * 0.2 * math.pi
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    ring = np.column_stack([0.2 * circle, np.full(10, outer)])
    u0, v0, u1, v1 = _uv_box(7)
    middle = np.array([(u0 + u1) / 2, (v0 + v1) / 2])
    uv = middle + 0.5 * circle * [u1 - u0, v1 - v0]
    rim = fan(ring, np.array([0.0, 0.0, outer]), uv, middle, up=True)
    # The axis, along z so far, is turned to the side.
    turn = np.array([[-side, 0.0, 0.0], [0.0, 0.0, side], [0.0, 1.0, 0.0]])
    return [
        Patch(
            vertices=part.vertices @ turn.T + [x, 0.0, WHEEL_RADIUS_M],
            uv=part.uv,
            triangles=part.triangles,
        )
        for part in (tyre, house, rim)
    ]


def _column(centres, half_widths, *, sides: int, cell: int) -> Patch:
    """Return a closed column through elliptic loops: centres (k, 3), half widths along x, y."""
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    loops = np.repeat(np.array(centres, float)[:, None], sides, axis=1)
    loops[:, :, :2] += np.array(half_widths)[:, None] * ring
    return capped(loops, _uv_box(cell))


def _uv_box(cell: int) -> tuple[float, float, float, float]:
    """Return the part u0, v0, u1, v1 of the texture that shows a cell."""
    u, v = cell % _CELLS, cell // _CELLS
    return (
        (u + _RIM) / _CELLS, (v + _RIM) / _CELLS, (u + 1 - _RIM) / _CELLS, (v + 1 - _RIM) / _CELLS
    )  # fmt: skip


def _uv_corners(cell: int) -> list[tuple[float, float]]:
    """Return the texture coordinates of a quadrilateral, from its lower left on."""
    u0, v0, u1, v1 = _uv_box(cell)
    return [(u0, v1), (u1, v1), (u1, v0), (u0, v0)]


def _cells(colours: dict[int, tuple[int, int, int]], *, seed: int) -> np.ndarray:
    """Return a texture of cells in these colours, a little uneven."""
    size = _CELLS * _CELL_PX
    image = np.zeros((size, size, 3))
    for cell, colour in colours.items():
        row, column = cell // _CELLS * _CELL_PX, cell % _CELLS * _CELL_PX
        image[row : row + _CELL_PX, column : column + _CELL_PX] = colour
    tone = speckle(np.random.default_rng(seed), (size, size), (2, 7, 20), (0.02, 0.04, 0.05))
    return np.clip(image * tone[..., None], 4, 251).astype(np.uint8)


def _paint(image: np.ndarray, cell: int, polygon, colour: tuple[int, int, int]) -> None:
    """Fill a polygon, in shares of the visible part of a cell."""
    u0, v0, u1, v1 = _uv_box(cell)
    places = np.array(polygon) * [u1 - u0, v1 - v0] + [u0, v0]
    points = np.round(places * image.shape[0]).astype(np.int32)
    cv2.fillPoly(image, [points], tuple(float(c) for c in colour), cv2.LINE_AA)


def _lit(patch: Patch, texture: np.ndarray, name: str, *, is_round: bool) -> TexturedMesh:
    """Return a mesh under an even sky, with edges between its faces or round."""
    index = patch.triangles.ravel()
    corners = patch.vertices[index].reshape(-1, 3, 3)
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = np.repeat(area, 3, axis=0)
    if is_round:
        _, point = np.unique(patch.vertices[index].round(6), axis=0, return_inverse=True)
        total = np.zeros((point.max() + 1, 3))
        np.add.at(total, point.ravel(), normal)
        normal = total[point.ravel()]
    up = normal[:, 2] / np.maximum(np.linalg.norm(normal, axis=1), 1e-12)
    light = 0.5 * ((SKY_LIGHT + GROUND_LIGHT) + (SKY_LIGHT - GROUND_LIGHT) * up)
    facets = Patch(
        vertices=patch.vertices[index],
        uv=patch.uv[index],
        triangles=np.arange(len(index)).reshape(-1, 3),
    )
    return facets.mesh(texture, name, light=light.astype(np.float32))
