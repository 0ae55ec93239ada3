# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sunlight on a world's meshes: Lambert's law with a share of ambient light.

The factor of the colours at a vertex with unit normal n, for a sun in direction s, is

    light = ambient + (1 - ambient) max(0, n . s)

(Lambert's cosine law; Foley et al., Computer Graphics, 2nd edition, eq. 16.3, with the coefficients
summing to 1). It multiplies the sRGB-encoded colours, as textures are filtered. There are no cast
shadows. The normal is the mean of the adjacent triangles' normals weighted by their area; vertices
that a file has twice, such as at the edges of a cube, keep their edge.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_meshes.mesh import TexturedMesh


@dataclass(frozen=True, kw_only=True)
class LightDescription:
    """Direction of the sun, and ambient light."""

    sun_azimuth_deg: float = parameter(
        default=180.0,
        text="Direction of the sun, clockwise from north: 180 is noon north of the tropics.",
        unit="deg",
        minimum=-360,
        maximum=360,
    )
    sun_elevation_deg: float = parameter(
        default=45.0, text="Height of the sun above the horizon.", unit="deg", minimum=0, maximum=90
    )
    ambient: float = parameter(
        default=0.4,
        text="Light in the shade, as a share of that in full sun; 1: no shade at all.",
        minimum=0,
        maximum=1,
    )


def lit(mesh: TexturedMesh, light: LightDescription) -> TexturedMesh:
    """Return a mesh under the sun; its existing light is multiplied."""
    facing = vertex_normals(mesh.vertices_map, mesh.triangles) @ sun_direction(light)
    factor = light.ambient + (1.0 - light.ambient) * np.maximum(facing, 0.0)
    if mesh.light is not None:
        factor *= mesh.light
    return dataclasses.replace(mesh, light=factor.astype(np.float32))


def sun_direction(light: LightDescription) -> np.ndarray:
    """Return the unit vector towards the sun in map axes (east, north, up)."""
    azimuth, elevation = math.radians(light.sun_azimuth_deg), math.radians(light.sun_elevation_deg)
    across = math.cos(elevation)
    return np.array([across * math.sin(azimuth), across * math.cos(azimuth), math.sin(elevation)])


def vertex_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return unit normals (n, 3): area-weighted means over the triangles of each vertex.

    Triangles are counter-clockwise seen from outside. A vertex of no triangle, or of triangles that
    cancel out, gets zero: ambient light only.
    """
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    doubled_area = np.cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for axis in range(3):
        for corner in range(3):
            total[:, axis] += np.bincount(
                triangles[:, corner], doubled_area[:, axis], minlength=len(vertices)
            )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.where(length > 0.0, length, 1.0)
