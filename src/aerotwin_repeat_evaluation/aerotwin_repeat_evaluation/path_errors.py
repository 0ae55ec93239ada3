# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Signed lateral deviation of points from a path.

A path is a chain of vertices x_i with unit tangents t_i. A point p belongs to the nearest of the
segments that it lies beside, 0 <= (p - x_i) . t_i <= l_i, and its error is the distance to that
segment's line, or to the nearest vertex where that is closer (outside of a corner). Left of the
direction of travel is positive:

    e = -sign(((p - x_i) x t_i)_z) |(p - x_i) x t_i|

which is how vtr3_pose_graph's path_comparison measures paths (github.com/utiasASRL/vtr3). Where a
route crosses or repeats itself, only a window along it is searched.
"""

from dataclasses import dataclass

import numpy as np

CLOSED_M = 1.0
"""A route whose ends are nearer than this is a loop."""
_SAME_PLACE_M = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class LateralErrors:
    """Coordinates of points relative to a path.

    `error_m` (n,) is positive left of the direction of travel [m]; `s_m` (n,) the arc length of the
    nearest point of the path, below zero before its start and above its length beyond its end [m].
    """

    error_m: np.ndarray
    s_m: np.ndarray


def arc_length(path_points: np.ndarray) -> np.ndarray:
    """Return the distance along a path (n, d) at each of its points, (n,) [m]."""
    steps = np.linalg.norm(np.diff(np.asarray(path_points, np.float64), axis=0), axis=1)
    return np.append(0.0, np.cumsum(steps))


def ends_meet(path_points: np.ndarray) -> bool:
    """Return whether a path (n, d) ends at its start, seen from above."""
    ends = np.asarray(path_points, np.float64)[[0, -1], :2]
    return bool(np.linalg.norm(ends[1] - ends[0]) < CLOSED_M)


def lateral_errors(
    path_points: np.ndarray,
    points: np.ndarray,
    *,
    window_m: float | None = None,
    s_near_m: float | None = None,
    is_closed: bool = False,
) -> LateralErrors:
    """Return the signed lateral deviation of points from a path, in the horizontal plane.

    Parameters
    ----------
    path_points : (k, 3) or (k, 2) array
        Vertices of the path in the order of travel [m]; repeated vertices are skipped.
    points : (n, 3) or (n, 2) array
        In the frame of the path [m].
    window_m : float, optional
        Search only this far along the path on both sides of where the previous point was found,
        and as far as the two are apart: needed where the path crosses itself, turns back or is
        driven twice. The whole path by default.
    s_near_m : float, optional
        With a window: expected arc length of the first point [m]; searched on the whole path by
        default.
    is_closed : bool
        Whether the path's end joins its start: windows reach across, and arc lengths continue
        to count over more than one lap.

    Notes
    -----
    The first and last segments of an open path are extended straight, so that a robot that stops
    shortly before its goal has no lateral error for that. At a cusp, where the vehicle turns back,
    the error is the overshoot. Always |e| <= |p - nearest vertex|.
    """
    path = _Path(path_points, is_closed=is_closed)
    errors, s = [], []
    s_near, before = s_near_m, None
    for p in _horizontal(points, "points"):
        window = None
        if window_m is not None:
            window = window_m + (0.0 if before is None else float(np.linalg.norm(p - before)))
        error, s_near = path.locate(p, s_near, window)
        errors.append(error)
        s.append(s_near)
        before = p
    return LateralErrors(error_m=np.array(errors, float), s_m=np.array(s, float))


class _Path:
    """Segments of a path; points are located in a range of them."""

    def __init__(self, path_points: np.ndarray, *, is_closed: bool) -> None:
        vertices = _horizontal(path_points, "path_points")
        if is_closed and len(vertices):
            vertices = np.vstack([vertices, vertices[:1]])
        steps = np.linalg.norm(np.diff(vertices, axis=0), axis=1)
        vertices = vertices[np.append(True, steps > _SAME_PLACE_M)]
        if len(vertices) < 2:
            raise ValueError("path_points must have two different places at least, got fewer")
        self.vertices, self.is_closed = vertices, is_closed
        self.s = arc_length(vertices)
        self.lengths = np.diff(self.s)
        self.tangents = np.diff(vertices, axis=0) / self.lengths[:, None]

    def locate(self, p: np.ndarray, s_near: float | None, window: float | None) -> tuple:
        """Return error and arc length of one point."""
        which, laps = self._candidates(s_near, window)
        start, tangent = self.vertices[which], self.tangents[which]
        along = np.einsum("ij,ij->i", p - start, tangent)
        clamped = np.clip(along, 0.0, self.lengths[which])
        distance = np.linalg.norm(p - start - clamped[:, None] * tangent, axis=1)
        best = int(np.argmin(distance))
        k, beside = int(which[best]), float(clamped[best])
        if self._is_beyond_an_end(k, along[best]):
            beside = float(along[best])
        error = float(np.linalg.norm(p - start[best] - beside * tangent[best]))
        s = self.s[k] + beside + laps[best] * self.s[-1]
        return self._side(p, k, along[best], beside) * error, s

    def _is_beyond_an_end(self, k: int, along: float) -> bool:
        """Return whether a point lies before the start or past the end of an open path."""
        if self.is_closed:
            return False
        is_past = k == len(self.lengths) - 1 and along > self.lengths[k]
        return is_past or (k == 0 and along < 0.0)

    def _candidates(self, s_near, window) -> tuple[np.ndarray, np.ndarray]:
        """Return the segments that the window touches, and the lap that each is in."""
        n, total = len(self.lengths), float(self.s[-1])
        if window is None or s_near is None:
            return np.arange(n), np.zeros(n)
        low, high = s_near - window, s_near + window
        if not self.is_closed:
            low, high = np.clip([low, high], 0.0, total)
        first, last = self._segment(low), self._segment(min(high, low + total))
        if not self.is_closed:
            first, last = min(first, n - 1), min(last, n - 1)
        index = np.arange(first, last + 1)
        return index % n, np.floor_divide(index, n).astype(float)

    def _segment(self, s: float) -> int:
        """Return the index of the segment at an arc length; indices continue from lap to lap."""
        lap = int(np.floor(s / self.s[-1]))
        within = s - lap * self.s[-1]
        return lap * len(self.lengths) + int(np.searchsorted(self.s[1:-1], within, side="right"))

    def _side(self, p: np.ndarray, k: int, along: float, clamped: float) -> float:
        """Return 1 on the left of the path and -1 on its right.

        Outside a corner the mean of both tangents decides; at an exact reversal the segment before.
        """
        tangent, corner = self.tangents[k], self.vertices[k]
        n = len(self.lengths)
        if along > clamped:
            corner = self.vertices[k + 1]
            tangent = tangent + self.tangents[(k + 1) % n]
        elif along < clamped:
            tangent = tangent + self.tangents[(k - 1) % n]
        if np.linalg.norm(tangent) < _SAME_PLACE_M:
            tangent = self.tangents[k if along > clamped else (k - 1) % n]
        dx, dy = p - corner
        return -1.0 if dx * tangent[1] - dy * tangent[0] > 0.0 else 1.0


def _horizontal(points: np.ndarray, name: str) -> np.ndarray:
    places = np.asarray(points, np.float64)
    if places.ndim != 2 or places.shape[1] not in (2, 3) or not np.isfinite(places).all():
        raise ValueError(f"{name} must be finite with shape (n, 3) or (n, 2), got {places.shape}")
    return places[:, :2]
