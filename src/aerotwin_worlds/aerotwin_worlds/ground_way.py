# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The way of an obstacle: straight lines between points, on the ground of a world."""

import math
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_rendering import WorldQueries
from aerotwin_rendering.queries import GROUND_MARGIN_M as STEP_M

SPACING_M, MOST_SAMPLES = 0.25, 20_000
"""Between samples of the ground, and how many are taken of a long way."""
TURN_M = 1.0
"""The heading turns over this length on both sides of a point of the way."""


class GroundWay:
    """Poses along a way, by the length from its start [m].

    Position follows the lines between the points (n, 2) [m], on the ground below the sampled
    surface within reach of a step: the highest that is at most 0.5 m above the last sample. The
    first one is the highest surface of all, or the highest below ``below_m``. An obstacle with
    wheels, ``wheelbase_m`` long and ``track_m`` wide, stands on all four of them; without, it is
    upright. It goes through whatever stands in its way.

    Raises
    ------
    ParameterError
        If it leaves the world, or runs into a wall (`stand_on`).
    """

    def __init__(
        self,
        points_m: Sequence[Sequence[float]],
        *,
        wheelbase_m: float = 0.0,
        track_m: float = 0.0,
        below_m: float | None = None,
    ) -> None:
        points = np.array(points_m, float)
        steps = np.diff(points, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        is_way = lengths > 0.0
        points = np.vstack([points[:1], points[1:][is_way]])
        self._points = points.tolist()
        self._at: list[float] = [0.0, *np.cumsum(lengths[is_way]).tolist()]
        self.length_m = self._at[-1]
        self._half_base, self._half_track, self._below_m = 0.5 * wheelbase_m, 0.5 * track_m, below_m
        self._set_headings(steps[is_way], lengths[is_way])
        self._sample_at: list[float] = [0.0]
        self._ground: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)]

    def _set_headings(self, steps: np.ndarray, lengths: np.ndarray) -> None:
        """Set the headings between which is interpolated: constant but near the points."""
        yaws = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])).tolist() or [0.0]
        at, yaw = [0.0], [yaws[0]]
        for k in range(len(yaws) - 1):
            reach = min(TURN_M, 0.5 * lengths[k], 0.5 * lengths[k + 1])
            at += [self._at[k + 1] - reach, self._at[k + 1] + reach]
            yaw += [yaws[k], yaws[k + 1]]
        self._yaw_at, self._yaws = [*at, self.length_m], [[y] for y in (*yaw, yaws[-1])]

    def stand_on(self, queries: WorldQueries, *, is_first: bool = True) -> None:
        """Sample the ground of a world; again when its meshes change, with gaps left as before."""
        n = min(math.ceil(self.length_m / SPACING_M), MOST_SAMPLES)
        beyond = np.linspace(0.0, self._half_base, math.ceil(self._half_base / SPACING_M) + 1)[1:]
        ahead = np.append(np.linspace(0.0, self.length_m, n + 1), self.length_m + beyond)
        before = (
            None if is_first else np.interp(ahead, self._sample_at, [z for _, z, _ in self._ground])
        )
        z = math.inf if self._below_m is None else self._below_m - STEP_M
        rows = self._followed(queries, ahead, z, before, may_rise=not is_first)
        start = rows[0][1]
        level = np.full(len(beyond), start)
        tail = self._followed(queries, -beyond, start, level, may_rise=False)
        self._sample_at = [*(-beyond[::-1]).tolist(), *ahead.tolist()]
        self._ground = tail[::-1] + rows

    def _followed(
        self,
        queries: WorldQueries,
        lengths: np.ndarray,
        z: float,
        before: np.ndarray | None,
        *,
        may_rise: bool,
    ) -> list[tuple[float, float, float]]:
        """Return the ground left, in the middle and right, one after the other from a height on.

        Where there is none, it is the highest surface if it ``may_rise``, as finer tiles do, or
        else as ``before``; without that it is an error up to the end.
        """
        found = []
        for k, at in enumerate(lengths.tolist()):
            x, y, yaw = self._place(at)
            ground = _ground(queries, x, y, z)
            if may_rise and not math.isfinite(ground):
                ground = _ground(queries, x, y, math.inf)
            if before is not None and not math.isfinite(ground):
                ground = float(before[k])
            if math.isfinite(ground):
                z = ground
            elif at <= self.length_m:
                raise ParameterError(
                    f"({x:.1f}, {y:.1f}) m: expected ground at most {STEP_M} m above the last, "
                    "found none: its way leaves the world or runs into a wall; choose other points"
                )
            found.append(self._beside(queries, x, y, yaw, z))
        return found

    def _beside(
        self, queries: WorldQueries, x: float, y: float, yaw: float, z: float
    ) -> tuple[float, float, float]:
        """Return the ground under the left wheel, in the middle, and under the right wheel."""
        if self._half_track == 0.0:
            return z, z, z
        reach, c, s = self._half_track, math.cos(yaw), math.sin(yaw)
        found = []
        for side in (reach, -reach):
            ground = _ground(queries, x - side * s, y + side * c, z)
            # beside a rim it is no steeper than 45 degrees
            is_there = math.isfinite(ground)
            found.append(min(max(ground, z - reach), z + reach) if is_there else z)
        return found[0], z, found[1]

    def _place(self, s: float) -> tuple[float, float, float]:
        """Return x, y and heading at a length from the start; straight on beyond the ends."""
        on = min(max(s, 0.0), self.length_m)
        (yaw,) = _between(self._yaw_at, self._yaws, on)
        x, y = _between(self._at, self._points, on)
        return x + (s - on) * math.cos(yaw), y + (s - on) * math.sin(yaw), yaw

    def T_map_object(self, s: float) -> np.ndarray:
        """Return the pose (4, 4) at a length from the start [m]."""
        x, y, yaw = self._place(s)
        if self._half_base == 0.0 or self._half_track == 0.0:
            return _pose(x, y, _between(self._sample_at, self._ground, s)[1], yaw, 0.0, 0.0)
        back_left, _, back_right = _between(self._sample_at, self._ground, s - self._half_base)
        front_left, _, front_right = _between(self._sample_at, self._ground, s + self._half_base)
        z = 0.25 * (back_left + front_left + back_right + front_right)
        rise = (front_left + front_right - back_left - back_right) / (4.0 * self._half_base)
        tilt = (front_left + back_left - front_right - back_right) / (4.0 * self._half_track)
        return _pose(x, y, z, yaw, rise, tilt)

    def fastest_share(self, radius_m: float) -> float:
        """Return how fast a point within a radius moves at most, per speed along the way."""
        lengths = np.maximum(np.diff(self._sample_at), 1e-9)
        steps = np.abs(np.diff(np.array(self._ground), axis=0))
        slope = float((steps / lengths[:, None]).max(initial=0.0))
        lengths = np.maximum(np.diff(self._yaw_at), 1e-9)
        turns = float((np.abs(np.diff(self._yaws, axis=0)[:, 0]) / lengths).max())
        if self._half_base > 0.0 and self._half_track > 0.0:
            turns += slope * (1.0 / self._half_base + 1.0 / self._half_track)
        return math.hypot(1.0, slope) + radius_m * turns


