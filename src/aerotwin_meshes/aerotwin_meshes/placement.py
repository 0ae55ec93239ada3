# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Placement of a mesh file's content in the map: axes, unit, heading, position."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_meshes.mesh import TexturedMesh

_MAP_FROM_UP_AXIS = {
    "x": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}
"""Turns of file axes into map axes; y up: x_map = x, y_map = -z, z_map = y (glTF 2.0, 3.4)."""


@dataclass(frozen=True, kw_only=True)
class PlacementDescription:
    """Placement of a mesh file in the map: p_map = position + R(yaw) scale R(up axis) p_file."""

    up_axis: str = parameter(
        default="auto",
        text="Axis of the file that is up; auto: y for glTF (its standard), z for OBJ and PLY.",
        choices=("auto", "x", "y", "z"),
    )
    scale: float = parameter(
        default=1.0, text="Length of the file's unit.", unit="m", minimum=1e-6, maximum=1e6
    )
    yaw_deg: float = parameter(
        default=0.0,
        text="Turn about the map's z axis, counter-clockwise.",
        unit="deg",
        minimum=-360,
        maximum=360,
    )
    position_m: tuple[float, float, float] = parameter(
        default=(0.0, 0.0, 0.0), text="Where the file's origin lies in the map.", unit="m"
    )


def placed(
    meshes: tuple[TexturedMesh, ...], placement: PlacementDescription, *, up_axis_read: str = "z"
) -> tuple[TexturedMesh, ...]:
    """Return meshes with their placement applied.

    The meshes are already in map axes if the file's up axis is ``up_axis_read``, the one that the
    reader assumed.
    """
    up_axis = up_axis_read if placement.up_axis == "auto" else placement.up_axis
    R_file_read = _MAP_FROM_UP_AXIS[up_axis_read].T
    c, s = (f(math.radians(placement.yaw_deg)) for f in (math.cos, math.sin))
    R_yaw = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    A = placement.scale * R_yaw @ _MAP_FROM_UP_AXIS[up_axis] @ R_file_read
    return tuple(
        dataclasses.replace(
            mesh, vertices_map=mesh.vertices_map @ A.T + np.array(placement.position_m)
        )
        for mesh in meshes
    )
