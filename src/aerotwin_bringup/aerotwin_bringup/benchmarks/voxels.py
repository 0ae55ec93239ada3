# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Voxels of a stadium of 2 million triangles against limits and Open3D; binvox against limits."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_voxel_cloud import (
    GridFrame,
    OccupancyGrid,
    frame_of_box,
    read_binvox,
    voxelise,
    write_binvox,
)
from aerotwin_worlds.generated.stadium import StadiumParameters, build_stadium

N_RUNS = 5
N_PEER_RUNS = 3
BOX_CENTRE_M, BOX_SIZE_M = (0.0, 0.0, 28.0), (250.0, 250.0, 60.0)
SPACING_M = 0.27  # 2 million triangles
LIMIT_S = {1.0: 0.15, 0.25: 1.0}
GOAL_AGAINST_OPEN3D = 5.0
BINVOX_LIMIT_S = 0.6
BINVOX_CELLS = 1000


def voxel_export() -> list[Benchmark]:
    """Voxelise 250 x 250 x 60 m at 1 m and 0.25 m; write and read 1000^3 cells, 1.6 % full."""
    vertices, triangles = _stadium()
    results = []
    for resolution_m, limit_s in LIMIT_S.items():
        results += _against_open3d(vertices, triangles, resolution_m, limit_s)
    return results + _binvox()


def _stadium() -> tuple[np.ndarray, np.ndarray]:
    # Texels play no part: as few as possible.
    meshes = build_stadium(StadiumParameters(spacing_m=SPACING_M, texel_m=0.5))
    starts = np.cumsum([0, *(len(mesh.vertices_map) for mesh in meshes)])
    triangles = [mesh.triangles + n for mesh, n in zip(meshes, starts[:-1], strict=False)]
    vertices = np.concatenate([mesh.vertices_map for mesh in meshes])
    return vertices, np.concatenate(triangles).astype(np.int32)


def _against_open3d(
    vertices: np.ndarray, triangles: np.ndarray, resolution_m: float, limit_s: float
) -> list[Benchmark]:
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
    return [
        Benchmark.within(name, "s", seconds, limit_s),
        Benchmark(
            name=name,
            unit="s",
            value=seconds,
            goal=GOAL_AGAINST_OPEN3D,
            peer="Open3D VoxelGrid.create_from_triangle_mesh",
            peer_value=peer,
            ratio=peer / seconds,
        ),
    ]


def _binvox() -> list[Benchmark]:
    grid = _sheets()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheets.binvox"
        encode = _median_seconds(lambda: write_binvox(path, grid), N_RUNS)
        decode = _median_seconds(lambda: read_binvox(path), N_RUNS)
    share = grid.n_occupied / grid.frame.n_cells
    name = f"binvox {BINVOX_CELLS}^3, {share:.1%} full"
    return [
        Benchmark.within(f"{name}: write", "s", encode, BINVOX_LIMIT_S),
        Benchmark.within(f"{name}: read", "s", decode, BINVOX_LIMIT_S),
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
