# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Quality of a reconstruction: consistency, and errors of poses and cloud against ground truth.

All points count, without trimming or alignment: GNSS georeferences the map, and its error counts.
Completeness is relative to what the true poses can observe of the true surface: positions that at
least one picture sees without occlusion.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters
from aerotwin_core.rms import rms
from aerotwin_reconstruction.bundle.align import PhotoAlignment
from aerotwin_reconstruction.degradation import sample_surface
from aerotwin_reconstruction.dense.fusion import DenseCloud
from aerotwin_reconstruction.survey.camera import SurveyCamera
from aerotwin_reconstruction.survey.folder import RECORD, read_record
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import World

NEAR_M = 0.3  # A true point is reconstructed if a point of the cloud is nearer than this
STRIPS_M = (15.0, 25.0)  # to both sides of the route's middle; the first is the evaluated strip
SPACING_M = 0.25  # between the sampled points of the true surface
BEFORE_M = 0.05  # what stands less before a place is the place itself
_CELLS, _PER_CELL = 10_000, 32  # of the floor


def accuracy(
    points_map: np.ndarray,
    world: World,
    T_map_optical: Mapping[str, np.ndarray],
    camera: PinholeCamera,
    *,
    voxel_m: float,
    area_m: tuple[float, float, float, float] | None = None,
    route_m: np.ndarray | None = None,
) -> dict[str, Any]:
    """Return accuracy and completeness of a cloud, as plain JSON types.

    `points_map` (n, 3): the cloud [m]. `world`: the true one. `T_map_optical`: true poses of the
    pictures, which all have the same camera. `voxel_m`: voxels whose means the points are, for the
    floor [m]. `area_m` (x0, y0, x1, y1): the surveyed area; completeness is evaluated within [m].
    `route_m` (k, 2): points along a route; completeness is also reported in strips along it [m].
    """
    queries = WorldQueries(world)
    away = queries.distance(points_map).astype(np.float64)
    places = sample_surface(world.meshes, SPACING_M, seed=0).points_map
    if area_m is not None:
        low, high = np.array(area_m[:2]), np.array(area_m[2:])
        places = places[((places[:, :2] >= low) & (places[:, :2] <= high)).all(axis=1)]
    places = places[seen(places, queries, list(T_map_optical.values()), camera)]
    is_there = cKDTree(points_map).query(places, distance_upper_bound=NEAR_M, workers=-1)[0]
    is_there = np.isfinite(is_there)
    content: dict[str, Any] = {
        "n_points": len(points_map),
        "to_surface_mean_m": float(away.mean()),
        "to_surface_rms_m": rms(away),
        "to_surface_p95_m": float(np.quantile(away, 0.95)),
        "floor_mean_m": sampling_floor(places, queries, voxel_m),
        "completeness": _share(is_there),
        "n_places": len(places),
    }
    if route_m is not None:
        beside = cKDTree(route_m).query(places[:, :2])[0]
        content["completeness_in_strips"] = {
            f"{half:g}": _share(is_there[beside <= half]) for half in STRIPS_M
        }
    return content


def seen(
    places: np.ndarray,
    queries: WorldQueries,
    T_map_optical: list[np.ndarray],
    camera: PinholeCamera,
) -> np.ndarray:
    """Return which points (n, 3) [m] at least one picture sees without occlusion, (n,)."""
    found = np.zeros(len(places), bool)
    for T in T_map_optical:
        left = np.flatnonzero(~found)
        left = left[camera.shows((places[left] - T[:3, 3]) @ T[:3, :3])]
        if len(left):
            way = places[left] - T[:3, 3]
            reach = queries.cast(T[None, :3, 3], way)
            found[left] = reach >= np.linalg.norm(way, axis=1) - BEFORE_M
    return found


def sampling_floor(places: np.ndarray, queries: WorldQueries, voxel_m: float) -> float:
    """Return the mean distance from the surface of means of perfect points in cells [m].

    A mean lies on flat and inside curved surfaces: no cloud of such cells is nearer.
    """
    rng = np.random.default_rng(0)
    around = places[rng.integers(len(places), size=_CELLS)]
    cell = np.floor(around / voxel_m)
    spread = (cell[:, None] + rng.random((_CELLS, _PER_CELL, 3))) * voxel_m
    on_surface, _ = queries.nearest(spread.reshape(-1, 3))
    on_surface = on_surface.reshape(_CELLS, _PER_CELL, 3)
    inside = (np.floor(on_surface / voxel_m) == cell[:, None]).all(axis=2)
    known = inside.any(axis=1)
    weight = inside[known][..., None]
    means = (on_surface[known] * weight).sum(axis=1) / weight.sum(axis=1)
    return float(queries.distance(means).mean())


def _share(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def alignment_record(alignment: PhotoAlignment) -> dict[str, Any]:
    """Return the consistency of the pictures, as plain JSON types."""
    tracks = alignment.tracks
    return {
        "n_pictures": len(alignment.photos),
        "n_tied": int(alignment.is_tied.sum()),
        "n_points": len(alignment.points),
        "n_observations": len(tracks.picture),
        "reprojection_rms_px": alignment.reprojection_rms_px,
        "focal_px": float(alignment.lens[0]),
        "centre_px": alignment.lens[1:3].tolist(),
        "radial": alignment.lens[3:].tolist(),
    }


def pose_errors(alignment: PhotoAlignment, truth: dict[str, np.ndarray]) -> dict[str, Any] | None:
    """Return the errors of the poses of tied pictures; None without truth.

    There is no alignment: GNSS georeferences the map, and its error counts. `truth` holds the true
    T_map_optical by the name of the picture.
    """
    known = [
        k for k, photo in enumerate(alignment.photos)
        if photo.name in truth and alignment.is_tied[k]
    ]  # fmt: skip
    if not known:
        return None
    true = np.stack([truth[alignment.photos[k].name] for k in known])
    found = alignment.T_map_optical[known]
    off = found[:, :3, 3] - true[:, :3, 3]
    turned = np.swapaxes(true[:, :3, :3], 1, 2) @ found[:, :3, :3]
    angle_deg = np.degrees(Rotation.from_matrix(turned).magnitude())
    size = np.linalg.norm(off, axis=1)
    return {
        "n": len(known),
        "position_rmse_m": rms(size),
        "position_max_m": float(size.max()),
        "position_mean_m": off.mean(axis=0).tolist(),
        "angle_rmse_deg": rms(angle_deg),
        "angle_max_deg": float(angle_deg.max()),
    }


def cloud_accuracy(
    cloud: DenseCloud, world: World, survey: Path, truth: dict[str, np.ndarray], voxel_m: float
) -> dict[str, Any]:
    """Return the accuracy of a cloud against a survey's world; UserError without true poses."""
    record = read_record(survey)
    try:
        camera = load_parameters(SurveyCamera, record["camera"], where=f"{survey / RECORD}")
        x0, y0, x1, y1 = (float(value) for value in record["area_m"])
        line = record["route"]["points_m"] if "route" in record else None
        route_m = None if line is None else np.array(line, float).reshape(-1, 2)
        if not truth:
            raise ValueError("no true poses")
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{survey}: no simulated survey to compare with ({error}); leave --against out"
        ) from None
    return accuracy(
        cloud.points, world, truth, camera.model_camera(),
        voxel_m=voxel_m, area_m=(x0, y0, x1, y1), route_m=route_m,
    )  # fmt: skip
