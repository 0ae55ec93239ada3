# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rendering a stereo pair, and odometry on it, against Embree and against the frame rate."""

import time
from statistics import median

import numpy as np

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_core.frames import R_CAM_OPTICAL, make_transform
from aerotwin_simulator import SimulatorParameters
from aerotwin_stereo_odometry import StereoOdometry, StereoOdometryParameters
from aerotwin_worlds import Rasteriser, load_world

N_FRAMES = 40
FRAME_PERIOD_MS = 50.0
STEP_M = 0.15
_CONTEXT = 3


def stereo_pipeline() -> list[Benchmark]:
    """Render a sideways flight past the cliff, cast the same views with Embree, run the SLAM."""
    import open3d as o3d

    rig, world = SimulatorParameters().rig, load_world("cliff")
    rasteriser = Rasteriser(world.meshes)
    scene = o3d.t.geometry.RaycastingScene()
    for mesh in world.meshes:
        scene.add_triangles(
            o3d.core.Tensor(mesh.vertices_map.astype(np.float32)),
            o3d.core.Tensor(mesh.triangles.astype(np.uint32)),
        )
    odometry = StereoOdometry(rig, StereoOdometryParameters())
    render_ms, cast_ms, track_ms = [], [], []
    for k in range(N_FRAMES):
        T_left, T_right = _views(k, rig.baseline_m)
        start = time.perf_counter()
        left = rasteriser.render_mono(rig.camera, T_left)
        right = rasteriser.render_mono(rig.camera, T_right)
        render_ms.append((time.perf_counter() - start) * 1e3)
        start = time.perf_counter()
        for T in (T_left, T_right):
            rays = o3d.t.geometry.RaycastingScene.create_rays_pinhole(
                o3d.core.Tensor(rig.camera.matrix),
                o3d.core.Tensor(np.linalg.inv(T)),
                rig.camera.width,
                rig.camera.height,
            )
            scene.cast_rays(rays)
        cast_ms.append((time.perf_counter() - start) * 1e3)
        start = time.perf_counter()
        odometry.track(k * 50_000_000, left.image, right.image)
        track_ms.append((time.perf_counter() - start) * 1e3)
    render, cast, track = (median(t[_CONTEXT:]) for t in (render_ms, cast_ms, track_ms))
    return [
        Benchmark(
            name="stereo pair rendered, textured",
            unit="ms",
            value=render,
            goal=1.0,
            peer="Embree (Open3D) casting the same rays, no texture",
            peer_value=cast,
            ratio=cast / render,
        ),
        Benchmark(
            name="stereo odometry per frame",
            unit="ms",
            value=track,
            goal=1.0,
            peer="the frame period at 20 Hz",
            peer_value=FRAME_PERIOD_MS,
            ratio=FRAME_PERIOD_MS / track,
        ),
    ]


def _views(k: int, baseline_m: float) -> tuple[np.ndarray, np.ndarray]:
    R_map_cam = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # facing north
    p_map = np.array([-15.0 + STEP_M * k, -9.5, 8.0])
    left = make_transform(R_map_cam @ R_CAM_OPTICAL, p_map)
    right = make_transform(R_map_cam @ R_CAM_OPTICAL, p_map + np.array([baseline_m, 0.0, 0.0]))
    return left, right
