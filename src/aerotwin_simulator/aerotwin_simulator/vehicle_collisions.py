# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Collisions of vehicles with each other: when the convex hulls of their shapes touch.

For each pair the distance of the bounding spheres gives the time before which they cannot touch;
only pairs whose time is over are looked at, all of them in one call. Two convex bodies intersect
exactly if an edge of one passes through the other or lies in it.
"""

from collections.abc import Sequence

import numpy as np

from aerotwin_meshes.convex_body import ConvexBody
from aerotwin_multirotor_dynamics import Airframe, layout
from aerotwin_simulator.airframe_mesh import airframe_mesh
from aerotwin_simulator.collision import (
    LARGEST_ACCELERATION,
    LONGEST_S,
    NEAR_M,
    STANDING_S,
    STANDING_SPEED,
    Collision,
)


class VehicleCollisions:
    """Detects when two of several vehicles touch.

    Each has a name and an airframe; a step takes `step_s`.
    """

    def __init__(self, names: Sequence[str], airframes: Sequence[Airframe], step_s: float) -> None:
        self._names, self._step_s = tuple(names), step_s
        known = {airframe: airframe_hull(airframe) for airframe in {*airframes}}
        self._hulls = [known[airframe] for airframe in airframes]
        self._first, self._second = np.triu_indices(len(names), 1)
        reach = np.array([np.linalg.norm(h.corners, axis=1).max() for h in self._hulls])
        self._reach = reach[self._first] + reach[self._second]
        self._n_steps = 0
        self._last_p_map = np.full((len(names), 3), np.nan)
        self.look_again()

    def look_again(self) -> None:
        """Check all pairs at the next step."""
        self._due, self._next = np.zeros(len(self._first), np.int64), 0

    def check_states(
        self, before: np.ndarray, after: np.ndarray
    ) -> list[tuple[int, int, Collision, Collision]]:
        """Return who hits whom in a step: both, and the collision of each.

        States of all vehicles (n, k) at both ends of the step; call it at every step. A vehicle
        that begins where none ended was placed there: all pairs are looked at.
        """
        self._n_steps += 1
        if not np.array_equal(before[:, layout.POSITION], self._last_p_map):
            self.look_again()
        self._last_p_map = after[:, layout.POSITION].copy()
        if self._n_steps < self._next:
            return []
        pairs = np.flatnonzero(self._due <= self._n_steps)
        gap, speed = self._gaps(after, pairs)
        found = []
        for k in pairs[gap <= 0.0]:
            i, j = int(self._first[k]), int(self._second[k])
            if (p_map := self._touched(i, j, before, after)) is not None:
                moving = after[i, layout.VELOCITY] - after[j, layout.VELOCITY]
                first, second = (
                    Collision(
                        what=self._names[k], p_map=p_map, speed_m_s=float(np.linalg.norm(moving))
                    )
                    for k in (j, i)
                )
                found.append((i, j, first, second))
        self._due[pairs] = self._n_steps + self._steps_free(gap, speed, after, pairs)
        self._next = int(self._due.min())
        return found

    def touching(self, states: np.ndarray) -> tuple[int, int] | None:
        """Return the first two vehicles that touch in states (n, k), None for none."""
        gap, _ = self._gaps(states, np.arange(len(self._first)))
        near = np.flatnonzero(gap <= 0.0)
        pairs = ((int(self._first[k]), int(self._second[k])) for k in near)
        return next((p for p in pairs if self._touched(*p, states, states) is not None), None)

    def _gaps(self, states: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return distances between bounding spheres [m], and relative speeds [m/s], (n,) both."""
        i, j = self._first[pairs], self._second[pairs]
        apart = states[i, layout.POSITION] - states[j, layout.POSITION]
        moving = states[i, layout.VELOCITY] - states[j, layout.VELOCITY]
        distance = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        return distance - self._reach[pairs], np.sqrt(np.einsum("ij,ij->i", moving, moving))

    def _steps_free(
        self, gap: np.ndarray, speed: np.ndarray, states: np.ndarray, pairs: np.ndarray
    ) -> np.ndarray:
        """Return the steps (n,) in which pairs cannot touch: v t + a t^2 / 2 = gap."""
        a, way = 2.0 * LARGEST_ACCELERATION, np.maximum(gap, NEAR_M)
        time = (np.sqrt(speed * speed + 2.0 * a * way) - speed) / a
        slow = np.linalg.norm(states[:, layout.VELOCITY], axis=1) < STANDING_SPEED
        stands = slow & (states[:, layout.N_CONTACTS] > 0.0)
        both = stands[self._first[pairs]] & stands[self._second[pairs]]
        time = np.where(both, np.maximum(time, STANDING_S), time)
        return np.maximum(np.minimum(time, LONGEST_S) / self._step_s, 1.0).astype(np.int64)

    def _touched(self, i: int, j: int, before: np.ndarray, after: np.ndarray) -> np.ndarray | None:
        """Return a point (3,) in map of both, None if they do not touch in or after a step."""
        if self._is_apart(i, j, before, after):
            return None
        for a, b in ((i, j), (j, i)):
            own, other = self._hulls[a], self._hulls[b]
            old = _in_body(_in_map(own.corners, before[a]), before[b])
            new = _in_body(_in_map(own.corners, after[a]), after[b])
            starts = np.vstack([new[own.edges[:, 0]], old])
            ends = np.vstack([new[own.edges[:, 1]], new])
            if (point := other.first_inside(starts, ends)) is not None:
                return _in_map(point, after[b])
        return None

    def _is_apart(self, i: int, j: int, before: np.ndarray, after: np.ndarray) -> bool:
        """Return whether a plane across the line between two lies between them all the time."""
        way = after[j, layout.POSITION] - after[i, layout.POSITION]
        return all(
            float((_in_map(self._hulls[i].corners, states[i]) @ way).max())
            < float((_in_map(self._hulls[j].corners, states[j]) @ way).min())
            for states in (before, after)
        )


def airframe_hull(airframe: Airframe) -> ConvexBody:
    """Return the convex hull of an airframe's mesh and contact points, body axes."""
    contacts = np.array(airframe.contact.feet_m + airframe.contact.hull_m)
    return ConvexBody(np.vstack([airframe_mesh(airframe).vertices_map, contacts]))


def _in_map(points: np.ndarray, state: np.ndarray) -> np.ndarray:
    return points @ state[layout.ROTATION].reshape(3, 3).T + state[layout.POSITION]


def _in_body(points: np.ndarray, state: np.ndarray) -> np.ndarray:
    return (points - state[layout.POSITION]) @ state[layout.ROTATION].reshape(3, 3)
