# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teach and repeat: scans localised on the campus, beside KISS-ICP; a teach map of a kilometre."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, invert_transform, make_transform
from aerotwin_core.trajectory import Trajectory
from aerotwin_generated_worlds.campus import CampusParameters, build_campus, campus_road
from aerotwin_generated_worlds.route import RouteParameters, build_route, route_road
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_sensor_models import Lidar, load_preset
from aerotwin_teach_repeat.localization import ScanOdometry, SubmapLocalizer
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.teaching import teach_route
from evidence.benchmarks.result import Benchmark
from evidence.benchmarks.setting import bare_world, wall_ms

SEED = 1000
TEXEL_M = 0.5  # no lidar sees textures
TIMES_KISS = {"spinning_64": 8.0, "spinning_16": 2.0}
"""Measured 12 to 14 and 3.0 on two cores, quiet or busy."""
N_TEACH_POINTS, PEER_VOXEL_M, GOAL_TEACH = 5_000_000, 0.2, 2.0
"""Measured 3.2 on two busy cores."""
N_CAMPUS_POINTS, NOISE_M = 2_000_000, 0.05
GOAL_ERROR = 5.0
"""Of noise of 5 cm in the map and 3 cm in the scan little is left, measured a ninth."""
FIRST_M, SPEED_M_S, LIDAR_M = 5.0, 1.2, 1.0
STEP_S, TURN_S, SMOOTH_STEPS, HIGH_M = 0.02, 0.1, 10, 100.0
N_WARM, N_SCANS = 10, 60
KISS_RANGE_M = 100.0
WAYPOINT_M = 8.0


@dataclass(frozen=True, kw_only=True)
class _Scan:
    """A turn of a lidar without its motion, as all that is compared here is given it.

    Attributes
    ----------
    stamp_ns : int
    points_base : (n, 3) float32 array
        In the frame of the vehicle's base [m].
    T_map_base : (4, 4) array
        Truth.
    """

    stamp_ns: int
    points_base: np.ndarray
    T_map_base: FloatArray


def teach_repeat_speed() -> list[Benchmark]:
    """Localise 64x1024 and 16x1024 scans, register the same ones with KISS-ICP; teach 1 km."""
    meshes = build_campus(CampusParameters(seed=SEED, texel_m=TEXEL_M))
    queries = WorldQueries(bare_world("campus", meshes))
    poses = _drive(queries)
    graph = teach_route(_cloud(meshes, N_CAMPUS_POINTS), poses)
    results = []
    for preset, goal in TIMES_KISS.items():
        results += _localisation(preset, goal, graph, _scans(preset, queries, poses))
    return [*results, _teach_map()]


def _localisation(
    preset: str, goal: float, graph: RouteGraph, scans: Sequence[_Scan]
) -> list[Benchmark]:
    localizer, errors = SubmapLocalizer(graph, list(graph.ids)), []
    T_vertex_map = invert_transform(graph.vertices[0].T_map_vertex)
    localizer.reset(graph.ids[0], T_vertex_map @ scans[0].T_map_base, 1e-4 * np.eye(6))

    def localise(scan: _Scan) -> None:
        # True poses stand for odometry: where the search begins is not what is measured.
        here = localizer.localize(scan.points_base, scan.stamp_ns, scan.T_map_base)
        errors.append(float(np.linalg.norm((here.T_map_base - scan.T_map_base)[:3, 3])))

    odometry, kiss = ScanOdometry(), _kiss_icp()
    # In turns, so that all three meet the same load of the machine.
    times = np.array(
        [
            (
                wall_ms(lambda scan=scan: localise(scan)),
                wall_ms(lambda scan=scan: odometry.add(scan.points_base, None, scan.stamp_ns)),
                wall_ms(lambda scan=scan: kiss(scan.points_base)),
            )
            for scan in scans
        ]
    )
    localise_ms, odometry_ms, kiss_ms = np.median(times[N_WARM:], axis=0)
    p = load_preset("lidar", preset)
    name = f"localisation of a {p.n_rings}x{p.n_columns} scan"
    return [
        Benchmark.beside(name, "ms", localise_ms, peer=_KISS, peer_value=kiss_ms, goal=goal),
        Benchmark.beside(
            f"odometry of a {p.n_rings}x{p.n_columns} scan",
            "ms",
            odometry_ms,
            peer=_KISS,
            peer_value=kiss_ms,
        ),
        Benchmark.beside(
            f"{name}: median error",
            "cm",
            100.0 * median(errors),
            peer="noise of the map's points",
            peer_value=100.0 * NOISE_M,
            goal=GOAL_ERROR,
        ),
    ]


