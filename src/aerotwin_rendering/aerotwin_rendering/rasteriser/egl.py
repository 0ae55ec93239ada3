# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The renderer on a graphics card: OpenGL 4.3 through EGL, without a display.

Culled by the same clusters and filtered from the same mip-map levels as on the CPU. Only straight
edges: images of distorted lenses and fisheyes, and those with moving objects, are rendered on the
CPU.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_rendering.rasteriser import gl_shaders
from aerotwin_rendering.rasteriser.clusters import triangles_of, vertices_of
from aerotwin_rendering.rasteriser.cull_kernels import Visible, visible_clusters
from aerotwin_rendering.rasteriser.lens import Lenses
from aerotwin_rendering.rasteriser.mipmaps import CHANNELS, Pyramid
from aerotwin_rendering.rasteriser.scene import KeyedByIdentity, RasterScene, SceneStore
from aerotwin_rendering.rasteriser.views import CameraView, RenderedFrame

_COMMAND = np.dtype(
    [(name, np.uint32) for name in ("count", "instances", "first", "base_vertex", "base_instance")]
)
_FORMATS = {"depth": (1, "f4", np.float32), "id": (1, "i4", np.int32)}


class EglRenderer:
    """Renders pinhole views of a scene with OpenGL.

    All calls run on one dedicated thread, as an OpenGL context belongs to one thread.
    """

    def __init__(self, store: SceneStore, scene: RasterScene, *, level_bias: float) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="egl")
        self._painter = self._thread.submit(_Painter, store, level_bias).result()
        self.set_scene(scene)

    @staticmethod
    def can_render(view: CameraView) -> bool:
        """Whether a view's lens keeps straight edges straight, and nothing moves in it."""
        return isinstance(view.camera, PinholeCamera) and not view.objects

    def set_scene(self, scene: RasterScene) -> None:
        """Set the scene to render."""
        self._thread.submit(self._painter.set_scene, scene).result()

    def render(self, views: Sequence[CameraView]) -> list[RenderedFrame]:
        """Render views one after the other."""
        return self._thread.submit(lambda: [self._painter.paint(v) for v in views]).result()


