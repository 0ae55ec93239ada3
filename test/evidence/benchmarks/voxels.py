# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Voxels of a stadium of 2 million triangles beside Open3D; binvox beside zlib."""

import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from aerotwin_generated_worlds.stadium import StadiumParameters, build_stadium
from aerotwin_voxel_cloud import (
    GridFrame,
    OccupancyGrid,
    frame_of_box,
    read_binvox,
    voxelise,
    write_binvox,
)
from evidence.benchmarks.result import Benchmark

N_RUNS = 5
N_PEER_RUNS = 3
BOX_CENTRE_M, BOX_SIZE_M = (0.0, 0.0, 28.0), (250.0, 250.0, 60.0)
SPACING_M = 0.27  # 2 million triangles
TIMES_OPEN3D = {1.0: 2.0, 0.25: 4.0}
"""By edge of a voxel [m]; measured 3.2 and 6.7 on two busy cores. Open3D has one thread."""
TIMES_ZLIB = {"write": 1.15, "read": 0.19}
"""Measured 1.7 and 0.28 on two quiet cores, 2.6 and 0.41 on busy ones: zlib
handles the bytes of the file, we a thousand million cells."""
BINVOX_CELLS = 1000


def voxel_export() -> list[Benchmark]:
    """Voxelise 250 x 250 x 60 m at 1 m and 0.25 m; write and read 1000^3 cells, 1.6 % full."""
    vertices, triangles = _stadium()
    results = []
    for resolution_m, goal in TIMES_OPEN3D.items():
        results.append(_against_open3d(vertices, triangles, resolution_m, goal))
    return results + _binvox()


def _stadium() -> tuple[np.ndarray, np.ndarray]:
    # Texels play no part: as few as possible.
    meshes = build_stadium(StadiumParameters(spacing_m=SPACING_M, texel_m=0.5))
    starts = np.cumsum([0, *(len(mesh.vertices_map) for mesh in meshes)])
    triangles = [mesh.triangles + n for mesh, n in zip(meshes, starts[:-1], strict=False)]
    vertices = np.concatenate([mesh.vertices_map for mesh in meshes])
    return vertices, np.concatenate(triangles).astype(np.int32)


def _against_open3d(
    vertices: np.ndarray, triangles: np.ndarray, resolution_m: float, goal: float
) -> Benchmark:
    import open3d as o3d

    frame = frame_of_box(BOX_CENTRE_M, BOX_SIZE_M, resolution_m)
    mesh = o3d.geometry.TriangleMesh(
        o3d.utility.Vector3dVector(vertices), o3d.utility.Vector3iVector(triangles)
    )
    seconds = _median_seconds(
        lambda: voxelise(vertices, triangles, resolution_m, frame=frame), N_RUNS
    )
    create = o3d.geometry.VoxelGrid.create_from_triangle_mesh
    peer = _median_seconds(lambda: create(mesh, resolution_m), N_PEER_RUNS)
    name = f"voxels of {len(triangles) / 1e6:.1f} M triangles, {resolution_m:g} m"
    return Benchmark.beside(
        name,
        "s",
        seconds,
        peer="Open3D VoxelGrid.create_from_triangle_mesh",
        peer_value=peer,
        goal=goal,
    )


def _binvox() -> list[Benchmark]:
    grid = _sheets()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheets.binvox"
        encode = _median_seconds(lambda: write_binvox(path, grid), N_RUNS)
        decode = _median_seconds(lambda: read_binvox(path), N_RUNS)
        data = path.read_bytes()
    packed = zlib.compress(data)
    pack = _median_seconds(lambda: zlib.compress(data), N_PEER_RUNS)
    unpack = _median_seconds(lambda: zlib.decompress(packed), N_PEER_RUNS)
    share = grid.n_occupied / grid.frame.n_cells
    name = f"binvox {BINVOX_CELLS}^3, {share:.1%} full"
    return [
        Benchmark.beside(
            f"{name}: {verb}",
            "s",
            seconds,
            peer=f"zlib, {len(data) / 1e6:.0f} MB of the same file",
            peer_value=peer,
            goal=TIMES_ZLIB[verb],
        )
        for verb, seconds, peer in (("write", encode, pack), ("read", decode, unpack))
    ]


def _sheets() -> OccupancyGrid:
    """Return wavy sheets that fill 1.6 % of a cube, as surfaces of a world do."""
    n, n_sheets = BINVOX_CELLS, 11
    x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    corner = np.arange((n + 1) ** 2, dtype=np.int32).reshape(n + 1, n + 1)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    frame = GridFrame(origin_m=np.zeros(3), resolution_m=1.0, dims=(n, n, n))
    cells = []
    for sheet in range(n_sheets):
        z = 60.0 + 85.0 * sheet + 15.0 * np.sin(x / (20.0 + sheet)) * np.cos(y / (17.0 + sheet))
        vertices = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
        cells.append(voxelise(vertices, triangles, 1.0, frame=frame).cells())
    return OccupancyGrid.from_cells(frame, np.concatenate(cells))


def _median_seconds(call: Callable[[], object], n_runs: int) -> float:
    """Return the median time of a call after one that is not counted."""
    call()
    seconds = []
    for _ in range(n_runs):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return median(seconds)
