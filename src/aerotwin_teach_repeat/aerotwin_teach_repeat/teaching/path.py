# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A drivable path through way-points: smooth, of bounded curvature, evenly sampled."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter

FINE_M = 0.02
"""Step of the curve from which the path is sampled [m]."""
LONGEST_M = 100_000.0
"""A longer path is no route of a ground vehicle, and would exhaust the memory."""
_WIDER = 1.15
_CURVATURE_SLACK = 1.001  # of the bound, for the rounding of resampling the curve
_SPAN = 5
"""Steps to both sides over which curvature is measured: over one, rounding would dominate."""


@dataclass(frozen=True, kw_only=True)
class PathParameters:
    """Parameters of the path through way-points."""

    spacing_m: float = parameter(
        0.3, text="Distance of vertices (VTR3's keyframes).", unit="m", minimum=0.02, maximum=5.0
    )
    min_radius_m: float = parameter(
        2.0, text="Smallest radius of a turn; a unicycle at 1 m/s and 0.5 rad/s turns on 2 m.",
        unit="m", minimum=0.1, maximum=100.0,
    )  # fmt: skip
    max_deviation_m: float = parameter(
        1.0, text="Farthest it may pass from a way-point.", unit="m", minimum=0.0, maximum=100.0
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SmoothPath:
    """A path on the plane; a closed path ends where it starts.

    Attributes
    ----------
    points_m, s_m : (n, 2) and (n,) arrays
        Evenly spaced positions, and their path lengths [m].
    heading, curvature : (n,) arrays
        Counter-clockwise from x, unwrapped [rad]; positive to the left [1/m].
    """

    points_m: FloatArray
    s_m: FloatArray
    heading: FloatArray
    curvature: FloatArray
    is_closed: bool

    @property
    def length_m(self) -> float:
        """Length [m]."""
        return float(self.s_m[-1])


def smooth_waypoints(
    waypoints_m: np.ndarray, *, is_closed: bool = False, parameters: PathParameters | None = None
) -> SmoothPath:
    """Return a path through way-points (n, 2) or (n, 3) within the vehicle's curvature limit [m].

    A cubic spline through the way-points; if it turns too sharply, it is smoothed along itself with
    increasingly wide Gaussians until it does not. Heights are ignored. The ends of an open path are
    fixed; a closed one need not repeat the first way-point and is as smooth there as elsewhere.
    `UserError` if there are too few way-points, or the path would pass too far from one.
    """
    parameters = PathParameters() if parameters is None else parameters
    corners = _checked(waypoints_m, is_closed)
    curve = line = _spline(corners, is_closed)
    sharpest = 1.0 / parameters.min_radius_m * _CURVATURE_SLACK
    worst, deviation, sigma_m = *_deviation(curve, corners), 0.0
    while (
        np.abs(_bends(curve, is_closed)[1]).max() > sharpest
        and deviation <= parameters.max_deviation_m
    ):
        sigma_m = max(sigma_m * _WIDER, parameters.min_radius_m / 10.0)
        curve = _even(_blurred(line, sigma_m / FINE_M, is_closed))
        worst, deviation = _deviation(curve, corners)
    if deviation > parameters.max_deviation_m:
        raise UserError(
            f"way-point {worst} at ({corners[worst, 0]:.2f}, {corners[worst, 1]:.2f}) m: a path "
            f"that turns on {parameters.min_radius_m:g} m would pass it by more than "
            f"{parameters.max_deviation_m:g} m; widen the turn there, or change min_radius_m or "
            "max_deviation_m"
        )
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    heading, curvature = _bends(curve, is_closed)
    requested = np.linspace(0.0, s[-1], max(round(s[-1] / parameters.spacing_m), 1) + 1)
    return SmoothPath(
        points_m=np.column_stack([np.interp(requested, s, column) for column in curve.T]),
        s_m=requested,
        heading=np.interp(requested, s, heading),
        curvature=np.interp(requested, s, curvature),
        is_closed=is_closed,
    )


def _checked(waypoints_m: np.ndarray, is_closed: bool) -> FloatArray:
    corners = np.asarray(waypoints_m, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] not in (2, 3) or not np.isfinite(corners).all():
        raise UserError(f"way-points must be finite (n, 2) or (n, 3), got shape {corners.shape}")
    corners = corners[:, :2]
    steps = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    corners = corners[np.append(True, steps > FINE_M)]
    if is_closed and len(corners) > 1 and np.linalg.norm(corners[-1] - corners[0]) <= FINE_M:
        corners = corners[:-1]
    fewest = 3 if is_closed else 2
    if len(corners) < fewest:
        raise UserError(
            f"a {'closed' if is_closed else 'open'} route needs {fewest} different way-points at "
            f"least, got {len(corners)}"
        )
    if steps.sum() > LONGEST_M:
        raise UserError(
            f"the way-points are {steps.sum():.4g} m long; check that they are in metres"
        )
    return corners


def _spline(corners: FloatArray, is_closed: bool) -> FloatArray:
    """Return points every `FINE_M` along a cubic spline; of a closed one without the last."""
    knots = np.vstack([corners, corners[:1]]) if is_closed else corners
    chords = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1)))
    if len(knots) == 2:
        share = np.linspace(0.0, 1.0, max(int(np.ceil(chords[-1] / FINE_M)), 2) + 1)[:, None]
        return knots[0] + share * (knots[1] - knots[0])
    spline = CubicSpline(chords, knots, bc_type="periodic" if is_closed else "natural")
    return _even(spline(np.linspace(0.0, chords[-1], int(np.ceil(chords[-1] / FINE_M)) + 1)))


