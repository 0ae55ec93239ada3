# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A route as a curve: arc length, heading, curvature, projection of poses, and progress.

Horizontal geometry: s is the length of the curve in the x-y plane of the map. A route that
changes between forward and reverse driving has cusps; between two cusps it is smooth.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import Akima1DInterpolator

from aerotwin_core.frames import FloatArray

SAMPLE_M = 0.05
"""Spacing of the samples: an arc of radius 2 m is off its chord by 0.16 mm."""
CURVATURE_WINDOW_M = 0.5
"""Curvature is the turn over this length to both sides: it evens out the noise of taught poses."""
WINDOW_M = 1.0
"""Largest motion of a vehicle between two poses: 0.5 s at 1.5 m/s plus a margin."""
CUSP_REACHED_M = 0.02
"""A cusp counts as reached when less than this is left: the accuracy of a good localisation."""
MIN_SPACING_M = 0.05
"""Poses nearer than this to the last one are left out: their direction is noise."""


@dataclass(frozen=True, kw_only=True)
class RouteProjection:
    """Pose of a vehicle in the coordinates of a route.

    `s_m` is the arc length of the nearest point, `lateral_m` the distance from the curve, positive
    to the left of the direction of travel, `heading_error_rad` the vehicle's heading minus the
    route's, in [-pi, pi], and `distance_m` the distance from that point; it exceeds the lateral one
    if the window ends before the vehicle.
    """

    s_m: float
    lateral_m: float
    heading_error_rad: float
    distance_m: float


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Part of a route between two cusps: samples start to stop - 1, +1 forward, -1 reverse."""

    start: int
    stop: int
    direction: int
    stop_s_m: float


class RoutePath:
    """The curve through the poses of a route, sampled densely.

    Akima's interpolation (J. ACM 17(4), 1970) per coordinate over the chord length: it passes
    through every pose and does not overshoot at corners. The headings of the poses determine
    whether the vehicle drives forward or in reverse.

    Parameters
    ----------
    poses_map : (n, 4, 4) array
        T_map_base of the route's vertices in driving order.

    Attributes
    ----------
    s_m, points_map : (m,) and (m, 3) arrays
        Arc length of the samples, not decreasing, a cusp twice, and their positions [m].
    heading_rad, curvature_1_m : (m,) arrays
        Heading of the vehicle at the samples, unwrapped within a segment [rad]; turn of the
        direction of travel per length, positive to the left [1/m].
    segments : tuple of Segment
    vertex_s_m : (n,) array
        Arc lengths of the input poses [m].

    Raises
    ------
    ValueError
        If the shape is wrong, a value is not finite, or the route is shorter than 5 cm.
    """

    def __init__(self, poses_map: ArrayLike) -> None:
        poses = np.asarray(poses_map, dtype=np.float64)
        if poses.ndim != 3 or poses.shape[1:] != (4, 4):
            raise ValueError(f"poses_map must have shape (n, 4, 4), got {poses.shape}")
        if not np.isfinite(poses).all():
            k = int(np.flatnonzero(~np.isfinite(poses).all(axis=(1, 2)))[0])
            raise ValueError(f"poses_map[{k}] must be finite, got {poses[k].tolist()}")
        retained = _spaced(poses[:, :2, 3])
        if len(retained) < 2:
            raise ValueError(
                f"a route must be at least {MIN_SPACING_M} m long, got {len(poses)} poses at one "
                "place; teach a longer one"
            )
        self._build(poses[retained], retained, len(poses))

    def _build(self, poses: FloatArray, retained: NDArray[np.intp], n_input: int) -> None:
        points = poses[:, :3, 3]
        directions = _directions(poses)
        cuts = np.flatnonzero(np.diff(directions)) + 1
        bounds = [0, *cuts.tolist(), len(points) - 1]
        columns: list[tuple[FloatArray, ...]] = []
        segments, s_retained = [], np.zeros(len(points))
        n, s0 = 0, 0.0
        for first, last in pairwise(bounds):
            direction = int(directions[first])
            s, curve, heading, curvature, s_knots = _sample(points[first : last + 1], direction)
            columns.append((s + s0, curve, heading, curvature))
            s_retained[first : last + 1] = s_knots + s0
            n_end, stop_s = n + len(s), s0 + float(s[-1])
            segments.append(Segment(start=n, stop=n_end, direction=direction, stop_s_m=stop_s))
            n, s0 = n_end, stop_s
        self.s_m, self.points_map, self.heading_rad, self.curvature_1_m = (
            np.concatenate(column) for column in zip(*columns)
        )
        self.segments = tuple(segments)
        self.vertex_s_m = s_retained[
            np.searchsorted(retained, np.arange(n_input), side="right") - 1
        ]

    @property
    def length_m(self) -> float:
        """Length of the whole route [m]."""
        return float(self.s_m[-1])

    def segment_at(self, s_m: float) -> Segment:
        """Return the segment at arc length s; a cusp belongs to the segment after it."""
        for segment in self.segments:
            if s_m < segment.stop_s_m:
                return segment
        return self.segments[-1]

    def at(self, s_m: ArrayLike, segment: Segment) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return points (n, 3), headings (n,) and curvatures (n,) at s (n,) within a segment."""
        part = slice(segment.start, segment.stop)
        s, known = np.atleast_1d(np.asarray(s_m, dtype=np.float64)), self.s_m[part]
        points = np.column_stack([np.interp(s, known, p) for p in self.points_map[part].T])
        heading = np.interp(s, known, self.heading_rad[part])
        return points, heading, np.interp(s, known, self.curvature_1_m[part])

    def project(self, T_map_base: ArrayLike, s_near_m: float, window_m: float) -> RouteProjection:
        """Return the nearest point of the route near a known arc length.

        Only the segment of s_near and only s_near -+ window are searched, so that neither the other
        pass of a loop or crossing nor the way back from a cusp is matched. `s_near_m` is the last
        arc length of the vehicle, `window_m` the farthest it may have moved since [m].
        """
        T = np.asarray(T_map_base, dtype=np.float64)
        if T.shape != (4, 4) or not np.isfinite(T).all():
            raise ValueError(f"T_map_base must be (4, 4) and finite, got {T.tolist()}")
        if not window_m > 0.0:
            raise ValueError(f"window_m must be positive, got {window_m}")
        segment = self.segment_at(s_near_m)
        s = self.nearest(T[:2, 3], s_near_m, window_m, segment)
        points, heading, _ = self.at(s, segment)
        c, si = np.cos(heading[0]), np.sin(heading[0])
        dx, dy = T[:2, 3] - points[0, :2]
        error = np.arctan2(T[1, 0], T[0, 0]) - heading[0]
        return RouteProjection(
            s_m=s,
            lateral_m=float(segment.direction * (c * dy - si * dx)),
            heading_error_rad=float(np.arctan2(np.sin(error), np.cos(error))),
            distance_m=float(np.hypot(dx, dy)),
        )

    def nearest(
        self, p_map: ArrayLike, s_near_m: float, window_m: float, segment: Segment
    ) -> float:
        """Return the arc length nearest to p (2,) within s_near -+ window of a segment [m]."""
        p = np.asarray(p_map, dtype=np.float64)
        s = self.s_m[segment.start : segment.stop]
        first = max(int(np.searchsorted(s, s_near_m - window_m)) - 1, 0)
        last = min(int(np.searchsorted(s, s_near_m + window_m)) + 1, len(s))
        first = min(first, last - 2)
        corners = self.points_map[segment.start + first : segment.start + last, :2]
        chords = np.diff(corners, axis=0)
        share = np.einsum("ij,ij->i", p - corners[:-1], chords)
        share = np.clip(share / np.einsum("ij,ij->i", chords, chords), 0.0, 1.0)
        off = corners[:-1] + share[:, None] * chords - p
        i = int(np.argmin(np.einsum("ij,ij->i", off, off)))
        return float(s[first + i] + share[i] * (s[first + i + 1] - s[first + i]))


