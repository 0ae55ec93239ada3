# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Coarse alignment of SLAM-like maps, any yaw and 20 m off, beside Open3D's global registration.

Places and paths have seeds that were not used for tuning. The reference is by turns the surface and
the centres of its voxels of 1 m. A trial counts as correct if the answer says so itself and lies in
the basin of the truth: on a surface within 0.5 m, and GICP from it ends within 5 cm of where GICP
that starts from the truth ends; on centres within one voxel. (There ICP is no judge: on a country
road GICP that starts from the truth ends up to 4 m off.) An answer is wrong, and not only inexact,
if it lies more than a cell of the search away.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_generated_worlds import GENERATORS
from aerotwin_registration import ICP_PRESETS, align, coarse_align
from aerotwin_rendering import WorldQueries
from aerotwin_voxel_cloud import voxelise
from aerotwin_worlds import World
from evidence.benchmarks.result import Benchmark
from evidence.benchmarks.setting import bare_world

PLACES = {"stadium": 0.7, "campus": 0.8, "cliff": 0.5, "route": 1.5}
"""Kinds of worlds, and the spacing of their vertices [m]."""
WORLD_SEED = 1005
"""Of the benchmark, which has 20 trials, a minute or two; `make verify NAMES=coarse` has 100."""
TRIALS_PER_WORLD = 5
PEER_TRIALS_PER_PLACE = 2
MAX_OFFSET_M, MAX_LIFT_M = 20.0, 3.0
GOAL_SHARE, TIMES_PEER, TIMES_PEER_LONGEST = 0.95, 1.3, 1.0
"""Measured 2.0 times as fast as the peer on two busy cores, 1.5 for the longest."""
VOXEL_M, SURFACE_SPACING_M = 1.0, 0.5
NEAR_SURFACE_M, NEAR_VOXELS_M, NEAR_DEG = 0.5, 1.0, 2.0
SAME_END_M, SAME_END_DEG = 0.05, 0.2
ELSEWHERE_M, ELSEWHERE_DEG = 2.0, 4.0
PATH_M, N_STATIONS, N_RAYS, RANGE_M = 80.0, 17, 20_000, 60.0
NOISE_M, OUTLIERS, TILT_DEG = 0.1, 0.05, 0.7
RIM_M = 30.0
"""A path begins so far inside the world."""
PEER_VOXEL_M = 1.0


@dataclass(frozen=True)
class Trial:
    """A map by a SLAM, the place, where the map belongs, and what stands for the place."""

    source: np.ndarray
    target: np.ndarray
    T_target_source: np.ndarray
    is_surface: bool


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """What became of a trial; an answer that is correct says so itself."""

    took_s: float
    is_correct: bool
    is_wrong_and_believed: bool


def coarse_alignment() -> list[Benchmark]:
    """Align 20 maps; say how many were right, how many wrong ones were believed, and the times."""
    found, peer_seconds, peer_correct = [], [], []
    for place in PLACES:
        for k, trial in enumerate(trials(place, WORLD_SEED)):
            found.append(aligned(trial))
            if k < PEER_TRIALS_PER_PLACE:
                start = time.perf_counter()
                T = _fpfh_ransac(trial)
                peer_seconds.append(time.perf_counter() - start)
                peer_correct.append(_is_right(T, trial))
    return _figures(
        [one.took_s for one in found],
        [one.is_correct for one in found],
        [one.is_wrong_and_believed for one in found],
        peer_seconds,
        peer_correct,
    )


def aligned(trial: Trial) -> Aligned:
    """Align the map of a trial, and judge it."""
    start = time.perf_counter()
    answer = coarse_align(trial.source, trial.target, max_offset_m=MAX_OFFSET_M)
    took_s, T = time.perf_counter() - start, answer.T_target_source
    return Aligned(
        took_s=took_s,
        is_correct=_is_right(T, trial) and answer.converged,
        is_wrong_and_believed=answer.converged and _is_elsewhere(T, trial),
    )


