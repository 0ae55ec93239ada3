# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the metrics detect: a perfect map is scored at increasing noise, and corrupted.

A metric that is half a metre with and without noise measures its voxels and not the map.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.rms import rms, rms_length
from aerotwin_map_evaluation.neighbours import nearest
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_map_evaluation.statistics import CloudScores
from aerotwin_map_evaluation.wasserstein import voxel_distances
from aerotwin_registration.point_tree import PointTree

# A change is seen when it is this share of the metric's value without noise, and stands this
# many standard deviations out of the spread between repeats.
SEEN_SHARE = 0.05
SEEN_SIGMAS = 3.0
N_REPEATS = 3
# Points of the perfect map that are used: a patch around its centre, at full density.
MAX_POINTS = 12_000
# Of the negative controls.
NOISE_M = 0.2
SCALE = 1.01
# Of the distance that points were moved, at least this share must show as distance to the surface:
# noise moves a point along the surface as well as off it (one axis of three, sqrt(1/3) = 0.58).
_SEEN = 0.2


@dataclass(frozen=True, kw_only=True)
class NoiseResponse:
    """Response of one metric to noise.

    `sigma_m` (k,) is the standard deviation of the noise on each axis [m]; `values` and `spread`
    (k,) are mean and standard deviation over the repeats.
    """

    name: str
    unit: str
    sigma_m: np.ndarray
    values: np.ndarray
    spread: np.ndarray

    @property
    def smallest_seen_m(self) -> float | None:
        """The smallest noise [m] that visibly changes the value; None when none of the curve does.

        The curve is interpolated linearly.
        """
        change = np.abs(self.values - self.values[0])
        needed = np.maximum(
            SEEN_SHARE * abs(self.values[0]),
            SEEN_SIGMAS * np.hypot(self.spread, self.spread[0]) / np.sqrt(N_REPEATS),
        )
        excess = change - np.maximum(needed, 1e-12)
        seen = np.flatnonzero(excess >= 0.0)
        if not len(seen):
            return None
        k = int(seen[0])
        part = -excess[k - 1] / (excess[k] - excess[k - 1])
        return float(self.sigma_m[k - 1] + part * (self.sigma_m[k] - self.sigma_m[k - 1]))

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "sigma_m": self.sigma_m.tolist(),
            "values": self.values.tolist(),
            "smallest_seen_m": self.smallest_seen_m,
        }