class RouteProgress:
    """Tracks the arc length `s_m` of a vehicle, from an initial one [m]."""

    def __init__(self, route: RoutePath, s_m: float = 0.0) -> None:
        self._route = route
        self.s_m = s_m

    @property
    def left_m(self) -> float:
        """Remaining length of the route [m]."""
        return self._route.length_m - self.s_m

    def update(self, T_map_base: ArrayLike, window_m: float = WINDOW_M) -> RouteProjection:
        """Return the projection of a pose (4, 4), and advance to it.

        At a cusp the next segment becomes active; until then only the present one counts, though
        the next lies on top of it.
        """
        projection = self._route.project(T_map_base, self.s_m, window_m)
        segment = self._route.segment_at(self.s_m)
        self.s_m = projection.s_m
        if segment.stop_s_m - projection.s_m < CUSP_REACHED_M:
            self.s_m = segment.stop_s_m
        return projection


def _spaced(points: FloatArray) -> NDArray[np.intp]:
    """Return the indices of points at least MIN_SPACING_M from the previous retained one."""
    retained = [0]
    for k in range(1, len(points)):
        if np.hypot(*(points[k] - points[retained[-1]])) >= MIN_SPACING_M:
            retained.append(k)
    return np.array(retained)


def _directions(poses: FloatArray) -> NDArray[np.intp]:
    """Return +1 for every interval driven forward and -1 for those in reverse."""
    chords = np.diff(poses[:, :2, 3], axis=0)
    nose = poses[:-1, :2, 0] + poses[1:, :2, 0]
    return np.where(np.einsum("ij,ij->i", chords, nose) >= 0.0, 1, -1)


def _sample(points: FloatArray, direction: int) -> tuple[FloatArray, ...]:
    """Return s, points, headings and curvature of the curve through points, and s at them."""
    chord = np.r_[0.0, np.cumsum(np.hypot(*np.diff(points[:, :2], axis=0).T))]
    curve = Akima1DInterpolator(chord, points, axis=0, method="akima")
    u = np.linspace(0.0, chord[-1], int(np.ceil(chord[-1] / SAMPLE_M)) + 1)
    samples = curve(u)
    steps = np.hypot(*np.diff(samples[:, :2], axis=0).T)
    s = np.r_[0.0, np.cumsum(steps)]
    slope = curve(u, 1)
    travel = np.unwrap(np.arctan2(slope[:, 1], slope[:, 0]))
    ahead = np.minimum(s + CURVATURE_WINDOW_M, s[-1])
    behind = np.maximum(s - CURVATURE_WINDOW_M, 0.0)
    turn = np.interp(ahead, s, travel) - np.interp(behind, s, travel)
    heading = travel if direction > 0 else travel + np.pi
    s_knots = np.asarray(np.interp(chord, u, s))
    return s, samples, heading, turn / (ahead - behind), s_knots
