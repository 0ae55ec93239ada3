# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The start of a run elsewhere than at the world's."""

from dataclasses import dataclass, replace
from math import isfinite, radians

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import parameter
from aerotwin_worlds.world import World, highest_surface


@dataclass(frozen=True, kw_only=True)
class StartSettings:
    """Where vehicles start, from the world's start; those of a fleet count from here."""

    east_m: float = parameter(0.0, text="start, east of the world's", unit="m")
    north_m: float = parameter(0.0, text="start, north of the world's", unit="m")
    turn_deg: float = parameter(
        0.0,
        text="heading at the start, counter-clockwise from the world's",
        unit="deg",
        minimum=-360.0,
        maximum=360.0,
    )


def with_moved_start(world: World, start: StartSettings) -> World:
    """Return the world with the start of a run, on the highest surface there.

    Raises ParameterError if it lies beside the world.
    """
    if start == StartSettings():
        return world
    x, y = world.start_p_map[:2] + np.array([start.east_m, start.north_m])
    height = max(highest_surface(mesh, x, y) for mesh in world.meshes)
    if not isfinite(height):
        raise ParameterError(
            f"start: ({x:.1f}, {y:.1f}) m in map lies beside the world {world.name}; choose "
            "another start.east_m and start.north_m (start_east_m, start_north_m of a launch file)"
        )
    yaw = world.start_yaw + radians(start.turn_deg)
    return replace(world, start_p_map=np.array([x, y, height]), start_yaw=yaw)
