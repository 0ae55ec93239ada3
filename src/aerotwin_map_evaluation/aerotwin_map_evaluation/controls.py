# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Negative controls: a perfect map corrupted in known ways; the surface distance must detect it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.rms import rms, rms_length
from aerotwin_map_evaluation.reference import MapReference

NOISE_M = 0.2
SCALE = 1.01
# Of the distance that points were moved, at least this share must show as distance to the surface:
# noise moves a point along the surface as well as off it (one axis of three, sqrt(1/3) = 0.58).
_SEEN = 0.2


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