def sensitivity(
    perfect_map: np.ndarray,
    samples: np.ndarray,
    reference: MapReference,
    protocol: MapProtocol,
    known: tuple[NoiseResponse, ...] = (),
) -> tuple[NoiseResponse, ...]:
    """Return the response of each metric to noise on a perfect map, which is not aligned again.

    `perfect_map` (n, 3) are points on the true surface, `samples` (m, 3) other points on it: the
    reference of the two-way metrics [m]. `reference` has a surface. The protocol's `sensitivity_m`,
    `cut_m`, `within_m`, `awd_voxel_m`, `awd_min_points` and `seed` are used. `known` are responses
    to other voxels of the same surface: those that do not depend on voxels are taken from them.

    Each repeat uses half of the patch and its own noise and seed. Noise on three axes moves a point
    off a plane by one of them: the distance to the surface has RMSE sigma.
    """
    sigmas = np.array(protocol.sensitivity_m)
    if not len(sigmas):
        return ()
    patch, samples = _patch(perfect_map, samples, protocol)
    if len(patch) < 2 or len(samples) == 0:
        return ()
    table: dict[tuple[str, str], np.ndarray] = {}
    for repeat in range(N_REPEATS):
        rng = np.random.default_rng([protocol.seed, repeat])
        half = patch[rng.permutation(len(patch))[: max(len(patch) // 2, 1)]]
        for k, sigma in enumerate(sigmas):
            noisy = half + rng.normal(0.0, 1.0, half.shape) * sigma
            found = _to_voxels(noisy, reference, protocol)
            if not known:
                found |= _to_surface(noisy, samples, reference, protocol)
            for key, value in found.items():
                values = table.setdefault(key, np.full((N_REPEATS, len(sigmas)), np.nan))
                values[repeat, k] = value
    found_names = {name for name, _ in table}
    responses = tuple(
        NoiseResponse(
            name=name,
            unit=unit,
            sigma_m=sigmas,
            values=values.mean(axis=0),
            spread=values.std(axis=0, ddof=1),
        )
        for (name, unit), values in table.items()
        if np.isfinite(values).all()
    )
    return (*responses, *(each for each in known if each.name not in found_names))


def _patch(
    perfect_map: np.ndarray, samples: np.ndarray, protocol: MapProtocol
) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of both around the centre of the map, samples where the patch has points."""
    distance = np.linalg.norm(perfect_map - np.median(perfect_map, axis=0), axis=1)
    patch = perfect_map
    if len(perfect_map) > MAX_POINTS:
        patch = perfect_map[distance < np.partition(distance, MAX_POINTS)[MAX_POINTS]]
    near = nearest(PointTree(patch), samples, limit_m=2.0 * protocol.floor_spacing_m)
    return patch, samples[np.isfinite(near)]


def _to_voxels(
    noisy: np.ndarray, reference: MapReference, protocol: MapProtocol
) -> dict[tuple[str, str], float]:
    within = _mean_within(protocol.cut_m)
    found = {("mean to " + reference.what, "m"): within(reference.distances(noisy, "points"))}
    if reference.edge_m is not None:
        found["mean to voxel boxes", "m"] = within(reference.distances(noisy, "boxes"))
    return found


def _to_surface(
    noisy: np.ndarray, samples: np.ndarray, reference: MapReference, protocol: MapProtocol
) -> dict[tuple[str, str], float]:
    assert reference.surface is not None
    to_surface = reference.surface.distances(noisy)
    found = {("RMSE to the surface", "m"): rms(to_surface)}
    back = nearest(PointTree(noisy), samples)
    scores = CloudScores(forward=to_surface, backward=back, thresholds_m=protocol.within_m)
    for row in scores.precision_recall():
        found[f"F within {row['threshold_m']:g} m", "1"] = row["f"]
    found["Chamfer, mean of both ways", "m"] = scores.chamfer["mean_m"]
    voxels = voxel_distances(
        noisy, samples, edge_m=protocol.awd_voxel_m, min_points=max(protocol.awd_min_points // 2, 2)
    )
    found["Wasserstein (AWD)", "m"] = np.nan if voxels.awd_m is None else voxels.awd_m
    return found


def _mean_within(cut_m: float) -> Callable[[np.ndarray], float]:
    def mean(distances: np.ndarray) -> float:
        retained = distances[distances <= cut_m]
        return float(retained.mean()) if len(retained) else np.nan

    return mean


@dataclass(frozen=True, kw_only=True)
class MapControl:
    """A corruption of the perfect map (`name`), and its scores.

    `moved_m` is the RMS displacement of its points, `surface_rmse_m` the distance to the true
    surface, `voxel_mean_m` the mean distance to voxel centres within the cut [m].
    """

    name: str
    moved_m: float
    surface_rmse_m: float
    voxel_mean_m: float

    @property
    def is_detected(self) -> bool:
        """Whether the distance to the surface shows it."""
        return self.surface_rmse_m >= _SEEN * self.moved_m

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        names = ("name", "moved_m", "surface_rmse_m", "voxel_mean_m")
        return {**{n: getattr(self, n) for n in names}, "detected": self.is_detected}


def negative_controls(
    perfect_map: np.ndarray,
    reference: MapReference,
    *,
    cut_m: float,
    seed: int,
) -> tuple[MapControl, ...]:
    """Return how the scores of a perfect map (n, 3) change when it is corrupted."""
    assert reference.surface is not None
    noise = np.random.default_rng(seed).normal(0.0, NOISE_M, perfect_map.shape)
    corner = perfect_map[np.argmin(perfect_map.sum(axis=1))]
    cases = (
        ("nothing", perfect_map),
        ("1 % scale", corner + (perfect_map - corner) * SCALE),
        (
            f"{NOISE_M:g} m noise on each axis",
            perfect_map + noise,
        ),
    )
    controls = []
    for name, corrupted in cases:
        near = reference.distances(corrupted, limit_m=cut_m)
        near = near[np.isfinite(near)]
        controls.append(
            MapControl(
                name=name,
                moved_m=rms_length(corrupted - perfect_map),
                surface_rmse_m=rms(reference.surface.distances(corrupted)),
                voxel_mean_m=float(near.mean()) if len(near) else float("inf"),
            )
        )
    return tuple(controls)
