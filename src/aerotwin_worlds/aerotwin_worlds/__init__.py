# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds: textured triangle meshes with a position on Earth, and queries of them.

A world is generated from a seed, or read from mesh files, height maps, surveys or 3-D Tiles; a
strict YAML file names its one source, its origin, its start point, its light, its attribution and
its licence. `Rasteriser` makes the images and depths that cameras see; `WorldQueries` answers
heights, ground planes, distances, rays and collisions. Everything is in the map frame: x east, y
north, z up, metres.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_meshes.mesh import TexturedMesh
    from aerotwin_rendering.queries import WorldQueries
    from aerotwin_rendering.rasteriser import CameraView, Rasteriser, RenderedFrame

    # Deprecated names, which go with the next version.
    from aerotwin_rendering.rasteriser import CameraView as View
    from aerotwin_rendering.rasteriser import RenderedFrame as Frame
    from aerotwin_rendering.view import optical_pose
    from aerotwin_worlds.loading import find_world, known_worlds, load_world
    from aerotwin_worlds.obstacle import MovingObstacle, Obstacle
    from aerotwin_worlds.world import World, world_record
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
