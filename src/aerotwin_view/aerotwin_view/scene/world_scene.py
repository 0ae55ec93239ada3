# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A world on the page: coarse at once, then in the detail that is asked for."""

import threading

import numpy as np

from aerotwin_meshes import TexturedMesh
from aerotwin_view.page import Page
from aerotwin_view.scene.glb import textured_glb
from aerotwin_view.scene.vertex_clustering import coarse_mesh
from aerotwin_worlds import World

COARSE, MEDIUM, FULL = "coarse", "medium", "full"
_CELLS = {COARSE: 150.0, MEDIUM: 600.0}
"""Along the longest side of the world."""
_TEXTURE_PX = {COARSE: 1024, MEDIUM: 2048, FULL: 4096}
_LIGHT_TRIANGLES = 300_000
"""A browser without a graphics card turns so many at 10 pictures a second."""


class WorldScene:
    """The meshes of a world on a page, and the choice of their detail."""

    def __init__(self, page: Page, world: World) -> None:
        self._page, self._world = page, world
        self._longest_side_m = float(np.ptp(world.bounds_m, axis=0).max())
        self._shown: list[str] = []
        self._lock = threading.Lock()
        first = FULL if world.n_triangles <= _LIGHT_TRIANGLES else MEDIUM
        self._detail = page.gui.add_dropdown(
            "World", (COARSE, MEDIUM, FULL), initial_value=first, hint="detail of the meshes"
        )
        self._detail.on_update(lambda _: self.show(str(self._detail.value)))

    def show_first(self) -> None:
        """Show the world coarse, then in its first detail."""
        self.show(COARSE)
        self.show(str(self._detail.value))

    def show(self, detail: str) -> None:
        """Show every mesh in a detail in place of what is shown; parts appear one by one."""
        with self._lock:
            before, self._shown = self._shown, []
            for k, mesh in enumerate(self._world.meshes):
                name = f"/world/{detail}/{k}"
                glb = textured_glb(self._in(detail, mesh), most_texture_px=_TEXTURE_PX[detail])
                scene = self._page.scene
                scene.add_glb(name, glb, cast_shadow=False, receive_shadow=False)
                self._shown.append(name)
                if k < len(before) and before[k] != name:
                    scene.remove_by_name(before[k])

    def _in(self, detail: str, mesh: TexturedMesh) -> TexturedMesh:
        if detail == FULL:
            return mesh
        return coarse_mesh(mesh, self._longest_side_m / _CELLS[detail])


def show_world(page: Page, world: World | None) -> None:
    """Show a world, whose parts appear in the background, and its licence; without one, a grid."""
    if world is None:
        page.scene.add_grid("/grid", width=200.0, height=200.0, cell_size=1.0)
        return
    place_camera(page, world.start_p_map, world.start_yaw, back_m=15.0)
    page.add_text(f"{world.name}; {world.attribution}; {world.licence}")
    threading.Thread(target=WorldScene(page, world).show_first, daemon=True).start()


def place_camera(page: Page, p_map: np.ndarray, yaw: float, back_m: float) -> None:
    """Let pages begin behind and above a point (3,) [m], looking along a yaw [rad]."""
    camera = page.initial_camera
    camera.position = p_map + np.array([-np.cos(yaw), -np.sin(yaw), 0.6]) * back_m
    camera.look_at = p_map + np.array([0.0, 0.0, 1.0])
    camera.up = np.array([0.0, 0.0, 1.0])
