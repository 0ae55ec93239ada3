# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Voxels of the volume inside a mesh: closed parts are filled, open ones reported as shells."""

from dataclasses import dataclass

import numpy as np

from aerotwin_voxel_cloud.frame import GridFrame
from aerotwin_voxel_cloud.grid import OccupancyGrid
from aerotwin_voxel_cloud.parallel import OnDone
from aerotwin_voxel_cloud.parts import MeshParts, parts_of
from aerotwin_voxel_cloud.surface import TriangleSurface
from aerotwin_voxel_cloud.voxelisation import (
    SlabbedMesh,
    bricks_in_use,
    grid_of_slabs,
    marked_slab,
    slabbed,
)


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
