# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The map of a run that is evaluated in a process of its own, and what comes of it."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.messages import deserialize
from aerotwin_core.point_clouds import point_cloud_arrays
from aerotwin_core.section import Section


@dataclass(frozen=True, kw_only=True, eq=False)
class BareMesh:
    """Triangles (m, 3) of vertices (n, 3) in map [m], without what a mesh looks like."""

    vertices_map: np.ndarray
    triangles: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class MapJob:
    """A map to evaluate: points (n, 3) in odom [m], and the pose of odom in map.

    `camera` is what saw the surface: true poses (k, 4, 4) of its optical axes in map, and its
    model; without it the whole surface is to be mapped. `protocol` is a file or preset; without it
    the map is evaluated against voxels of two sizes. `name` is that of the section on the map.
    """

    points_odom: np.ndarray
    T_map_odom: np.ndarray
    camera: tuple[np.ndarray, PinholeCamera] | None
    protocol: str | None
    name: str


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedMap:
    """An evaluated map: its points (n, 3) in map [m], their distances (n,) to the surface [m].

    `voxels_map` are the centres of the reference's voxels by their edge [m], `sections` those of
    the report, the coarsest voxels first.
    """

    points_map: np.ndarray
    distances: np.ndarray
    voxels_map: dict[float, np.ndarray]
    sections: tuple[Section, ...]


@dataclass(frozen=True, kw_only=True)
class MapOutcome:
    """The evaluated map, or the problem why there is none; neither where none was to be judged."""

    judged: JudgedMap | None = None
    problem: str = ""


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
