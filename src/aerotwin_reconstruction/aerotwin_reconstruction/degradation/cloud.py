# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Degrade a point cloud: from the true surface to that of a reconstruction."""

from dataclasses import dataclass

import numpy as np

from aerotwin_reconstruction.degradation import changes
from aerotwin_reconstruction.degradation.displacement import DisplacementField
from aerotwin_reconstruction.degradation.parameters import DegradationParameters

NO_CAR = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class DegradedCloud:
    """A degraded cloud.

    Attributes
    ----------
    points_map, source : (n, 3), (n,) int arrays
        The remaining points, at their position in the reconstruction [m], and their input indices.
    field : DisplacementField
        Distortion of the reconstruction; exact image and inverse of any point.
    counts : dict
        Number of points lost or moved, by reason.
    """

    points_map: np.ndarray
    source: np.ndarray
    field: DisplacementField
    counts: dict[str, int]


def field_of(parameters: DegradationParameters, seed: int) -> DisplacementField:
    """Return the displacement field of a degradation: the same for cloud and mesh."""
    return DisplacementField(
        parameters.displacement_rms_m,
        parameters.correlation_m,
        seed,
        vertical_ratio=parameters.vertical_ratio,
    )


def degrade(
    points_map: np.ndarray,
    parameters: DegradationParameters,
    *,
    seed: int,
    is_ground: np.ndarray | None = None,
    car: np.ndarray | None = None,
) -> DegradedCloud:
    """Return a cloud of the true surface as a reconstruction shows it.

    In this order: cars change, the ground rises, holes and covered points are lost, edges are
    smoothed; then the displacement field distorts the rest, and noise comes last.

    Parameters
    ----------
    points_map : (n, 3) array
        Of the true surface [m].
    seed : int
        Of the field and of all other random changes.
    is_ground : (n,) bool array, optional
        Which points are ground; estimated by `changes.ground_of` by default.
    car : (n,) int array, optional
        Index of the car of each point, -1 for none. Needed where cars change.

    Raises
    ------
    ValueError
        If cars are to change and are not labelled, or a shape is wrong.
    """
    points = np.array(points_map, np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
        raise ValueError(f"points_map must be finite with shape (n, 3), got {points.shape}")
    if parameters.cars_changed_share > 0.0 and car is None:
        raise ValueError("cars_changed_share needs to know which points are cars: give 'car'")
    ground = changes.ground_of(points) if is_ground is None else np.asarray(is_ground, bool)
    counts = {"given": len(points)}
    points, is_left = _with_cars_changed(points, car, parameters, seed)
    counts["of_gone_cars"] = int((~is_left).sum())
    if parameters.ground_rise_m[1] > 0.0:
        higher = changes.rise(
            points[ground],
            parameters.ground_rise_m,
            parameters.ground_rise_correlation_m,
            seed=seed,
        )
        points[ground, 2] += higher
    lost = _lost(points, parameters, seed)
    for reason, which in lost.items():
        counts[reason] = int((which & is_left).sum())
        is_left &= ~which
    source = np.flatnonzero(is_left)
    field = field_of(parameters, seed)
    shown = as_shown(points[source], field, parameters, seed)
    return DegradedCloud(points_map=shown, source=source, field=field, counts=counts)


def _with_cars_changed(points, car, parameters, seed) -> tuple[np.ndarray, np.ndarray]:
    """Return the points with their cars moved, and a mask without removed cars."""
    is_left = np.ones(len(points), bool)
    if parameters.cars_changed_share <= 0.0:
        return points, is_left
    car = np.asarray(car)
    numbers = np.unique(car[car != NO_CAR])
    centres = np.array([points[car == k].mean(axis=0) for k in numbers]).reshape(-1, 3)
    is_gone, motions = changes.changed_cars(centres, parameters.cars_changed_share, seed=seed)
    for k, gone, T in zip(numbers, is_gone, motions, strict=True):
        of_car = car == k
        points[of_car] = points[of_car] @ T[:3, :3].T + T[:3, 3]
        is_left[of_car] = not gone
    return points, is_left


def _lost(points, parameters, seed) -> dict[str, np.ndarray]:
    lost = {
        "in_holes": changes.in_holes(
            points, parameters.hole_share, parameters.hole_size_m, seed=seed
        )
    }
    if parameters.covered_loss > 0.0:
        under = changes.is_covered(points, parameters.covered_clearance_m)
        luck = np.random.default_rng([seed, 727]).random(len(points))
        lost["covered"] = under & (luck < parameters.covered_loss)
    return lost


def as_shown(points, field, parameters, seed) -> np.ndarray:
    """Return points (n, 3) smoothed, distorted and with noise."""
    if parameters.smoothing_m > 0.0 and len(points):
        points = changes.smoothed(points, parameters.smoothing_m)
    bent = points + field(points)
    if parameters.noise_m > 0.0:
        rng = np.random.default_rng([seed, 729])
        bent += rng.normal(0.0, parameters.noise_m, bent.shape)
    return bent
