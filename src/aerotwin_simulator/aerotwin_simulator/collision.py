# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Collisions of a vehicle with anything but the ground it stands on: walls, overhangs, branches.

The contact model of the dynamics knows one plane below the vehicle. Everything else is a crash: the
outline of the vehicle is a frame of straight lines, and none of them may pass through a surface.
To cost next to nothing in free flight, the distance to the nearest surface gives the number of
steps in which no line can reach it. Of a fleet, those that are due are checked by one query.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import Airframe, layout
from aerotwin_rendering import OBJECT_ID, PlacedObject, WorldQueries
from aerotwin_rendering.ray_scene import SurfaceHits

N_DIRECTIONS = 16
"""Corners of the outline: a rotor of 0.13 m is cut by 3 mm between two."""
LARGEST_ACCELERATION = 40.0
"""More than a multirotor with a thrust of four times its weight gains in a step [m/s^2]."""
NEAR_M = 0.01
"""Distance between two checks once the nearest surface is within reach: landed, hovering low."""
LONGEST_S = 0.2
"""Limit between two checks at any distance: a streamed world changes meanwhile."""
STANDING_SPEED = 0.2
"""A vehicle on its feet that is slower [m/s] is checked at the longest interval."""
IN_PLANE_M = 0.05
"""Surfaces this near to the plane of the ground are the ground: its feet press into it."""
ROUGH_M, ALIKE = 0.25, math.cos(math.radians(60.0))
"""So are surfaces nearer than ROUGH_M and inclined to it by less than 60 degrees: rough ground."""

Lines = tuple[np.ndarray, np.ndarray]
"""Starts and ends (n, 3) of lines [m]: those of an outline in body axes."""


@dataclass(frozen=True, kw_only=True)
class Collision:
    """A collision: name of the mesh, position (3,) [m], speed of the centre of mass."""

    what: str
    p_map: np.ndarray
    speed_m_s: float

    def __str__(self) -> str:
        x, y, z = self.p_map
        return f"it hit {self.what} at {self.speed_m_s:.1f} m/s, at ({x:.1f}, {y:.1f}, {z:.1f}) m"


