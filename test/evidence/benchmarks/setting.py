# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of scans and maps share: bare meshes, Embree's bare cast, a stop-watch."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import World


def bare_world(name: str, meshes: Sequence[TexturedMesh]) -> World:
    """Return meshes as a world that lies nowhere on Earth."""
    return World(
        name=name,
        meshes=tuple(meshes),
        origin=GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0),
        attribution="",
        licence="",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )


def embree_cast(queries: WorldQueries, rays: np.ndarray) -> Callable[[], object]:
    """Return a call by which Embree (Open3D) casts rays (n, 6) at a world and does nothing else."""
    import open3d as o3d

    scene = o3d.t.geometry.RaycastingScene()
    for mesh in queries.meshes:
        scene.add_triangles(mesh.vertices_map.astype(np.float32), mesh.triangles.astype(np.uint32))
    tensor = o3d.core.Tensor.from_numpy(rays)
    return lambda: scene.cast_rays(tensor)


def wall_ms(call: Callable[[], object]) -> float:
    """Return how long a call takes [ms]."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
