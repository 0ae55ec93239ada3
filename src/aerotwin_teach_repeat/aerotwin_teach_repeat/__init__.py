# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teach and repeat by lidar: a path is taught once, in a map or by driving, and driven again.

`route_graph` holds taught paths and their folder, `submaps` cuts the surroundings of each vertex
from a cloud, `teaching` makes a graph from way-points or a driven trajectory. `T_a_b` maps points
of b to a; `map` is the frame of the cloud, `base` the vehicle's: x forward, z up, on the ground.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.route_graph import Edge, RouteGraph, RouteGraphWriter, Submap, Vertex
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
