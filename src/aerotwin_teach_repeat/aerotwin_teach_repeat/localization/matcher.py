# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scan-to-map matching: point-to-plane ICP with robust weights, a prior, and acceptance checks.

Two stages as in VTR3: wide gates and few points first, then narrow gates and all points.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray
from aerotwin_core.rigid_motion import nearest_rotation
from aerotwin_registration.observability import OpenDirection, open_directions
from aerotwin_teach_repeat.localization import icp_kernels as icp
from aerotwin_teach_repeat.localization.point_grid import PointGrid
from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol

CLOSE_M = 0.1
"""Points within this of a surface count as on it when candidates are compared [m]."""
UNKNOWN_VARIANCE = 1e6
"""Variance of an unobserved direction [m^2, rad^2]."""
_COARSER = 10.0
"""Ratio of the first stage's termination thresholds to those of the second."""
_LEAST_VARIANCE = 1e-6  # of a residual [m^2]: no surface is known better than to 1 mm


@dataclass(frozen=True, kw_only=True, eq=False)
class ScanMatch:
    """Result of matching a scan; check `accepted` first.

    Attributes
    ----------
    T_target_source : (4, 4) array
        Pose of the scan in the map: the last iterate, also if not accepted.
    covariance : (6, 6) array
        Of position of the source's origin, then rotation vector, both in target axes [m, rad]:
        pairs and prior together. Directions constrained by neither have huge values.
    matched_ratio, standing_ratio : float
        Fraction of the scan's points with a pair within the gates of the second stage, and the
        same of the points above `standing_m`; 1 if there are few.
    close_ratio : float
        Fraction within `CLOSE_M` of the surface.
    rmse_m : float
        Weighted RMS distance of the pairs along the normals [m]; NaN without pairs.
    n_points, n_iterations : int
        Points used, and steps of both stages.
    converged : bool
        Whether the steps became small.
    accepted, reason : bool, str
        Whether the pose may be used, and why or why not.
    open_directions : tuple of OpenDirection
        Motions that only the prior constrains; rotations are about the source's origin.
    """

    T_target_source: FloatArray
    covariance: FloatArray
    matched_ratio: float
    standing_ratio: float
    close_ratio: float
    rmse_m: float
    n_points: int
    n_iterations: int
    converged: bool
    accepted: bool
    reason: str
    open_directions: tuple[OpenDirection, ...]


