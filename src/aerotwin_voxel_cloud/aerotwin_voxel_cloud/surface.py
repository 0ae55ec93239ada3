# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The true surface: triangles of a world or of a mesh file, in map."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_registration.ply import read_ply


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A triangle surface and where it comes from.

    Attributes
    ----------
    vertices : (n, 3) array
        In map [m].
    triangles : (m, 3) int32 array
        Vertices of each triangle.
    name, attribution, licence : str
        Empty where unknown.
    mesh_names : tuple of str
        The meshes that it was joined from.
    mesh_ends : tuple of int
        How many triangles the meshes up to each have.
    missing : tuple of str
        What could not be loaded, one line each.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    name: str = ""
    attribution: str = ""
    licence: str = ""
    mesh_names: tuple[str, ...] = ("",)
    mesh_ends: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner (2, 3) of what triangles use [m]."""
        from aerotwin_voxel_cloud.voxelise import bounds_of

        return bounds_of(self.vertices, self.triangles)

    def mesh_of_triangles(self) -> np.ndarray:
        """Return the number of each triangle's mesh (m,)."""
        ends = self.mesh_ends or (len(self.triangles),)
        return np.searchsorted(ends, np.arange(len(self.triangles)), side="right")


def load_surface(spec: str | Path) -> Surface:
    """Return the surface of a world (name, folder or YAML) or of a mesh file (`.obj`, `.ply`).

    Raises
    ------
    UserError
        If there is nothing of that name, or the mesh has no triangles.
    """
    path = Path(spec)
    suffix = path.suffix.lower()
    if suffix in (".obj", ".ply") and not path.is_file():
        raise UserError(f"{path}: no such file; give a world or a mesh")
    if suffix == ".ply":
        columns, triangles = read_ply(path)
        vertices = np.column_stack([columns[name].astype(np.float64) for name in "xyz"])
        return _mesh(path, vertices, triangles)
    if suffix == ".obj":
        return _mesh(path, *_read_obj(path))
    from aerotwin_worlds import load_world

    return surface_of_world(load_world(spec))


def surface_of_world(world) -> Surface:
    """Return the meshes of an `aerotwin_worlds.World` joined into one surface."""
    vertices, triangles = world.surface()
    return Surface(
        vertices=vertices,
        triangles=triangles,
        name=str(world.name),
        attribution=str(world.attribution),
        licence=str(world.licence),
        mesh_names=tuple(mesh.name or f"mesh {n}" for n, mesh in enumerate(world.meshes)),
        mesh_ends=tuple(int(n) for n in np.cumsum([len(m.triangles) for m in world.meshes])),
        missing=tuple(getattr(world, "missing", ())),
    )


def _mesh(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> Surface:
    if len(triangles) == 0:
        raise UserError(f"{path}: the mesh has no triangles; a cloud is not a surface")
    if not np.isfinite(vertices).all():
        raise UserError(f"{path}: the mesh has vertices that are NaN or infinite")
    return Surface(
        vertices=vertices,
        triangles=triangles.astype(np.int32),
        name=path.stem,
        mesh_names=(path.name,),
    )


def _read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        words = line.split()
        try:
            if words[:1] == ["v"]:
                vertices.append([float(w) for w in words[1:4]])
            elif words[:1] == ["f"]:
                corners = [int(w.split("/")[0]) for w in words[1:]]
                corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
                triangles += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
        except ValueError as error:
            raise UserError(f"{path}: line {number} is damaged: {error}") from error
    points, faces = np.array(vertices, dtype=np.float64), np.array(triangles, dtype=np.int64)
    if points.ndim != 2 or points.shape[1:] != (3,):
        raise UserError(f"{path}: needs vertices with x, y and z; they are missing")
    faces = faces.reshape(-1, 3)
    if len(faces) and (faces.min() < 0 or faces.max() >= len(points)):
        raise UserError(f"{path}: a face names a vertex that is not there")
    return points, faces
