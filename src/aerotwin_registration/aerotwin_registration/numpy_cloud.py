# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds in NPY and NPZ files; sizes in their headers are checked before memory is allocated."""

import os
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.numpy_files import ERRORS, NpzFile, check_npy

_NAMES = ("points", "xyz", "pc", "cloud")
_COPIES = 4  # as they lie in the file, as float64, in one table, and what is compared to check it


def read_numpy_cloud(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of an array (n, 3 or more), or with fields x, y and z.

    From an NPZ file with several arrays, `points` (or `xyz`, `pc`, `cloud`) is read, and
    `intensity` if it is as long.

    Raises UserError if the file is damaged, claims more than it holds, or has no such array.
    """
    try:
        names, name, arrays = _arrays(path)
    except ERRORS as error:
        raise UserError(f"{path}: damaged NumPy file: {error}") from None
    points = arrays.get(name)
    if points is None:
        raise UserError(f"{path}: holds no array; save one named 'points' of shape (n, 3)")
    columns = _columns(points)
    if not columns:
        raise UserError(
            f"{path}: needs an array 'points' of shape (n, 3), found {listed(names)} with "
            f"'{name}' of shape {points.shape} and type {points.dtype}"
        )
    intensity = arrays.get("intensity")
    if (
        intensity is not None
        and intensity.shape == (len(points),)
        and intensity.dtype.kind in "fiu"
    ):
        columns["intensity"] = intensity
    return columns


def _columns(points: np.ndarray) -> dict[str, np.ndarray]:
    names = points.dtype.names or ()
    if {"x", "y", "z"} <= set(names):
        flat = points.reshape(-1)
        return {n: flat[n] for n in names if flat[n].ndim == 1 and flat[n].dtype.kind in "fiu"}
    if points.ndim != 2 or points.shape[1] < 3 or points.dtype.kind not in "fiu":
        return {}
    return {axis: points[:, i] for i, axis in enumerate("xyz")}


def _arrays(path: Path) -> tuple[tuple[str, ...], str, dict[str, np.ndarray]]:
    """Return the names of all arrays, of that with the points, and the arrays of a cloud."""
    with path.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":
            archive = NpzFile(file, path)
            names = archive.names
            name = next((n for n in _NAMES if n in names), names[0] if names else "")
            chosen = {name, "intensity"} & set(names)
            return names, name, archive.read(chosen, copies=_COPIES)
        file.seek(0)
        check_npy(file, os.fstat(file.fileno()).st_size)
        file.seek(0)
        return (path.stem,), path.stem, {path.stem: np.load(file, allow_pickle=False)}