_KISS = "KISS-ICP registering the same scans, its own defaults, all cores"


def _kiss_icp() -> Callable[[np.ndarray], object]:
    from kiss_icp.config import KISSConfig
    from kiss_icp.config.config import DataConfig, MappingConfig, RegistrationConfig
    from kiss_icp.kiss_icp import KissICP

    data = DataConfig(max_range=KISS_RANGE_M, min_range=0.0, deskew=False)
    kiss = KissICP(
        KISSConfig(
            data=data,
            mapping=MappingConfig(voxel_size=KISS_RANGE_M / 100.0),
            registration=RegistrationConfig(max_num_threads=0),
        )
    )
    return lambda points: kiss.register_frame(points.astype(np.float64), np.empty(0))


def _teach_map() -> Benchmark:
    """Teach the country road from samples of its world, submaps written and all."""
    meshes = build_route(RouteParameters(texel_m=TEXEL_M))
    points, road = _cloud(meshes, N_TEACH_POINTS), route_road(RouteParameters().seed)
    waypoints = np.array([road.at(s)[:2] for s in np.arange(WAYPOINT_M, road.s_m[-1], WAYPOINT_M)])
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        graph = teach_route(points, waypoints)
        graph.save(Path(folder) / "taught")
        seconds = time.perf_counter() - start
    name = f"teach map of {graph.length_m():.0f} m from {len(points) / 1e6:.0f} M points"
    return Benchmark.beside(
        name,
        "s",
        seconds,
        peer=f"Open3D thinning the same points to {PEER_VOXEL_M:g} m and estimating normals",
        peer_value=1e-3 * wall_ms(lambda: _open3d_normals(points)),
        goal=GOAL_TEACH,
    )


def _open3d_normals(points: np.ndarray) -> None:
    import open3d as o3d

    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points))
    cloud.voxel_down_sample(PEER_VOXEL_M).estimate_normals()


# -- the drive --------------------------------------------------------------------------------


def _drive(queries: WorldQueries) -> np.ndarray:
    """Return T_map_base along the road, one for each step of the lidar's motion (n, 4, 4)."""
    road = campus_road(SEED)
    s = FIRST_M + SPEED_M_S * STEP_S * np.arange(round((N_SCANS + 2) * TURN_S / STEP_S))
    x, y, yaw = np.array([road.at(distance) for distance in s]).T
    high = np.column_stack([x, y, np.full(len(x), HIGH_M)])
    z = gaussian_filter1d(HIGH_M - queries.height_above_ground(high), SMOOTH_STEPS)
    R = Rotation.from_rotvec(
        np.outer(gaussian_filter1d(np.unwrap(yaw), SMOOTH_STEPS), [0.0, 0.0, 1.0])
    ).as_matrix()
    return np.array([make_transform(*pose) for pose in zip(R, np.column_stack([x, y, z]))])


def _scans(preset: str, queries: WorldQueries, poses: np.ndarray) -> list[_Scan]:
    lidar = Lidar(replace(load_preset("lidar", preset), is_deskewed=True), SEED)
    stamps = (1e9 * STEP_S * np.arange(len(poses))).astype(np.int64)
    lidar_poses = poses @ make_transform(np.eye(3), [0.0, 0.0, LIDAR_M])
    motion = Trajectory(
        stamps,
        np.ascontiguousarray(lidar_poses[:, :3, 3]),
        Rotation.from_matrix(lidar_poses[:, :3, :3]).as_quat(),
    )
    every, found = round(TURN_S / STEP_S), []
    for k in range(0, N_SCANS * every, every):
        points = lidar.scan(queries.beams, motion, int(stamps[k])).points
        points_base = points + np.array([0.0, 0.0, LIDAR_M], np.float32)
        found.append(_Scan(stamp_ns=int(stamps[k]), points_base=points_base, T_map_base=poses[k]))
    return found


def _cloud(meshes: Sequence[TexturedMesh], n: int) -> np.ndarray:
    """Return points (n, 3) spread evenly over meshes, with noise."""
    rng = np.random.default_rng(SEED)
    corners = np.concatenate([mesh.vertices_map[mesh.triangles] for mesh in meshes])
    a, b, c = corners.astype(np.float64).swapaxes(0, 1)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(area), n, p=area / area.sum())
    u, v = rng.random((2, n, 1))
    is_beyond = u + v > 1.0
    u, v = np.where(is_beyond, 1.0 - u, u), np.where(is_beyond, 1.0 - v, v)
    a, b, c = a[chosen], b[chosen], c[chosen]
    return a + u * (b - a) + v * (c - a) + rng.normal(0.0, NOISE_M, (n, 3))
