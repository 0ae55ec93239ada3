# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The renderer on the CPU: bands of all views, spread over threads."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.threads import run_tasks
from aerotwin_rendering.rasteriser.cull_kernels import Visible, pose_record, visible_clusters
from aerotwin_rendering.rasteriser.fill_kernels import clear_band, fill_band
from aerotwin_rendering.rasteriser.lens import Lens, Lenses
from aerotwin_rendering.rasteriser.mipmaps import texture_table
from aerotwin_rendering.rasteriser.objects import JoinedScene, ObjectStore, SeenObject
from aerotwin_rendering.rasteriser.scene import RasterScene, SceneStore
from aerotwin_rendering.rasteriser.scratch import Scratch, make_scratch
from aerotwin_rendering.rasteriser.shade_kernels import Output, filled_rows, render_band, shade_band
from aerotwin_rendering.rasteriser.texel_kernels import Textures
from aerotwin_rendering.rasteriser.views import CameraView, RenderedFrame, empty_frame

BAND_ROWS = 60


class CpuRenderer:
    """Renders views of a scene with compiled kernels."""

    def __init__(
        self, store: SceneStore, scene: RasterScene, *, n_threads: int, level_bias: float
    ) -> None:
        self._store = store
        self._n_threads = n_threads
        self._bias = np.float32(level_bias)
        self._scratch: dict[int, list[Scratch]] = {}
        self._lenses = Lenses()
        self._objects = ObjectStore(store)
        self.set_scene(scene)

    def set_scene(self, scene: RasterScene) -> None:
        """Set the scene to render; frames in progress are finished with the old one."""
        self._state: tuple[RasterScene, dict[str, tuple], dict[tuple, JoinedScene]]
        self._state = (scene, {}, {})

    def render(self, views: Sequence[CameraView]) -> list[RenderedFrame]:
        """Render views; threads share the work of all of them."""
        scene, tables, joined = self._state
        poses = [pose_record(view.T_map_optical) for view in views]
        lenses = self._lenses.of(view.camera for view in views)
        looks = [(scene.clusters, view, lens) for view, lens in zip(views, lenses, strict=True)]
        culled = run_tasks(visible_clusters, looks, self._n_threads)
        frames = [empty_frame(view) for view in views]
        tasks = []
        for view, lens, pose, visible, frame in zip(
            views, lenses, poses, culled, frames, strict=True
        ):
            output = _output(frame)
            objects, whole = self._objects.seen(scene, joined, view, lens)
            textures = whole.textures if whole else self._textures(scene, tables, view.encoding)
            first, last = view.row_range
            for row in range(first, last, BAND_ROWS):
                end = min(row + BAND_ROWS, last)
                task = (row, end, visible, scene, pose, view, lens, textures, output)
                tasks.append((*task, objects, whole))
        # Bands of all views side by side: what they see is in the cache for the other views.
        tasks.sort(key=lambda task: task[0])
        run_tasks(self._render_band, tasks, self._n_threads)
        return frames

    def _render_band(
        self, row0: int, row1: int, visible: Visible, scene: RasterScene, pose: np.ndarray,
        view: CameraView,
        lens: Lens, textures: Textures, output: Output, objects: list[SeenObject],
        whole: JoinedScene | None,
    ) -> None:  # fmt: skip
        spare = self._scratch.setdefault(view.camera.width, [])
        try:
            scratch = spare.pop()
        except IndexError:
            scratch = make_scratch(BAND_ROWS + 2, view.camera.width)
        near, far = float(view.near_m), float(view.far_m)
        if whole is None:
            render_band(
                row0, row1, visible, scene.clusters, pose, lens, near, far, textures, self._bias,
                scratch, output,
            )  # fmt: skip
        else:
            top, bottom = filled_rows(row0, row1, view.camera.height, output.image)
            clear_band(top, bottom, lens, far, scratch)
            fill_band(top, bottom, visible, scene.clusters, 0, pose, lens, near, scratch)
            for seen in objects:
                fill_band(
                    top, bottom, seen.visible, seen.clusters, seen.first_cluster, seen.pose, lens,
                    near, scratch,
                )  # fmt: skip
            shade_band(
                row0, row1, pose, lens, whole.mesh_of_cluster, whole.id_of_cluster, textures,
                self._bias, scratch, output,
            )  # fmt: skip
        spare.append(scratch)

    def _textures(self, scene: RasterScene, tables: dict[str, tuple], encoding: str) -> Textures:
        """Return the table of a scene's textures; those of the other encoding are not built."""
        encoding = "mono8" if encoding == "none" else encoding
        if encoding not in tables:
            pyramids = self._store.pyramids(scene, encoding)
            table = texture_table(pyramids, scene.texture_of_mesh, scene.repeats)
            tables[encoding] = (table, pyramids)
        return tables[encoding][0]


def _output(frame: RenderedFrame) -> Output:
    image = np.empty((0, 0, 0), np.uint8) if frame.image is None else frame.image
    return Output(
        image=image.reshape(*image.shape[:2], -1) if image.size else image,
        depth=np.empty((0, 0), np.float32) if frame.depth is None else frame.depth,
        ids=np.empty((0, 0), np.int32) if frame.ids is None else frame.ids,
    )
