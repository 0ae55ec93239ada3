# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts of identical vehicles: close together, as far as ground and obstacles leave room.

The mission is moved with the start, which counts only if the moved mission keeps clear, too.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_rendering import WorldQueries
from aerotwin_simulator.collision import N_DIRECTIONS, ROUGH_M, frame_lines, mesh_at
from aerotwin_simulator.fleet import SPACING_M, VehiclePlan, mission_of
from aerotwin_worlds import World

CLEAR_M = 2.0
"""Clearance of a vehicle: its span and twice the metre that gusts push it off its path."""
SHARE_OF_FRICTION = 0.5
"""Ground bears a vehicle up to this share of the slope on which it would slide."""
_SAMPLE_M = 0.5


def place_side_by_side(
    plans: Sequence[VehiclePlan], world: World, queries: WorldQueries
) -> list[VehiclePlan]:
    """Return the plans with a start for each of several identical vehicles; others unchanged.

    The first starts at the world's start, the others at the nearest free places of a grid of
    `SPACING_M` around it. There, the ground is level and even, and the path of the mission is
    `CLEAR_M` from every surface, or as far as the first vehicle's. Raises ParameterError if there
    is not room for all.
    """
    if not plans[0].is_alike:
        return list(plans)
    room = _Room(plans[0], world, queries)
    placed, refused = [plans[0]], Counter[str]()
    for east_m, north_m in _offsets(len(plans)):
        if len(placed) == len(plans):
            break
        plan = dataclasses.replace(plans[len(placed)], start_east_m=east_m, start_north_m=north_m)
        if reason := room.obstacle(plan):
            refused[reason] += 1
        else:
            placed.append(plan)
    if len(placed) < len(plans):
        x, y = world.start_p_map[:2]
        causes = ", ".join(f"{n} {reason}" for reason, n in refused.most_common())
        raise ParameterError(
            f"fleet.instances: expected room for {len(plans)} vehicles, {SPACING_M:g} m apart "
            f"around the start ({x:.1f}, {y:.1f}) m of {world.name}, found it for {len(placed)} "
            f"(of the other places: {causes}); fly fewer, a mission further from walls, or name "
            "starts in a fleet file"
        )
    return placed


def _offsets(n: int) -> Iterator[tuple[float, float]]:
    """Yield the places of a grid but its centre, east and north [m], the nearest first.

    A line of places is long enough for at least 200. Of several as near, the first is to the north.
    """
    reach = max(4 * math.ceil(math.sqrt(n)), min(n, 200))
    east, north = (axis.ravel() for axis in np.mgrid[-reach : reach + 1, -reach : reach + 1])
    order = np.lexsort([-east, -north, east**2 + north**2])[1:]
    for k in order.tolist():
        yield float(east[k]) * SPACING_M, float(north[k]) * SPACING_M


class _Room:
    """Finds obstacles for a vehicle that starts beside the first one."""

    def __init__(self, first: VehiclePlan, world: World, queries: WorldQueries) -> None:
        self._world, self._queries = world, queries
        airframe = load_airframe(first.parameters.airframe)
        self._reach_m = float(np.linalg.norm(frame_lines(airframe)[1], axis=1).max())
        self._steepest = SHARE_OF_FRICTION * airframe.contact.friction
        self._path = self._first_path(first)
        # At CLEAR_M above it the ground itself is nearer by its slope and roughness; a path that
        # keeps half a sample from every surface passes through none.
        clear_m = CLEAR_M * math.cos(math.atan(self._steepest)) - ROUGH_M
        own_m = float(queries.distance(self._way(first)).min())
        self._clear_m = max(min(clear_m, own_m), 0.5 * _SAMPLE_M)

    def obstacle(self, plan: VehiclePlan) -> str:
        """Return why a vehicle cannot fly from there; empty if it can."""
        way = self._way(plan)
        for place in way[[0, -1]]:  # start and landing
            if not self._bears(place):
                return "not on level, even ground"
        near = self._queries.distance(way)
        if near.min() < self._clear_m:
            return f"too near '{mesh_at(self._queries, way[int(near.argmin())])}'"
        return ""

    def _bears(self, above: FloatArray) -> bool:
        """Return whether the ground below a place is level and even under the whole vehicle."""
        point, normal = self._queries.ground_plane(above)
        if not np.isfinite(point).all() or np.hypot(*normal[:2]) > self._steepest * normal[2]:
            return False
        turns = 2.0 * np.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
        rim = point + 2.0 * self._reach_m * np.column_stack(
            [np.cos(turns), np.sin(turns), np.zeros(N_DIRECTIONS)]
        )
        rim[:, 2] = above[2]
        off = (rim - point) @ normal - self._queries.height_above_ground(rim) * normal[2]
        return bool((np.abs(off) < ROUGH_M).all())

    def _first_path(self, first: VehiclePlan) -> FloatArray:
        """Return points (n, 3) of the first vehicle's mission from its hover; none, none."""
        if (mission := mission_of(first)) is None:
            return np.empty((0, 3))
        start = self._above_ground(self._world.start_p_map)
        hover = start + np.array([0.0, 0.0, max(mission.takeoff_altitude_m - CLEAR_M, 0.0)])
        path, _ = mission.plan(hover, self._world.start_yaw)
        return _spaced(path.p_map)

    def _way(self, plan: VehiclePlan) -> FloatArray:
        """Return points (n, 3) from above its start along its mission to above its landing."""
        offset = np.array([plan.start_east_m, plan.start_north_m, 0.0])
        x, y, z = self._world.start_p_map + offset
        height = float(self._queries.height(x, y))
        start = self._above_ground(np.array([x, y, height if math.isfinite(height) else z]))
        if not len(self._path):
            return start[None]
        path = self._path + offset
        return _spaced(np.vstack([start, path, self._above_ground(path[-1])]))

    def _above_ground(self, p_map: FloatArray) -> FloatArray:
        """Return the point above the ground below a position; outside the world, above itself."""
        point, _ = self._queries.ground_plane(p_map)
        return (point if math.isfinite(point[2]) else p_map) + np.array([0.0, 0.0, CLEAR_M])


def _spaced(corners: FloatArray) -> FloatArray:
    """Return points (n, 3) at most `_SAMPLE_M` apart on the line through corners (m, 3)."""
    along = np.append(0.0, np.linalg.norm(np.diff(corners, axis=0), axis=1).cumsum())
    distances_m = np.linspace(0.0, along[-1], int(np.ceil(along[-1] / _SAMPLE_M)) + 1)
    return np.column_stack([np.interp(distances_m, along, column) for column in corners.T])
