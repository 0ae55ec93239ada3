# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A smooth trajectory through way-points: positions, velocities, accelerations and yaw.

Straight legs with circular corners, a trapezoidal speed profile along them (slower in corners and
climbs), and a moving average over the whole, which bounds the jerk and keeps straight lines
straight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import acos, atan2, cos, pi, sin, sqrt, tan

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import FloatArray

PATH_STEP_S = 0.02
_SPACING_M = 0.02
_STRAIGHT = 1e-6  # rad: smaller turns are not corners


@dataclass(frozen=True, kw_only=True)
class PathLimits:
    """Limits of the trajectory."""

    speed: float  # along the path [m/s]
    climb_rate: float  # vertical part of the speed [m/s]
    acceleration: float  # along the path and towards the inside of a corner [m/s^2]
    jerk: float  # along a straight line [m/s^3]
    corner_radius: float  # of arcs [m]; shorter where legs are short, 0 stops at corners
    yaw_rate: float  # [rad/s]


@dataclass(frozen=True, kw_only=True)
class PathPoint:
    """A way-point: position (3,) in map [m], yaw [rad] or None for no change, hold time [s]."""

    p_map: ArrayLike
    yaw: float | None = None
    hold: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PathSetpoint:
    """Desired state of the vehicle in map axes (ENU, yaw from east) [m], [s], [rad]."""

    p_map: FloatArray
    v_map: FloatArray
    a_map: FloatArray
    yaw: float
    yaw_rate: float


@dataclass(frozen=True, kw_only=True)
class SampledPath:
    """Set-points every `PATH_STEP_S`, at rest at both ends; arrays of n rows."""

    p_map: FloatArray
    v_map: FloatArray
    a_map: FloatArray
    yaw: FloatArray
    yaw_rate: FloatArray
    passed_s: tuple[float, ...] = ()  # when each point that it was planned through is passed [s]

    @property
    def duration(self) -> float:
        """Time from start to end [s]."""
        return (len(self.yaw) - 1) * PATH_STEP_S

    @property
    def length_m(self) -> float:
        """Length of the path."""
        return float(np.linalg.norm(np.diff(self.p_map, axis=0), axis=1).sum())

    def at(self, t: float) -> PathSetpoint:
        """Return the set-point at t [s], linear between samples, constant outside the path."""
        rows = self._rows
        place = min(max(t / PATH_STEP_S, 0.0), len(rows) - 1.0)
        low = min(int(place), len(rows) - 2)
        row = rows[low] + (place - low) * (rows[low + 1] - rows[low])
        yaw, yaw_rate = row[9:].tolist()
        return PathSetpoint(
            p_map=row[0:3],
            v_map=row[3:6],
            a_map=row[6:9],
            yaw=atan2(sin(yaw), cos(yaw)),
            yaw_rate=yaw_rate,
        )

    @cached_property
    def _rows(self) -> FloatArray:
        """All set-points side by side, (n, 11): one interpolation for all of them."""
        yaws = np.column_stack([self.yaw, self.yaw_rate])
        return np.hstack([self.p_map, self.v_map, self.a_map, yaws])


def plan_path(
    p_map_start: ArrayLike, yaw_start: float, points: Sequence[PathPoint], limits: PathLimits
) -> SampledPath:
    """Return the path from rest at the start through the points to rest at the last one.

    The yaw begins to turn to that of the next point when the point before it is passed. A stop
    lasts until the yaw is reached. `p_map_start`, `yaw_start` (3,): pose of the hovering vehicle
    [m], [rad]. `points`: the vehicle stops where `hold` is above 0 and at the last; other points
    are corners.
    """
    here = np.asarray(p_map_start, dtype=np.float64)
    yaw = yaw_start
    positions: list[FloatArray] = [here[None]]
    yaws: list[FloatArray] = [np.array([yaw])]
    rows: list[int] = []
    for leg in _legs(points):
        p_leg, passed = _fly_leg(here, leg, limits)
        rows += [sum(map(len, positions)) + row for row in passed]
        yaw_leg, yaw = _slew_leg(yaw, leg, passed, len(p_leg), limits.yaw_rate)
        stop = max(len(yaw_leg) - len(p_leg), round(leg[-1].hold / PATH_STEP_S))
        positions.append(np.vstack([p_leg, np.repeat(p_leg[-1:], stop, axis=0)]))
        rest = len(p_leg) + stop - len(yaw_leg)
        yaws.append(np.concatenate([yaw_leg, np.full(rest, yaw)]))
        here = p_leg[-1]
    return _smooth(np.vstack(positions), np.concatenate(yaws), rows, limits)


