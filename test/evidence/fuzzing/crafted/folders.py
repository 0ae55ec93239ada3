# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile submaps, dense maps and surveys; their checksums are right: the sender made them."""

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evidence.fuzzing import folder_samples
from evidence.fuzzing.crafted.clouds import write_npz_of_zeros

Writer = Callable[[Path], list[Path]]


def _submap_of_zeros(folder: Path) -> list[Path]:
    n = 50_000_000
    arrays = {"step_m": ("<f8", ()), "points": ("<i2", (n, 3)), "normals": ("i1", (n, 3))}
    path = folder / "submaps" / "0000000.npz"
    path.parent.mkdir()
    write_npz_of_zeros(path, arrays)
    return [path]


def _surface_of_zeros(path: Path, n: int) -> None:
    kinds = {"pixels": "<i4", "depth": "<f4", "variance": "<f4", "n_seen": "<i8"}
    arrays: dict[str, Any] = {name: (kind, (n,)) for name, kind in kinds.items()}
    arrays |= {"slopes": ("<f4", (n, 2)), "colours": ("<f4", (n, 3))}
    write_npz_of_zeros(path, arrays)


def _dense_map(folder: Path, change: Callable[[dict[str, Any]], None]) -> list[Path]:
    """Write the sample, change its manifest, and put sizes and checksums right."""
    files = folder_samples.DENSE_MAP[0](folder)
    manifest = json.loads(files[0].read_text())
    change(manifest)
    for record in manifest["surfaces"]:
        data = (folder / record["file"]).read_bytes()
        record |= {"n_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    files[0].write_text(json.dumps(manifest))
    return files


def _large_surface(folder: Path) -> list[Path]:
    n = 25_000_000

    def change(manifest: dict[str, Any]) -> None:
        _surface_of_zeros(folder / "surfaces" / "00000.npz", n)
        manifest["surfaces"][0]["n_points"] = n

    return _dense_map(folder, change)


def _many_surfaces(folder: Path) -> list[Path]:
    """Each below the limit of one."""
    n = 2_000_000

    def change(manifest: dict[str, Any]) -> None:
        first = manifest["surfaces"][0] | {"n_points": n}
        _surface_of_zeros(folder / "surfaces" / "00000.npz", n)
        data = (folder / "surfaces" / "00000.npz").read_bytes()
        names = [f"surfaces/{k:05d}.npz" for k in range(50)]
        for name in names:
            (folder / name).write_bytes(data)
        manifest["surfaces"] = [first | {"file": name} for name in names]

    return _dense_map(folder, change)


def _one_file_often(folder: Path) -> list[Path]:
    def change(manifest: dict[str, Any]) -> None:
        manifest["surfaces"] *= 100_000

    return _dense_map(folder, change)


def _large_camera(folder: Path) -> list[Path]:
    def change(manifest: dict[str, Any]) -> None:
        manifest["surfaces"][0]["camera"] |= {"width": 10**6, "height": 10**6}

    return _dense_map(folder, change)


def _filled_surface(**values: float) -> Writer:
    """Return a writer of a map whose arrays hold nothing but these values."""

    def write(folder: Path) -> list[Path]:
        def change(manifest: dict[str, Any]) -> None:
            path = folder / "surfaces" / "00000.npz"
            with np.load(path) as arrays:
                kept = {name: arrays[name] for name in arrays.files}
            np.savez(path, **kept | {k: np.full_like(kept[k], v) for k, v in values.items()})

        return _dense_map(folder, change)

    return write


def _camera_of(**values: float) -> Writer:
    def write(folder: Path) -> list[Path]:
        return _dense_map(folder, lambda m: m["surfaces"][0]["camera"].update(values))

    return write


def _placed_at(scale: float, shift_m: float) -> Writer:
    def write(folder: Path) -> list[Path]:
        T = np.diag([scale, scale, scale, 1.0])
        T[:3, 3] = shift_m
        return _dense_map(folder, lambda m: m["surfaces"][0].update(T_map_surface=[*T.ravel()]))

    return write


def _claiming_pictures(width: int, height: int) -> Writer:
    """Return a writer of a survey whose first picture claims another size."""

    def write(folder: Path) -> list[Path]:
        files = folder_samples.SURVEY[0](folder)
        data = bytearray(files[1].read_bytes())
        at = data.index(b"\xff\xc0") + 5  # of a baseline frame, behind length and precision
        data[at : at + 4] = height.to_bytes(2, "big") + width.to_bytes(2, "big")
        files[1].write_bytes(data)
        return files

    return write


CRAFTED: dict[str, dict[str, Writer]] = {
    "submap": {"450 MB of zeros": _submap_of_zeros},
    "dense-map": {
        "1 GB of zeros": _large_surface,
        "fifty surfaces of 80 MB": _many_surfaces,
        "a file named 100,000 times": _one_file_often,
        "camera of 10^12 pixels": _large_camera,
        **{
            f"{name} of {value}": _filled_surface(**{name: value})
            for name in ("depth", "variance", "slopes", "colours")
            for value in (math.nan, math.inf, -3e38, 3e38)
        },
        "depth of 0": _filled_surface(depth=0.0),
        "focal length of 1e-300": _camera_of(fx=1e-300, fy=1e-300),
        "focal length of 1e300": _camera_of(fx=1e300, fy=1e300),
        "principal point at 1e300": _camera_of(cx=1e300),
        "no rotation": _placed_at(0.0, 0.0),
        "a map of 1e300 m": _placed_at(1e300, 0.0),
        "a place at 1e300 m": _placed_at(1.0, 1e300),
    },
    "survey": {
        "JPEG of 65,500 x 65,500": _claiming_pictures(65500, 65500),
        "JPEG of 13,000 x 13,000": _claiming_pictures(13000, 13000),
    },
}
