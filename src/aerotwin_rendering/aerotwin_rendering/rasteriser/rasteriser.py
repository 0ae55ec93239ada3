# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The rasteriser: camera images of textured meshes."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from aerotwin_core.camera import BrownCamera, CameraModel, PinholeCamera, StereoRig
from aerotwin_core.errors import UserError
from aerotwin_core.threads import default_thread_count
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_rendering.moving_objects import MovingObject, PlacedObject
from aerotwin_rendering.rasteriser.cpu import CpuRenderer
from aerotwin_rendering.rasteriser.egl import EglRenderer
from aerotwin_rendering.rasteriser.gl_probe import (
    choose_backend,
    has_graphics_card,
    opengl_renderer,
)
from aerotwin_rendering.rasteriser.scene import SceneStore
from aerotwin_rendering.rasteriser.views import CameraView, RenderedFrame

LEVEL_BIAS = -0.4


class Rasteriser:
    """Renders textured meshes through cameras of any kind.

    One sample per pixel, along the ray of the pixel's centre, from a trilinear mip-map whose level
    is the geometric mean of the pixel's footprint; edges of shapes are softened by an eighth of the
    pixels on both sides. Rendering the same view gives the same bytes, whatever the number of
    threads. Thread-safe.

    Parameters
    ----------
    meshes : sequence of TexturedMesh
        A mesh's index in the sequence is its id.
    n_threads : int, optional
        Threads of one rendering call; by default the cores this process may use, four at most.
    level_bias : float
        Added to the mip-map level; below zero sharper, above smoother. The default was measured
        against supersampled pictures (docs/reference/worlds.md).
    backend : str
        "cpu", "egl" (OpenGL) or "auto": that of $AEROTWIN_RENDERER, or else OpenGL where the
        driver of a graphics card answers, or else the CPU.

    Attributes
    ----------
    backend : str
        The one in use, "cpu" or "egl". Views through lenses that bend straight edges, and those
        with moving objects, are rendered on the CPU in both cases.

    Raises
    ------
    UserError
        If OpenGL is required and does not answer, or if the name is none of these.

    Notes
    -----
    Left out: shadows (baked in the textures; objects that move cast none), transparency.
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
        self._scene = self._store.scene(meshes)
        self._n_threads = n_threads or default_thread_count()
        self._level_bias = float(level_bias)
        self._cpu: CpuRenderer | None = None
        self._egl = self._open_egl(choose_backend(backend))
        self.backend = "egl" if self._egl else "cpu"

    def _open_egl(self, backend: str) -> EglRenderer | None:
        """Return the OpenGL renderer where it is requested and answers."""
        if backend == "cpu" or (backend == "auto" and not has_graphics_card()):
            return None
        try:
            if opengl_renderer() is None:
                raise RuntimeError("no OpenGL 4.3 driver answers")
            return EglRenderer(self._store, self._scene, level_bias=self._level_bias)
        except Exception as error:  # whatever a driver may raise
            if backend == "auto":
                return None
            raise UserError(
                f"renderer 'egl': expected OpenGL 4.3 through EGL, got: {error}; install the"
                " driver of the graphics card (or libegl1 and moderngl), or choose 'cpu'"
            ) from error

    def render(self, views: Sequence[CameraView]) -> list[RenderedFrame]:
        """Render all views of one instant, one frame each; threads share the work of all."""
        if self._egl is None:
            return self._cpu_renderer().render(views)
        straight = [EglRenderer.can_render(view) for view in views]
        drawn = iter(self._egl.render([v for v, on in zip(views, straight, strict=True) if on]))
        bent = [view for view, on in zip(views, straight, strict=True) if not on]
        computed = iter(self._cpu_renderer().render(bent) if bent else [])
        return [next(drawn if on else computed) for on in straight]

    def _cpu_renderer(self) -> CpuRenderer:
        if self._cpu is None:
            self._cpu = CpuRenderer(
                self._store, self._scene, n_threads=self._n_threads, level_bias=self._level_bias
            )
        return self._cpu

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Replace the meshes; only new ones are prepared."""
        self._scene = self._store.scene(meshes)
        if self._cpu is not None:
            self._cpu.set_scene(self._scene)
        if self._egl is not None:
            self._egl.set_scene(self._scene)

    def render_mono(self, camera: CameraModel, T_map_optical: np.ndarray) -> RenderedFrame:
        """Render a grey image and its depth."""
        return self.render([CameraView(camera=camera, T_map_optical=T_map_optical)])[0]

    def render_stereo(
        self, rig: StereoRig, T_map_left_optical: np.ndarray
    ) -> tuple[RenderedFrame, RenderedFrame]:
        """Render grey images and depths of a rectified pair."""
        T_left_right = np.eye(4)
        T_left_right[0, 3] = rig.baseline_m
        poses = (T_map_left_optical, T_map_left_optical @ T_left_right)
        left, right = self.render([CameraView(camera=rig.camera, T_map_optical=T) for T in poses])
        return left, right

    def render_rgb(self, camera: CameraModel, T_map_optical: np.ndarray) -> np.ndarray:
        """Render a colour picture, (h, w, 3) uint8 sRGB."""
        view = CameraView(camera=camera, T_map_optical=T_map_optical, encoding="rgb8", depth=False)
        image = self.render([view])[0].image
        assert image is not None
        return image

    def warm_up(self) -> None:
        """Compile (or load from the cache) every kernel now, before the first frame."""
        cameras = [
            kind(width=8, height=8, fx=8.0, fy=8.0, cx=3.5, cy=3.5)
            for kind in (PinholeCamera, BrownCamera)
        ]
        for encoding, objects in product(("mono8", "rgb8"), ((), (_object_ahead(),))):
            self.render(
                [
                    CameraView(
                        camera=c, T_map_optical=np.eye(4), encoding=encoding, objects=objects
                    )
                    for c in cameras
                ]
            )


def _object_ahead() -> PlacedObject:
    """Return a triangle in front of a camera at the origin."""
    mesh = TexturedMesh(
        vertices_map=np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
        triangles=np.array([[0, 1, 2]], np.int32),
        uv=np.zeros((3, 2), np.float32),
        texture=np.zeros((1, 1, 3), np.uint8),
    )
    return PlacedObject(object=MovingObject("triangle", [mesh]), T_map_object=np.eye(4))
