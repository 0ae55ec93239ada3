# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The rasteriser: what a camera sees of textured meshes, as grey image and depth, on the CPU."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_worlds.clusters import build_clusters
from aerotwin_worlds.mesh import TexturedMesh
from aerotwin_worlds.mipmaps import LUMA_REC601, MipPyramids, build_pyramids
from aerotwin_worlds.raster_kernels import render_band, transform_slots, visible_clusters
from aerotwin_worlds.threads import default_thread_count, run_tasks, split_range

NEAR_PLANE_M = 0.05
LEVEL_BIAS = -0.25
BAND_ROWS = 60


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One rendered view.

    Parameters
    ----------
    image : (h, w) uint8 array
        Grey values; the sky where nothing is hit.
    depth : (h, w) float32 array
        Distance along the optical axis [m]; infinity where nothing is hit.
    """

    image: np.ndarray
    depth: np.ndarray


@dataclass(frozen=True, kw_only=True)
class _View:
    """A camera at a place, and its visible clusters in camera axes."""

    camera: PinholeCamera
    record: np.ndarray
    clusters: np.ndarray
    slot_start: np.ndarray
    points: np.ndarray
    pixels: np.ndarray
    rows: np.ndarray


class Rasteriser:
    """Renders textured meshes through pinhole cameras.

    One sample per pixel, at the pixel's centre (integer coordinates, as in OpenCV), from a
    trilinear mip-map whose level is the geometric mean of the pixel's footprint. Rendering the
    same view gives the same bytes, whatever the number of threads.

    Parameters
    ----------
    meshes : sequence of TexturedMesh
    n_threads : int, optional
        Threads of one rendering call; by default the cores this process may use, four at most.
    level_bias : float
        Added to the mip-map level; below zero sharper, above smoother. The default was measured
        against supersampled pictures of the cliff (README).

    Notes
    -----
    Left out: shadows and lights (baked in the textures), transparency, anisotropic filtering.
    """

    def __init__(
        self,
        meshes: Sequence[TexturedMesh],
        *,
        n_threads: int | None = None,
        level_bias: float = LEVEL_BIAS,
    ) -> None:
        if not meshes:
            raise ValueError("meshes must not be empty, got none")
        self._clusters = build_clusters(meshes)
        self._textures = [mesh.texture for mesh in meshes]
        self._grey = build_pyramids(self._textures, LUMA_REC601)
        self._rgb: list[MipPyramids] | None = None
        self._n_threads = n_threads or default_thread_count()
        self._level_bias = float(level_bias)

    def render_mono(self, camera: PinholeCamera, T_map_optical: np.ndarray) -> Frame:
        """Render one view.

        Parameters
        ----------
        camera : PinholeCamera
        T_map_optical : (4, 4) array
            Pose of the camera in the map; optical axes: x right, y down, z forward.
        """
        return self._render([(camera, T_map_optical)], self._grey)[0]

    def render_stereo(self, rig: StereoRig, T_map_left_optical: np.ndarray) -> tuple[Frame, Frame]:
        """Render both views of a rectified pair; threads share the work of the two."""
        T_left_right = np.eye(4)
        T_left_right[0, 3] = rig.baseline_m
        poses = (T_map_left_optical, T_map_left_optical @ T_left_right)
        left, right = self._render([(rig.camera, pose) for pose in poses], self._grey)
        return left, right

    def render_rgb(self, camera: PinholeCamera, T_map_optical: np.ndarray) -> np.ndarray:
        """Render a colour picture, (h, w, 3) uint8 sRGB, for people to look at (three passes)."""
        if self._rgb is None:
            self._rgb = [build_pyramids(self._textures, weights) for weights in np.eye(3)]
        view = [(camera, T_map_optical)]
        return np.stack([self._render(view, p)[0].image for p in self._rgb], axis=-1)

    def warm_up(self) -> None:
        """Compile (or load from the cache) every kernel now, not at the first frame."""
        camera = PinholeCamera(width=8, height=8, fx=8.0, fy=8.0, cx=3.5, cy=3.5)
        self.render_mono(camera, np.eye(4))

    def _render(
        self, cameras: Sequence[tuple[PinholeCamera, np.ndarray]], pyramids: MipPyramids
    ) -> list[Frame]:
        views = [self._prepare(camera, pose) for camera, pose in cameras]
        frames = [_empty_frame(camera) for camera, _ in cameras]
        c = self._clusters
        tasks = []
        for view, frame in zip(views, frames, strict=True):
            for row0 in range(0, view.camera.height, BAND_ROWS):
                row1 = min(row0 + BAND_ROWS, view.camera.height)
                tasks.append(
                    (row0, row1, view.clusters, view.slot_start, c.vertex_start,
                     c.triangle_start, c.triangles, c.uv, c.texture_index, view.record,
                     NEAR_PLANE_M, view.points, view.pixels, view.rows, pyramids.texels,
                     pyramids.offset, pyramids.width, pyramids.height, pyramids.n_levels,
                     self._level_bias, frame.image, frame.depth)
                )  # fmt: skip
        run_tasks(render_band, tasks, self._n_threads)
        return frames

    def _prepare(self, camera: PinholeCamera, T_map_optical: np.ndarray) -> _View:
        """Cull the clusters and transform the vertices of those that may be seen."""
        T = np.asarray(T_map_optical, np.float64)
        if T.shape != (4, 4) or not np.isfinite(T).all():
            raise ValueError(f"T_map_optical must be a finite (4, 4) array, got {T.shape}")
        c = self._clusters
        visible = visible_clusters(c.box_low, c.box_high, _frustum_planes(camera, T))
        n_vertices = c.vertex_start[visible + 1] - c.vertex_start[visible]
        slot_start = np.concatenate([[0], np.cumsum(n_vertices)])
        intrinsics = [camera.fx, camera.fy, camera.cx, camera.cy]
        view = _View(
            camera=camera,
            record=np.concatenate([T[:3, :3].T.ravel(), T[:3, 3], intrinsics]),
            clusters=visible,
            slot_start=slot_start,
            points=np.empty((slot_start[-1], 3)),
            pixels=np.empty((slot_start[-1], 2)),
            rows=np.empty((len(visible), 2)),
        )
        tasks = [
            (a, b, visible, slot_start, c.vertices_map, c.vertex_start, view.record,
             NEAR_PLANE_M, view.points, view.pixels, view.rows)
            for a, b in split_range(len(visible), 2 * self._n_threads)
        ]  # fmt: skip
        run_tasks(transform_slots, tasks, self._n_threads)
        return view


def _empty_frame(camera: PinholeCamera) -> Frame:
    shape = (camera.height, camera.width)
    return Frame(image=np.empty(shape, np.uint8), depth=np.empty(shape, np.float32))


def _frustum_planes(camera: PinholeCamera, T_map_optical: np.ndarray) -> np.ndarray:
    """Return the near and the four side planes in the map, (5, 4), inside positive."""
    # One pixel beyond the outer pixels' centres, so that rounding never culls a sample.
    left, right = (-1.0 - camera.cx) / camera.fx, (camera.width - camera.cx) / camera.fx
    top, bottom = (-1.0 - camera.cy) / camera.fy, (camera.height - camera.cy) / camera.fy
    normals_optical = np.array(
        [[0, 0, 1.0], [1, 0, -left], [-1, 0, right], [0, 1, -top], [0, -1, bottom]]
    )
    normals_map = normals_optical @ T_map_optical[:3, :3].T
    offsets = -normals_map @ T_map_optical[:3, 3]
    offsets[0] -= NEAR_PLANE_M
    return np.column_stack([normals_map, offsets])
