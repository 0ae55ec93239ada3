# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A turn of a lidar over a stadium of 2 million triangles, beside bare Embree."""

from statistics import median

import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_generated_worlds.stadium import StadiumParameters, build_stadium
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import Lidar, load_preset
from evidence.benchmarks.result import Benchmark
from evidence.benchmarks.setting import bare_world, embree_cast, wall_ms

GOAL_SHARE = 0.5
"""Noise, normals and reflectivity cost no more than the cast; measured 0.74 to 0.96."""
SPACING_M, TEXEL_M = 0.25, 0.2
"""Two million triangles; a lidar has no use for fine textures."""
PLACES_M = ((0.0, 0.0, 3.0), (30.0, -20.0, 8.0), (-50.0, 35.0, 15.0))
SPEED_M_S, TURN_RAD_S = 5.0, 0.5
N_WARM, N_TURNS = 3, 15


def lidar_scan() -> list[Benchmark]:
    """Scan 64 x 1024 rays with noise from three places, moving and turning; cast the same rays."""
    meshes = build_stadium(StadiumParameters(spacing_m=SPACING_M, texel_m=TEXEL_M))
    queries = WorldQueries(bare_world("stadium", meshes))
    lidar = Lidar(load_preset("lidar", "spinning_64"))
    scan_ms, cast_ms = [], []
    for place in PLACES_M:
        motion = _motion(place)
        bare = embree_cast(queries, lidar.turn.cast(motion, 0).copy())
        for k in range(N_WARM + N_TURNS):
            times = (wall_ms(lambda m=motion: lidar.scan(queries.beams, m, 0)), wall_ms(bare))
            if k >= N_WARM:
                scan_ms.append(times[0])
                cast_ms.append(times[1])
    scan, cast = median(scan_ms), median(cast_ms)
    n_triangles = sum(len(mesh.triangles) for mesh in meshes)
    name = f"lidar turn 64x1024, {n_triangles / 1e6:.1f} M triangles"
    return [
        Benchmark.beside(
            name,
            "ms",
            scan,
            peer="Embree (Open3D) casting the same rays and nothing else",
            peer_value=cast,
            goal=GOAL_SHARE,
        )
    ]


def _motion(place_m: tuple[float, float, float]) -> Trajectory:
    """Return straight flight with a steady turn, in steps of the simulator."""
    t = 0.004 * np.arange(26)
    p = np.array(place_m) + np.outer(t, [SPEED_M_S, 0.0, 0.0])
    half = 0.5 * TURN_RAD_S * t
    q = np.column_stack([np.zeros((len(t), 2)), np.sin(half), np.cos(half)])
    return Trajectory((t * 1e9).astype(np.int64), p, q)
