# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Surfaces of mesh files: texture images, plain colours, vertex colours."""

from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.file_inside import file_inside
from aerotwin_core.limits import file_size
from aerotwin_meshes.gltf.budget import MemoryBudget
from aerotwin_meshes.gltf.images import decode_image
from aerotwin_meshes.gltf.vertex_colours import paint_triangles
from aerotwin_meshes.mesh import TexturedMesh

GREY = (160, 160, 160)
"""Colour of what has none."""
MAX_IMAGE_BYTES = 2**29


def plain(colour: tuple[int, int, int]) -> np.ndarray:
    """Return a texture of one colour."""
    return np.array(colour, np.uint8).reshape(1, 1, 3)


def read_texture(folder: Path, name: str, *, where: str, budget: MemoryBudget) -> np.ndarray:
    """Return a texture image (JPEG, PNG, WebP) in the folder of the file that names it.

    Raises `UserError` if it is missing, outside the folder, or no image of at most 8192 pixels a
    side.
    """
    path = file_inside(folder, name, where=where, kinds="*.*")
    try:
        if file_size(path) > MAX_IMAGE_BYTES:
            raise ValueError(f"more than {MAX_IMAGE_BYTES} bytes")
        budget.note_read(path.stat().st_size)
        return decode_image(path.read_bytes(), path.name, budget)
    except (ValueError, OSError) as error:
        raise UserError(
            f"{where}: texture {path} cannot be used: {error}; export it again"
        ) from None


def textured(
    vertices: np.ndarray,
    corners: np.ndarray,
    uv: np.ndarray,
    texture: np.ndarray,
    *,
    repeats: bool,
    name: str,
    is_assumed: bool = False,
) -> TexturedMesh:
    """Return a mesh whose ``corners`` (m, 3) have texture coordinates ``uv`` (m, 3, 2), v down.

    ``is_assumed``: the texture is `GREY`, in place of colours that are not there.
    """
    uv = np.ascontiguousarray(uv.reshape(-1, 2), np.float32)
    places, place = np.unique(uv.view(np.uint64).ravel(), return_inverse=True)
    pair = corners.ravel().astype(np.int64) * len(places) + place.ravel()
    _, first, index = np.unique(pair, return_index=True, return_inverse=True)
    return TexturedMesh(
        vertices_map=vertices[corners.ravel()[first]],
        triangles=index.reshape(-1, 3).astype(np.int32),
        uv=uv[first],
        texture=texture,
        repeats=repeats,
        is_colour_assumed=is_assumed,
        name=name,
    )


def coloured(
    vertices: np.ndarray,
    corners: np.ndarray,
    colours: np.ndarray,
    *,
    name: str,
    budget: MemoryBudget,
) -> TexturedMesh:
    """Return a mesh with vertex colours (n, 3) uint8 as a small atlas; a plain colour if all agree.

    Raises `ValueError` if the atlas would be too large.
    """
    used = colours[np.unique(corners)]
    if (used == used[0]).all():
        uv = np.zeros((*corners.shape, 2), np.float32)
        texture = used[0].reshape(1, 1, 3).copy()
        return textured(vertices, corners, uv, texture, repeats=False, name=name)
    corners, uv, texture = paint_triangles(corners.astype(np.int32), colours, name, budget)
    return TexturedMesh(
        vertices_map=vertices[corners.ravel()],
        triangles=np.arange(corners.size, dtype=np.int32).reshape(-1, 3),
        uv=uv,
        texture=texture,
        name=name,
    )
