# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of the published VirT&R wrapper: a CSV of relative transforms and a PLY cloud.

`relative_transforms.csv` has the header `timestamp,m00,…,m33` (row by row). Its first row is the
absolute pose T_map_0; every other row is T_k,k-1 = inv(T_map_k) T_map_k-1, the pose of the vertex
*before* in the frame of the new one: the inverse of what is called odometry elsewhere. So
T_map_k = T_map_k-1 inv(T_k,k-1). Stamps are seconds of an unspecified clock.
"""

from pathlib import Path

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.ply import write_ply
from aerotwin_core.rigid_motion import nearest_rotation
from aerotwin_core.text_lines import text_lines
from aerotwin_core.time import stamp_of_text
from aerotwin_teach_repeat.route_graph import relative_pose
from aerotwin_teach_repeat.route_graph.types import rigid

HEADER = ("timestamp", *(f"m{i}{j}" for i in range(4) for j in range(4)))
MAX_BYTES = 1 << 30
_ROUNDED = 1e-3
"""Largest error of a rotation written with few digits; it is orthonormalised."""


def read_relative_transforms(path: str | Path) -> tuple[np.ndarray, FloatArray]:
    """Return stamps (n,) [ns] and T_map_vertex (n, 4, 4) of a wrapper's CSV.

    `UserError` if a line is damaged or holds no rigid transform.
    """
    path = Path(path)
    try:
        lines = list(text_lines(path, max_bytes=MAX_BYTES))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if not lines or tuple(token.strip() for token in lines[0].split(",")) != HEADER:
        raise UserError(f"{path}: its first line must be timestamp,m00,m01,…,m33")
    stamps, poses = [], []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        stamp, T = _row(line, f"{path}:{number}")
        stamps.append(stamp)
        poses.append(T if not poses else poses[-1] @ invert_transform(T))
    if not poses:
        raise UserError(f"{path}: it has no transforms")
    return np.array(stamps, dtype=np.int64), np.array(poses)


def write_relative_transforms(
    path: str | Path, stamps_ns: np.ndarray, T_map_vertex: FloatArray
) -> None:
    """Write poses (n, 4, 4) with their stamps (n,) [ns] as the wrapper's CSV."""
    rows = [T_map_vertex[0]]
    rows += [relative_pose(T_map_vertex[k], T_map_vertex[k - 1]) for k in range(1, len(stamps_ns))]
    lines = [",".join(HEADER)]
    for stamp, T in zip(stamps_ns, rows, strict=True):
        seconds, rest = divmod(int(stamp), 1_000_000_000)
        cells = [repr(float(value)) for value in T.ravel()]
        lines.append(",".join([f"{seconds}.{rest:09d}", *cells]))
    write_text_atomically(Path(path), "\n".join(lines) + "\n")


def write_cloud_with_normals(
    path: str | Path, points_map: np.ndarray, normals_map: np.ndarray
) -> None:
    """Write the PLY for the wrapper's map generator: points (n, 3) with their normals."""
    columns = {name: points_map[:, i].astype(np.float32) for i, name in enumerate("xyz")}
    normals = ("nx", "ny", "nz")
    columns |= {name: normals_map[:, i].astype(np.float32) for i, name in enumerate(normals)}
    with atomic_file(Path(path)) as file:
        write_ply(columns, file)


def _row(line: str, where: str) -> tuple[int, FloatArray]:
    tokens = line.split(",")
    try:
        if len(tokens) != len(HEADER):
            raise ValueError(f"{len(HEADER)} cells expected, {len(tokens)} are there")
        stamp = stamp_of_text(tokens[0].strip())
        T = np.array([float(token) for token in tokens[1:]]).reshape(4, 4)
    except (ValueError, OverflowError) as error:
        raise UserError(f"{where}: {error}") from None
    R = T[:3, :3]
    is_near = np.isfinite(T).all() and np.abs(R.T @ R - np.eye(3)).max() < _ROUNDED
    if is_near and np.linalg.det(R) > 0.0:  # a reflection is refused below
        T[:3, :3] = nearest_rotation(R)
    return stamp, rigid(T, where)
