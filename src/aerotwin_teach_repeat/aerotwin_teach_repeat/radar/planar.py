# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Matching in the plane: the part of a submap seen by a level beam, and radar scans matched to it.

Where points lie in the plane z = 0 and normals in it, the point-to-plane ICP of lidar
(`localization.matcher`) is point-to-line ICP in SE(2): height, roll and pitch have neither gradient
nor residual. They are those of the plane, which is the ground at the submap's vertex.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.frames import FloatArray, make_transform
from aerotwin_core.parameters import parameter
from aerotwin_teach_repeat.localization.matcher import ScanMatch, ScanMatcher
from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol
from aerotwin_teach_repeat.route_graph import Submap

IN_PLANE, OUT_OF_PLANE = [0, 1, 5], [2, 3, 4]
"""Of position and rotation vector: x, y, yaw; z, roll, pitch."""
RADAR_MATCHING = LocalizationProtocol(
    min_range_m=2.5, initial_steps=8, residual_m=0.1, range_m=50.0, covariance_factor=4.0,
    min_matched_ratio=0.3, min_points_matched=50,
)  # fmt: skip
"""Gates as those of VTR3 (config/navtech_warthog_default.yaml): 30 % matched, a first stage of 8
steps. Residuals and their variance were tuned on the campus with seeds 0 to 2."""
_HELD = 1e6
"""Information that keeps the solver's matrix regular out of the plane [1/m^2, 1/rad^2]."""
_N_NEAREST = 12  # points that a normal is fitted to