def _legs(points: Sequence[PathPoint]) -> list[list[PathPoint]]:
    """Return the points, split after each stop."""
    legs: list[list[PathPoint]] = [[]]
    for point in points:
        legs[-1].append(point)
        if point.hold > 0.0:
            legs.append([])
    return [leg for leg in legs if leg]


def _fly_leg(
    start: FloatArray, leg: Sequence[PathPoint], limits: PathLimits
) -> tuple[FloatArray, list[int]]:
    """Return positions every `PATH_STEP_S` from rest to rest, and the row that passes each point.

    The start itself is left out.
    """
    corners = np.vstack([start, *(np.asarray(point.p_map, dtype=np.float64) for point in leg)])
    p, curvature, at_corner = _rounded_polyline(corners, limits.corner_radius)
    if len(p) < 2:
        return p.copy(), [0] * len(leg)
    step = np.linalg.norm(np.diff(p, axis=0), axis=1)
    speed = _speed_profile(p, step, curvature, limits)
    time = np.concatenate([[0.0], np.cumsum(2.0 * step / (speed[1:] + speed[:-1]))])
    n_steps = int(np.ceil(time[-1] / PATH_STEP_S))
    grid = np.minimum(np.arange(1, n_steps + 1) * PATH_STEP_S, time[-1])
    sampled = np.column_stack([np.interp(grid, time, p[:, axis]) for axis in range(3)])
    return sampled, [int(np.searchsorted(grid, time[row])) for row in at_corner]


