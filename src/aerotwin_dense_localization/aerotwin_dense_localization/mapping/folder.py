# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A dense map as a folder, in an open format.

`manifest.json`: format, version, parameters, `about`; of each surface its camera, `T_map_surface`
row by row, the number of its points, and its file's size and SHA-256.

`surfaces/00000.npz`: NumPy arrays of one surface, as `SplatSurface` has them: `pixels` int32,
`depth`,
`variance`, `slopes`, `colours` float32, `n_seen` int64.

The manifest is written last: a folder without one is not a map.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.documents import read_json
from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_memory, file_size
from aerotwin_core.numpy_files import ERRORS, NpzFile
from aerotwin_core.parameters import load_parameters, to_mapping
from aerotwin_core.ply import write_ply
from aerotwin_dense_localization.mapping.dense_map import DenseMap
from aerotwin_dense_localization.mapping.parameters import MapParameters
from aerotwin_dense_localization.mapping.surface import SplatSurface

FORMAT, VERSION, MANIFEST = "aerotwin dense map", 1, "manifest.json"
MAX_SURFACE_BYTES = 2 << 30
_COPIES = 2
_LENS = ("width", "height", "fx", "fy", "cx", "cy", "skew")
_ARRAYS: dict[str, tuple[type, int]] = {
    "pixels": (np.int32, 1), "depth": (np.float32, 1), "variance": (np.float32, 1),
    "slopes": (np.float32, 2), "colours": (np.float32, 2), "n_seen": (np.int64, 1),
}  # fmt: skip


_RANGES: dict[str, tuple[float, float]] = {
    "depth": (1e-3, 1e6), "variance": (0.0, 1e12), "slopes": (-1e6, 1e6),
    "colours": (-1e3, 1e3), "n_seen": (0, 2**31),
}  # fmt: skip
"""Wider than any map: within them no splat becomes infinite."""
_FOCAL_PX, _FARTHEST_M, _LOOSE = (0.1, 1e6), 1e8, 1e-3
_POINT_BYTES = 48  # of all arrays of a point
_PIXEL_BYTES = 8  # of a point's number in an image


class DenseMapError(UserError):
    """A folder is not a dense map, or a file of it is damaged."""


