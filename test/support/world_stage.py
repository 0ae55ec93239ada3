# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Meshes, coarse generated places and worlds, as fixtures: a conftest imports what it needs."""

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_generated_worlds import GENERATORS
from aerotwin_generated_worlds.campus import CampusParameters
from aerotwin_generated_worlds.cliff import CliffParameters, build_cliff
from aerotwin_generated_worlds.grassland import GrasslandParameters
from aerotwin_generated_worlds.route import RouteParameters
from aerotwin_generated_worlds.stadium import StadiumParameters
from aerotwin_meshes import TexturedMesh
from aerotwin_worlds import World

COARSE_WORLDS = {
    "stadium": StadiumParameters(seed=1000, spacing_m=1.6, texel_m=0.3),
    "campus": CampusParameters(seed=1001, spacing_m=0.8, texel_m=0.3),
    "route": RouteParameters(seed=1002, spacing_m=1.6, texel_m=0.4),
    "grassland": GrasslandParameters(seed=1003, spacing_m=1.2, texel_m=0.2),
}
COARSE = CliffParameters(seed=3, spacing_m=0.4, texel_m=0.06)


def make_quad(corners, texture=None) -> TexturedMesh:
    """Return a quadrilateral; corners in the order upper left, upper right, lower right, left."""
    texture = np.full((2, 2, 3), 100, np.uint8) if texture is None else texture
    return TexturedMesh(
        vertices_map=np.array(corners, np.float64),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32),
        texture=texture,
    )


def make_world(*meshes: TexturedMesh) -> World:
    """Return a world of these meshes, at the equator."""
    return World(
        name="test",
        meshes=meshes,
        origin=GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0, altitude_m=0.0),
        attribution="nobody",
        licence="none",
        start_p_map=np.zeros(3),
        start_yaw=0.0,
    )


@pytest.fixture(scope="session")
def quad():
    """The function `make_quad`."""
    return make_quad


@pytest.fixture(scope="session")
def world_of():
    """The function `make_world`."""
    return make_world


@pytest.fixture(scope="session")
def coarse_cliff():
    """A small version of the cliff."""
    return build_cliff(COARSE)


@pytest.fixture(scope="session")
def coarse_worlds():
    """Small versions of the other generated worlds by name, of seeds not used for tuning."""
    return {name: GENERATORS[name][1](choice) for name, choice in COARSE_WORLDS.items()}
