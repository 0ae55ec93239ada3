# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps and scans of a world's wall, flown by the simulator, and what they are against the truth."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from aerotwin_core.cli import StageBars, progress
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.parameters import to_mapping
from aerotwin_core.run_folder import software_versions
from aerotwin_dense_localization.localization import follow_surface
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_dense_localization.mapping.recorder import RecordedMap
from aerotwin_map_evaluation.observed import CameraFieldOfView, visible_samples
from aerotwin_map_evaluation.surface import SurfaceReference
from aerotwin_rendering import Rasteriser
from aerotwin_scenarios.dense_localization.commands.map_folder import (
    FLIGHT,
    numbers_of_map,
    replaced_folder,
    write_map,
)
from aerotwin_scenarios.dense_localization.flights import fly_camera
from aerotwin_scenarios.dense_localization.mapping import RIG, MadeMap, make_map, record_frames
from aerotwin_scenarios.dense_localization.recordings.sources import world_of
from aerotwin_scenarios.dense_localization.wall_flight import WallFlight
from aerotwin_worlds import World

FARTHEST_M = 60.0
"""What is farther from the camera is not asked for."""
SURFACE_SAMPLE_M = 0.10
"""Distance between samples of the wall of which completeness is a share."""
NEAR_SURFACE_M = 0.10
"""Distance within which a point of a map counts as on the surface."""


def along_the_map(flight: WallFlight, dense_map: DenseMap) -> FloatArray:
    """Return the waypoints of a scan at its distance from the mapped surface.

    Raises `UserError` if the map does not show the region.
    """
    try:
        return follow_surface(flight.path(), dense_map, standoff_m=flight.standoff_m, spacing_m=1.0)
    except ValueError as error:
        raise UserError(f"{error} (--corner, --extent, --yaw-deg)") from None


def against_the_truth(world: World, made: MadeMap, flight: WallFlight) -> dict[str, Any]:
    """Return how far a map's points are from the world's surface, and how much of it is there.

    All points count, after the rigid motion that takes the key-frames to their true places; what
    could be there is the part of the region that is seen from their true poses.
    """
    surface = SurfaceReference.from_meshes(world.meshes)
    points = made.dense_map.cloud.points.astype(np.float64)
    aligned = transform_points(made.T_true_map, points)
    away = surface.distances(aligned)
    wall = surface.samples(SURFACE_SAMPLE_M)
    wall = visible_samples(
        surface, wall[flight.covers(wall)], made.T_map_optical, CameraFieldOfView(RIG),
        max_range_m=FARTHEST_M,
    )  # fmt: skip
    return {
        "mean_m": float(away.mean()),
        "share_10cm": float((away < NEAR_SURFACE_M).mean()),
        "mean_unaligned_m": float(surface.distances(points).mean()),
        "completeness": _completeness(wall, aligned),
        "keyframes_mean_m": float(made.position_errors_m(is_aligned=True).mean()),
        "keyframes_unaligned_mean_m": float(made.position_errors_m(is_aligned=False).mean()),
    }


def _completeness(wall: np.ndarray, points: np.ndarray) -> float | None:
    if not len(wall):
        return None
    near, _ = KDTree(points).query(wall, distance_upper_bound=NEAR_SURFACE_M)
    return float(np.isfinite(near).mean())


@dataclass(frozen=True, kw_only=True)
class FlownMapRequest:
    """Which world's wall is mapped into which folder, and how it is flown past.

    `seed` is of flight and cameras; with `has_truth` the map is made with true poses.
    """

    world: str
    folder: Path
    flight: WallFlight
    seed: int
    has_truth: bool


def map_world(request: FlownMapRequest) -> dict[str, Any]:
    """Fly past a world's wall, write the map of what was seen, and return its numbers."""
    world, flight, seed = world_of(request.world), request.flight, request.seed
    has_truth = request.has_truth
    with replaced_folder(request.folder) as fresh:
        with StageBars() as log:
            track = fly_camera(
                world, flight.path(), fresh / FLIGHT, speed_m_s=flight.speed_m_s,
                rate_hz=flight.rate_hz, seed=seed, on_progress=lambda share: log("flight", share),
            )  # fmt: skip
        with progress(len(track.stamps_ns), "depth", unit="frame") as bar:
            frames = record_frames(
                Rasteriser(world.meshes), track, seed=seed, on_frame=lambda: bar.update(1)
            )
        start = time.perf_counter()
        with progress(1, "map"):
            made = make_map(frames, track, has_truth=has_truth)
        seconds = time.perf_counter() - start
        mapped = RecordedMap(
            dense_map=made.dense_map, keyframes=made.keyframes, n_links=made.n_links
        )
        with progress(1, "against the truth"):
            found = against_the_truth(world, made, flight)
        reported = "truth" if has_truth else "the autopilot's estimator"
        numbers = numbers_of_map(mapped) | {
            "n_frames": len(frames), "seconds": seconds, "map": found, "notes": [],
            "poses": {"source": reported, "is_truth": has_truth},
        }  # fmt: skip
        write_map(
            fresh,
            mapped,
            {
                "source": request.world, "kind": "world", "seed": seed,
                "flight": to_mapping(flight), "T_true_map": made.T_true_map.tolist(),
                "world": dict(world.credits), "versions": software_versions(), **numbers,
            },
        )  # fmt: skip
    return numbers
