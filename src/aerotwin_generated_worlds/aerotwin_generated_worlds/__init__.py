# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds generated from a seed, the same bytes for the same seed on any machine load.

`GENERATORS` holds, by name, the class of the parameters of a world and the function that builds
its meshes. Ground is an open sheet, buildings are closed solids, sun and shade are painted in.
"""

from collections.abc import Callable

from aerotwin_generated_worlds.campus import CampusParameters, build_campus
from aerotwin_generated_worlds.cliff import CliffParameters, build_cliff
from aerotwin_generated_worlds.grassland import GrasslandParameters, build_grassland
from aerotwin_generated_worlds.route import RouteParameters, build_route
from aerotwin_generated_worlds.stadium import StadiumParameters, build_stadium
from aerotwin_meshes.mesh import TexturedMesh

GENERATORS: dict[str, tuple[type, Callable[..., tuple[TexturedMesh, ...]]]] = {
    "cliff": (CliffParameters, build_cliff),
    "campus": (CampusParameters, build_campus),
    "grassland": (GrasslandParameters, build_grassland),
    "route": (RouteParameters, build_route),
    "stadium": (StadiumParameters, build_stadium),
}

__all__ = ["GENERATORS"]
