# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Mesh files as worlds: OBJ with its materials, PLY, and glTF (read by `aerotwin_meshes.gltf`)."""

from pathlib import Path

from aerotwin_meshes.geometry import Geometry
from aerotwin_meshes.mesh_files.obj import read_obj
from aerotwin_meshes.mesh_files.ply import read_ply_mesh
from aerotwin_meshes.placement import PlacementDescription, placed

KINDS = (".obj", ".ply", ".gltf", ".glb")

__all__ = ["KINDS", "read_mesh_file", "read_obj", "read_ply_mesh"]


def read_mesh_file(path: Path, placement: PlacementDescription | None = None) -> Geometry:
    """Return the meshes of a file in the map; its extension, one of `KINDS`, selects the reader.

    Files that it names must lie in its folder or below. By default of ``placement``, glTF has y up,
    the others z, and the unit is the metre. Raises `UserError` naming file and position, what was
    expected and what was found.
    """
    placement = placement or PlacementDescription()
    kind = path.suffix.lower()
    if kind in (".gltf", ".glb"):
        from aerotwin_meshes.gltf import read_gltf

        meshes = read_gltf(path)
        return Geometry(meshes=placed(meshes, placement, up_axis_read="y"))
    meshes, missing = read_obj(path) if kind == ".obj" else read_ply_mesh(path)
    return Geometry(meshes=placed(meshes, placement), missing=missing)
