# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An obstacle that crosses the way of a vehicle: a person, a car, a mesh; moved by time alone."""

import math
import re
from dataclasses import dataclass

import numpy as np

from aerotwin_core.foreign_text import shown
from aerotwin_core.parameters import parameter
from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_rendering import MovingObject, PlacedObject, WorldQueries
from aerotwin_worlds.ground_way import GroundWay
from aerotwin_worlds.shapes import TRACK_M, WHEELBASE_M, load_shape

MOST_WAYPOINTS = 1000
STANDS, DISAPPEARS = "stands", "disappears"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_HALF_NS = 5_000_000
"""Velocities are means over twice this time [ns]."""


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """Something that moves on the ground along a way.

    Raises ValueError if a value is not as its field says.
    """

    name: str = parameter(text="Name in topics and in messages of collisions, as crossing_car.")
    kind: str = parameter(
        "person", text="person, car, or the path of an OBJ, PLY or glTF file that x looks ahead in."
    )
    waypoints_m: tuple[tuple[float, float], ...] = parameter(
        text="Start, points on the way, end: east and north in map. It stands on the ground there.",
        unit="m",
    )
    speed_m_s: float = parameter(
        1.4, text="Speed along the way.", unit="m/s", minimum=0.01, maximum=50.0
    )
    wait_s: float = parameter(
        0.0, text="Time at the start before it goes.", unit="s", minimum=0.0, maximum=1e6
    )
    at_end: str = parameter(
        STANDS, text="What it does at the end of its way.", choices=(STANDS, DISAPPEARS)
    )
    below_m: float | None = parameter(
        None,
        text="Its start is on the highest surface below this height in map, under a roof or a "
        "tree; none: on the highest of all.",
        unit="m",
    )

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                "name: expected at most 60 of a-z, 0-9 and _, a letter first, found "
                f"{shown(self.name)}"
            )
        points = np.array(self.waypoints_m, float)
        if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
            raise ValueError(
                f"waypoints_m: expected east and north of a point or more, found "
                f"{shown(self.waypoints_m)}"
            )
        if len(points) > MOST_WAYPOINTS:
            raise ValueError(
                f"waypoints_m: expected at most {MOST_WAYPOINTS} points, found {len(points)}"
            )
        if not (0.01 <= self.speed_m_s <= 50.0 and 0.0 <= self.wait_s <= 1e6):
            raise ValueError(
                "speed_m_s and wait_s: expected 0.01 to 50 m/s and 0 to 1e6 s, found "
                f"{self.speed_m_s:g} and {self.wait_s:g}"
            )
        if self.at_end not in (STANDS, DISAPPEARS):
            raise ValueError(f"at_end: expected {STANDS} or {DISAPPEARS}, found {self.at_end}")


class MovingObstacle:
    """An obstacle with its mesh and its way, from an instant on."""

    def __init__(
        self, obstacle: Obstacle, start_ns: int, number: int, queries: WorldQueries
    ) -> None:
        self.obstacle, self.start_ns = obstacle, start_ns
        has_wheels = obstacle.kind == "car"
        self.way = GroundWay(
            obstacle.waypoints_m,
            wheelbase_m=WHEELBASE_M if has_wheels else 0.0,
            track_m=TRACK_M if has_wheels else 0.0,
            below_m=obstacle.below_m,
        )
        self.way.stand_on(queries)
        self.object = MovingObject(obstacle.name, load_shape(obstacle.kind), number=number)
        self.go_ns = start_ns + from_seconds(obstacle.wait_s)
        self.end_ns = self.go_ns + from_seconds(self.way.length_m / obstacle.speed_m_s)
        self.measure()

    def measure(self) -> None:
        """Update the bound of its speed, which depends on the ground."""
        share = self.way.fastest_share(
            float(np.linalg.norm(self.object.centre)) + self.object.radius_m
        )
        self._fastest_m_s = self.obstacle.speed_m_s * share

    def is_there(self, stamp_ns: int) -> bool:
        """Tell whether it is in the world at an instant [ns]."""
        is_over = self.obstacle.at_end == DISAPPEARS and stamp_ns >= self.end_ns
        return stamp_ns >= self.start_ns and not is_over

    def T_map_object(self, stamp_ns: int) -> np.ndarray:
        """Return its pose (4, 4) at an instant [ns]."""
        s = self.obstacle.speed_m_s * to_seconds(stamp_ns - self.go_ns)
        return self.way.T_map_object(min(max(s, 0.0), self.way.length_m))

    def at(self, stamp_ns: int) -> PlacedObject:
        """Return it at an instant [ns]."""
        return PlacedObject(
            object=self.object,
            T_map_object=self.T_map_object(stamp_ns),
            speed_m_s=self._fastest_m_s if stamp_ns < self.end_ns else 0.0,
        )

    def twist(self, stamp_ns: int) -> np.ndarray:
        """Return its velocity [m/s] and turn rate [rad/s] in its own axes (6,) at an instant."""
        before, T, after = (self.T_map_object(stamp_ns + k * _HALF_NS) for k in (-1, 0, 1))
        v = T[:3, :3].T @ (after[:3, 3] - before[:3, 3])
        turn = _rotation_vector(before[:3, :3].T @ after[:3, :3])
        return np.concatenate([v, turn]) / (2.0 * to_seconds(_HALF_NS))


def _rotation_vector(R: np.ndarray) -> np.ndarray:
    """Return axis times angle (3,) of a rotation by less than 90 degrees [rad]."""
    axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = math.sqrt(float(axis @ axis))
    return axis * (math.asin(min(sine, 1.0)) / sine) if sine > 0.0 else axis