def _figures(
    seconds: list[float],
    is_correct: list[bool],
    is_believed: list[bool],
    peer_seconds: list[float],
    peer_correct: list[bool],
) -> list[Benchmark]:
    n = len(seconds)
    name = f"coarse alignment, any yaw, {MAX_OFFSET_M:g} m off, {n} trials"
    share, peer = float(np.mean(is_correct)), f"Open3D FPFH + RANSAC, {len(peer_seconds)} trials"
    return [
        Benchmark(
            name=f"{name}: correct",
            unit="share",
            value=share,
            goal=1.0,
            peer=f"least share of {GOAL_SHARE:g}",
            peer_value=GOAL_SHARE,
            ratio=share / GOAL_SHARE,
        ),
        Benchmark(
            name=f"{name}: wrong and not told",
            unit="trials",
            value=float(sum(is_believed)),
            goal=1.0,
            peer="none",
            peer_value=0.0,
            ratio=0.0 if any(is_believed) else 1.0,
        ),
        Benchmark.beside(
            f"{name}: longest",
            "s",
            max(seconds),
            peer=peer,
            peer_value=max(peer_seconds),
            goal=TIMES_PEER_LONGEST,
        ),
        Benchmark.beside(
            f"{name}: median",
            "s",
            float(np.median(seconds)),
            peer=peer,
            peer_value=float(np.median(peer_seconds)),
            goal=TIMES_PEER,
        ),
        Benchmark(
            name=f"{name}: correct, beside a peer",
            unit="share",
            value=share,
            goal=None,
            peer=peer,
            peer_value=float(np.mean(peer_correct)),
            ratio=share / float(np.mean(peer_correct)) if any(peer_correct) else None,
        ),
    ]


def _is_elsewhere(T: np.ndarray, trial: Trial) -> bool:
    """Tell whether an answer is wrong, and not only inexact."""
    shift, turn = _difference(T, trial.T_target_source, trial.source)
    return shift > ELSEWHERE_M or turn > ELSEWHERE_DEG


def _is_right(T: np.ndarray, trial: Trial) -> bool:
    """Tell whether a start lies in the basin of the truth."""
    shift, turn = _difference(T, trial.T_target_source, trial.source)
    if not trial.is_surface:
        return shift <= NEAR_VOXELS_M and turn <= NEAR_DEG
    ends = _end(T, trial), _end(trial.T_target_source, trial)
    shift_after, turn_after = _difference(*ends, trial.source)
    is_near = shift <= NEAR_SURFACE_M and turn <= NEAR_DEG
    return is_near and shift_after <= SAME_END_M and turn_after <= SAME_END_DEG


def _end(T: np.ndarray, trial: Trial) -> np.ndarray:
    """Return where GICP ends that starts from T."""
    return align(
        trial.source, trial.target, T_target_source_initial=T, protocol=ICP_PRESETS["gicp"]
    ).T_target_source


def _difference(a: np.ndarray, b: np.ndarray, source: np.ndarray) -> tuple[float, float]:
    """Return how far two poses put the source's centre [m] and its axes [deg] apart."""
    centre = source.mean(axis=0, keepdims=True)
    shift = float(np.linalg.norm(transform_points(a, centre) - transform_points(b, centre)))
    turn = Rotation.from_matrix(a[:3, :3] @ b[:3, :3].T).magnitude()
    return shift, float(np.degrees(turn))


# -- trials ---------------------------------------------------------------------------------------


def trials(place: str, seed: int) -> Iterator[Trial]:
    """Yield the trials in a world of a kind and seed, by turns with voxels and surface."""
    world = _world(place, seed)
    vertices, triangles = _mesh(world)
    queries = WorldQueries(world)
    box = vertices.min(axis=0), vertices.max(axis=0)
    voxels = voxelise(vertices, triangles, VOXEL_M).centres()
    surface = _surface(vertices, triangles, np.random.default_rng(seed))
    for k in range(TRIALS_PER_WORLD):
        rng, is_surface = np.random.default_rng([seed, k]), k % 2 == 1
        points, stations = _seen(queries, box, rng)
        target = surface if is_surface else voxels
        yield _displaced(points, stations, target, rng, is_surface=is_surface)


def _world(place: str, seed: int) -> World:
    entry: Any = GENERATORS[place]
    parameters, build = entry
    # Texels play no part: as few as possible.
    meshes = build(parameters(seed=seed, spacing_m=PLACES[place], texel_m=0.2))
    return bare_world(place, meshes)


def _mesh(world: World) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(mesh.vertices_map) for mesh in world.meshes)])
    triangles = [m.triangles + n for m, n in zip(world.meshes, starts[:-1], strict=True)]
    vertices = np.concatenate([mesh.vertices_map for mesh in world.meshes]).astype(np.float64)
    return vertices, np.concatenate(triangles).astype(np.int32)