def _rounded_polyline(
    corners: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray, list[int]]:
    """Return points along the polyline with arcs for corners, their curvature [1/m], and rows.

    The rows are those nearest to each corner but the first; equal corners are dropped.
    """
    pieces: list[FloatArray] = []
    curvatures: list[FloatArray] = []
    rows: list[int] = []
    here = corners[0]
    for index in range(1, len(corners)):
        corner = corners[index]
        following = corners[index + 1] if index + 1 < len(corners) else None
        arc, bend = _corner_arc(corners[index - 1], corner, following, radius)
        line = _line(here, arc[0])
        n_before = sum(map(len, pieces)) + len(line)
        rows.append(n_before + len(arc) // 2)
        pieces += [line, arc]
        curvatures += [np.zeros(len(line)), np.full(len(arc), bend)]
        here = arc[-1]
    points, curvature = np.vstack(pieces), np.concatenate(curvatures)
    is_new = np.concatenate([[True], np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9])
    place = np.cumsum(is_new) - 1
    last = int(is_new.sum()) - 1
    rows = [int(place[min(row, len(place) - 1)]) for row in rows[:-1]] + [last]
    merged = np.zeros(last + 1)
    np.maximum.at(merged, place, curvature)  # a sharp corner is also the end of a line
    return points[is_new], merged, rows


def _line(start: FloatArray, end: FloatArray) -> FloatArray:
    # at least one point between the ends, where a leg from rest to rest moves
    n = max(int(np.ceil(np.linalg.norm(end - start) / _SPACING_M)), 2)
    return start + np.linspace(0.0, 1.0, n + 1)[:, None] * (end - start)


def _corner_arc(
    before: FloatArray, corner: FloatArray, after: FloatArray | None, radius: float
) -> tuple[FloatArray, float]:
    """Return points (n, 3) on the arc tangent to both sides, and its curvature [1/m].

    A sharp corner is one point of infinite curvature.
    """
    if after is None:
        return corner[None], 0.0
    length_in, length_out = np.linalg.norm(corner - before), np.linalg.norm(after - corner)
    if min(length_in, length_out) < 1e-9:
        return corner[None], 0.0
    into, out = (corner - before) / length_in, (after - corner) / length_out
    turn = acos(float(np.clip(into @ out, -1.0, 1.0)))
    if turn < _STRAIGHT:
        return corner[None], 0.0
    if radius <= 0.0 or turn > pi - 1e-3:
        return corner[None], np.inf
    tangent = min(radius * tan(turn / 2.0), 0.45 * float(min(length_in, length_out)))
    fitted = tangent / tan(turn / 2.0)
    inward = out - into
    inward /= np.linalg.norm(inward)
    centre = corner + inward * (fitted / cos(turn / 2.0))
    outward = corner - tangent * into - centre  # from the centre to the start of the arc
    n = max(int(np.ceil(turn * fitted / _SPACING_M)), 2)
    angles = np.linspace(0.0, turn, n + 1)[:, None]
    return centre + np.cos(angles) * outward + np.sin(angles) * fitted * into, 1.0 / fitted


def _speed_profile(
    p: FloatArray, step: FloatArray, curvature: FloatArray, limits: PathLimits
) -> FloatArray:
    """Return the highest speed [m/s] at each point within all limits, 0 at both ends."""
    speed = np.full(len(p), float(limits.speed))
    is_bent = curvature > 0.0
    speed[is_bent] = np.minimum(speed[is_bent], np.sqrt(limits.acceleration / curvature[is_bent]))
    slope = np.abs(np.diff(p[:, 2])) / step
    climbing = limits.climb_rate / np.maximum(slope, limits.climb_rate / limits.speed)
    speed[:-1] = np.minimum(speed[:-1], climbing)
    speed[1:] = np.minimum(speed[1:], climbing)
    speed[0] = speed[-1] = 0.0
    for order in (range(1, len(p)), range(len(p) - 2, -1, -1)):
        for i in order:
            j, gap = (i - 1, step[i - 1]) if order.step > 0 else (i + 1, step[i])
            speed[i] = min(speed[i], sqrt(speed[j] ** 2 + 2.0 * limits.acceleration * gap))
    return speed


def _slew_leg(
    yaw: float, leg: Sequence[PathPoint], passed: Sequence[int], n: int, rate: float
) -> tuple[FloatArray, float]:
    """Return the yaw of each row of a leg, longer than n where it needs more time, and the last."""
    yaws: list[float] = []
    target = yaw
    begin = 0
    for index, (point, end) in enumerate(zip(leg, passed, strict=True)):
        if point.yaw is not None:
            target = target + _turn(target, point.yaw)
        is_last = index == len(leg) - 1
        row = begin
        while row < (n if is_last else end) or (is_last and yaw != target):
            yaw += float(np.clip(target - yaw, -rate * PATH_STEP_S, rate * PATH_STEP_S))
            yaws.append(yaw)
            row += 1
        begin = max(row, begin)
    return np.array(yaws), yaw


def _turn(yaw: float, target: float) -> float:
    """Return the shorter turn [rad] from one yaw to another."""
    return atan2(sin(target - yaw), cos(target - yaw))


def _smooth(
    p: FloatArray, yaw: FloatArray, passed: Sequence[int], limits: PathLimits
) -> SampledPath:
    """Return moving averages over the rise time of the acceleration.

    `passed` are the rows at which points are passed.

    The derivative of a moving average is the difference of its ends: exact, no noise.
    """
    half = max(round(limits.acceleration / limits.jerk / PATH_STEP_S / 2.0), 1)
    padded = np.pad(np.column_stack([p, yaw]), ((3 * half, 3 * half), (0, 0)), mode="edge")
    total = np.cumsum(np.vstack([np.zeros(4), padded]), axis=0)
    window = 2 * half + 1
    mean = (total[window:] - total[:-window]) / window
    rate = np.gradient(mean, PATH_STEP_S, axis=0)
    acceleration = np.gradient(rate, PATH_STEP_S, axis=0)
    return SampledPath(
        p_map=mean[:, :3],
        v_map=rate[:, :3],
        a_map=acceleration[:, :3],
        yaw=mean[:, 3],
        yaw_rate=rate[:, 3],
        passed_s=tuple((row + 2 * half) * PATH_STEP_S for row in passed),
    )
