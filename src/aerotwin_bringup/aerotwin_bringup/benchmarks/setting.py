# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of scans and maps share: a world of bare meshes, and a stop-watch."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_worlds import TexturedMesh, World


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


def wall_ms(call: Callable[[], object]) -> float:
    """Return how long a call takes [ms]."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
