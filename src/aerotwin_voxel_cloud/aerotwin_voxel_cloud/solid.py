# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Voxels of the volume inside a mesh: closed parts are filled, open ones reported as shells."""

from dataclasses import dataclass

import numpy as np

from aerotwin_voxel_cloud.frame import GridFrame
from aerotwin_voxel_cloud.grid import OccupancyGrid
from aerotwin_voxel_cloud.surface import TriangleSurface
from aerotwin_voxel_cloud.voxelisation import (
    OnDone,
    SlabbedMesh,
    bricks_in_use,
    grid_of_slabs,
    marked_slab,
    slabbed,
)

# Vertices nearer than this are merged [m]: seams of textures and tiles; worlds have no such detail.
WELD_M = 1e-5


@dataclass(frozen=True, kw_only=True)
class MeshParts:
    """A mesh with welded seams, in parts connected by edges."""

    # vertices and triangles: vertices [m], and triangles in input order; those that welding
    # degenerated to a line or a point remain
    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (m, 3) int32
    part_of: np.ndarray  # (m,) int32 part of each triangle
    # is_closed and is_oriented: every edge has an even number of triangles; and is passed as often
    # in one direction as in the other
    is_closed: np.ndarray  # (n_parts,) bool
    is_oriented: np.ndarray  # (n_parts,) bool
    # (n_parts,) signed by orientation; positive where triangles face outwards
    volume_m3: np.ndarray

    def cavities(self) -> np.ndarray:
        """Return which parts (n_parts,) are cavities: facing inwards, inside a solid."""
        is_solid = self.is_closed & self.is_oriented
        low, high = self._bounds_m()
        cavities = np.zeros(len(self.is_closed), dtype=np.bool_)
        solids = np.flatnonzero(is_solid & (self.volume_m3 > 0.0))
        for part in np.flatnonzero(is_solid & (self.volume_m3 < 0.0)):
            around = (low[solids] < low[part]) & (high[part] < high[solids])
            point = self.vertices[self.triangles[np.argmax(self.part_of == part), 0]]
            cavities[part] = any(self._encloses(s, point) for s in solids[around.all(axis=1)])
        return cavities

    def _encloses(self, part: int, point: np.ndarray) -> bool:
        """Whether a part winds around a point (Van Oosterom and Strackee 1983, eq. 8)."""
        a, b, c = (self.vertices[self.triangles[self.part_of == part]] - point).transpose(1, 0, 2)
        la, lb, lc = (np.linalg.norm(corner, axis=1) for corner in (a, b, c))
        triple = np.einsum("ij,ij->i", a, np.cross(b, c))
        dots = [np.einsum("ij,ij->i", p, q) for p, q in ((a, b), (b, c), (c, a))]
        below = la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb
        return abs(float(2.0 * np.arctan2(triple, below).sum())) > 2.0 * np.pi

    def _bounds_m(self) -> np.ndarray:
        bounds = np.empty((2, len(self.is_closed), 3))
        bounds[0], bounds[1] = np.inf, -np.inf
        corners = self.vertices[self.triangles]
        np.minimum.at(bounds[0], self.part_of, corners.min(axis=1))
        np.maximum.at(bounds[1], self.part_of, corners.max(axis=1))
        return bounds


