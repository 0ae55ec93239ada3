# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Solids: closed surfaces spanned between loops of points, with texture coordinates.

Every solid is a stack of loops with the same number of points, joined by strips and closed by fans:
a wall between two floors, a stand swept along a curve, a pole, a car, a stone. Faces look outwards,
and neighbours share their corners exactly, so that the surface is closed once equal corners are
welded.
"""

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from aerotwin_meshes.mesh import TexturedMesh


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A piece of surface: vertices (n, 3) [m], texture coordinates (n, 2), triangles (m, 3)."""

    vertices: np.ndarray
    uv: np.ndarray
    triangles: np.ndarray

    def moved(self, offset: np.ndarray) -> "Patch":
        """Return the surface moved by an offset (3,) [m]."""
        return dataclasses.replace(self, vertices=self.vertices + offset)

    def mesh(self, texture: np.ndarray, name: str, *, light=None) -> TexturedMesh:
        """Return the surface as a mesh with a texture."""
        return TexturedMesh(
            vertices_map=np.ascontiguousarray(self.vertices, np.float64),
            triangles=np.ascontiguousarray(self.triangles, np.int32),
            uv=np.ascontiguousarray(self.uv, np.float32),
            texture=texture,
            light=light,
            name=name,
        )


def join(patches: Iterable[Patch]) -> Patch:
    """Return several patches as one."""
    patches = list(patches)
    starts = np.cumsum([0] + [len(p.vertices) for p in patches])
    return Patch(
        vertices=np.concatenate([p.vertices for p in patches]),
        uv=np.concatenate([p.uv for p in patches]),
        triangles=np.concatenate([p.triangles + n for p, n in zip(patches, starts[:-1])]),
    )


def quads(corners: np.ndarray, uv: np.ndarray) -> Patch:
    """Return separate quadrilaterals: corners (m, 4, 3) counter-clockwise, uv (m, 4, 2)."""
    first = 4 * np.arange(len(corners))[:, None, None]
    triangles = (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    return Patch(vertices=corners.reshape(-1, 3), uv=uv.reshape(-1, 2), triangles=triangles)


def strips(loops: np.ndarray, uv: np.ndarray, *, without: np.ndarray | None = None) -> Patch:
    """Return the surface between consecutive closed loops (k, n, 3).

    Seen from the side that later loops lie on, each runs counter-clockwise about its inside. The
    last texture coordinates ``uv`` (k, n + 1, 2) of a loop are those of its first point, after a
    full turn. Cells of ``without`` (k - 1, n) stay open.
    """
    k, n = loops.shape[:2]
    vertices = np.concatenate([loops, loops[:, :1]], axis=1)
    index = np.arange(k * (n + 1)).reshape(k, n + 1)
    cells = np.stack([index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]], axis=-1)
    weight = cells.reshape(-1, 4) if without is None else cells[~without]
    triangles = np.concatenate([weight[:, [0, 1, 2]], weight[:, [0, 2, 3]]])
    patch = Patch(vertices=vertices.reshape(-1, 3), uv=uv.reshape(-1, 2), triangles=triangles)
    return without_slivers(patch)


def fan(
    loop: np.ndarray, apex: np.ndarray, uv: np.ndarray, apex_uv, *, up: bool, closed: bool = True
) -> Patch:
    """Return the surface between a loop (n, 3) and a point that sees all of it.

    ``up``: whether it looks to the side from which the loop runs counter-clockwise; ``closed``:
    whether the loop's last point is joined to its first.
    """
    n = len(loop)
    a, b = np.arange(n), (np.arange(n) + 1) % n
    if not closed:
        a, b = a[:-1], b[:-1]
    order = (a, b) if up else (b, a)
    triangles = np.stack([*order, np.full(len(a), n)], axis=1)
    patch = Patch(
        vertices=np.vstack([loop, apex]), uv=np.vstack([uv[:n], apex_uv]), triangles=triangles
    )
    return without_slivers(patch)


def without_slivers(patch: Patch) -> Patch:
    """Leave out triangles with two equal corners."""
    corners = patch.vertices[patch.triangles]
    equal = (corners == np.roll(corners, 1, axis=1)).all(axis=2).any(axis=1)
    return dataclasses.replace(patch, triangles=patch.triangles[~equal])


def recesses(corners: np.ndarray, uv: np.ndarray, depth_m: float, rim: float) -> Patch:
    """Return niches in place of wall cells: four reveals and a back ``depth_m`` behind the wall.

    ``corners`` (m, 4, 3) are the cells, counter-clockwise seen from outside; ``rim`` is the share
    of a cell's texture ``uv`` (m, 4, 2), along its border, that the reveals show.
    """
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    back = corners - depth_m * normal[:, None]
    back_uv = uv + rim * (uv.mean(axis=1, keepdims=True) - uv)
    sides = [
        quads(
            np.stack([corners[:, i], corners[:, j], back[:, j], back[:, i]], axis=1),
            np.stack([uv[:, i], uv[:, j], back_uv[:, j], back_uv[:, i]], axis=1),
        )
        for i, j in ((0, 1), (1, 2), (2, 3), (3, 0))
    ]
    return join([*sides, quads(back, back_uv)])


def cylinder(base: np.ndarray, radii_m, heights_m, *, sides: int, uv_box) -> Patch:
    """Return a closed round column: radii at heights above a base point (3,), both (k,)."""
    radii, heights = np.asarray(radii_m, float), np.asarray(heights_m, float)
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(sides)])
    loops = base + radii[:, None, None] * ring + heights[:, None, None] * [0.0, 0.0, 1.0]
    return capped(loops, uv_box)


def capped(loops: np.ndarray, uv_box) -> Patch:
    """Return strips between loops (k, n, 3) closed by fans about the middles of both ends.

    ``uv_box``: u0, v0, u1, v1 of the part of the texture around it; the first loop lies at v1.
    """
    u0, v0, u1, v1 = uv_box
    k, n = loops.shape[:2]
    u, v = np.meshgrid(np.linspace(u0, u1, n + 1), np.linspace(v1, v0, k))
    uv = np.stack([u, v], axis=-1)
    middle = ((u0 + u1) / 2, (v0 + v1) / 2)
    return join(
        [
            strips(loops, uv),
            fan(loops[0], loops[0].mean(axis=0), uv[0], middle, up=False),
            fan(loops[-1], loops[-1].mean(axis=0), uv[-1], middle, up=True),
        ]
    )


def box(low: np.ndarray, high: np.ndarray, uv_box) -> Patch:
    """Return a closed box with sides along the axes."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    ring = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    loops = np.stack([np.column_stack([ring, np.full(4, z)]) for z in (z0, z1)])
    return capped(loops, uv_box)


def turned(patch: Patch, x: float, y: float, z: float, yaw: float) -> Patch:
    """Return a patch rotated about the vertical by yaw [rad] and moved to x, y, z."""
    c, s = math.cos(yaw), math.sin(yaw)
    # Not as a matrix product, which may round equal corners differently.
    px, py, pz = patch.vertices.T
    vertices = np.column_stack([c * px - s * py + x, s * px + c * py + y, pz + z])
    return dataclasses.replace(patch, vertices=vertices)
