# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Generated worlds: places made from a seed, the same bytes for the same seed on any machine load.

`GENERATORS` holds, by name, the class of the parameters of a place and the function that builds
its meshes. Ground is an open sheet, buildings are closed solids, sun and shade are painted in.
"""

from collections.abc import Callable

from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_worlds.generated.campus import CampusParameters, build_campus
from aerotwin_worlds.generated.cliff import CliffParameters, build_cliff
from aerotwin_worlds.generated.grassland import GrasslandParameters, build_grassland
from aerotwin_worlds.generated.route import RouteParameters, build_route
from aerotwin_worlds.generated.stadium import StadiumParameters, build_stadium

GENERATORS: dict[str, tuple[type, Callable[..., tuple[TexturedMesh, ...]]]] = {
    "cliff": (CliffParameters, build_cliff),
    "campus": (CampusParameters, build_campus),
    "grassland": (GrasslandParameters, build_grassland),
    "route": (RouteParameters, build_route),
    "stadium": (StadiumParameters, build_stadium),
}

__all__ = ["GENERATORS"]
