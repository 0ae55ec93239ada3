# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapters on a run's map: against voxels as published, and against finer ones."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.messages import deserialize, point_cloud_arrays
from aerotwin_core.protocol import Protocol
from aerotwin_core.section import Section
from aerotwin_core.trajectory import Trajectory
from aerotwin_map_evaluation import MapEvaluation, MapProtocol, SurfaceReference, evaluate_map
from aerotwin_map_evaluation import section as map_section
from aerotwin_registration import write_cloud
from aerotwin_run_evaluation.bag.camera import true_camera
from aerotwin_run_evaluation.bag.protocols import map_protocol
from aerotwin_worlds import World

COARSE_VOXEL_M = 1.0
"""Edge of the reference voxels of Beam et al. (2024)."""
FINE_VOXEL_M = 0.25


@dataclass(frozen=True, kw_only=True)
class MapChapters:
    """What came out of the map.

    Attributes
    ----------
    sections : tuple of Section
    evaluation : MapEvaluation or None
        Against the coarse voxels; None when the map is not judged.
    warning : str
        Why it is not judged, else empty.
    """

    sections: tuple[Section, ...] = ()
    evaluation: MapEvaluation | None = None
    warning: str = ""


def map_chapters(
    folder: Path,
    bag: BagReader,
    topic: str,
    *,
    world: World,
    truth_bag: BagReader,
    truth: Trajectory,
    T_map_odom: np.ndarray,
    protocol: str | None = None,
    on_step: Callable[[str], None] | None = None,
) -> MapChapters:
    """Judge the last map of a topic and write it, and the voxels, beside the report.

    Without a protocol for maps it is judged twice, against voxels of two sizes.
    """
    try:
        points = last_map(bag, topic)
    except (ValueError, UserError) as error:
        return MapChapters(warning=f"The map on {topic} is not judged: {error}")
    if points is None:
        return MapChapters(warning=f"No map was recorded on {topic}: it is not judged.")
    reference = SurfaceReference.from_meshes(world.meshes)
    camera = true_camera(truth_bag, truth)
    observed = None if camera is None else reference.seen_from(*camera)
    evaluations = [
        evaluate_map(
            reference,
            points,
            T_map_odom_initial=T_map_odom,
            protocol=chosen,
            observed=observed,
            on_step=None if on_step is None else lambda text: on_step(f"map: {text}"),
        )
        for chosen in _protocols(protocol)
    ]
    write_cloud(folder / "slam_map.ply", evaluations[0].points_map)
    for chosen, evaluation in zip(_protocols(protocol), evaluations, strict=True):
        name = f"voxels_{chosen.choices.voxel_m:g}m.ply"
        write_cloud(folder / name, evaluation.voxels_map)
    sections = (map_section(evaluations[0]), *map(_finer_section, evaluations[1:]))
    return MapChapters(sections=sections, evaluation=evaluations[0])


def _protocols(spec: str | None) -> tuple[Protocol[MapProtocol], ...]:
    provided = map_protocol(spec)
    if provided is not None:
        return (provided,)
    return tuple(
        Protocol(name=f"voxels of {voxel_m:g} m", part="map", choices=MapProtocol(voxel_m=voxel_m))
        for voxel_m in (COARSE_VOXEL_M, FINE_VOXEL_M)
    )


def _finer_section(evaluation: MapEvaluation) -> Section:
    """Return the numbers alone: the pictures and the verdict stand in the chapter before."""
    title = f"Map against voxels of {FINE_VOXEL_M:g} m"
    chapter = map_section(evaluation, title=title, name="map_fine", has_pictures=False)
    return dataclasses.replace(chapter, headline=(), verdict="")


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
