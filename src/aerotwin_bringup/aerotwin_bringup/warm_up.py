# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile every kernel into the cache: `python -m aerotwin_bringup.warm_up`, called at set-up.

The first flight and the tests then start at once, and no wait in a flight covers a compiler.
"""

import importlib
import subprocess
import sys

from aerotwin_core.child_python import python_command

COARSE_M = 0.4
COMPILED_ON_IMPORT = (
    "aerotwin_autopilot.embedded_autopilot",
    "aerotwin_dense_localization.alignment.kernels",
    "aerotwin_dense_localization.depth.kernels",
    "aerotwin_dense_localization.mapping.kernels",
    "aerotwin_dense_localization.splats.kernels",
    "aerotwin_map_evaluation.kernels",
    "aerotwin_reconstruction.bundle.kernels",
    "aerotwin_reconstruction.dense.kernels",
    "aerotwin_registration.coarse.kernels",
    "aerotwin_registration.icp.kernels",
    "aerotwin_registration.tree_kernels",
    "aerotwin_simulator.simulation",
    "aerotwin_teach_repeat.localization.icp_kernels",
    "aerotwin_teach_repeat.localization.search_kernels",
    "aerotwin_teach_repeat.radar.detection_kernels",
    "aerotwin_teach_repeat.submaps.kernels",
)


def warm_up_images() -> None:
    """Build a coarse cliff and stadium, ask for the ground and render a picture."""
    from aerotwin_core.geodesy import GeodeticPoint
    from aerotwin_generated_worlds.cliff import CliffParameters, build_cliff
    from aerotwin_generated_worlds.stadium import StadiumParameters, build_stadium
    from aerotwin_rendering import Rasteriser, WorldQueries
    from aerotwin_voxel_cloud.warm_up import warm_up as warm_up_voxels
    from aerotwin_worlds import World

    cliff = CliffParameters(
        spacing_m=COARSE_M,
        texel_m=COARSE_M,
        scan_width_m=2.0,
        scan_texel_m=0.1,
        scan_spacing_m=COARSE_M,
    )
    meshes = build_cliff(cliff)
    build_stadium(StadiumParameters(spacing_m=5.0, texel_m=0.5))
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
    Rasteriser(meshes).warm_up()
    importlib.import_module("aerotwin_meshes.gltf.meshopt_kernels")
    warm_up_voxels()


def warm_up_flight() -> None:
    """Load what compiles on import, and let the odometry watch a small wall."""
    for name in COMPILED_ON_IMPORT:
        importlib.import_module(name)
    from aerotwin_stereo_odometry import warm_up

    warm_up()


def main() -> int:
    """Run both halves side by side; they compile different kernels."""
    halves = [
        subprocess.Popen(python_command("-c", f"from {__spec__.name} import {name} as f; f()"))
        for name in (warm_up_images.__name__, warm_up_flight.__name__)
    ]
    return max(abs(half.wait()) for half in halves)


if __name__ == "__main__":
    sys.exit(main())