def parts_of(vertices: np.ndarray, triangles: np.ndarray, *, weld_m: float = WELD_M) -> MeshParts:
    """Return the parts of a mesh; vertices [m] nearer than `weld_m` are merged."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    vertices, triangles = _welded(vertices, triangles, weld_m)
    edges = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)
    is_forward = edges[:, 0] < edges[:, 1]
    is_edge = edges[:, 0] != edges[:, 1]  # welding may shrink one to a point: it bounds nothing
    keys = edges.min(axis=1) * len(vertices) + edges.max(axis=1)
    order = np.argsort(keys[is_edge], kind="stable")
    of_edge = np.repeat(np.arange(len(triangles)), 3)[is_edge][order]
    keys, direction = keys[is_edge][order], np.where(is_forward, 1, -1)[is_edge][order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    is_next = np.ones(len(keys), dtype=np.bool_)
    is_next[starts] = False
    follows = np.flatnonzero(is_next)
    links = (np.ones(len(follows), np.int8), (of_edge[follows - 1], of_edge[follows]))
    n = len(triangles)
    n_parts, part_of = connected_components(coo_array(links, shape=(n, n)), directed=False)
    part_of_edge = part_of[of_edge[starts]]
    counts = np.diff(starts, append=len(keys))
    sums = np.add.reduceat(direction, starts) if len(starts) else np.empty(0)
    corners = vertices[triangles] - vertices.mean(axis=0)
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    return MeshParts(
        vertices=vertices,
        triangles=triangles,
        part_of=part_of.astype(np.int32),
        is_closed=np.bincount(part_of_edge[counts % 2 == 1], minlength=n_parts) == 0,
        is_oriented=np.bincount(part_of_edge[sums != 0], minlength=n_parts) == 0,
        volume_m3=np.bincount(part_of, weights=volumes, minlength=n_parts),
    )


def _welded(
    vertices: np.ndarray, triangles: np.ndarray, weld_m: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mesh with coincident vertices merged.

    Vertices of one lattice cell are merged; then cells whose first vertices are as near as a step,
    so that cell borders do not separate them. A chain of such neighbours is one vertex as well.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    places = np.rint((vertices - vertices.min(axis=0)) / weld_m).astype(np.int64)
    order = np.lexsort(places.T)
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (np.diff(places[order], axis=0) != 0).any(axis=1)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.cumsum(is_new) - 1
    vertices = vertices[order[is_new]]
    tree = cKDTree(vertices, balanced_tree=False, compact_nodes=False)
    pairs = tree.query_pairs(weld_m, output_type="ndarray")
    if len(pairs) == 0:
        return vertices, number[triangles]
    n, links = len(vertices), (np.ones(len(pairs), np.int8), tuple(pairs.T))
    _, joined = connected_components(coo_array(links, shape=(n, n)), directed=False)
    _, first = np.unique(joined, return_index=True)
    return vertices[first], joined.astype(np.int32)[number][triangles]


@dataclass(frozen=True, kw_only=True)
class SolidReport:
    """Number of filled parts, cavities included, of cavities, and the unfilled parts.

    Cavities are closed parts that face inwards inside another: they are left empty. `open_parts`
    are, for every mesh with open parts, its name, its open parts, and their triangles.
    """

    n_closed: int
    n_cavities: int
    open_parts: tuple[tuple[str, int, int], ...]

    @property
    def n_open(self) -> int:
        """Number of open parts."""
        return sum(n_parts for _, n_parts, _ in self.open_parts)

    def record(self) -> dict:
        """Return the report for JSON."""
        return {
            "n_closed": self.n_closed,
            "n_cavities": self.n_cavities,
            "n_open": self.n_open,
            "open": [
                {"mesh": name, "n_parts": n_parts, "n_triangles": n_triangles}
                for name, n_parts, n_triangles in self.open_parts
            ],
        }


def voxelise_solid(
    surface: TriangleSurface, frame: GridFrame, *, on_done: OnDone | None = None
) -> tuple[OccupancyGrid, SolidReport]:
    """Return the cells that a mesh intersects or encloses, and which parts were filled.

    Seams of the surface are welded, and it is split into parts connected by edges. A part in which
    every edge has an even number of triangles is closed. Closed parts are filled: if their
    triangles are oriented consistently, by winding number (several times counts as once), else by
    the parity of crossings of a line to the outside. A closed part that faces inwards and lies in
    the bounds of one that faces outwards is a cavity. `on_done` is called with 1 for each slab,
    from the threads.

    A cell without triangles is inside or outside as its centre is; lines are vertical.
    """
    parts = parts_of(surface.vertices, surface.triangles)
    is_cavity = parts.cavities()
    mesh = slabbed(parts.vertices, parts.triangles, frame, is_above_meant=True)
    tasks = [(mesh, parts, is_cavity, slab) for slab in range(frame.n_bricks[0])]
    grid = grid_of_slabs(frame, _filled_bricks, tasks, on_done)
    return grid, _report(surface, parts, is_cavity)


def _filled_bricks(
    mesh: SlabbedMesh, parts: MeshParts, is_cavity: np.ndarray, slab: int
) -> tuple[np.ndarray, np.ndarray]:
    from aerotwin_voxel_cloud.fill_kernels import OPEN, PARITY, WINDING, fill

    kinds = np.where(parts.is_oriented, WINDING, PARITY)
    kinds = np.where(parts.is_closed, kinds, OPEN).astype(np.int8)
    weights = np.where(is_cavity, -1, 1).astype(np.int8)
    blocks = marked_slab(mesh, slab)
    fill(
        mesh.points,
        mesh.triangles,
        mesh.slab_triangles(slab),
        parts.part_of,
        kinds,
        weights,
        8 * slab,
        np.array(mesh.frame.dims, dtype=np.int64),
        blocks,
    )
    return bricks_in_use(blocks)


def _report(surface: TriangleSurface, parts: MeshParts, is_cavity: np.ndarray) -> SolidReport:
    is_open = ~parts.is_closed[parts.part_of]
    mesh_of = surface.mesh_of_triangles()[is_open]
    # A part that spans meshes counts for the first of them.
    _, first = np.unique(parts.part_of[is_open], return_index=True)
    n_parts = np.bincount(mesh_of[first], minlength=len(surface.mesh_names))
    n_triangles = np.bincount(mesh_of, minlength=len(surface.mesh_names))
    return SolidReport(
        n_closed=int(np.count_nonzero(parts.is_closed)),
        n_cavities=int(np.count_nonzero(is_cavity)),
        open_parts=tuple(
            (surface.mesh_names[mesh], int(n_parts[mesh]), int(n_triangles[mesh]))
            for mesh in np.argsort(-n_triangles, kind="stable")
            if n_triangles[mesh]
        ),
    )