def _surface(vertices: np.ndarray, triangles: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return points of the surface (n, 3), even by area, one for each SURFACE_SPACING_M squared."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    n = int(area.sum() / SURFACE_SPACING_M**2)
    chosen = rng.choice(len(area), n, p=area / area.sum())
    u, v = rng.uniform(size=(2, n, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    a, b, c = a[chosen], b[chosen], c[chosen]
    return a + u * (b - a) + v * (c - a)


def _seen(
    queries: WorldQueries, box: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy points (n, 3) seen along a curved path, and the path's stations (k, 3)."""
    step = PATH_M / (N_STATIONS - 1)
    while True:
        begin = rng.uniform(box[0][:2] + RIM_M, box[1][:2] - RIM_M)
        heading = rng.uniform(0, 2 * np.pi) + rng.uniform(-1, 1) * np.linspace(0, 1, N_STATIONS)
        across = begin + np.cumsum(step * np.column_stack([np.cos(heading), np.sin(heading)]), 0)
        ground = queries.height(across[:, 0], across[:, 1])
        if np.isfinite(ground).all():
            break
    stations = np.column_stack([across, ground + rng.uniform(2.0, 12.0)])
    rays = rng.normal(size=(N_RAYS, 3)) * [1.0, 1.0, 0.6] - [0.0, 0.0, 0.1]
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    origins = stations[rng.integers(0, N_STATIONS, N_RAYS)]
    distance = queries.cast(origins, rays)
    hit = distance < RANGE_M
    points = origins[hit] + rays[hit] * distance[hit, None]
    points += rng.normal(0.0, NOISE_M, points.shape)
    low, high = points.min(axis=0), points.max(axis=0)
    stray = rng.uniform(low, high, (int(OUTLIERS * len(points)), 3))
    return np.concatenate([points, stray]), stations


def _displaced(
    points: np.ndarray,
    stations: np.ndarray,
    place: np.ndarray,
    rng: np.random.Generator,
    *,
    is_surface: bool,
) -> Trial:
    """Return both clouds in frames of their own: odometry at the first station, place anywhere."""
    tilt = Rotation.from_rotvec(np.radians(TILT_DEG) * rng.normal(size=3) * [0.7, 0.7, 0.0])
    R_map_odom = Rotation.from_euler("z", rng.uniform(-np.pi, np.pi)) * tilt
    T_map_odom = make_transform(R_map_odom.as_matrix(), stations[0])
    direction, reach = rng.uniform(-np.pi, np.pi), MAX_OFFSET_M * np.sqrt(rng.uniform())
    offset = [reach * np.cos(direction), reach * np.sin(direction), 0.0]
    offset[2] = rng.uniform(-MAX_LIFT_M, MAX_LIFT_M)
    R_target_map = Rotation.from_euler("z", rng.uniform(-np.pi, np.pi))
    T_target_map = make_transform(
        R_target_map.as_matrix(), offset - R_target_map.apply(stations[0])
    )
    return Trial(
        source=transform_points(invert_transform(T_map_odom), points),
        target=transform_points(T_target_map, place),
        T_target_source=T_target_map @ T_map_odom,
        is_surface=is_surface,
    )


# -- peer -----------------------------------------------------------------------------------------


def _fpfh_ransac(trial: Trial) -> np.ndarray:
    """Return Open3D's global registration, with the settings of its tutorial."""
    import open3d as o3d

    module = o3d.pipelines.registration
    clouds, features = [], []
    for points in (trial.source, trial.target):
        cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points))
        cloud = cloud.voxel_down_sample(PEER_VOXEL_M)
        cloud.estimate_normals(o3d.geometry.KDTreeSearchParamHybrid(2 * PEER_VOXEL_M, 30))
        near = o3d.geometry.KDTreeSearchParamHybrid(5 * PEER_VOXEL_M, 100)
        clouds.append(cloud)
        features.append(module.compute_fpfh_feature(cloud, near))
    o3d.utility.random.seed(0)
    limit = 1.5 * PEER_VOXEL_M
    result = module.registration_ransac_based_on_feature_matching(
        *clouds,
        *features,
        True,
        limit,
        module.TransformationEstimationPointToPoint(False),
        3,
        [
            module.CorrespondenceCheckerBasedOnEdgeLength(0.9),
            module.CorrespondenceCheckerBasedOnDistance(limit),
        ],
        module.RANSACConvergenceCriteria(100_000, 0.999),
    )
    return np.array(result.transformation)
