# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile kernels of flights and drives: `python -m aerotwin_bringup.warm_up`, called at set-up.

The first flight then starts at once, and no timeout of a flight includes compilation. Kernels that
work on files (reconstruction, voxels, evaluation of maps) compile at their first call, in seconds.
"""

import importlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from aerotwin_core.child_python import python_command

COARSE_M = 0.4


def compile_world() -> None:
    """Build a coarse cliff and query its ground."""
    from aerotwin_core.geodesy import GeodeticPoint
    from aerotwin_generated_worlds.cliff import CliffParameters, build_cliff
    from aerotwin_rendering import WorldQueries
    from aerotwin_worlds import World

    cliff = CliffParameters(
        spacing_m=COARSE_M,
        texel_m=COARSE_M,
        scan_width_m=2.0,
        scan_texel_m=0.1,
        scan_spacing_m=COARSE_M,
    )
    meshes = build_cliff(cliff)
    world = World(
        name="warm-up",
        meshes=meshes,
        origin=GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0),
        attribution="",
        licence="",
        start_p_map=meshes[0].vertices_map[0],
        start_yaw=0.0,
    )
    WorldQueries(world).warm_up()


def compile_pictures() -> None:
    """Render a triangle."""
    import numpy as np

    from aerotwin_meshes.mesh import TexturedMesh
    from aerotwin_rendering import Rasteriser

    triangle = TexturedMesh(
        vertices_map=np.eye(3),
        triangles=np.array([[0, 1, 2]], np.int32),
        uv=np.zeros((3, 2), np.float32),
        texture=np.zeros((1, 1, 3), np.uint8),
    )
    Rasteriser([triangle]).warm_up()


def compile_autopilot() -> None:
    """Load the autopilot, which compiles on import."""
    importlib.import_module("aerotwin_autopilot.embedded_autopilot")


def compile_odometry() -> None:
    """Run the odometry on a small wall."""
    from aerotwin_stereo_odometry import warm_up

    warm_up()


def compile_dynamics() -> None:
    """Load the vehicle and its sensors, which compile on import."""
    importlib.import_module("aerotwin_multirotor_body.inertial_block")
    importlib.import_module("aerotwin_multirotor_dynamics.wind")


def compile_localization() -> None:
    """Load the localisers that run beside a flight or drive; they compile on import."""
    for name in ("alignment", "depth", "mapping"):
        importlib.import_module(f"aerotwin_dense_localization.{name}.kernels")
    importlib.import_module("aerotwin_teach_repeat.localization.icp_kernels")
    importlib.import_module("aerotwin_teach_repeat.localization.search_kernels")


JOBS = (
    compile_autopilot,
    compile_odometry,
    compile_pictures,
    compile_dynamics,
    compile_world,
    compile_localization,
)
"""The longest first; no two of them compile the same kernel."""


def main() -> int:
    """Run the jobs in parallel, one process each, at most one per processor."""

    def run(name: str) -> int:
        program = f"from {__spec__.name} import {name} as f; f()"
        return subprocess.call(python_command("-c", program))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return max(abs(code) for code in pool.map(run, (job.__name__ for job in JOBS)))


if __name__ == "__main__":
    sys.exit(main())
