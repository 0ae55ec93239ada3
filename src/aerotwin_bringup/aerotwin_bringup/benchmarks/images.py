# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rendering stereo pairs against the frame rate and Mesa; odometry against the frame period."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_core.camera import StereoRig
from aerotwin_core.errors import UserError
from aerotwin_simulator import SimulatorParameters
from aerotwin_stereo_odometry import StereoOdometry, StereoOdometryParameters
from aerotwin_worlds import Rasteriser, TexturedMesh, View, load_world, optical_pose
from aerotwin_worlds.generated import GENERATORS

N_FRAMES = 40
N_PEER_FRAMES = 8
FRAME_PERIOD_MS = 50.0
STEP_M = 0.15
# At least 25 pairs a second in grey, 17 in colour.
LIMIT_MS = {"mono8": 40.0, "rgb8": 1000.0 / 17.0}
TIMES_MESA = 2.0
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

    def views(self, k: int, rig: StereoRig, encoding: str) -> list[View]:
        """Return the views of the k-th pair; depth of the left one only."""
        left = self.start.copy()
        left[:3, 3] += STEP_M * k * left[:3, 0]
        right = left.copy()
        right[:3, 3] += rig.baseline_m * left[:3, 0]
        first = View(camera=rig.camera, T_map_optical=left, encoding=encoding)
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
    rig = SimulatorParameters().rig
    return [row for scene in SCENES for row in _scene_rows(scene, rig)]


def _scene_rows(scene: Scene, rig: StereoRig) -> list[Benchmark]:
    meshes = scene.meshes()
    ours, mesa = Rasteriser(meshes, backend="cpu"), _mesa(meshes)
    n_millions = sum(len(mesh.triangles) for mesh in meshes) / 1e6
    rows = []
    for encoding, limit_ms in LIMIT_MS.items():
        name = f"stereo pair, {scene.generator}, {n_millions:.1f} M triangles, {encoding}"
        ours_ms, mesa_ms = [], []
        for k in range(N_FRAMES):
            views = scene.views(k, rig, encoding)
            ours_ms.append(_milliseconds(ours, views))
            if mesa and k < N_PEER_FRAMES + _CONTEXT:
                mesa_ms.append(_milliseconds(mesa, views))
        value = median(ours_ms[_CONTEXT:])
        # Of the same frames: the machine may be slower or faster later.
        paired = median(ours_ms[_CONTEXT : N_PEER_FRAMES + _CONTEXT])
        peer_ms = median(mesa_ms[_CONTEXT:]) if mesa else None
        rows += [
            Benchmark.within(name, "ms", value, limit_ms),
            Benchmark(
                name=f"{name}, against OpenGL",
                unit="ms",
                value=paired,
                goal=TIMES_MESA if encoding == "mono8" else None,
                peer="OpenGL through EGL (moderngl), same clusters and mip-maps",
                peer_value=peer_ms,
                ratio=peer_ms / paired if peer_ms else None,
            ),
        ]
    return rows


def _mesa(meshes: Sequence[TexturedMesh]) -> Rasteriser | None:
    """Return the OpenGL renderer; None where none answers."""
    try:
        return Rasteriser(meshes, backend="egl")
    except UserError:
        return None


def _milliseconds(rasteriser: Rasteriser, views: Sequence[View]) -> float:
    start = time.perf_counter()
    rasteriser.render(views)
    return (time.perf_counter() - start) * 1e3


def stereo_pipeline() -> list[Benchmark]:
    """Run the SLAM on a flight past the cliff."""
    rig, world = SimulatorParameters().rig, load_world("cliff")
    rasteriser = Rasteriser(world.meshes)
    odometry = StereoOdometry(rig, StereoOdometryParameters())
    scene = replace(SCENES[0], start=optical_pose([-15.0, -9.5, 8.0], yaw=np.pi / 2))
    track_ms = []
    for k in range(N_FRAMES):
        left, right = rasteriser.render(scene.views(k, rig, "mono8"))
        start = time.perf_counter()
        odometry.track(k * 50_000_000, left.image, right.image)
        track_ms.append((time.perf_counter() - start) * 1e3)
    track = median(track_ms[_CONTEXT:])
    return [Benchmark.within("stereo odometry per frame", "ms", track, FRAME_PERIOD_MS)]
