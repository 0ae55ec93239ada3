# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rendering stereo pairs beside Mesa; stereo odometry beside OpenCV's ORB."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.errors import UserError
from aerotwin_generated_worlds import GENERATORS
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, Rasteriser, optical_pose
from aerotwin_rendering.rasteriser.gl_probe import has_graphics_card
from aerotwin_simulator import SimulatorParameters
from aerotwin_stereo_odometry import StereoOdometry, StereoOdometryParameters
from aerotwin_worlds import load_world
from evidence.benchmarks.result import Benchmark

N_FRAMES = 40
"""Of the odometry."""
N_PEER_FRAMES = 8
STEP_M = 0.15
TIMES_MESA = {"mono8": 6.0, "rgb8": 4.0}
"""Measured 6.3 to 6.6 and 4.2 to 6.8 on two busy cores."""
TIMES_ORB, N_ORB = 2.0, 1000
"""Measured 3.2 on two busy cores, both with one thread."""
MESA_MS = 228.0
"""Median of Mesa's grey pairs of the cliff on the machine of the goals [ms]."""
DEPTH_CAMERA_MS = 12.0
SEED = 1000
_CONTEXT = 3


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A generated world of two million triangles and a flight sideways through it."""

    generator: str
    spacing_m: float
    start: np.ndarray

    def meshes(self) -> tuple[TexturedMesh, ...]:
        """Generate it."""
        entry: Any = GENERATORS[self.generator]
        parameters, build = entry
        return build(parameters(seed=SEED, spacing_m=self.spacing_m))

    def pose(self, k: int) -> np.ndarray:
        """Return the optical pose of the k-th pair's left camera (4, 4)."""
        left = self.start.copy()
        left[:3, 3] += STEP_M * k * left[:3, 0]
        return left

    def views(self, k: int, rig: StereoRig, encoding: str) -> list[CameraView]:
        """Return the views of the k-th pair; depth of the left one only."""
        left = self.pose(k)
        right = left.copy()
        right[:3, 3] += rig.baseline_m * left[:3, 0]
        first = CameraView(camera=rig.camera, T_map_optical=left, encoding=encoding)
        return [first, replace(first, T_map_optical=right, depth=False)]


SCENES = (
    Scene(
        generator="cliff",
        spacing_m=0.056,
        start=optical_pose([-15.0, -24.0, 8.0], yaw=np.pi / 2, pitch_down=0.05),
    ),
    Scene(
        generator="stadium",
        spacing_m=0.27,
        start=optical_pose([-60.0, -30.0, 40.0], yaw=0.5, pitch_down=0.4),
    ),
)


def stereo_pairs() -> list[Benchmark]:
    """Render flights through two million triangles, in turn with Mesa's OpenGL on the CPU."""
    rig = SimulatorParameters().camera.rig
    mesa_ms = mesa_milliseconds()
    return [row for scene in SCENES for row in _scene_rows(scene, rig, mesa_ms)]


def _scene_rows(scene: Scene, rig: StereoRig, cliff_mesa_ms: float | None) -> list[Benchmark]:
    meshes = scene.meshes()
    ours, mesa = Rasteriser(meshes, backend="cpu"), _mesa(meshes)
    n_millions = sum(len(mesh.triangles) for mesh in meshes) / 1e6
    rows = []
    for encoding, goal in TIMES_MESA.items():
        name = f"stereo pair, {scene.generator}, {n_millions:.1f} M triangles, {encoding}"
        ours_ms, mesa_ms = [], []
        # Both draw the same pairs in turn: the machine may be slower or faster later.
        for k in range(N_PEER_FRAMES + _CONTEXT):
            views = scene.views(k, rig, encoding)
            ours_ms.append(_milliseconds(ours, views))
            if mesa:
                mesa_ms.append(_milliseconds(mesa, views))
        rows.append(
            Benchmark.beside(
                name,
                "ms",
                median(ours_ms[_CONTEXT:]),
                peer="OpenGL through EGL (moderngl), same clusters and mip-maps",
                peer_value=median(mesa_ms[_CONTEXT:]) if mesa else None,
                # The peer is Mesa on the CPU: a graphics card answers to no goal.
                goal=None if has_graphics_card() else goal,
            )
        )
    return [*rows, _depth_row(scene, ours, cliff_mesa_ms)]


