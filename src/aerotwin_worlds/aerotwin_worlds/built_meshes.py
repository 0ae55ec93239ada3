# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Meshes of generated worlds, built once and kept in the user's cache folder.

The name of a file is a digest of everything that its meshes depend on: generator, parameters, and
the files and libraries of the packages that build them. So a file that is there is the one that
would be built.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_core.numpy_files import ERRORS, NpzFile
from aerotwin_core.run_folder import packages_digest
from aerotwin_core.user_cache import user_cache_folder
from aerotwin_meshes.mesh import TexturedMesh

LARGEST_BYTES = 2_000_000_000
"""Of all files together; the default worlds have 150 to 320 MB each."""
_SOURCES = ("aerotwin_core", "aerotwin_meshes", "aerotwin_generated_worlds")

Meshes = tuple[TexturedMesh, ...]


def built_meshes(name: str, parameters: Any, build: Callable[[Any], Meshes]) -> Meshes:
    """Return ``build(parameters)``, from the file of an earlier call if there is one.

    Where nothing can be written, or a file is damaged, the meshes are built: no error comes of it.
    """
    file = cache_folder() / f"{name}-{_digest(name, parameters)}.npz"
    with suppress(OSError, UserError, *ERRORS):
        meshes = _read(file)
        os.utime(file)  # it was used: others are removed first
        return meshes
    meshes = build(parameters)
    with suppress(OSError, UserError):
        _write(file, meshes)
        _remove_oldest(file.parent.glob("*.npz"), LARGEST_BYTES)
    return meshes


def cache_folder() -> Path:
    """Return where the files are, in the user's cache folder."""
    return user_cache_folder("worlds")


def _digest(name: str, parameters: Any) -> str:
    libraries = [cv2.__version__, *map(version, ("numpy", "numba", "scipy"))]
    text = f"{name} {parameters!r} {packages_digest(_SOURCES)} {libraries}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _write(file: Path, meshes: Meshes) -> None:
    arrays = {
        f"{k}.{field.name}": np.asarray(value)
        for k, mesh in enumerate(meshes)
        for field in fields(mesh)
        if (value := getattr(mesh, field.name)) is not None
    }
    with atomic_file(file) as opened:
        np.savez(opened, **arrays)  # type: ignore[arg-type]


def _read(file: Path) -> Meshes:
    with file.open("rb") as opened:
        archive = NpzFile(opened, file)
        arrays = archive.read(archive.names, copies=1)
    values: dict[int, dict[str, Any]] = {}
    for name, array in arrays.items():
        number, _, field = name.partition(".")
        values.setdefault(int(number), {})[field] = array if array.ndim else array.item()
    return tuple(TexturedMesh(**values[k]) for k in range(len(values)))


def _remove_oldest(found: Iterable[Path], n_bytes: int) -> None:
    """Remove files, the longest unused first, until the rest has at most n_bytes."""
    states = sorted(((file.stat(), file) for file in found), key=lambda pair: pair[0].st_mtime)
    total = sum(state.st_size for state, _ in states)
    for state, file in states:
        if total > n_bytes:
            file.unlink()
            total -= state.st_size
