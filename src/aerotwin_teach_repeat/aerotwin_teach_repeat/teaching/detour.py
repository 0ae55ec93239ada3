# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Way-points moved sideways around obstacles in the path of a vehicle."""

import numpy as np
from scipy.ndimage import convolve, distance_transform_edt, map_coordinates

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_teach_repeat.teaching.ground import GroundGrid, GroundParameters
from aerotwin_teach_repeat.teaching.passage import VehicleOutline
from aerotwin_teach_repeat.teaching.path import PathParameters, smooth_waypoints

STATION_M, OFFSET_M = 2.0, 0.25
"""Steps of the search along the path and to its sides [m]."""
STEEPEST = 0.5
"""How far a path may move to the side per metre along it."""
_SWAY, _STRAY = 1.0, 0.02
"""Price of a change of the offset and of the offset itself, both squared."""
_ROOM_M = 0.2
"""Margin beyond the vehicle's clearance: the smooth path cuts between way-points [m]."""
_UNSEEN = 100.0
"""Cost of a move over unseen ground: taken only where there is no other path."""
_SAMPLES = 4
_FEWEST_HIGH = 3
"""Points of an obstacle, including its cell's neighbours: fewer are noise of the cloud (of 5 cm,
sampled every 0.15 m, one cell of 700 holds one that is a step too high)."""


def way_around(
    waypoints_m: np.ndarray,
    points_map: np.ndarray,
    *,
    is_closed: bool,
    reach_m: float,
    vehicle: VehicleOutline | None = None,
    path: PathParameters | None = None,
    ground: GroundParameters | None = None,
) -> FloatArray:
    """Return way-points (k, 2) round obstacles, 2 m apart, as near to the path as possible [m].

    Every 2 m the path may move to either side by up to `reach_m`. Of all sequences of moves that
    avoid points (m, 3) higher than a step and lower than the vehicle, and holes of the cloud if
    possible, the one with least sway and offset is chosen (dynamic programming). Both ends stay;
    those of a loop, which are one position, move together and no farther than necessary.
    `UserError` if there is no path within reach.
    """
    vehicle = VehicleOutline() if vehicle is None else vehicle
    line = smooth_waypoints(waypoints_m, is_closed=is_closed, parameters=path)
    stations = np.linspace(0.0, line.length_m, max(round(line.length_m / STATION_M), 2) + 1)
    centre = np.column_stack([np.interp(stations, line.s_m, c) for c in line.points_m.T])
    heading = np.interp(stations, line.s_m, line.heading)
    left = np.column_stack([-np.sin(heading), np.cos(heading)])
    n = int(reach_m / OFFSET_M)
    offsets = OFFSET_M * np.arange(-n, n + 1)
    grid = GroundGrid.of(points_map, line.points_m, margin_m=reach_m + 4.0, parameters=ground)
    needed = vehicle.width_m / 2.0 + vehicle.min_clearance_m + _ROOM_M
    places = centre[:, None] + offsets[None, :, None] * left[:, None]
    is_blocked = _blocked(places, _room(points_map, grid, vehicle), grid, needed)
    is_unseen = _blocked(places, _room_beside_holes(grid, vehicle), grid, needed)
    extra = np.where(is_blocked, np.inf, _UNSEEN * is_unseen)
    ends = np.argsort(np.abs(offsets), kind="stable") if is_closed else [n]
    ways = (_cheapest(extra, offsets, stations[1], int(end)) for end in ends)
    chosen = next((way for way in ways if way is not None), None)
    if chosen is None:
        raise UserError(
            f"no way for a vehicle of {vehicle.width_m:g} m within {reach_m:g} m of the route; "
            "allow a larger detour, or lead the route elsewhere"
        )
    moved = places[np.arange(len(stations)), chosen]
    return moved[:-1] if is_closed else moved


def _room(points_map: np.ndarray, grid: GroundGrid, vehicle: VehicleOutline) -> FloatArray:
    """Return the distance of every cell of the ground to the nearest obstacle [m]."""
    ny, nx = grid.height_m.shape
    i, j = np.floor((points_map[:, :2] - grid.low_m) / grid.cell_m).astype(np.int64).T
    inside = (i >= 0) & (i < nx) & (j >= 0) & (j < ny)
    i, j, z = i[inside], j[inside], points_map[inside, 2]
    above = z - grid.height_m[j, i]
    is_high = (above > vehicle.max_step_m) & (above < vehicle.height_m)
    n_high = np.zeros((ny, nx), np.int64)
    np.add.at(n_high, (j[is_high], i[is_high]), 1)
    n_around = convolve(n_high, np.ones((3, 3), np.int64), mode="constant")
    is_blocked = ~np.isfinite(grid.height_m) | ((n_high > 0) & (n_around >= _FEWEST_HIGH))
    return _distance(is_blocked, grid)


def _room_beside_holes(grid: GroundGrid, vehicle: VehicleOutline) -> FloatArray:
    """Return the distance of every cell to the nearest hole, which may contain any obstacle [m].

    As `_room`, but wheels may touch a hole's rim.
    """
    unseen_m = distance_transform_edt(~grid.is_measured) * grid.cell_m
    return _distance(unseen_m > vehicle.min_clearance_m + _ROOM_M, grid)


def _distance(is_there: np.ndarray, grid: GroundGrid) -> FloatArray:
    """Return the distance of each cell to the nearest cell of a mask [m]."""
    if not is_there.any():
        return np.full(is_there.shape, np.inf)
    return distance_transform_edt(~is_there) * grid.cell_m


def _blocked(places: FloatArray, room: FloatArray, grid: GroundGrid, needed_m: float) -> np.ndarray:
    """Return which moves (stations - 1, offsets, offsets) to the next station lack room."""
    room = np.minimum(room, 2.0 * needed_m)  # infinite distances cannot be interpolated
    first, second = places[:-1, :, None], places[1:, None, :]
    is_blocked = np.zeros((*first.shape[:2], places.shape[1]), dtype=bool)
    for share in np.linspace(0.0, 1.0, _SAMPLES + 1):
        index = (first + share * (second - first) - grid.low_m) / grid.cell_m - 0.5
        at = np.moveaxis(index, -1, 0)[::-1]
        is_blocked |= map_coordinates(room, at, order=1, mode="constant", cval=0.0) < needed_m
    return is_blocked


def _cheapest(extra: np.ndarray, offsets: np.ndarray, step_m: float, end: int) -> np.ndarray | None:
    """Return the index of the offset at each station, None if there is no path between `end`s.

    `extra` is the cost of a move besides sway and offset, infinite where it is blocked.
    """
    change = offsets[:, None] - offsets[None, :]
    price = _SWAY * change**2 + _STRAY * offsets[None, :] ** 2
    price[np.abs(change) > STEEPEST * step_m + 1e-9] = np.inf
    cost = np.where(np.arange(len(offsets)) == end, 0.0, np.inf)
    before = []
    for more in extra:
        total = cost[:, None] + price + more
        before.append(np.argmin(total, axis=0))
        cost = np.min(total, axis=0)
    if not np.isfinite(cost[end]):
        return None
    chosen = [end]
    for best in reversed(before):
        chosen.append(int(best[chosen[-1]]))
    return np.array(chosen[::-1])
