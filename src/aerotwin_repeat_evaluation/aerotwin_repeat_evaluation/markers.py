# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lateral distance of the true vehicle from markers on the ground, run after run.

The headline metric of field trials: markers are painted on the ground along the taught route, and
after each repeat the lateral distance of the same point of the vehicle is measured with a tape.
A global offset of the map costs nothing, its local distortion everything.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_repeat_evaluation.displacements import Displacement, true_poses
from aerotwin_repeat_evaluation.path_errors import arc_length, lateral_errors

REACH_M = 3.0
"""A vehicle that is laterally farther from a mark than this did not pass it [m]."""
WINDOW_M = 10.0
"""Passings are searched this far from the mark along the route [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Marks:
    """Marks on a route, with x along the direction of travel and y to the left.

    `s_m` (m,) are arc lengths along the taught route [m]; `T_map_mark` and `T_true_mark` (m, 4, 4)
    are poses in the teach map, and on the true ground, where the tape measures.
    """

    s_m: np.ndarray
    T_map_mark: np.ndarray
    T_true_mark: np.ndarray

    def __len__(self) -> int:
        return len(self.s_m)


def marks_on_route(T_map_route: np.ndarray, s_m: np.ndarray, displacement: Displacement) -> Marks:
    """Return marks at arc lengths (m,) of a taught route (n, 4, 4) in the teach map [m].

    Their true poses are the exact images.
    """
    T_map_mark = poses_along(T_map_route, s_m)
    return Marks(
        s_m=np.asarray(s_m, np.float64),
        T_map_mark=T_map_mark,
        T_true_mark=true_poses(displacement, T_map_mark),
    )


def painted_marks(T_map_route: np.ndarray, points_map: np.ndarray, points_true: np.ndarray):
    """Return marks painted at `points_true` (m, 3) and reconstructed at `points_map` (m, 3) [m].

    `T_map_route` (n, 4, 4) is the route taught through the marks in the reconstruction; the marks
    have its directions. If the route does not pass right through a mark, its lateral distance
    remains in the poses: it is part of the error that a tape measures.
    """
    route = np.asarray(T_map_route, np.float64)[:, :3, 3]
    s_m = np.clip(lateral_errors(route, points_map).s_m, 0.0, arc_length(route[:, :2])[-1])
    T_map_mark = poses_along(T_map_route, s_m)
    T_map_mark[:, :3, 3] = points_map
    T_true_mark = T_map_mark.copy()
    T_true_mark[:, :3, 3] = points_true
    return Marks(s_m=s_m, T_map_mark=T_map_mark, T_true_mark=T_true_mark)


def poses_along(T_map_route: np.ndarray, s_m: np.ndarray) -> np.ndarray:
    """Return poses (m, 4, 4) at horizontal arc lengths of a route, x along it and z up.

    Positions are interpolated between vertices; the direction is that of the segment, level.
    """
    points = np.asarray(T_map_route, np.float64)[:, :3, 3]
    along = arc_length(points[:, :2])
    s = np.asarray(s_m, np.float64)
    if s.ndim != 1 or not ((s >= 0.0) & (s <= along[-1])).all():
        raise ValueError(f"s_m must be (m,) within 0 and the route's {along[-1]:.3f} m")
    places = np.column_stack([np.interp(s, along, column) for column in points.T])
    moves = np.flatnonzero(np.diff(along) > 0.0)
    segment = moves[np.clip(np.searchsorted(along[moves], s, side="right") - 1, 0, None)]
    tangent = np.diff(points[:, :2], axis=0)[segment] / np.diff(along)[segment, None]
    poses = np.tile(np.eye(4), (len(s), 1, 1))
    poses[:, :2, 0] = tangent
    poses[:, 0, 1], poses[:, 1, 1] = -tangent[:, 1], tangent[:, 0]
    poses[:, :3, 3] = places
    return poses


@dataclass(frozen=True, kw_only=True, eq=False)
class Passings:
    """When and how one run passed m marks; NaN where a mark was not passed.

    `offset_m` (m,) is the lateral offset of the vehicle's point, left of the mark positive [m];
    `sample` (m,) the fractional index of the run's pose at the passing.
    """

    offset_m: np.ndarray
    sample: np.ndarray


def passings(
    T_place_mark: np.ndarray, p_place_run: np.ndarray, s_mark_m: np.ndarray, s_run_m: np.ndarray
) -> Passings:
    """Return how a run passed each mark, all in one frame: the true one for the headline.

    The vehicle passes a mark where its path crosses the line across the route at the mark, in the
    direction of travel, within `REACH_M` of the mark laterally and `WINDOW_M` along the route (so
    that a loop's end is not its start). If it backs up and passes again, the first passing counts.

    Parameters
    ----------
    T_place_mark : (m, 4, 4) array
    p_place_run : (n, 3) array
        Positions of the vehicle's point, densely sampled in time [m].
    s_mark_m, s_run_m : (m,) and (n,) arrays
        Arc lengths of marks and run along the same route [m].
    """
    run = np.asarray(p_place_run, np.float64)[:, :2]
    rows = [
        _passing(T[:2, :2], T[:2, 3], s, run, np.asarray(s_run_m, np.float64))
        for T, s in zip(np.asarray(T_place_mark), np.asarray(s_mark_m), strict=True)
    ]
    offset, sample = np.array(rows, float).reshape(-1, 2).T
    return Passings(offset_m=offset, sample=sample)


def _passing(R, place, s_mark, run, s_run) -> tuple[float, float]:
    """Return offset and fractional index of the passing of one mark, or NaN."""
    along, across = ((run - place) @ R).T
    before = np.flatnonzero((along[:-1] < 0.0) & (along[1:] >= 0.0))
    share = -along[before] / (along[before + 1] - along[before])
    offset = across[before] + share * (across[before + 1] - across[before])
    away = np.abs(s_run[before] + share * (s_run[before + 1] - s_run[before]) - s_mark)
    passed = (np.abs(offset) <= REACH_M) & (away <= WINDOW_M)
    if not passed.any():
        return np.nan, np.nan
    best = int(np.argmax(passed))
    return float(offset[best]), float(before[best] + share[best])


@dataclass(frozen=True, kw_only=True, eq=False)
class MarkerErrors:
    """Offsets (m, r) of r runs at m marks, left positive, NaN where a mark was not passed [m]."""

    offsets_m: np.ndarray

    @property
    def n(self) -> int:
        """Number of passings."""
        return int(np.isfinite(self.offsets_m).sum())

    @property
    def n_missed(self) -> int:
        """Number of marks not passed, summed over the runs."""
        return int(self.offsets_m.size - self.n)

    @property
    def rmse_m(self) -> float | None:
        """sqrt(sum o_jk^2 / n): bias and jitter together [m]."""
        return float(np.sqrt(np.nanmean(self.offsets_m**2))) if self.n else None

    @property
    def max_m(self) -> float | None:
        """Largest |o_jk| [m]."""
        return float(np.nanmax(np.abs(self.offsets_m))) if self.n else None

    @property
    def bias_m(self) -> np.ndarray:
        """Mean over the runs at each mark, (m,); NaN where no run passed [m]."""
        is_passed = np.isfinite(self.offsets_m)
        n = is_passed.sum(axis=1)
        total = np.where(is_passed, self.offsets_m, 0.0).sum(axis=1)
        return np.where(n > 0, total / np.maximum(n, 1), np.nan)

    @property
    def bias_rms_m(self) -> float | None:
        """Root mean square of the bias over the marks: the effect of the map [m]."""
        return float(np.sqrt(np.nanmean(self.bias_m**2))) if self.n else None

    @property
    def repeatability_m(self) -> float | None:
        """sqrt(mean_j var_k o_jk) with unbiased variance; None if no mark was passed twice [m]."""
        is_passed = np.isfinite(self.offsets_m)
        n = is_passed.sum(axis=1)
        squares = np.where(is_passed, (self.offsets_m - self.bias_m[:, None]) ** 2, 0.0).sum(axis=1)
        repeated = n > 1
        if not repeated.any():
            return None
        return float(np.sqrt((squares[repeated] / (n[repeated] - 1)).mean()))


def marker_errors(offsets_m: np.ndarray) -> MarkerErrors:
    """Return the marker-based path-tracking error of offsets (m marks, r runs) [m]."""
    offsets = np.asarray(offsets_m, np.float64)
    if offsets.ndim != 2 or np.isinf(offsets).any():
        raise ValueError(f"offsets_m must have shape (marks, runs), got {offsets.shape}")
    return MarkerErrors(offsets_m=offsets)
