# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Route graphs: taught paths as poses, edges and submaps; their folder, routes and joints.

`T_a_b` maps points of b to a. `map` is the frame of the cloud in which a path was taught; a
vertex's frame is the vehicle's base there, x forward, z up, on the ground between the wheels.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.route_graph.crossings import (
        CrossingProtocol,
        find_crossings,
        submap_overlap,
    )
    from aerotwin_teach_repeat.route_graph.graph import RouteGraph, RouteGraphWriter
    from aerotwin_teach_repeat.route_graph.joining import branch, extend, merge, with_edges
    from aerotwin_teach_repeat.route_graph.types import (
        DamagedSubmapError,
        Edge,
        MemorySubmaps,
        RouteGraphError,
        Submap,
        SubmapSource,
        Vertex,
        distance_and_angle,
        relative_pose,
        rotation_angle,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
