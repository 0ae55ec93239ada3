# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The rasteriser: what cameras see of textured meshes."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.camera import CameraModel, PinholeCamera, StereoRig
from aerotwin_worlds.mesh import TexturedMesh
from aerotwin_worlds.rasteriser.cpu import CpuRenderer
from aerotwin_worlds.rasteriser.scene import SceneStore
from aerotwin_worlds.rasteriser.views import Frame, View
from aerotwin_worlds.threads import default_thread_count

LEVEL_BIAS = -0.25


class Rasteriser:
    """Renders textured meshes through cameras of any kind.

    One sample per pixel, along the ray of the pixel's centre, from a trilinear mip-map whose level
    is the geometric mean of the pixel's footprint. Rendering the same view gives the same bytes,
    whatever the number of threads. May be used from several threads.

    Parameters
    ----------
    meshes : sequence of TexturedMesh
        A mesh's place in the sequence is its id.
    n_threads : int, optional
        Threads of one rendering call; by default the cores this process may use, four at most.
    level_bias : float
        Added to the mip-map level; below zero sharper, above smoother. The default was measured
        against supersampled pictures (README).
    backend : str
        "auto", "cpu" or "egl".

    Notes
    -----
    Left out: shadows (baked in the textures), transparency.
    """

    def __init__(
        self,
        meshes: Sequence[TexturedMesh],
        *,
        n_threads: int | None = None,
        level_bias: float = LEVEL_BIAS,
        backend: str = "auto",
    ) -> None:
        self._store = SceneStore()
        self._renderer = CpuRenderer(
            self._store,
            self._store.scene(meshes),
            n_threads=n_threads or default_thread_count(),
            level_bias=level_bias,
        )
        self.backend = "cpu"

    def render(self, views: Sequence[View]) -> list[Frame]:
        """Render all views of one instant; threads share the work of all of them."""
        return self._renderer.render(views)

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Show these meshes from now on; those known already are not prepared again."""
        self._renderer.set_scene(self._store.scene(meshes))

    def render_mono(self, camera: CameraModel, T_map_optical: np.ndarray) -> Frame:
        """Render a grey image and its depth."""
        return self.render([View(camera=camera, T_map_optical=T_map_optical)])[0]

    def render_stereo(self, rig: StereoRig, T_map_left_optical: np.ndarray) -> tuple[Frame, Frame]:
        """Render grey images and depths of a rectified pair."""
        T_left_right = np.eye(4)
        T_left_right[0, 3] = rig.baseline_m
        poses = (T_map_left_optical, T_map_left_optical @ T_left_right)
        left, right = self.render([View(camera=rig.camera, T_map_optical=T) for T in poses])
        return left, right

    def render_rgb(self, camera: CameraModel, T_map_optical: np.ndarray) -> np.ndarray:
        """Render a colour picture, (h, w, 3) uint8 sRGB."""
        view = View(camera=camera, T_map_optical=T_map_optical, encoding="rgb8", depth=False)
        image = self.render([view])[0].image
        assert image is not None
        return image

    def warm_up(self) -> None:
        """Compile (or load from the cache) every kernel now, not at the first frame."""
        camera = PinholeCamera(width=8, height=8, fx=8.0, fy=8.0, cx=3.5, cy=3.5)
        for encoding in ("mono8", "rgb8"):
            self.render([View(camera=camera, T_map_optical=np.eye(4), encoding=encoding)])
