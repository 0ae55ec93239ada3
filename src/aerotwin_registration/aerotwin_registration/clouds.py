# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point cloud files of all formats. Input is untrusted and read as double; writing is atomic."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_format import refuse_foreign_format
from aerotwin_core.foreign_text import listed
from aerotwin_core.limits import check_is_file
from aerotwin_core.ply import write_ply
from aerotwin_registration.numpy_cloud import read_numpy_cloud
from aerotwin_registration.pcd import read_pcd, write_pcd
from aerotwin_registration.ply import read_ply
from aerotwin_registration.text_cloud import read_text_cloud

TEXT_SUFFIXES = (".xyz", ".txt", ".csv", ".pts", ".asc")
NUMPY_SUFFIXES = (".npz", ".npy")
LAS_SUFFIXES = (".las", ".laz")
CLOUD_SUFFIXES = (".ply", ".pcd", *TEXT_SUFFIXES, *NUMPY_SUFFIXES, *LAS_SUFFIXES)
WRITTEN_SUFFIXES = (".ply", ".pcd", ".xyz", ".npz")
_INTENSITY_NAMES = ("intensity", "scalar_intensity", "reflectivity", "i")


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Points of a file.

    Attributes
    ----------
    points : (n, 3) array
        In the file's own frame and unit, in double precision.
    intensity : (n,) array or None
        None if the file has none.
    frame : str
        The coordinate system or frame that the file names, "" for none.
    metres_per_unit : float or None
        None if the file states no unit.
    notes : tuple of str
        Dropped points and irregularities, as text.
    """

    points: np.ndarray
    intensity: np.ndarray | None = None
    frame: str = ""
    metres_per_unit: float | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.points)


def read_cloud(path: str | Path, *, drop_invalid: bool = False, bin_columns: str = "") -> Cloud:
    """Read a point cloud; the suffix selects the format.

    Parameters
    ----------
    path : path
        `.ply` (points, or the vertices of a mesh), `.pcd`, text (`.xyz .txt .csv .pts .asc`: names
        in the first line, or x y z [intensity] first), `.npz` `.npy`, `.las` `.laz`; `.bin` with
        `bin_columns`.
    drop_invalid : bool
        Drop NaN and infinite points, and count them in the notes, instead of refusing the file.
    bin_columns : str
        Columns of a `.bin` file, which has no header: little-endian float32, "xyz" (gtsam_points),
        "xyzi" (KITTI), any letters with x, y and z among them; "i" is intensity.

    Raises
    ------
    UserError
        If the file is missing, damaged, empty, or holds NaN or infinity.
    """
    path = Path(path)
    check_is_file(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a cloud ({' '.join(CLOUD_SUFFIXES)})")
    frame, metres, notes = "", None, []
    try:
        if bin_columns and path.suffix.lower() == ".bin":
            columns = _read_bin(path, bin_columns)
        elif path.suffix.lower() in LAS_SUFFIXES:
            from aerotwin_registration.las_process import read_las

            las = read_las(path)
            columns, frame, metres = las.columns, las.system.name, las.system.metres_per_unit
            notes += [las.doubt] if las.doubt else []
        else:
            columns = _columns(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    except MemoryError:
        raise UserError(f"{path}: {path.stat().st_size} bytes are too many for memory") from None
    points, intensity, dropped = _checked(columns, path, drop_invalid=drop_invalid)
    return Cloud(
        points=points,
        intensity=intensity,
        frame=frame,
        metres_per_unit=metres,
        notes=(*notes, *dropped),
    )


def write_cloud(path: str | Path, points: np.ndarray, intensity: np.ndarray | None = None) -> None:
    """Write a point cloud [m]; the suffix selects the format (.ply .pcd .xyz .npz).

    Points must be finite. PLY and PCD store float32, XYZ six decimals, NPZ float64; intensity is
    stored as float32.
    """
    path = Path(path)
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"points must be finite with shape (n, 3), got {points.shape}")
    suffix = path.suffix.lower()
    if suffix not in WRITTEN_SUFFIXES:
        raise UserError(f"{path}: cannot write '{suffix}'; use .ply, .pcd, .xyz or .npz")
    columns = {name: points[:, i].astype(np.float32) for i, name in enumerate("xyz")}
    if intensity is not None:
        columns["intensity"] = np.asarray(intensity, dtype=np.float32).reshape(len(points))
    with atomic_file(path) as out:
        if suffix == ".ply":
            write_ply(columns, out)
        elif suffix == ".pcd":
            write_pcd(columns, out)
        elif suffix == ".xyz":
            table = points if intensity is None else np.column_stack([points, intensity])
            np.savetxt(out, table, fmt="%.6f")
        else:
            named = {k: columns[k] for k in ("intensity",) if k in columns}
            np.savez_compressed(out, points=points, **named)  # type: ignore[arg-type]


def _columns(path: Path) -> dict[str, np.ndarray]:
    suffix = path.suffix.lower()
    if suffix == ".ply":
        return read_ply(path)[0]
    if suffix == ".pcd":
        return read_pcd(path)
    if suffix in TEXT_SUFFIXES:
        return read_text_cloud(path)
    if suffix in NUMPY_SUFFIXES:
        return read_numpy_cloud(path)
    if suffix == ".bin":
        raise UserError(
            f"{path}: a file without header; say what its float32 columns are, such as xyzi for "
            "KITTI or xyz (--bin-columns)"
        )
    refuse_foreign_format(path, f"a cloud ({' '.join(CLOUD_SUFFIXES)})")
    raise UserError(
        f"{path}: unknown cloud format '{suffix}'; known are {' '.join(CLOUD_SUFFIXES)}; convert it"
    )


def _read_bin(path: Path, letters: str) -> dict[str, np.ndarray]:
    if not {"x", "y", "z"} <= set(letters) or len(set(letters)) < len(letters):
        raise UserError(
            f"{path}: its columns must be letters with x, y and z, each once, got '{letters}'"
        )
    size = 4 * len(letters)
    n_bytes = path.stat().st_size
    if n_bytes % size:
        raise UserError(
            f"{path}: {n_bytes} bytes are no whole number of points of {size} bytes "
            f"('{letters}'); name its columns, or it is cut off"
        )
    table = np.fromfile(path, "<f4").reshape(-1, len(letters))
    return {letter: table[:, k] for k, letter in enumerate(letters)}


def _checked(
    columns: dict[str, np.ndarray], path: Path, *, drop_invalid: bool
) -> tuple[np.ndarray, np.ndarray | None, tuple[str, ...]]:
    if not {"x", "y", "z"} <= columns.keys():
        raise UserError(f"{path}: needs columns x, y and z; found {listed(columns) or 'none'}")
    with np.errstate(invalid="ignore", over="ignore"):  # such values are found below
        points = np.column_stack([columns[name].astype(np.float64) for name in "xyz"])
    name = next((n for n in _INTENSITY_NAMES if n in columns), None)
    with np.errstate(invalid="ignore", over="ignore"):  # an intensity beyond float32 is infinite
        intensity = None if name is None else columns[name].astype(np.float32)
    if len(points) == 0:
        raise UserError(f"{path}: the cloud is empty")
    points, intensity, note = without_invalid(points, intensity, str(path), drop=drop_invalid)
    return points, intensity, (note,) if note else ()


def without_invalid(
    points: np.ndarray, intensity: np.ndarray | None, where: str, *, drop: bool
) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Return finite points (n, 3), intensity and a note; UserError if none may be dropped."""
    is_good = np.isfinite(points).all(axis=1)
    n_bad = len(points) - int(np.count_nonzero(is_good))
    if n_bad == 0:
        return points, intensity, ""
    if not drop:
        raise UserError(
            f"{where}: {n_bad} of {len(points)} points are NaN or infinite; remove them first, or "
            "leave them out (--drop-invalid)"
        )
    if n_bad == len(points):
        raise UserError(f"{where}: all of its {n_bad} points are NaN or infinite")
    note = f"{n_bad} of {len(points)} points are NaN or infinite; they are left out"
    return points[is_good], None if intensity is None else intensity[is_good], note
