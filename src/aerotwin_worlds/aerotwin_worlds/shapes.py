# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of what moves in a world: a person, a car, or the content of a mesh file."""

from collections.abc import Callable
from functools import cache

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_core.home_path import expanded
from aerotwin_core.limits import check_is_file
from aerotwin_generated_worlds.figures import TRACK_M, WHEELBASE_M, build_car, build_person
from aerotwin_meshes.mesh import TexturedMesh

__all__ = ["SHAPES", "TRACK_M", "WHEELBASE_M", "load_shape"]

SHAPES: dict[str, Callable[[], tuple[TexturedMesh, ...]]] = {
    "person": cache(build_person),
    "car": cache(build_car),
}


def load_shape(name: str) -> tuple[TexturedMesh, ...]:
    """Return the meshes of a shape in its own frame: x ahead, y left, z up, z = 0 the ground.

    Parameters
    ----------
    name : str
        One of `SHAPES`, or the path of an OBJ, PLY or glTF file, in metres; glTF has y up and
        looks along z (glTF 2.0, 3.4), the others have z up and look along x.

    Raises
    ------
    aerotwin_core.errors.UserError
        If there is no such shape or file, or the file is wrong.
    """
    if name in SHAPES:
        return SHAPES[name]()
    from aerotwin_meshes.mesh_files import KINDS, read_mesh_file
    from aerotwin_meshes.placement import PlacementDescription

    path = expanded(name)
    if path.suffix.lower() not in KINDS or not path.exists():
        raise UserError(
            f"shape '{printable(name, 200)}': expected {', '.join(SHAPES)} or a mesh file that "
            f"ends in one of {', '.join(KINDS)}, found no such name or file; correct it"
        )
    check_is_file(path)
    is_gltf = path.suffix.lower() in (".gltf", ".glb")
    # The front of a glTF model, its +z, is -y of the map: a quarter turn brings it to x.
    return read_mesh_file(path, PlacementDescription(yaw_deg=90.0 if is_gltf else 0.0)).meshes
