# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A teach map of one kilometre from a cloud of 5 million points, against its limit."""

import tempfile
import time
from pathlib import Path

import numpy as np

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_teach_repeat.teaching import teach_route

LENGTH_M, HALF_WIDTH_M, N_POINTS = 1000.0, 45.0, 5_000_000
LIMIT_S = 10.0
WALL_SHARE, WALL_HIGH_M = 0.3, 8.0


def teach_map() -> list[Benchmark]:
    """Teach 1 km through 5 million points and write the graph, submaps every 1.5 m."""
    points, waypoints = _street()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        graph = teach_route(points, waypoints)
        made = time.perf_counter()
        graph.save(Path(folder) / "graph")
        written = time.perf_counter()
    return [
        Benchmark.within(
            "teach map, 1 km from 5 M points, made and written", "s", written - start, LIMIT_S
        ),
        Benchmark.within("of that the path, thinning and normals", "s", made - start, LIMIT_S),
    ]


def _street() -> tuple[np.ndarray, np.ndarray]:
    """A winding street between walls, as a survey sees it."""
    rng = np.random.default_rng(0)
    x, side = rng.uniform(0.0, LENGTH_M, N_POINTS), rng.uniform(-1.0, 1.0, N_POINTS) * HALF_WIDTH_M
    z = 0.8 * np.sin(x / 30.0) + rng.normal(0.0, 0.03, N_POINTS)
    is_wall = rng.random(N_POINTS) < WALL_SHARE
    side[is_wall] = np.where(side[is_wall] < 0.0, -12.0, 12.0)
    z[is_wall] += rng.uniform(0.0, WALL_HIGH_M, int(is_wall.sum()))
    along = np.arange(5.0, LENGTH_M - 5.0, 10.0)
    bend = 40.0 * np.sin(x / 90.0)
    waypoints = np.column_stack([along, 40.0 * np.sin(along / 90.0)])
    return np.column_stack([x, bend + side, z]), waypoints
