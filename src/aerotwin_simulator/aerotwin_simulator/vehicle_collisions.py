# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Collisions of vehicles with each other: when the convex hulls of their shapes touch.

For each pair the distance of the bounding spheres gives the time before which they cannot touch;
only pairs whose time is over are looked at, all of them in one call. Pairs that cannot touch for
`LONGEST_S` are left out by a tree until then: a thousand vehicles are half a million pairs. Two
convex bodies intersect exactly if an edge of one passes through the other or lies in it.
"""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_meshes.convex_body import ConvexBody
from aerotwin_multirotor_dynamics import layout
from aerotwin_simulator.collision import (
    LARGEST_ACCELERATION,
    LONGEST_S,
    NEAR_M,
    STANDING_SPEED,
    Collision,
)


class VehicleCollisions:
    """Detects when two of several vehicles touch; a step takes `step_s`."""

    def __init__(self, step_s: float) -> None:
        self._step_s = step_s
        self._n_steps = 0
        self.set_vehicles([], [])

    def set_vehicles(self, names: Sequence[str], hulls: Sequence[ConvexBody]) -> None:
        """Set names and hulls of the vehicles from now on."""
        self._names, self._hulls = tuple(names), tuple(hulls)
        reach = [np.linalg.norm(hull.corners, axis=1).max() for hull in hulls]
        self._reach = np.array(reach, dtype=np.float64)
        self._last_p_map = np.full((len(names), 3), np.nan)
        self.look_again()

    def look_again(self) -> None:
        """Check all pairs at the next step."""
        self._next = self._next_search = 0

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
        if self._n_steps >= self._next_search:
            self._search(after)
        if self._n_steps < self._next:
            return []
        which = np.flatnonzero(self._due <= self._n_steps)
        pairs = self._pairs[which]
        gap, speed = self._gaps(after, pairs)
        found = []
        for i, j in pairs[gap <= 0.0].tolist():
            if (p_map := self._touched(i, j, before, after)) is not None:
                moving = after[i, layout.VELOCITY] - after[j, layout.VELOCITY]
                first, second = (
                    Collision(
                        what=self._names[k], p_map=p_map, speed_m_s=float(np.linalg.norm(moving))
                    )
                    for k in (j, i)
                )
                found.append((i, j, first, second))
        self._due[which] = self._n_steps + self._steps_free(gap, speed, after, pairs)
        self._next = int(self._due.min(initial=self._next_search))
        return found

    def _search(self, states: np.ndarray) -> None:
        """Find the pairs (m, 2) that may touch within `LONGEST_S` of states (n, k)."""
        speed = np.linalg.norm(states[:, layout.VELOCITY], axis=1).max(initial=0.0)
        way = speed * LONGEST_S + 0.5 * LARGEST_ACCELERATION * LONGEST_S**2
        self._pairs = _near_pairs(states, 2.0 * (self._reach.max(initial=0.0) + way))
        self._due = np.zeros(len(self._pairs), np.int64)
        self._next = self._n_steps
        self._next_search = self._n_steps + max(1, int(LONGEST_S / self._step_s))

    def touching(self, states: np.ndarray) -> tuple[int, int] | None:
        """Return the first two vehicles that touch in states (n, k), None for none."""
        pairs = _near_pairs(states, 2.0 * self._reach.max(initial=0.0))
        for i, j in pairs[self._gaps(states, pairs)[0] <= 0.0].tolist():
            if self._touched(i, j, states, states) is not None:
                return i, j
        return None

    def _gaps(self, states: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return distances between bounding spheres [m], and relative speeds [m/s], (m,) both."""
        i, j = pairs.T
        apart = states[i, layout.POSITION] - states[j, layout.POSITION]
        moving = states[i, layout.VELOCITY] - states[j, layout.VELOCITY]
        gap = np.sqrt(np.einsum("ij,ij->i", apart, apart)) - self._reach[i] - self._reach[j]
        return gap, np.sqrt(np.einsum("ij,ij->i", moving, moving))

    def _steps_free(
        self, gap: np.ndarray, speed: np.ndarray, states: np.ndarray, pairs: np.ndarray
    ) -> np.ndarray:
        """Return the steps (m,) in which pairs (m, 2) cannot touch: v t + a t^2 / 2 = gap."""
        a, way = 2.0 * LARGEST_ACCELERATION, np.maximum(gap, NEAR_M)
        time = (np.sqrt(speed * speed + 2.0 * a * way) - speed) / a
        slow = np.linalg.norm(states[:, layout.VELOCITY], axis=1) < STANDING_SPEED
        stands = slow & (states[:, layout.N_CONTACTS] > 0.0)
        both = stands[pairs].all(axis=1)
        time = np.where(both, LONGEST_S, time)
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


def _near_pairs(states: np.ndarray, distance_m: float) -> np.ndarray:
    """Return the pairs (m, 2) in states (n, k) that are at most so far apart, in order."""
    tree = cKDTree(states[:, layout.POSITION])
    pairs = np.sort(tree.query_pairs(distance_m, output_type="ndarray"), axis=1)
    return pairs[np.lexsort(pairs.T[::-1])]


def _in_map(points: np.ndarray, state: np.ndarray) -> np.ndarray:
    return points @ state[layout.ROTATION].reshape(3, 3).T + state[layout.POSITION]


def _in_body(points: np.ndarray, state: np.ndarray) -> np.ndarray:
    return (points - state[layout.POSITION]) @ state[layout.ROTATION].reshape(3, 3)
