# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The one renderer of a simulation: cameras and vehicles share a world's prepared meshes."""

from collections.abc import Sequence

from aerotwin_worlds import Frame, Rasteriser, View, World


class Renderer:
    """Renders a world for every camera; its meshes are prepared when the first one asks.

    Parameters
    ----------
    world : World
        What is seen.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._rasteriser: Rasteriser | None = None

    def render(self, views: Sequence[View]) -> list[Frame]:
        """Return what all views of one instant show."""
        if self._rasteriser is None:
            self._rasteriser = Rasteriser(self._world.meshes)
        return self._rasteriser.render(views)