def _ground(queries: WorldQueries, x: float, y: float, z: float) -> float:
    """Return the highest surface at most `STEP_M` above a height, -infinity if there is none."""
    if z == math.inf:
        return float(queries.height(x, y))
    return float(queries.ground_plane([x, y, z])[0][2])


def _between(at: Sequence[float], rows: Sequence[Sequence[float]], s: float) -> list[float]:
    """Interpolate rows of numbers linearly at s; the first or last row beyond their ends.

    In plain Python, ten times as fast as NumPy for a single place.
    """
    k = min(max(bisect_right(at, s), 1), len(at) - 1) if len(at) > 1 else 0
    before, after = rows[max(k - 1, 0)], rows[k]
    span = at[k] - at[k - 1] if k else 0.0
    share = min(max((s - at[k - 1]) / span, 0.0), 1.0) if span > 0.0 else 0.0
    return [a + share * (b - a) for a, b in zip(before, after, strict=True)]


def _pose(x: float, y: float, z: float, yaw: float, rise: float, tilt: float) -> np.ndarray:
    """Return the pose that heads along yaw, with slopes ahead and to the left."""
    c, s = math.cos(yaw), math.sin(yaw)
    share = 1.0 / math.sqrt(1.0 + rise * rise)
    ax, ay, az = c * share, s * share, rise * share
    # Up is the normal of the plane with these slopes, left is up x ahead.
    ux, uy = -rise * c + tilt * s, -rise * s - tilt * c
    uz = 1.0 / math.sqrt(ux * ux + uy * uy + 1.0)
    ux, uy = ux * uz, uy * uz
    lx, ly, lz = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
    return np.array([[ax, lx, ux, x], [ay, ly, uy, y], [az, lz, uz, z], [0.0, 0.0, 0.0, 1.0]])
