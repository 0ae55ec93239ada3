# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a formation flies: the leader's route through way-points, and the patterns along it.

A file of it::

    speed_m_s: 1.0
    scale: 1.5                # of the patterns
    waypoints_m:              # of the leader, from its start: east, north, up
      - [0.0, 0.0, 10.0]      # here the formation gathers
      - [20.0, 0.0, 10.0]
    patterns:
      - {pattern: cube}       # the first one, before the route begins
      - {pattern: pyramid, waypoint: 1}
      - {pattern: wedge.yaml, time_s: 30.0}    # a file beside this one

The route is flown at one speed on straight lines; at each way-point the velocity changes evenly
into that of the next line (a parabolic blend: Craig 2005, Introduction to Robotics, section 7.3).
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import load_parameters_file, parameter
from aerotwin_formation.leader import LeaderRoute
from aerotwin_formation.patterns import FormationPattern, load_pattern, shipped_pattern
from aerotwin_formation.plan import LANDING, ROUNDING_M
from aerotwin_formation.separation import SeparationParameters, closest_distance

FARTHEST_M = 10_000.0

CLEAR_M = 1.0
"""Least height of a place above the leader's start."""


@dataclass(frozen=True, kw_only=True)
class PatternOrder:
    """A pattern, and when the leader changes to it: at a way-point or at a time of its route."""

    pattern: str = parameter(text="name of a shipped pattern, or path of a YAML file")
    waypoint: int | None = parameter(
        None, minimum=0, text="changed to when the leader is there; they count from 0"
    )
    time_s: float | None = parameter(
        None, unit="s", minimum=0.0, text="changed to so long after the route has begun"
    )

    def __post_init__(self) -> None:
        if self.waypoint is not None and self.time_s is not None:
            raise ParameterError(
                f"pattern {self.pattern}: expected waypoint or time_s, found both; remove one"
            )


@dataclass(frozen=True, kw_only=True)
class FormationMission:
    """A file of a formation's mission."""

    waypoints_m: tuple[tuple[float, float, float], ...] = parameter(
        unit="m", text="of the leader, from its start: east, north, up; the first is to gather at"
    )
    patterns: tuple[PatternOrder, ...] = parameter(text="in the order of flight")
    speed_m_s: float = parameter(
        1.0, unit="m/s", minimum=0.05, maximum=20.0, text="of the leader on its route"
    )
    acceleration_m_s2: float = parameter(
        0.5, unit="m/s^2", minimum=0.05, maximum=10.0, text="at start, end and way-points"
    )
    scale: float = parameter(
        1.0, minimum=0.1, maximum=100.0, text="factor on the offsets of all patterns"
    )
    lands: bool = parameter(True, text="whether all land at the end; else they hover")

    def __post_init__(self) -> None:
        if not self.waypoints_m or np.abs(self.waypoints_m).max() > FARTHEST_M:
            raise ParameterError(
                f"waypoints_m: expected at least one within {FARTHEST_M:g} m, found "
                f"{list(self.waypoints_m)}"
            )
        if not self.patterns:
            raise ParameterError("patterns: expected at least the first one, found none")
        for order in self.patterns:
            if order.waypoint is not None and order.waypoint >= len(self.waypoints_m):
                raise ParameterError(
                    f"pattern {order.pattern}: expected a waypoint below {len(self.waypoints_m)}, "
                    f"found {order.waypoint}; they count from 0"
                )
        times = self.times_of_waypoints()  # raises for way-points that are too close
        due = [self.due_s(order, times) for order in self.patterns]
        if due != sorted(due):
            raise ParameterError(f"patterns: expected them in the order of flight, found {due} s")

    def route(self) -> LeaderRoute:
        """Return the leader's route from the first way-point."""
        return route_through(self.waypoints_m, self.speed_m_s, self.acceleration_m_s2)

    def times_of_waypoints(self) -> list[float]:
        """Return when the leader is at each way-point [s], from the begin of the route."""
        return _corner_times(*self._legs())[0].tolist()

    def pattern(self, name: str, n_vehicles: int) -> FormationPattern:
        """Return a pattern by name or path, scaled; errors as of `named_pattern`."""
        found = named_pattern(name, n_vehicles)
        return FormationPattern(name=found.name, offsets=self.scale * found.offsets)

    def _legs(self) -> tuple[FloatArray, float, float]:
        return np.array(self.waypoints_m), self.speed_m_s, self.acceleration_m_s2

    def due_s(self, order: PatternOrder, times: list[float]) -> float:
        """Return when an order is due, from the begin of the route; before it is -1."""
        if order.waypoint is not None:
            return times[order.waypoint]
        return -1.0 if order.time_s is None else order.time_s


