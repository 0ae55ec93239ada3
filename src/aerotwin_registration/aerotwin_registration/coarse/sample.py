# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of a source cloud that is searched for."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.rms import rms
from aerotwin_core.voxels import voxel_downsample

_FAR = 0.995  # share of the points that count for the reach: single outliers do not


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Points of a cloud, evenly spread: `points` (n, 3) about `middle`, the median (3,) [m].

    `radius_m` and `reach_m` are the RMS and largest horizontal distance from the middle.
    """

    points: np.ndarray
    middle: np.ndarray
    radius_m: float
    reach_m: float

    def weight(self, scale: float, cell_m: float) -> float:
        """Return the share of cells that the points fill at a scale.

        A mean over points cannot compare scales: a cloud that shrinks to a point lies wholly on
        the first wall. Information of cells adds up.
        """
        filled = voxel_downsample(scale * self.points, cell_m)
        return len(filled) / len(self.points)

    def moved(self, S_target_source: np.ndarray) -> np.ndarray:
        """Return the points in the target's frame (n, 3), by a similarity (4, 4)."""
        return (self.points + self.middle) @ S_target_source[:3, :3].T + S_target_source[:3, 3]


def draw_sample(
    source: np.ndarray, voxel_m: float, n_most: int, rng: np.random.Generator
) -> Sample:
    """Return at most n_most points of a cloud (n, 3), one in each voxel."""
    middle = np.median(source, axis=0)
    points = voxel_downsample(source, voxel_m) - middle
    if len(points) > n_most:
        points = points[np.sort(rng.choice(len(points), n_most, replace=False))]
    across = np.hypot(points[:, 0], points[:, 1])
    return Sample(
        points=np.ascontiguousarray(points),
        middle=middle,
        radius_m=rms(across),
        reach_m=float(np.quantile(across, _FAR)),
    )
