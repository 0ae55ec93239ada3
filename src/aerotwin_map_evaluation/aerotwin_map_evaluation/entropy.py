# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sharpness of a map without any reference: mean map entropy and the thickness of surfaces.

Lower is sharper. Both detect noise and double walls, but not drift, scale or missing parts; maps
of different scale or density are not comparable.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.threads import run_ranges
from aerotwin_map_evaluation import kernels
from aerotwin_map_evaluation.neighbours import moments_within
from aerotwin_registration.point_tree import PointTree

# An exact plane has an entropy of minus infinity: lower limit of the thickness [m].
THINNEST_M = 1e-3
# Limit of evaluated neighbourhoods; of larger maps an even share along the Z-curve.
MAX_NEIGHBOURHOODS = 200_000


@dataclass(frozen=True, kw_only=True)
class MapEntropy:
    """Sharpness of the neighbourhoods of map points.

    Mean map entropy: Droeschel, Stueckler and Behnke 2014; plane variance: Razlaw et al. 2015.

    Attributes
    ----------
    values : (n,) array
        Entropy h = 1/2 ln det(2 pi e Sigma) at each evaluated point, Sigma in m^2; NaN where too
        few points are near.
    thickness_m : (n,) array
        Root of the smallest eigenvalue of Sigma; NaN there too.
    n_near : (n,) array
        Points within `radius_m` of each, including itself.
    positions : (n, 3) array
        The evaluated points; `n_points` is the number of all.
    """

    values: np.ndarray
    thickness_m: np.ndarray
    n_near: np.ndarray
    positions: np.ndarray
    radius_m: float
    n_points: int

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON; None where no neighbourhood has enough points."""
        good = np.isfinite(self.values)
        has_any = bool(good.any())
        thickness = self.thickness_m[good]
        return {
            "mme": float(self.values[good].mean()) if has_any else None,
            "thickness_mean_m": float(thickness.mean()) if has_any else None,
            "thickness_median_m": float(np.median(thickness)) if has_any else None,
            "n_judged": int(good.sum()),
            "n_sampled": len(self.values),
            "share_judged": float(good.mean()),
            "radius_m": self.radius_m,
        }


def map_entropy(points: np.ndarray | PointTree, *, radius_m: float, min_points: int) -> MapEntropy:
    """Return the sharpness of a map (n, 3), in any frame [m].

    Neighbourhoods of radius_m with fewer than min_points, including the centre, are NaN.
    """
    tree = points if isinstance(points, PointTree) else PointTree(points)
    step = max(1, len(tree.points) // MAX_NEIGHBOURHOODS)
    positions = tree.points[::step]
    moments = moments_within(tree, positions, radius_m)
    eigenvalues = np.full((len(positions), 3), np.nan)
    run_ranges(kernels.spreads, len(positions), moments, float(min_points), eigenvalues)
    thinnest = THINNEST_M**2
    logs = np.log(np.maximum(eigenvalues, thinnest)).sum(axis=1)
    return MapEntropy(
        values=1.5 * np.log(2.0 * np.pi * np.e) + 0.5 * logs,
        thickness_m=np.sqrt(np.maximum(eigenvalues[:, 0], 0.0)),
        n_near=moments[:, 0].astype(np.int64),
        positions=positions,
        radius_m=radius_m,
        n_points=len(tree.points),
    )