@dataclass(frozen=True, kw_only=True)
class BeamView:
    """The part of a map that the level beam of a radar meets."""

    height_m: float = parameter(
        1.0, text="the beam above the ground below the vehicle", unit="m", minimum=0.0, maximum=20.0
    )
    beam_deg: float = parameter(
        1.8, text="its width between half powers, upright", unit="deg", minimum=0.1, maximum=60.0
    )
    margin_m: float = parameter(
        0.3, text="margin above and below: the map's spacing", unit="m", minimum=0.0, maximum=5.0
    )
    steepest_normal: float = parameter(
        0.5, text="surfaces with a larger z of the normal are ground", minimum=0.0, maximum=1.0
    )
    cell_m: float = parameter(
        0.2, text="points of a cell of the plane become one", unit="m", minimum=0.02, maximum=5.0
    )
    ground_m: float = parameter(
        0.1, text="deviation of the ground over 2 m", unit="m", minimum=1e-4, maximum=5.0
    )

    @property
    def out_of_plane_covariance(self) -> FloatArray:
        """Covariance of z, roll, pitch, (3, 3) [m^2, rad^2]."""
        return np.diag([1.0, 0.25, 0.25]) * self.ground_m**2

    def flat_map(
        self, points: np.ndarray, normals: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the part of a map met by the beam, in the plane: points, normals, weights (m,).

        `points` and `normals` (n, 3) are in the frame of a vehicle on the ground [m]. Directions
        without sign are averaged at twice their angle (Mardia and Jupp 2000, Directional
        Statistics, 1.2); the length of that mean is the weight: 1 on a wall, less at a corner.
        """
        reach = np.hypot(points[:, 0], points[:, 1])
        half = self.margin_m + reach * np.tan(np.radians(0.5 * self.beam_deg))
        is_met = np.abs(points[:, 2] - self.height_m) <= half
        is_met &= np.abs(normals[:, 2]) <= self.steepest_normal
        cells = np.floor(points[is_met, :2] / self.cell_m).astype(np.int64)
        _, cell, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        twice = 2.0 * np.arctan2(normals[is_met, 1], normals[is_met, 0])

        def mean(values: np.ndarray) -> np.ndarray:
            return np.bincount(cell.ravel(), values, minlength=len(count)) / count

        x, y = mean(points[is_met, 0]), mean(points[is_met, 1])
        c, s = mean(np.cos(twice)), mean(np.sin(twice))
        angle, zero = 0.5 * np.arctan2(s, c), np.zeros(len(count))
        flat = np.column_stack([np.cos(angle), np.sin(angle), zero])
        return np.column_stack([x, y, zero]), flat, np.hypot(c, s)


class PlanarMatcher(ScanMatcher):
    """A flat map (m, 3), z = 0, that scans of a radar are matched to, in SE(2) [m].

    `weights` (m,) are confidences of the normals, 0 to 1; `out_of_plane` (3, 3) is the covariance
    of z, roll, pitch assigned to a match [m^2, rad^2].
    """

    def __init__(
        self,
        points: np.ndarray,
        normals: np.ndarray,
        weights: np.ndarray,
        protocol: LocalizationProtocol,
        out_of_plane: FloatArray,
    ) -> None:
        super().__init__(points, normals, protocol, weights=weights)
        self._out_of_plane = out_of_plane

    def match(
        self,
        points: np.ndarray,
        T_target_source: FloatArray,
        prior_information: FloatArray | None = None,
    ) -> ScanMatch:
        """Match a scan to the map; as `ScanMatcher.match`, but in the plane.

        Only x, y and heading of the initial pose and of the prior are used.
        """
        L = np.zeros((6, 6))
        if prior_information is not None:
            L[np.ix_(IN_PLANE, IN_PLANE)] = marginal_information(prior_information)
        L[OUT_OF_PLANE, OUT_OF_PLANE] = _HELD
        match = super().match(flattened(points), flat_pose(T_target_source), L)
        covariance = match.covariance.copy()
        covariance[OUT_OF_PLANE, :] = covariance[:, OUT_OF_PLANE] = 0.0
        covariance[np.ix_(OUT_OF_PLANE, OUT_OF_PLANE)] = self._out_of_plane
        T = flat_pose(match.T_target_source)
        return replace(match, T_target_source=T, covariance=covariance)


def submap_matcher(
    protocol: LocalizationProtocol, view: BeamView
) -> Callable[[Submap], PlanarMatcher]:
    """Return a factory of submap matchers, as `localization.SubmapLocalizer` expects."""

    def make(submap: Submap) -> PlanarMatcher:
        flat = view.flat_map(submap.points, submap.normals)
        return PlanarMatcher(*flat, protocol, view.out_of_plane_covariance)

    return make


def line_normals(points: np.ndarray, radius_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Return normals (n, 3) in the plane and weights (n,) of points (n, 3) along lines.

    The normal is the axis of least spread of the nearest points; the weight is 1 - sqrt(l1 / l2) of
    their two spreads: 1 on a line, 0 without a line or with fewer than three points.
    """
    xy = np.asarray(points[:, :2], np.float64)
    k = min(_N_NEAREST, len(xy))
    far, near = cKDTree(xy).query(xy, k=k, distance_upper_bound=radius_m)
    is_near = np.isfinite(far)
    count = is_near.sum(axis=1)
    around = np.where(is_near[..., None], xy[np.minimum(near, len(xy) - 1)], 0.0)
    mean = around.sum(axis=1) / count[:, None]
    off = np.where(is_near[..., None], around - mean[:, None], 0.0)
    spread = np.einsum("nki,nkj->nij", off, off)
    values, axes = np.linalg.eigh(spread)
    ratio = np.maximum(values[:, 0], 0.0) / np.maximum(values[:, 1], 1e-12)
    weights = np.where(count >= 3, 1.0 - np.sqrt(ratio), 0.0)
    return np.column_stack([axes[:, :, 0], np.zeros(len(xy))]), weights


def marginal_information(information: FloatArray) -> FloatArray:
    """Return the marginal information (3, 3) of x, y and yaw from a matrix (6, 6)."""
    A = information[np.ix_(IN_PLANE, IN_PLANE)]
    B = information[np.ix_(IN_PLANE, OUT_OF_PLANE)]
    C = information[np.ix_(OUT_OF_PLANE, OUT_OF_PLANE)]
    return A - B @ np.linalg.pinv(C) @ B.T


def flattened(points: np.ndarray) -> np.ndarray:
    """Return points (n, 3) with z = 0, float32."""
    out = np.array(points, dtype=np.float32)
    out[:, 2] = 0.0
    return out


def flat_pose(T: FloatArray) -> FloatArray:
    """Return a pose (4, 4) projected into the plane: its x, y and heading."""
    heading = np.arctan2(T[1, 0], T[0, 0])
    c, s = np.cos(heading), np.sin(heading)
    return make_transform(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), [*T[:2, 3], 0.0])
