# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The one renderer of a simulation: cameras and vehicles share a world's prepared meshes."""

from collections.abc import Sequence

from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, Rasteriser, RenderedFrame
from aerotwin_worlds import World


class Renderer:
    """Renders a world for every camera; its meshes are prepared at the first request."""

    def __init__(self, world: World) -> None:
        self._meshes: Sequence[TexturedMesh] = world.meshes
        self._rasteriser: Rasteriser | None = None

    def render(self, views: Sequence[CameraView]) -> list[RenderedFrame]:
        """Return the images of all views of one instant."""
        if self._rasteriser is None:
            self._rasteriser = Rasteriser(self._meshes)
        return self._rasteriser.render(views)

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Use these meshes from now on, as when a world streams."""
        self._meshes = meshes
        if self._rasteriser is not None:
            self._rasteriser.replace(meshes)