def load_mission(
    path: str | Path, n_vehicles: int, separation: SeparationParameters
) -> FormationMission:
    """Return the mission of a file, whose patterns exist for so many vehicles and keep them apart.

    Paths of patterns are relative to its folder.

    Raises
    ------
    aerotwin_core.errors.ParameterError
        With file, key, what was expected and found.
    """
    mission = load_parameters_file(FormationMission, path)
    folder = Path(path).parent
    orders = tuple(
        replace(order, pattern=str(folder / order.pattern)) if _is_path(order.pattern) else order
        for order in mission.patterns
    )
    mission = replace(mission, patterns=orders)
    lowest_m = min(z for _, _, z in mission.waypoints_m)
    for order in orders:
        try:
            pattern = mission.pattern(order.pattern, n_vehicles)
        except ParameterError as error:
            raise ParameterError(
                f"{path}: patterns: {error}; or fly another number of vehicles, or a mission whose "
                "patterns are for as many"
            ) from None
        tall_m = float(np.ptp(pattern.offsets[:, 2]))
        if lowest_m < tall_m + CLEAR_M:
            raise ParameterError(
                f"{path}: waypoints_m: expected the leader at least {tall_m + CLEAR_M:g} m above "
                f"its start, found {lowest_m:g} m: pattern {order.pattern} is {tall_m:g} m tall, "
                "and shifts where the leader has to take another place in it; fly higher or set a "
                "smaller scale"
            )
        closest_m = closest_distance(pattern.offsets * separation.scale)
        if closest_m < separation.required_m - ROUNDING_M:
            raise ParameterError(
                f"{path}: pattern {order.pattern}: expected places {separation.required_m:.2f} m "
                f"apart, found {closest_m:.2f} m (heights count 1/{separation.downwash_ratio:g}); "
                f"set a scale above {mission.scale * separation.required_m / closest_m:.2f}"
            )
    return mission


def named_pattern(name: str, n_vehicles: int) -> FormationPattern:
    """Return a shipped pattern by its name, or that of a YAML file by its path.

    Raises
    ------
    aerotwin_core.errors.ParameterError
        If there is none, or none for so many vehicles.
    """
    if not _is_path(name):
        return shipped_pattern(name, n_vehicles)
    pattern = load_pattern(name)
    if pattern.n_vehicles != n_vehicles:
        raise ParameterError(
            f"{name}: expected places for {n_vehicles - 1} followers, found "
            f"{pattern.n_vehicles - 1}; choose a pattern for as many"
        )
    return pattern


def _is_path(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def route_through(waypoints: ArrayLike, speed_m_s: float, acceleration_m_s2: float) -> LeaderRoute:
    """Return the route through way-points (k, 3) [m] at a speed, at rest before and after.

    It passes the first and the last one; at the others it cuts the corner by |dv|^2 / (8 a).

    Raises
    ------
    aerotwin_core.errors.ParameterError
        If two way-points are too close for the changes of velocity at them.
    """
    points = np.asarray(waypoints, dtype=np.float64)
    times, velocities, blends = _corner_times(points, speed_m_s, acceleration_m_s2)
    starts, ends = times - 0.5 * blends, times + 0.5 * blends
    knots = np.stack([starts, ends], axis=1).ravel()
    values = np.stack([velocities[:-1], velocities[1:]], axis=1).reshape(-1, 3)
    is_first = np.concatenate([[True], np.diff(knots) > 0.0])
    return LeaderRoute(times_s=knots[is_first], velocities=values[is_first])


def _corner_times(
    points: FloatArray, speed_m_s: float, acceleration_m_s2: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return times at k way-points, velocities (k + 1, 3) around them, durations of the changes."""
    legs = np.diff(points, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    if (lengths == 0.0).any():
        k = int(np.argmin(lengths))
        raise ParameterError(f"waypoints_m: expected different ones, found {k} and {k + 1} alike")
    velocities = np.zeros((len(points) + 1, 3))
    velocities[1:-1] = speed_m_s * legs / lengths[:, None]
    changes = np.linalg.norm(np.diff(velocities, axis=0), axis=1)
    blends = changes / acceleration_m_s2
    # At rest there is no way before the change: that of the first and last begins or ends there.
    half = 0.5 * blends
    durations = lengths / speed_m_s
    durations_needed = half[:-1] + half[1:]
    if (durations < durations_needed).any():
        k = int(np.argmax(durations_needed - durations))
        raise ParameterError(
            f"waypoints_m: expected {k} and {k + 1} at least "
            f"{speed_m_s * durations_needed[k]:.1f} m apart for the changes of velocity at them, "
            f"found {lengths[k]:.1f} m; move them, fly slower or accelerate more"
        )
    times = half[0] + np.concatenate([[0.0], np.cumsum(durations)])
    return times, velocities, blends


def landing_pattern(starts: FloatArray) -> FormationPattern:
    """Return the pattern of vehicles above the places (n, 3) that they came from, at one height."""
    offsets = np.array(starts, dtype=np.float64)
    offsets[:, 2] = 0.0
    offsets[0] = 0.0
    return FormationPattern(name=LANDING, offsets=offsets)