def _even(curve: FloatArray) -> FloatArray:
    """Return the curve resampled in even steps of about `FINE_M`."""
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))
    requested = np.linspace(0.0, s[-1], max(int(np.ceil(s[-1] / FINE_M)), 2) + 1)
    return np.column_stack([np.interp(requested, s, column) for column in curve.T])


def _blurred(curve: FloatArray, sigma: float, is_closed: bool) -> FloatArray:
    if is_closed:
        blurred = gaussian_filter1d(curve[:-1], sigma, axis=0, mode="wrap")
        return np.vstack([blurred, blurred[:1]])
    # A curve reflected through its ends retains them.
    n = min(len(curve) - 1, int(4.0 * sigma) + 1)
    before, after = 2.0 * curve[0] - curve[n:0:-1], 2.0 * curve[-1] - curve[-2 : -n - 2 : -1]
    return gaussian_filter1d(np.vstack([before, curve, after]), sigma, axis=0)[n : n + len(curve)]


def _bends(curve: FloatArray, is_closed: bool) -> tuple[FloatArray, FloatArray]:
    """Return heading and curvature at the points of an evenly sampled curve."""
    k = min(_SPAN, (len(curve) - 1) // 2)
    if is_closed:
        body = curve[:-1]
        ahead, behind = np.roll(body, -k, axis=0), np.roll(body, k, axis=0)
        ahead, behind = np.vstack([ahead, ahead[:1]]), np.vstack([behind, behind[:1]])
    else:
        line = np.vstack(
            [2.0 * curve[0] - curve[k:0:-1], curve, 2.0 * curve[-1] - curve[-2 : -k - 2 : -1]]
        )
        ahead, behind = line[2 * k :], line[: len(curve)]
    along, bend = (ahead - behind) / 2.0, ahead - 2.0 * curve + behind
    speed = np.linalg.norm(along, axis=1)
    across = along[:, 0] * bend[:, 1] - along[:, 1] * bend[:, 0]
    curvature = across / np.maximum(speed, 1e-12) ** 3
    return np.unwrap(np.arctan2(along[:, 1], along[:, 0])), curvature


def _deviation(curve: FloatArray, corners: FloatArray) -> tuple[int, float]:
    """Return the index of the way-point farthest from the curve, and its distance [m]."""
    from scipy.spatial import cKDTree

    gaps = cKDTree(curve).query(corners)[0]
    worst = int(np.argmax(gaps))
    return worst, float(gaps[worst])
