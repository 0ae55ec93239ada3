# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera images and lidar returns of textured meshes, and queries of their surfaces.

`Rasteriser` makes the images and depths of cameras; `WorldQueries` answers heights, ground planes,
distances, rays and collisions; both know objects that move (`MovingObject`). Everything is in the
map frame: x east, y north, z up, metres.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_rendering.moving_objects import (
        OBJECT_ID,
        MovingObject,
        ObjectsAt,
        PlacedObject,
        no_objects,
    )
    from aerotwin_rendering.queries import WorldQueries
    from aerotwin_rendering.rasteriser import CameraView, Rasteriser, RenderedFrame
    from aerotwin_rendering.view import optical_pose
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
