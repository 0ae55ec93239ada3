# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The map of a run against the world: voxels as published, and finer ones."""

from collections.abc import Callable

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.messages import deserialize
from aerotwin_core.point_clouds import point_cloud_arrays
from aerotwin_core.protocol import Protocol
from aerotwin_map_evaluation import MapEvaluation, MapProtocol, SurfaceReference, evaluate_map
from aerotwin_run_evaluation.bag.protocols import map_protocol
from aerotwin_worlds import World

COARSE_VOXEL_M = 1.0
"""Edge of the reference voxels of Beam et al. (2024)."""
FINE_VOXEL_M = 0.25


def judge_map(
    points_odom: np.ndarray,
    *,
    world: World,
    camera: tuple[np.ndarray, PinholeCamera] | None,
    T_map_odom: np.ndarray,
    protocol: str | None,
    on_step: Callable[[str], None],
) -> tuple[MapEvaluation, ...]:
    """Evaluate a map's points (n, 3) [m]; without a protocol twice, against voxels of two sizes.

    `camera` is what saw the surface: true poses (k, 4, 4) of its optical axes in map, and its
    model; without it the whole surface is to be mapped.
    """
    reference = SurfaceReference.from_meshes(world.meshes)
    observed = None if camera is None else reference.seen_from(*camera)
    found: list[MapEvaluation] = []
    for chosen in _protocols(protocol):
        evaluation = evaluate_map(
            reference,
            points_odom,
            T_map_odom_initial=T_map_odom,
            protocol=chosen,
            observed=observed,
            like=found[0] if found else None,
            on_step=lambda text: on_step(f"map: {text}"),
        )
        found.append(evaluation)
    return tuple(found)


def _protocols(spec: str | None) -> tuple[Protocol[MapProtocol], ...]:
    provided = map_protocol(spec)
    if provided is not None:
        return (provided,)
    return tuple(
        Protocol(name=f"voxels of {voxel_m:g} m", part="map", choices=MapProtocol(voxel_m=voxel_m))
        for voxel_m in (COARSE_VOXEL_M, FINE_VOXEL_M)
    )


def last_map(bag: BagReader, topic: str = "/slam/map") -> np.ndarray | None:
    """Return the points (n, 3) of the last map in odom [m], None when there is none."""
    cdr = None
    for _, _, raw in bag.raw([topic]):
        cdr = raw
    if cdr is None:
        return None
    arrays = point_cloud_arrays(deserialize(cdr, bag.topics[topic]))
    points = np.column_stack([arrays[axis] for axis in "xyz"]).astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    return points if len(points) else None
