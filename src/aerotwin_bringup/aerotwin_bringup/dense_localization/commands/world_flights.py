# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps and scans of a world's wall, flown by the simulator, and what they are against the truth."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from aerotwin_bringup.dense_localization.flights import CameraTrack, fly_camera
from aerotwin_bringup.dense_localization.mapping import RIG, MadeMap
from aerotwin_bringup.dense_localization.study.seed_study import (
    MAPPING_ALONG_M,
    MAPPING_CORNER_M,
    MAPPING_RATE_HZ,
    MAPPING_ROW_M,
    MAPPING_SPEED_M_S,
    MAPPING_STANDOFF_M,
    MAPPING_UP_M,
    SAMPLE_M,
    SCAN_ALONG_M,
    SCAN_CORNER_M,
    SCAN_UP_M,
    WITHIN_M,
)
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.parameters import parameter
from aerotwin_dense_localization.localization import follow_surface, raster_path
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_map_evaluation.observed import camera_view, seen_samples
from aerotwin_map_evaluation.surface import SurfaceReference
from aerotwin_worlds import World

FARTHEST_M = 60.0
"""What is farther from the camera is not asked for."""


@dataclass(frozen=True, kw_only=True)
class WallFlight:
    """A raster over a wall and how it is flown; the defaults map the wall of the cliff.

    Attributes
    ----------
    corner_m : (x, y, z)
        Lower corner of the region on the wall, left of one who looks at it.
    extent_m : (along, up)
    """

    corner_m: tuple[float, float, float] = parameter(
        MAPPING_CORNER_M, text="Lower left corner of the region, on the wall.", unit="m"
    )
    extent_m: tuple[float, float] = parameter(
        (MAPPING_ALONG_M, MAPPING_UP_M),
        text="Size of the region along the wall and up.",
        unit="m",
        minimum=0.1,
    )
    standoff_m: float = parameter(
        MAPPING_STANDOFF_M,
        text="Distance of the camera from the wall.",
        unit="m",
        minimum=0.3,
        maximum=200.0,
    )
    row_m: float = parameter(
        MAPPING_ROW_M, text="Between rows, at most.", unit="m", minimum=0.05, maximum=100.0
    )
    yaw_deg: float = parameter(
        90.0, text="Direction the camera looks in, from east.", unit="deg",
        minimum=-360.0, maximum=360.0,
    )  # fmt: skip
    speed_m_s: float = parameter(
        MAPPING_SPEED_M_S, text="Along the rows.", unit="m/s", minimum=0.1, maximum=20.0
    )
    rate_hz: float = parameter(
        MAPPING_RATE_HZ, text="Pictures.", unit="Hz", minimum=0.1, maximum=100.0
    )

    def path(self) -> FloatArray:
        """Return the way-points T_map_optical (n, 4, 4)."""
        return raster_path(
            self.corner_m, *self.extent_m, row_m=self.row_m, standoff_m=self.standoff_m,
            yaw_rad=float(np.radians(self.yaw_deg)),
        )  # fmt: skip

    def covers(self, points_map: FloatArray) -> np.ndarray:
        """Return which points (n, 3) lie before or behind the region (n,)."""
        yaw = np.radians(self.yaw_deg)
        away = points_map - np.asarray(self.corner_m)
        along, up = away @ [np.sin(yaw), -np.cos(yaw), 0.0], away[:, 2]
        return (along >= 0) & (along <= self.extent_m[0]) & (up >= 0) & (up <= self.extent_m[1])


SCAN = WallFlight(
    corner_m=SCAN_CORNER_M, extent_m=(SCAN_ALONG_M, SCAN_UP_M), standoff_m=2.0, row_m=0.8,
    speed_m_s=0.7, rate_hz=20.0,
)  # fmt: skip
"""The scan of the cliff, within what `WallFlight` maps."""


def fly(
    world: World,
    path: FloatArray,
    flight: WallFlight,
    folder: Path,
    *,
    seed: int,
    on_progress: Callable[[float], object],
) -> CameraTrack:
    """Return where the camera was on a flight along a path."""
    return fly_camera(
        world, path, folder, speed_m_s=flight.speed_m_s, rate_hz=flight.rate_hz, seed=seed,
        on_progress=on_progress,
    )  # fmt: skip


def along_the_map(flight: WallFlight, dense_map: DenseMap) -> FloatArray:
    """Return the way-points of a scan at its distance from what the map shows.

    Raises
    ------
    UserError
        If the map does not show the region.
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
    wall = surface.samples(SAMPLE_M)
    wall = seen_samples(
        surface, wall[flight.covers(wall)], made.T_map_optical, camera_view(RIG),
        max_range_m=FARTHEST_M,
    )  # fmt: skip
    return {
        "mean_m": float(away.mean()),
        "share_10cm": float((away < WITHIN_M).mean()),
        "mean_unaligned_m": float(surface.distances(points).mean()),
        "completeness": _completeness(wall, aligned),
        "keyframes_mean_m": float(made.position_errors_m(is_aligned=True).mean()),
        "keyframes_unaligned_mean_m": float(made.position_errors_m(is_aligned=False).mean()),
    }


def _completeness(wall: np.ndarray, points: np.ndarray) -> float | None:
    if not len(wall):
        return None
    near, _ = KDTree(points).query(wall, distance_upper_bound=WITHIN_M)
    return float(np.isfinite(near).mean())
