# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of a map without a reference: sharpness, density, isolated points."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.protocol import Protocol
from aerotwin_core.voxels import voxel_keys
from aerotwin_map_evaluation.entropy import MapEntropy, map_entropy
from aerotwin_map_evaluation.evaluation import named
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import checked_points
from aerotwin_registration.point_tree import PointTree


@dataclass(frozen=True, kw_only=True)
class MapStatistics:
    """Statistics of a map (n, 3) [m] without reference: how sharp it is, not whether it is right.

    `n_voxels` is the number of voxels of the protocol's edge that hold a point.
    """

    points_map: np.ndarray
    entropy: MapEntropy
    n_voxels: int
    choices: Protocol[MapProtocol]

    @property
    def protocol(self) -> MapProtocol:
        """The options, without name and hash."""
        return self.choices.choices

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        lower, upper = self.points_map.min(axis=0), self.points_map.max(axis=0)
        return {
            "n_points": len(self.points_map),
            "bounds_m": [lower.tolist(), upper.tolist()],
            "extent_m": (upper - lower).tolist(),
            "n_voxels": self.n_voxels,
            "points_per_voxel": len(self.points_map) / self.n_voxels,
            "points_in_radius_median": float(np.median(self.entropy.n_near)),
            "share_alone": float(np.mean(self.entropy.n_near <= 1)),
            "entropy": self.entropy.plain(),
            "protocol": self.choices.plain(),
        }


def evaluate_without_reference(
    map_points: np.ndarray, *, protocol: MapProtocol | Protocol[MapProtocol] | None = None
) -> MapStatistics:
    """Return the statistics of a map (n, 3).

    Raises
    ------
    UserError
        If the map is empty or not finite.
    """
    choices = named(protocol)
    chosen = choices.choices
    tree = PointTree(checked_points(map_points, "the map"))
    entropy = map_entropy(
        tree, radius_m=chosen.entropy_radius_m, min_points=chosen.entropy_min_points
    )
    return MapStatistics(
        points_map=tree.points,
        entropy=entropy,
        n_voxels=len(np.unique(voxel_keys(tree.points, chosen.voxel_m))),
        choices=choices,
    )