class CollisionWatch:
    """Detects when a vehicle touches anything but the ground below it.

    `lines` are its outline, such as `frame_lines`; the inputs (m,) of the dynamics have the plane
    of the ground. At `n_steps_free` further steps it need not be checked.
    """

    def __init__(
        self, queries: WorldQueries, lines: Lines, inputs: np.ndarray, step_s: float
    ) -> None:
        self._queries, self._step_s = queries, step_s
        self._starts, self._ends = lines
        self._reach = float(np.linalg.norm(self._ends, axis=1).max())
        self._ground_point = inputs[layout.GROUND_POINT : layout.GROUND_POINT + 3]
        self._ground_normal = inputs[layout.GROUND_NORMAL : layout.GROUND_NORMAL + 3]
        self.n_steps_free = 0
        self._last_p_map: np.ndarray | None = None

    def look_again(self) -> None:
        """Check at the next step, because something new is in the world."""
        self.n_steps_free = 0

    def check_state(self, state: np.ndarray) -> Collision | None:
        """Return the collision of the vehicle in a state, None for none; call it at every step."""
        return check_together(self._queries, [(self, state)])[0] if self.is_due() else None

    def is_due(self) -> bool:
        """Return whether it must be checked at this step; call it at every step."""
        self.n_steps_free -= 1
        return self.n_steps_free <= 0

    def refuse_start(self, state: np.ndarray, title: str, world: str) -> None:
        """Raise ParameterError if it starts in or at a wall: the first step would be a crash."""
        if (met := self.check_state(state)) is not None:
            x, y, _ = state[layout.POSITION]
            raise ParameterError(
                f"{title}: its start ({x:.1f}, {y:.1f}) m in map touches {met.what} of the world "
                f"{world}; choose another start_east_m and start_north_m, or move the world's start"
            )

    def look_at(self, state: np.ndarray, distance_m: float) -> Lines | None:
        """Set `n_steps_free` in a state; return the lines of its frame, and since the last check.

        None if it is so far from the nearest surface that none can meet one.
        """
        lines = self._lines_at(state) if distance_m <= self._reach else None
        self._last_p_map = state[layout.POSITION].copy()
        self.n_steps_free = self._steps_free(distance_m - self._reach, state)
        return lines

    def _lines_at(self, state: np.ndarray) -> Lines:
        p_map, R_map_body = state[layout.POSITION], state[layout.ROTATION].reshape(3, 3)
        starts, ends = (points @ R_map_body.T + p_map for points in (self._starts, self._ends))
        if self._last_p_map is not None:
            starts, ends = np.vstack([starts, self._last_p_map]), np.vstack([ends, p_map])
        return starts, ends

    def _steps_free(self, clearance: float, state: np.ndarray) -> int:
        """Return the number of steps until a surface may be hit: v t + a t^2 / 2 = clearance."""
        speed = float(np.linalg.norm(state[layout.VELOCITY]))
        time = _time_for(max(clearance, NEAR_M), speed)
        if state[layout.N_CONTACTS] and speed < STANDING_SPEED:
            time = LONGEST_S
        time = min([time, *(self._time_until(placed, state) for placed in self._queries.objects)])
        return max(1, int(min(time, LONGEST_S) / self._step_s))

    def _time_until(self, placed: PlacedObject, state: np.ndarray) -> float:
        """Return the time before which a moving object cannot be hit, or hit [s]."""
        p_map = state[layout.POSITION]
        speed = float(np.linalg.norm(state[layout.VELOCITY])) + placed.speed_m_s
        away = float(np.linalg.norm(p_map - placed.centre_map)) - placed.object.radius_m
        if away - self._reach < NEAR_M:
            away = float(placed.distance(p_map[None])[0])
        return _time_for(max(away - self._reach, NEAR_M), speed)

    def first_wall(
        self, state: np.ndarray, starts: np.ndarray, ends: np.ndarray, hits: SurfaceHits
    ) -> Collision | None:
        """Return the first hit of its lines (n, 3) that is not the ground; None for none."""
        met = np.flatnonzero(hits.mesh >= 0)
        if not len(met):
            return None
        ways = (ends - starts)[met]
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        places = starts[met] + hits.distance_m[met, None] * ways
        is_object = hits.mesh[met] >= OBJECT_ID
        is_wall = is_object | ~self._is_ground(places, hits.normal_map[met])
        if not is_wall.any():
            return None
        first = int(np.flatnonzero(is_wall)[0])
        return Collision(
            what=self._queries.name_of(int(hits.mesh[met[first]])),
            p_map=places[first],
            speed_m_s=float(np.linalg.norm(state[layout.VELOCITY])),
        )

    def _is_ground(self, places: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Return which points (n, 3) on surfaces with normals (n, 3) the contact model covers."""
        if not np.isfinite(self._ground_point).all():
            return np.zeros(len(places), bool)
        off = np.abs((places - self._ground_point) @ self._ground_normal)
        alike = np.abs(normals @ self._ground_normal) > ALIKE
        return (off < IN_PLANE_M) | ((off < ROUGH_M) & alike)


def check_together(
    queries: WorldQueries, checks: Sequence[tuple[CollisionWatch, np.ndarray]]
) -> list[Collision | None]:
    """Return the collisions of vehicles that are due, in their states (k,); None for none."""
    distances = queries.distance(np.array([state[layout.POSITION] for _, state in checks]))
    found: list[Collision | None] = [None] * len(checks)
    near = []
    for k, ((watch, state), distance_m) in enumerate(zip(checks, distances.tolist(), strict=True)):
        if (lines := watch.look_at(state, distance_m)) is not None:
            near.append((k, lines))
    if near:
        starts, ends = (np.vstack(each) for each in zip(*(lines for _, lines in near), strict=True))
        hits, end = queries.segments_hit(starts, ends), 0
        for k, (starts, ends) in near:
            watch, state = checks[k]
            begin, end = end, end + len(starts)
            found[k] = watch.first_wall(state, starts, ends, hits.part(begin, end))
    return found


def _time_for(way: float, speed: float) -> float:
    """Return the time for a way at `LARGEST_ACCELERATION` from a speed on."""
    a = LARGEST_ACCELERATION
    return (math.sqrt(speed * speed + 2.0 * a * way) - speed) / a


def frame_lines(airframe: Airframe) -> Lines:
    """Return the lines of an airframe.

    Spokes run from the centre of mass to every contact point and to the corners of the outline,
    which is convex, seen from above, around rotor discs and contact points; its rim joins the
    corners.
    """
    radius = airframe.propeller.radius_m if airframe.contact.spans_rotors else 0.0
    rotors = np.array([rotor.position_m for rotor in airframe.rotors])
    contacts = np.array([*airframe.contact.feet_m, *airframe.contact.hull_m])
    corners = np.array(
        [
            _outermost(np.array([math.cos(a), math.sin(a), 0.0]), rotors, radius, contacts)
            for a in 2.0 * math.pi * np.arange(N_DIRECTIONS) / N_DIRECTIONS
        ]
    )
    spokes = np.unique(np.vstack([corners, contacts]), axis=0)
    following = np.roll(corners, -1, axis=0)
    is_long = np.linalg.norm(following - corners, axis=1) > 0.0
    starts = np.vstack([np.zeros_like(spokes), corners[is_long]])
    return starts, np.vstack([spokes, following[is_long]])


def _outermost(
    direction: np.ndarray, rotors: np.ndarray, radius: float, contacts: np.ndarray
) -> np.ndarray:
    points = np.vstack([rotors + radius * direction, contacts])
    return points[int(np.argmax(points @ direction))]


def describe_ground_crash(queries: WorldQueries, state: np.ndarray, crash_speed_m_s: float) -> str:
    """Return as text how a vehicle of this state array crashed on the ground."""
    impact, p_map = float(state[layout.IMPACT_SPEED]), state[layout.POSITION]
    ground = f"the ground ({mesh_at(queries, p_map)})"
    x, y, z = p_map
    where = f"at ({x:.1f}, {y:.1f}, {z:.1f}) m"
    if impact > crash_speed_m_s:
        return f"it hit {ground} at {impact:.1f} m/s, {where}"
    speed = float(np.linalg.norm(state[layout.VELOCITY]))
    return f"it tipped over or touched {ground} with its hull, moving at {speed:.1f} m/s, {where}"


def mesh_at(queries: WorldQueries, p_map: Sequence[float] | np.ndarray) -> str:
    """Return the name of the mesh nearest to a position in map."""
    _, hits = queries.nearest(np.asarray(p_map, np.float64)[None])
    return queries.name_of(int(hits.mesh[0]))