def save_map(folder: Path, dense_map: DenseMap, about: Mapping[str, Any] | None = None) -> None:
    """Write a map into a folder, replacing an older one; the manifest comes last."""
    (folder / "surfaces").mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    surfaces = []
    for k, surface in enumerate(dense_map.surfaces):
        name = f"surfaces/{k:05d}.npz"
        data = io.BytesIO()
        np.savez(data, **{array: getattr(surface, array) for array in _ARRAYS})
        content = data.getvalue()
        with atomic_file(folder / name) as file:
            file.write(content)
        surfaces.append(
            {
                "file": name,
                "n_points": len(surface),
                "n_bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                "camera": {key: getattr(surface.camera, key) for key in _LENS},
                "T_map_surface": surface.T_map_surface.ravel().tolist(),
            }
        )
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "parameters": to_mapping(dense_map.parameters),
        "about": dict(about or {}),
        "surfaces": surfaces,
    }
    write_text_atomically(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def load_map(folder: Path) -> tuple[DenseMap, dict[str, Any]]:
    """Return the map of a folder and its `about`.

    Raises
    ------
    DenseMapError
        If the folder holds no map, or a file is missing or damaged.
    """
    manifest = _manifest(Path(folder) / MANIFEST)
    where = str(Path(folder) / MANIFEST)
    try:
        parameters = load_parameters(MapParameters, manifest["parameters"], where=where)
        _check_files(manifest["surfaces"], where)
        surfaces = [_surface(Path(folder), record) for record in manifest["surfaces"]]
        about = dict(manifest["about"])
    except (KeyError, TypeError, ValueError) as error:
        raise DenseMapError(f"{where}: not as it was written ({error}); map again") from error
    if not surfaces:
        raise DenseMapError(f"{where}: a map must have a surface, got none; map again")
    return DenseMap(surfaces, parameters), about


def export_ply(path: Path, dense_map: DenseMap) -> None:
    """Write the points of a map with their colours as PLY."""
    cloud = dense_map.cloud
    rgb = np.clip(np.broadcast_to(cloud.colours, (len(cloud), 3)).round(), 0, 255).astype(np.uint8)
    columns = dict(zip("xyz", cloud.points.T, strict=True))
    columns |= dict(zip(("red", "green", "blue"), rgb.T, strict=True))
    with atomic_file(path) as file:
        write_ply(columns, file)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except OSError as error:
        raise DenseMapError(
            f"{path}: cannot be read ({error.strerror}); name the folder of a dense map, as "
            "aerotwin map writes it"
        ) from None
    except ValueError as error:
        raise DenseMapError(f"{path}: not JSON ({error}); map again") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DenseMapError(f"{path}: format must be '{FORMAT}'; it is of something else")
    if content.get("version") != VERSION:
        raise DenseMapError(
            f"{path}: version must be {VERSION}, got {content.get('version')!r}; it was written "
            "by another release"
        )
    return content


def _check_files(records: list[dict[str, Any]], where: str) -> None:
    """Refuse a map that needs more memory than its files justify; their sizes are checked later."""
    files = {Path(record["file"]).name: int(record["n_bytes"]) for record in records}
    if len(files) < len(records):
        raise ValueError("two of its surfaces have one file")
    check_memory(
        _COPIES * _POINT_BYTES * sum(int(record["n_points"]) for record in records),
        file_bytes=sum(files.values()),
        where=where,
        what="its surfaces",
    )


def _surface(folder: Path, record: dict[str, Any]) -> SplatSurface:
    path = folder / "surfaces" / Path(record["file"]).name
    camera = PinholeCamera(**{key: record["camera"][key] for key in _LENS})
    T = np.array(record["T_map_surface"], dtype=np.float64).reshape(4, 4)
    if not np.isfinite(T).all():
        raise ValueError(f"T_map_surface of {path.name} must be finite")
    R = T[:3, :3]
    if np.abs(T[:3, 3]).max() > _FARTHEST_M or np.abs(R @ R.T - np.eye(3)).max() > _LOOSE:
        raise ValueError(f"T_map_surface of {path.name} must be a rigid motion")
    lens = [camera.fx, camera.fy, camera.cx, camera.cy, camera.skew]
    if not (np.abs(lens) <= _FOCAL_PX[1]).all() or min(lens[:2]) < _FOCAL_PX[0]:
        raise ValueError(f"camera of {path.name} is none that takes pictures")
    n, n_pixels = int(record["n_points"]), camera.width * camera.height
    check_memory(_PIXEL_BYTES * n_pixels, where=path, what=f"the {n_pixels} pixels of its camera")
    arrays = _arrays(path, record)
    for name, (dtype, n_dimensions) in _ARRAYS.items():
        array = arrays[name]
        if array.dtype != dtype or array.ndim != n_dimensions or len(array) != n:
            raise DenseMapError(
                f"{path}: '{name}' must be {n} {np.dtype(dtype)} in {n_dimensions} dimensions, "
                f"got {array.shape} {array.dtype}; map again"
            )
    if n and not (arrays["pixels"].min() >= 0 and arrays["pixels"].max() < n_pixels):
        raise DenseMapError(f"{path}: pixels must lie in 0..{n_pixels - 1}; map again")
    if arrays["slopes"].shape[1] != 2 or arrays["colours"].shape[1] not in (1, 3):
        raise DenseMapError(f"{path}: expected 2 slopes and 1 or 3 colours a point; map again")
    for name, (low, high) in _RANGES.items():
        if n and not (arrays[name].min() >= low and arrays[name].max() <= high):
            raise DenseMapError(f"{path}: {name} must lie in {low:g}..{high:g}; map again")
    return SplatSurface(camera=camera, T_map_surface=T, **arrays)


def _arrays(path: Path, record: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the arrays of a file that is what was written."""
    try:
        n_bytes = file_size(path)
        if n_bytes != record["n_bytes"] or n_bytes > MAX_SURFACE_BYTES:
            raise DenseMapError(
                f"{path}: must have {record['n_bytes']} bytes, got {n_bytes}: it was cut or "
                "changed; map again"
            )
        content = path.read_bytes()
    except OSError as error:
        raise DenseMapError(f"{path}: cannot be read ({error.strerror}); map again") from None
    if hashlib.sha256(content).hexdigest() != record["sha256"]:
        raise DenseMapError(
            f"{path}: its SHA-256 is not that of the manifest: it is damaged; map again"
        )
    try:
        return NpzFile(io.BytesIO(content), path).read(_ARRAYS, copies=_COPIES)
    except ERRORS as error:
        raise DenseMapError(f"{path}: not the arrays of a surface ({error}); map again") from error
