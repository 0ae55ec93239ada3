# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The true surface: triangles of a world or of a mesh file, in map."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.limits import check_is_file


@dataclass(frozen=True, kw_only=True)
class TriangleSurface:
    """A triangle surface and its source.

    Attributes
    ----------
    vertices, triangles : (n, 3), (m, 3) int32 arrays
        In map [m], and the vertex indices of each triangle.
    name, attribution, licence : str
        Empty if unknown.
    mesh_names, mesh_ends : tuple of str, tuple of int
        The meshes that it was joined from, and the cumulative number of their triangles.
    missing, notes : tuple of str
        Parts that could not be loaded, and remarks, one line each.
    origin : GeodeticPoint or None
        Position on Earth of the frame's origin; x is east then, y north.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    name: str = ""
    attribution: str = ""
    licence: str = ""
    mesh_names: tuple[str, ...] = ("",)
    mesh_ends: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    origin: GeodeticPoint | None = None

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner (2, 3) of the vertices in use [m]."""
        from aerotwin_voxel_cloud.voxelisation import bounds_of

        return bounds_of(self.vertices, self.triangles)

    def mesh_of_triangles(self) -> np.ndarray:
        """Return the index of each triangle's mesh (m,)."""
        ends = self.mesh_ends or (len(self.triangles),)
        return np.searchsorted(ends, np.arange(len(self.triangles)), side="right")


def load_surface(spec: str | Path) -> TriangleSurface:
    """Return the surface of a world (name, folder or YAML) or of a mesh file.

    Raises
    ------
    UserError
        If there is nothing of that name, or the mesh has no triangles.
    """
    from aerotwin_meshes.mesh_files import KINDS, read_mesh_file
    from aerotwin_worlds import load_world

    path = Path(spec)
    if path.suffix.lower() not in KINDS:
        return surface_of_world(load_world(spec))
    check_is_file(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a world or a mesh")
    geometry = read_mesh_file(path)
    return _joined(geometry.meshes, name=path.stem, missing=geometry.missing)


def surface_of_world(world) -> TriangleSurface:
    """Return the meshes of an `aerotwin_worlds.World` joined into one surface."""
    return _joined(
        world.meshes,
        name=str(world.name),
        attribution=str(world.attribution),
        licence=str(world.licence),
        missing=tuple(world.missing),
        notes=tuple(world.notes),
        origin=world.origin,
    )


def surface_of_tileset(path: Path) -> TriangleSurface:
    """Return a whole 3-D Tiles tileset in full detail; UserError if damaged or too large."""
    from aerotwin_tiles import TilesDescription, load_tiles

    requested = TilesDescription(tileset=path.name, max_error_m=0.0)
    tiles = load_tiles(requested, path.parent, None)
    return _joined(
        tiles.meshes,
        name=path.parent.name,
        attribution="; ".join(tiles.attributions),
        missing=tiles.missing,
        notes=tiles.notes,
        origin=tiles.origin,
    )


def _joined(meshes: Sequence[Any], **about: Any) -> TriangleSurface:
    starts = np.cumsum([0] + [len(mesh.vertices_map) for mesh in meshes])
    triangles = [mesh.triangles + n for mesh, n in zip(meshes, starts[:-1], strict=True)]
    return TriangleSurface(
        vertices=np.concatenate([mesh.vertices_map for mesh in meshes]),
        triangles=np.concatenate(triangles).astype(np.int32),
        mesh_names=tuple(mesh.name or f"mesh {n}" for n, mesh in enumerate(meshes)),
        mesh_ends=tuple(int(n) for n in np.cumsum([len(mesh.triangles) for mesh in meshes])),
        **about,
    )