class ScanMatcher:
    """A map that scans are matched to.

    Parameters
    ----------
    points : (m, 3) array
        In the frame of the map (target) [m].
    normals : (m, 3) array, optional
        Unit normals at the points, sign arbitrary; a row of zeros means no surface. Fitted to
        the points by default.
    weights : (m,) array, optional
        Confidence of each normal, 0 to 1; 1 by default.
    """

    def __init__(
        self,
        points: np.ndarray,
        normals: np.ndarray | None = None,
        protocol: LocalizationProtocol | None = None,
        *,
        weights: np.ndarray | None = None,
    ) -> None:
        self.protocol = p = protocol or LocalizationProtocol()
        if normals is None:
            grid = PointGrid(points, cell_m=p.cell_m)
            normals, weights = grid.fitted_normals(p.normal_radius_m, p.min_flatness)
        self._grid = PointGrid(points, normals, weights, cell_m=p.cell_m)
        wide = (p.initial_pair_m, p.initial_planar_m, p.initial_robust_m)
        narrow = (p.refined_pair_m, p.refined_planar_m, p.refined_robust_m)
        self._wide, self._narrow = _packed(p, *wide, _COARSER), _packed(p, *narrow, 1.0)

    def __len__(self) -> int:
        return len(self._grid)

    @property
    def points(self) -> np.ndarray:
        """Points of the map (m, 3) float32 [m]."""
        return self._grid.points

    def match(
        self,
        points: np.ndarray,
        T_target_source: FloatArray,
        prior_information: FloatArray | None = None,
    ) -> ScanMatch:
        """Match a scan (n, 3) in its frame (source) to the map, deskewed; NaN are ignored [m].

        `T_target_source` (4, 4) is the initial pose, and mean of the prior, of which
        `prior_information` (6, 6) is the inverse covariance, as `ScanMatch.covariance`; none by
        default. `ValueError` if a shape is wrong or the initial pose is not finite.
        """
        T_prior = _checked(T_target_source, (4, 4), "T_target_source")
        L = np.zeros((6, 6)) if prior_information is None else prior_information
        L = _checked(L, (6, 6), "prior_information")
        scan = thinned(points, self.protocol)
        T, prior = T_prior[:3].copy(), T_prior[:3].copy()
        p, n = self.protocol, len(scan)
        few = np.ascontiguousarray(scan[:: max(1, n // p.initial_points)])
        _, first = self._moved(few, T, prior, L, self._wide, p.initial_steps)
        H, stats = self._moved(scan, T, prior, L, self._narrow, p.refined_steps)
        stats[icp.N_ITERATIONS] += first[icp.N_ITERATIONS]
        return self._judged(T, prior, L, H, stats, scan)

    def judge(self, points: np.ndarray, T_target_source: FloatArray) -> tuple[float, float]:
        """Return matched ratio and close ratio of a scan (n, 3) at a pose (4, 4)."""
        scan = thinned(points, self.protocol)
        T = _checked(T_target_source, (4, 4), "T_target_source")[:3].copy()
        _, stats = self._moved(scan, T, T.copy(), np.zeros((6, 6)), self._narrow, 0)
        n = max(len(scan), 1)
        return float(stats[icp.N_PAIRS] / n), float(stats[icp.N_CLOSE] / n)

    def _moved(self, scan, T, prior, L, choices, n_steps):
        """Move T (3, 4); return H and stats of `icp_kernels.align`."""
        index = np.full(len(scan), -1)
        return icp.align(scan, T, prior, L, choices, n_steps, index, *self._grid.arrays)

    def _judged(self, T, prior, L, H, stats, scan) -> ScanMatch:
        p, n_pairs, n_points = self.protocol, stats[icp.N_PAIRS], len(scan)
        n_standing = int(np.count_nonzero(scan[:, 2] > p.standing_m))
        weight = max(stats[icp.SUM_WEIGHT], 1e-300)
        variance = float(stats[icp.SUM_SQUARED] / weight) if n_pairs else float("nan")
        known = H / (p.covariance_factor * max(variance, _LEAST_VARIANCE)) if n_pairs else 0.0 * H
        facts: dict[str, Any] = {
            "T_target_source": np.vstack(
                # The rotation is orthonormalised after many small ones.
                [np.column_stack([nearest_rotation(T[:, :3]), T[:, 3]]), [0.0, 0.0, 0.0, 1.0]]
            ),
            "covariance": inverse_information(known + L),
            "matched_ratio": float(n_pairs / max(n_points, 1)),
            # Few standing points are no evidence.
            "standing_ratio": float(stats[icp.N_STANDING] / n_standing)
            if n_standing >= p.min_points_matched
            else 1.0,
            "close_ratio": float(stats[icp.N_CLOSE] / max(n_points, 1)),
            "rmse_m": float(np.sqrt(variance)),
            "n_points": n_points,
            "n_iterations": int(stats[icp.N_ITERATIONS]),
            # Alternating pairs may keep the last step from reaching zero.
            "converged": bool(
                stats[icp.HAS_SETTLED]
                or (
                    stats[icp.SHIFT] <= p.settled_m and stats[icp.TURN] <= np.radians(p.settled_deg)
                )
            ),
        }
        open_ones = opened(H) if n_pairs else ()
        problem = next(_problems(p, facts, T, prior, n_pairs, open_ones, L), "")
        return ScanMatch(
            **facts,
            accepted=not problem,
            reason=problem
            or f"{facts['matched_ratio']:.0%} of {n_points} points lie on the map, "
            f"{facts['rmse_m']:.3f} m RMSE",
            open_directions=open_ones,
        )


def thinned(points: np.ndarray, protocol: LocalizationProtocol) -> np.ndarray:
    """Return the points of a scan (n, 3) that are used for matching, as float32."""
    from aerotwin_teach_repeat.localization.grid_kernels import thin

    points = np.ascontiguousarray(points, dtype=np.float32)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points must have shape (n, 3), got {points.shape}")
    retained = thin(points, protocol.voxel_m, protocol.min_range_m, protocol.max_range_m)
    return points[evenly_chosen(retained, protocol.max_points)]


def evenly_chosen(indices: np.ndarray, most: int) -> np.ndarray:
    """Return the indices, or so many of them in even steps."""
    if len(indices) <= most:
        return indices
    return indices[np.linspace(0, len(indices) - 1, most).astype(np.int64)]


def inverse_information(information: FloatArray) -> FloatArray:
    """Return the covariance (6, 6); unobserved directions have `UNKNOWN_VARIANCE`."""
    values, vectors = np.linalg.eigh(information)
    variances = 1.0 / np.maximum(values, 1.0 / UNKNOWN_VARIANCE)
    return (vectors * variances) @ vectors.T


def opened(H: FloatArray) -> tuple[OpenDirection, ...]:
    """Return the motions not constrained by pairs with H (6, 6), for residuals of 1 m."""
    shifts, turns = float(np.trace(H[:3, :3])), float(np.trace(H[3:, 3:]))
    if shifts <= 0.0 or turns <= 0.0:
        return ()
    unit = np.repeat([1.0, np.sqrt(shifts / turns)], 3) / np.sqrt(shifts)
    values, vectors = np.linalg.eigh(H * np.outer(unit, unit))
    # Rows with the same mean square as the pairs' own, as `open_directions` expects.
    rows = np.sqrt(6.0 * np.maximum(values, 0.0))[:, None] * vectors.T
    return open_directions(rows)


def _problems(p, facts, T, prior, n_pairs, open_ones, L) -> Iterator[str]:
    """Yield the reasons against a match, the most obvious first."""
    if n_pairs < p.min_points_matched:
        yield (
            f"only {int(n_pairs)} of {facts['n_points']} points lie on the map, "
            f"{p.min_points_matched} are needed"
        )
    if facts["matched_ratio"] <= p.min_matched_ratio:
        yield (
            f"only {facts['matched_ratio']:.0%} of the points lie on the map, more than "
            f"{p.min_matched_ratio:.0%} are needed"
        )
    if facts["standing_ratio"] <= p.min_matched_ratio:
        yield (
            f"only {facts['standing_ratio']:.0%} of the points above {p.standing_m:g} m lie on "
            f"the map, more than {p.min_matched_ratio:.0%} are needed"
        )
    if not facts["converged"]:
        yield f"still moving after {facts['n_iterations']} steps"
    shift = float(np.linalg.norm(T[:, 3] - prior[:, 3]))
    turn = float(np.degrees(Rotation.from_matrix(T[:, :3] @ prior[:, :3].T).magnitude()))
    if shift > p.max_shift_m or turn > p.max_turn_deg:
        yield (
            f"it moved {shift:.2f} m and {turn:.1f} deg from the prior, at most "
            f"{p.max_shift_m:g} m and {p.max_turn_deg:g} deg are believed"
        )
    if open_ones and not L.any():
        listed = " and ".join(d.text for d in open_ones)
        yield f"the surface leaves open: {listed}; give a prior"


def _checked(array: np.ndarray, shape: tuple[int, ...], name: str) -> FloatArray:
    array = np.array(array, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite and have shape {shape}, got {array.shape}")
    return array


def _packed(
    p: LocalizationProtocol, pair_m: float, planar_m: float, robust_m: float, coarser: float
) -> FloatArray:
    """Return the settings of a stage in the kernel's layout."""
    choices = np.zeros(icp.N_CHOICES)
    choices[icp.PAIR], choices[icp.PLANAR], choices[icp.ROBUST] = pair_m, planar_m, robust_m
    choices[icp.POINT_SHARE], choices[icp.CLOSE] = p.point_share, CLOSE_M
    choices[icp.VARIANCE] = p.covariance_factor * p.residual_m**2
    choices[icp.LEAST_SHIFT] = coarser * p.least_shift_m
    choices[icp.LEAST_TURN] = coarser * np.radians(p.least_turn_deg)
    choices[icp.RANGE], choices[icp.STANDING] = p.range_m, p.standing_m
    return choices
