# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cloud files: PLY, PCD, XYZ (text) and NPZ. Reading trusts nothing; writing is atomic."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_registration.pcd import read_pcd, write_pcd
from aerotwin_registration.ply import read_ply, write_ply

CLOUD_SUFFIXES = (".ply", ".pcd", ".xyz", ".txt", ".csv", ".npz", ".npy")
_INTENSITY_NAMES = ("intensity", "scalar_intensity", "reflectivity", "i")


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Points (n, 3) [m] in the file's own frame, and their intensity (n,) where it has one."""

    points: np.ndarray
    intensity: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.points)


def read_cloud(path: str | Path) -> Cloud:
    """Read a point cloud; the suffix says the format.

    Parameters
    ----------
    path : path
        `.ply`, `.pcd`, `.xyz`/`.txt`/`.csv` (x y z [intensity], blanks or commas), `.npz`
        (array `points`, or its only array), `.npy`.

    Raises
    ------
    UserError
        If the file is missing, damaged, empty, or holds NaN or infinity.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a cloud ({' '.join(CLOUD_SUFFIXES)})")
    suffix = path.suffix.lower()
    try:
        if suffix == ".ply":
            columns = read_ply(path)[0]
        elif suffix == ".pcd":
            columns = read_pcd(path)
        elif suffix in (".xyz", ".txt", ".csv"):
            columns = _read_text(path)
        elif suffix in (".npz", ".npy"):
            columns = _read_numpy(path)
        else:
            raise UserError(
                f"{path}: unknown cloud format '{suffix}'; known are {' '.join(CLOUD_SUFFIXES)}"
            )
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    return _checked(columns, path)


def write_cloud(path: str | Path, points: np.ndarray, intensity: np.ndarray | None = None) -> None:
    """Write a point cloud; the suffix says the format (.ply .pcd .xyz .npz).

    Parameters
    ----------
    points : (n, 3) array
        Finite [m]; PLY and PCD keep float32, XYZ six decimals, NPZ float64.
    intensity : (n,) array, optional
        Kept as float32.
    """
    path = Path(path)
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"points must be finite with shape (n, 3), got {points.shape}")
    suffix = path.suffix.lower()
    if suffix not in (".ply", ".pcd", ".xyz", ".npz"):
        raise UserError(f"{path}: cannot write '{suffix}'; use .ply, .pcd, .xyz or .npz")
    columns = {name: points[:, i].astype(np.float32) for i, name in enumerate("xyz")}
    if intensity is not None:
        columns["intensity"] = np.asarray(intensity, dtype=np.float32).reshape(len(points))
    with atomic_file(path) as out:
        if suffix == ".ply":
            write_ply(path, columns, out)  # type: ignore[arg-type]
        elif suffix == ".pcd":
            write_pcd(columns, out)  # type: ignore[arg-type]
        elif suffix == ".xyz":
            table = points if intensity is None else np.column_stack([points, intensity])
            np.savetxt(out, table, fmt="%.6f")
        else:
            named = {k: columns[k] for k in ("intensity",) if k in columns}
            np.savez_compressed(out, points=points, **named)  # type: ignore[arg-type]


def _read_text(path: Path) -> dict[str, np.ndarray]:
    lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    lines = [line for line in lines if line.strip() and not line.lstrip().startswith(("#", "//"))]
    if lines and any(c.isalpha() and c not in "eE" for c in lines[0]):
        lines = lines[1:]
    try:
        rows = [line.replace(",", " ").replace(";", " ").split() for line in lines]
        table = np.array([row[:4] for row in rows], dtype=np.float64)
        if table.ndim != 2 or table.shape[1] < 3:
            raise ValueError("three columns at least are needed")
    except ValueError as error:
        raise UserError(f"{path}: not a table of x y z: {error}") from error
    columns = {name: table[:, i] for i, name in enumerate("xyz")}
    if table.shape[1] == 4 and len(rows[0]) == 4:
        columns["intensity"] = table[:, 3]
    return columns


def _read_numpy(path: Path) -> dict[str, np.ndarray]:
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                arrays = {"points": loaded}
            else:
                arrays = {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, KeyError, MemoryError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: damaged NumPy file: {error}") from error
    points = arrays.get("points", next(iter(arrays.values()), None))
    if points is None or points.ndim != 2 or points.shape[1] < 3 or points.dtype.kind not in "fiu":
        raise UserError(f"{path}: needs an array 'points' of shape (n, 3); it is not there")
    columns = {name: points[:, i] for i, name in enumerate("xyz")}
    if "intensity" in arrays and arrays["intensity"].shape == (len(points),):
        columns["intensity"] = arrays["intensity"]
    return columns


def _checked(columns: dict[str, np.ndarray], path: Path) -> Cloud:
    if not {"x", "y", "z"} <= columns.keys():
        raise UserError(f"{path}: needs columns x, y and z; found {', '.join(columns) or 'none'}")
    points = np.column_stack([columns[name].astype(np.float64) for name in "xyz"])
    if len(points) == 0:
        raise UserError(f"{path}: the cloud is empty")
    n_bad = int(np.count_nonzero(~np.isfinite(points).all(axis=1)))
    if n_bad:
        raise UserError(
            f"{path}: {n_bad} of {len(points)} points are NaN or infinite; remove them first"
        )
    name = next((n for n in _INTENSITY_NAMES if n in columns), None)
    intensity = None if name is None else columns[name].astype(np.float32)
    return Cloud(points=points, intensity=intensity)
