# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The meshes of a world: one renderer for all cameras, and tiles that follow the vehicles."""

from collections.abc import Sequence
from copy import copy
from typing import Protocol

import numpy as np

from aerotwin_core.time import Schedule
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import CameraView, ObjectsAt, Rasteriser, RenderedFrame, no_objects
from aerotwin_worlds.world import World

CHECK_RATE_HZ = 5.0
"""At 20 m/s a vehicle moves 4 m between two checks."""


class _Prepared:
    """Meshes, and what renders them once something asked for it."""

    def __init__(self, meshes: Sequence[TexturedMesh]) -> None:
        self._meshes = meshes
        self._rasteriser: Rasteriser | None = None

    @property
    def rasteriser(self) -> Rasteriser:
        """Made at the first request."""
        if self._rasteriser is None:
            self._rasteriser = Rasteriser(self._meshes)
        return self._rasteriser

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Use these meshes from now on."""
        self._meshes = meshes
        if self._rasteriser is not None:
            self._rasteriser.replace(meshes)


class Renderer:
    """Renders a world for every camera; its meshes are prepared at the first request.

    `objects_at` returns what moves in it at an instant, for the views of cameras.
    """

    def __init__(self, world: World, objects_at: ObjectsAt = no_objects) -> None:
        self._prepared = _Prepared(world.meshes)
        self.objects_at = objects_at

    def showing(self, objects_at: ObjectsAt) -> "Renderer":
        """Return one of the same world, also after `replace`, in which something else moves."""
        other = copy(self)
        other.objects_at = objects_at
        return other

    def render(self, views: Sequence[CameraView]) -> list[RenderedFrame]:
        """Return the images of all views of one instant."""
        return self._prepared.rasteriser.render(views)

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Use these meshes from now on, as when a world streams."""
        self._prepared.replace(meshes)


class MeshConsumer(Protocol):
    """A user of the meshes: renderer, queries, obstacles."""

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Use these meshes from now on."""


class WorldFollower:
    """Keeps the loaded tiles of a streamed world near its vehicles; does nothing for other worlds.

    It works in the loop and by simulated time alone, so that a flight can be repeated.
    """

    def __init__(self, world: World, consumers: Sequence[MeshConsumer]) -> None:
        self._stream, self._consumers = world.stream, tuple(consumers)
        self._due = Schedule(CHECK_RATE_HZ)
        self.follow(world.start_p_map)

    def restart(self, stamp_ns: int, p_map: np.ndarray) -> None:
        """Restart at an instant [ns] and positions, as after a jump in time."""
        self._due = Schedule(CHECK_RATE_HZ, stamp_ns)
        self.follow(p_map)

    def is_due(self, stamp_ns: int) -> bool:
        """Return whether the next check of the vehicles' positions is due."""
        return self._stream is not None and bool(self._due.until(stamp_ns))

    def follow(self, p_map: np.ndarray) -> None:
        """Select the tiles around the vehicles at p_map (3,) or (n, 3) [m]."""
        if self._stream is not None and self._stream.update(p_map):
            for consumer in self._consumers:
                consumer.replace(self._stream.meshes)