def _depth_row(scene: Scene, ours: Rasteriser, mesa_ms: float | None) -> Benchmark:
    """Render what a depth camera shows: 640 x 480 colours, depths and ids."""
    camera = PinholeCamera(width=640, height=480, fx=450.0, fy=450.0, cx=319.5, cy=239.5)
    times_ms = []
    for k in range(N_PEER_FRAMES + _CONTEXT):
        pose = scene.pose(k)
        view = CameraView(camera=camera, T_map_optical=pose, encoding="rgb8", ids=True)
        times_ms.append(_milliseconds(ours, [view]))
    return Benchmark.beside(
        f"640 x 480 colours, depths and ids, {scene.generator}",
        "ms",
        median(times_ms[_CONTEXT:]),
        peer=f"the limit of {DEPTH_CAMERA_MS:.0f} ms where Mesa draws a pair in {MESA_MS:.0f} ms",
        peer_value=DEPTH_CAMERA_MS * mesa_ms / MESA_MS if mesa_ms else None,
        goal=1.0,
    )


def mesa_milliseconds() -> float | None:
    """Return how long Mesa takes for a grey pair of the cliff [ms].

    None where it is missing, or a graphics card draws instead.
    """
    rig, scene = SimulatorParameters().camera.rig, SCENES[0]
    mesa = None if has_graphics_card() else _mesa(scene.meshes())
    if mesa is None:
        return None
    frames = range(N_PEER_FRAMES + _CONTEXT)
    times = [_milliseconds(mesa, scene.views(k, rig, "mono8")) for k in frames]
    return median(times[_CONTEXT:])


def _mesa(meshes: Sequence[TexturedMesh]) -> Rasteriser | None:
    """Return the OpenGL renderer; None where none answers."""
    try:
        return Rasteriser(meshes, backend="egl")
    except UserError:
        return None


def _milliseconds(rasteriser: Rasteriser, views: Sequence[CameraView]) -> float:
    start = time.perf_counter()
    rasteriser.render(views)
    return (time.perf_counter() - start) * 1e3


def stereo_pipeline() -> list[Benchmark]:
    """Run the SLAM on a flight past the cliff, in turn with OpenCV's features."""
    rig, world = SimulatorParameters().camera.rig, load_world("cliff")
    rasteriser = Rasteriser(world.meshes)
    odometry = StereoOdometry(rig, StereoOdometryParameters())
    scene = replace(SCENES[0], start=optical_pose([-15.0, -9.5, 8.0], yaw=np.pi / 2))
    track_ms, orb_ms, before = [], [], None
    for k in range(N_FRAMES):
        frames = rasteriser.render(scene.views(k, rig, "mono8"))
        left, right = (np.asarray(frame.image) for frame in frames)
        start = time.perf_counter()
        odometry.track(k * 50_000_000, left, right)
        track_ms.append((time.perf_counter() - start) * 1e3)
        start = time.perf_counter()
        before = _orb_matched(left, right, before)
        orb_ms.append((time.perf_counter() - start) * 1e3)
    return [
        Benchmark.beside(
            "stereo odometry per frame",
            "ms",
            median(track_ms[_CONTEXT:]),
            peer=f"OpenCV's ORB, {N_ORB} a picture, matched to the right and to the frame before",
            peer_value=median(orb_ms[_CONTEXT:]),
            goal=TIMES_ORB,
        )
    ]


def _orb_matched(left: np.ndarray, right: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """Do what a feature-based odometry does before it solves; return the left descriptors."""
    orb = cv2.ORB_create(N_ORB)
    here, there = (orb.detectAndCompute(picture, None)[1] for picture in (left, right))
    matcher = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True)
    for other in (there, before):
        if other is not None:
            matcher.match(here, other)
    return here