class _Painter:
    """Owns the context and everything in the card's memory; used by one thread."""

    def __init__(self, store: SceneStore, level_bias: float) -> None:
        import moderngl

        options: dict[str, Any] = {"backend": "egl"}
        self._gl = moderngl.create_context(require=gl_shaders.VERSION, standalone=True, **options)
        # Released here only: Python may collect another renderer's objects on this thread, and
        # their names in its context are those of living objects in this one.
        self._gl.gc_mode = "context_gc"
        self._gl.enable_only(moderngl.DEPTH_TEST)
        self._samplers = [self._sampler(repeats) for repeats in (False, True)]
        self._store, self._bias = store, level_bias
        self._uploaded = {e: KeyedByIdentity(self._upload) for e in CHANNELS}
        self._pipelines: dict[tuple, _Pipeline] = {}
        self._lenses = Lenses()

    def _sampler(self, repeats: bool) -> Any:
        kind = (self._gl.LINEAR_MIPMAP_LINEAR, self._gl.LINEAR)
        return self._gl.sampler(repeat_x=repeats, repeat_y=repeats, filter=kind)

    def _upload(self, pyramid: Pyramid) -> Any:
        limit = self._gl.info["GL_MAX_TEXTURE_SIZE"]
        fits = np.maximum(pyramid.width, pyramid.height) <= limit
        first = int(np.argmax(fits))
        texture = self._gl.texture(
            (int(pyramid.width[first]), int(pyramid.height[first])), pyramid.n_channels, alignment=1
        )
        texture.build_mipmaps()  # makes room for the levels
        for i in range(first, len(pyramid.width)):
            texture.write(np.ascontiguousarray(pyramid.level(i)), level=i - first, alignment=1)
        return texture

    def set_scene(self, scene: RasterScene) -> None:
        """Copy the geometry to the card."""
        c = scene.clusters
        vertices = vertices_of(c)
        self._origin = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        n_vertices = np.diff(c.vertex_start)
        record = np.empty(
            len(vertices), [("p", "f4", 3), ("uv", "f4", 2), ("light", "f4"), ("mesh", "i4")]
        )
        record["p"], record["uv"], record["light"] = vertices - self._origin, c.uv, c.light
        record["mesh"] = np.repeat(c.mesh, n_vertices)
        indices = triangles_of(c).astype(np.uint32)
        self._scene = scene
        self._vertices, self._indices = self._gl.buffer(record), self._gl.buffer(indices)
        self._pipelines.clear()
        # Clusters that share a texture and its border are drawn in one call.
        key = 2 * scene.texture_of_mesh + scene.repeats
        self._group = key[c.mesh]

    def paint(self, view: CameraView) -> RenderedFrame:
        """Render one view."""
        self._gl.gc()
        outputs = ("image",) * (view.encoding != "none") + ("depth",) * view.depth
        outputs += ("id",) * view.ids
        size = (view.camera.width, view.camera.height)
        key = (size, view.encoding, outputs)
        if key not in self._pipelines:
            self._pipelines[key] = _Pipeline(
                self._gl, size, view.encoding, outputs, self._vertices, self._indices
            )
        pipeline = self._pipelines[key]
        (lens,) = self._lenses.of([view.camera])
        visible = visible_clusters(self._scene.clusters, view, lens)
        pipeline.set_view(view, self._origin, self._bias, _nearest(view, visible))
        self._draw(pipeline, view, visible.cluster)
        return pipeline.read(view)

    def _draw(self, pipeline: "_Pipeline", view: CameraView, visible: np.ndarray) -> None:
        c = self._scene.clusters
        runs = _runs(np.sort(visible), self._group)
        first, last = c.triangle_start[runs[:, 0]], c.triangle_start[runs[:, 1] + 1]
        commands = np.zeros(len(runs), _COMMAND)
        commands["count"], commands["first"] = 3 * (last - first), 3 * first
        commands["instances"] = 1
        group = self._group[runs[:, 0]]
        order = np.argsort(group, kind="stable")
        commands, group = commands[order], group[order]
        pipeline.begin(view)
        if len(runs):
            encoding = "mono8" if view.encoding == "none" else view.encoding
            pyramids = self._store.pyramids(self._scene, encoding)
            textures = self._uploaded[encoding].get_all(pyramids)
            buffer = self._gl.buffer(commands)
            keys, first, count = np.unique(group, return_index=True, return_counts=True)
            for k, a, n in zip(keys.tolist(), first.tolist(), count.tolist(), strict=True):
                textures[k // 2].use(0)
                self._samplers[k % 2].use(0)
                pipeline.mesh.render_indirect(buffer, count=n, first=a)
        pipeline.finish()


class _Pipeline:
    """Programs and targets for one image size and set of outputs."""

    def __init__(
        self, gl: Any, size: tuple[int, int], encoding: str, outputs: tuple[str, ...],
        vertices: Any, indices: Any,
    ) -> None:  # fmt: skip
        self._gl, self._size, self._outputs = gl, size, outputs
        self._formats = {**_FORMATS, "image": (CHANNELS.get(encoding, 1), "f1", np.uint8)}
        self._program = gl.program(
            vertex_shader=gl_shaders.vertex_shader(gl_shaders.VERTEX),
            fragment_shader=gl_shaders.with_outputs(gl_shaders.FRAGMENT, outputs),
        )
        self._sky_program = gl.program(
            vertex_shader=gl_shaders.vertex_shader(gl_shaders.SKY_VERTEX),
            fragment_shader=gl_shaders.with_outputs(gl_shaders.SKY_FRAGMENT, outputs),
        )
        fields = {"position": "3f4", "texcoord": "2f4", "brightness": "1f4", "mesh": "1i4"}
        # Attributes that these outputs do not need are not part of the program.
        names = [name if name in self._program else None for name in fields]
        layout = " ".join(
            f if name else f"{4 * int(f[0])}x" for f, name in zip(fields.values(), names)
        )
        content = [(vertices, layout, *filter(None, names))]
        self.mesh = gl.vertex_array(self._program, content, index_buffer=indices)
        self._sky = gl.vertex_array(self._sky_program, [])
        targets = [
            gl.texture(size, n, dtype=dtype)
            for n, dtype, _ in (self._formats[name] for name in outputs)
        ]
        depths = gl.depth_texture(size)
        depths.compare_func = ""  # read as numbers
        self._target = gl.framebuffer(targets, depths)
        self._inputs = (*targets[:1], depths)
        if "image" in outputs:
            self._soft_program = gl.program(
                vertex_shader=gl_shaders.vertex_shader(gl_shaders.SKY_VERTEX),
                fragment_shader=gl_shaders.with_outputs(gl_shaders.SOFTEN_FRAGMENT, ("image",)),
            )
            self._soft_program["depths"] = 1
            self._soft = gl.vertex_array(self._soft_program, [])
            n, dtype, _ = self._formats["image"]
            self._picture = gl.framebuffer([gl.texture(size, n, dtype=dtype)])

    def set_view(self, view: CameraView, origin: np.ndarray, bias: float, nearest: float) -> None:
        """Set the uniforms; the camera position is split in two parts, so that no digits are lost.

        The 24 bits of the depth buffer are spread from ``nearest``, the least visible depth.
        """
        camera, T = view.camera, np.asarray(view.T_map_optical, float)
        w, h = self._size
        K = camera.matrix
        position = T[:3, 3] - origin
        high = position.astype(np.float32)
        inverse_far = 1.0 / view.far_m
        z_scale = 1.0 / (1.0 / nearest - inverse_far)
        x_plane = np.array([2 * K[0, 0] / w, 2 * K[0, 1] / w, (2 * K[0, 2] + 1) / w - 1])
        y_plane = np.array([0.0, 2 * K[1, 1] / h, (2 * K[1, 2] + 1) / h - 1])
        values = {
            "R_optical_map": T[:3, :3].ravel(),  # column by column: the transpose
            "camera_high": high,
            "camera_low": position - high,
            "x_plane": x_plane,
            "y_plane": y_plane,
            "z_plane": np.array([-2.0 * z_scale * inverse_far - 1.0, 2.0 * z_scale]),
            "bias": np.array([bias]),
        }
        _write(self._program, values)
        sky = {
            "up_optical": T[2, :3],
            "x_of_pixel": np.array([1.0, -K[0, 1], -K[0, 2]]) / K[0, 0],
            "y_of_pixel": np.array([1.0, -K[1, 2]]) / K[1, 1],
        }
        _write(self._sky_program, sky)
        if "image" in self._outputs:
            _write(self._soft_program, {"inverse_depth": np.array([1.0 / z_scale, inverse_far])})

    def begin(self, view: CameraView) -> None:
        """Clear the targets, on the requested rows."""
        first, last = view.row_range
        self._target.use()
        self._target.clear(depth=0.0)
        # The rows beside soften edges at the rim.
        first, last = max(first - 1, 0), min(last + 1, self._size[1])
        self._target.scissor = (0, first, self._size[0], last - first)
        self._gl.depth_func = ">"

    def finish(self) -> None:
        """Fill the background with the sky, then soften the edges."""
        self._gl.depth_func = ">="
        self._sky.render(vertices=3)
        if "image" in self._outputs:
            self._picture.use()
            for i, texture in enumerate(self._inputs):
                self._gl.clear_samplers(i, i + 1)
                texture.use(i)
            self._gl.depth_func = "1"
            self._soft.render(vertices=3)

    def read(self, view: CameraView) -> RenderedFrame:
        """Return the targets' contents."""
        w, h = self._size
        arrays = {}
        for i, name in enumerate(self._outputs):
            n, dtype, number = self._formats[name]
            array = np.empty((h, w, n) if n > 1 else (h, w), number)
            source, k = (self._picture, 0) if name == "image" else (self._target, i)
            source.read_into(array, components=n, attachment=k, dtype=dtype, alignment=1)
            first, last = view.row_range
            array[:first], array[last:] = 0, 0
            arrays["ids" if name == "id" else name] = array
        return RenderedFrame(**arrays)


def _write(program: Any, values: dict[str, np.ndarray]) -> None:
    """Set those uniforms that the program uses."""
    for name, value in values.items():
        if name in program:
            program[name].write(np.ascontiguousarray(value, np.float32))


def _nearest(view: CameraView, visible: Visible) -> float:
    """Return a lower bound of the depths in a view [m]."""
    most = float(visible.inverse_depth.max(initial=np.float32(0.0)))
    return max(view.near_m, 1.0 / most if most > 0.0 else 0.0)


def _runs(clusters: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return first and last (n, 2) of the runs of consecutive clusters of one group.

    Neighbours on the Morton curve become one draw: thousands of small ones cost too much.
    """
    if len(clusters) == 0:
        return np.empty((0, 2), np.int64)
    starts = np.diff(clusters, prepend=-2) != 1
    starts[1:] |= np.diff(group[clusters]) != 0
    ends = np.append(starts[1:], True)
    return np.column_stack([clusters[starts], clusters[ends]])
