# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds in NPY and NPZ files; what their headers claim is checked before memory is taken."""

import os
import tokenize
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aerotwin_core.errors import UserError

_NAMES = ("points", "xyz", "pc", "cloud")
# Deflate packs at most 1032 bytes into one.
_MAX_RATIO = 1040
_MAX_ARRAYS = 1000
_ERRORS = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What numpy and zipfile raise on damaged files."""


def read_numpy_cloud(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of an array (n, 3 or more), or with fields x, y and z.

    Of several arrays in an NPZ file that named `points` (or `xyz`, `pc`, `cloud`) is taken, and
    `intensity` if it is as long.

    Raises
    ------
    UserError
        If the file is damaged, claims more than it holds, or has no such array.
    """
    try:
        arrays = _arrays(path)
    except _ERRORS as error:
        raise UserError(f"{path}: damaged NumPy file: {error}") from None
    name = next((n for n in _NAMES if n in arrays), next(iter(arrays), None))
    points = arrays.get(name or "")
    if points is None:
        raise UserError(f"{path}: holds no array; save one named 'points' of shape (n, 3)")
    columns = _columns(points)
    if not columns:
        raise UserError(
            f"{path}: needs an array 'points' of shape (n, 3), found {', '.join(arrays)} with "
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


def _arrays(path: Path) -> dict[str, np.ndarray]:
    with path.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":
            return _zipped(file)
        file.seek(0)
        _check(file, os.fstat(file.fileno()).st_size)
        file.seek(0)
        return {path.stem: np.load(file, allow_pickle=False)}


def _zipped(file: BinaryIO) -> dict[str, np.ndarray]:
    found = {}
    with zipfile.ZipFile(file) as archive:
        if len(archive.infolist()) > _MAX_ARRAYS:
            raise ValueError(f"more than {_MAX_ARRAYS} arrays")
        for entry in archive.infolist():
            if not entry.filename.endswith(".npy"):
                continue
            if entry.file_size > _MAX_RATIO * (entry.compress_size + 1):
                raise ValueError(f"{entry.filename} claims more than its bytes can hold")
            with archive.open(entry) as member:
                _check(member, entry.file_size)
            with archive.open(entry) as member:
                array = np.lib.format.read_array(member, allow_pickle=False)
                member.read()  # to the end, where the checksum is compared
            found[entry.filename.removesuffix(".npy")] = array
    return found


def _check(file, n_bytes: int) -> None:
    """Raise ValueError if the header of an NPY stream promises more than there is."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, kind = np.lib.format.read_array_header_2_0(file)
    if kind.hasobject:
        raise ValueError("it holds Python objects")
    needed, left = prod(shape) * kind.itemsize, n_bytes - file.tell()
    if any(n < 0 for n in shape) or needed > left:
        raise ValueError(f"an array of shape {shape} needs {needed} bytes, {left} are there")
