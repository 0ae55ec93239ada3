# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The voxel-wise Wasserstein distance of two clouds, in the exact Bures form.

In each voxel both clouds are modelled as Gaussians, and

    W2^2 = |m1 - m2|^2 + tr(S1 + S2 - 2 (S1^1/2 S2 S1^1/2)^1/2).

The trace of the root is often computed from the Cholesky factor of L^T S2 L (S1 = L L^T), which is
another number: up to metres for two identical oblique planes. Here the root is computed from
eigenvalues, and identical clouds give 0.

Invariance: W2 of a voxel under any rigid motion of both clouds; the mean over voxels under motions
that map the lattice of voxels onto itself (shifts by whole voxels, quarter turns about axes through
its nodes). Under any other motion points change voxels, and the mean changes with them; that of
identical clouds is always 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.threads import run_ranges
from aerotwin_core.voxels import voxel_keys
from aerotwin_map_evaluation import kernels

# Neighbourhood of the spatial consistency, voxels each way (11^3, MapEval 2025).
_NEAR_VOXELS = 5
_BLOCK = 2048
FEWEST_VOXELS, LEAST_SHARE = 10, 0.05
"""With fewer voxels, or a smaller share of the map's, a mean is that of some dense spots: none is
given."""


@dataclass(frozen=True, kw_only=True)
class VoxelDistances:
    """The Wasserstein distances (k,) [m] of the voxels that hold enough points of both clouds.

    `centres` (k, 3) are those of the voxels of edge `edge_m` [m]. `n_occupied` voxels hold a point
    of either cloud, `n_of_first` one of the first, the map.
    """

    centres: np.ndarray
    distances: np.ndarray
    edge_m: float
    n_occupied: int
    n_of_first: int

    @property
    def share_judged(self) -> float:
        """Share of the voxels of the first cloud that hold enough points of both."""
        return len(self.distances) / self.n_of_first if self.n_of_first else 0.0

    @property
    def refusal(self) -> str:
        """Why no score of the whole map can be computed; "" where it can."""
        n, share = len(self.distances), self.share_judged
        if n >= FEWEST_VOXELS and share >= LEAST_SHARE:
            return ""
        return (
            f"only {n} of the map's {self.n_of_first} voxels of {self.edge_m:g} m hold enough "
            f"points of map and reference, {FEWEST_VOXELS} and {LEAST_SHARE:.0%} of them are "
            "needed; take larger voxels (awd_voxel_m) or fewer points (awd_min_points)"
        )

    @property
    def awd_m(self) -> float | None:
        """Mean over the voxels [m]; None without any."""
        return float(self.distances.mean()) if len(self.distances) else None

    @property
    def consistency(self) -> float | None:
        """Mean over voxels of std / mean of W2 among the voxels near each; 0 = even errors.

        The spatial consistency score of MapEval; voxels with no neighbour are left out.
        """
        if len(self.distances) < 2:
            return None
        index = np.rint((self.centres - self.centres[0]) / self.edge_m)
        tree = cKDTree(index)
        ratios = []
        for start in range(0, len(index), _BLOCK):
            block = cKDTree(index[start : start + _BLOCK])
            near = block.sparse_distance_matrix(
                tree, _NEAR_VOXELS + 0.5, p=np.inf, output_type="coo_matrix"
            )
            ratios.append(_spread(near.row, self.distances[near.col], block.n))
        joined = np.concatenate(ratios)
        joined = joined[np.isfinite(joined)]
        return float(joined.mean()) if len(joined) else None

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON; None for what is refused."""
        has_any = not self.refusal
        return {
            "mean_m": self.awd_m if has_any else None,
            "median_m": float(np.median(self.distances)) if has_any else None,
            "p95_m": float(np.percentile(self.distances, 95)) if has_any else None,
            "n_voxels": len(self.distances),
            "n_occupied": self.n_occupied,
            "n_of_map": self.n_of_first,
            "share_judged": self.share_judged,
            "voxel_m": self.edge_m,
            "consistency": self.consistency if has_any else None,
            "refused": self.refusal or None,
        }


def _spread(row: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Return std / mean of the values of each row (n,); NaN for fewer than two or a zero mean."""
    count = np.bincount(row, minlength=n)
    mean = np.bincount(row, values, n) / np.maximum(count, 1)
    square = np.bincount(row, (values - mean[row]) ** 2, n) / np.maximum(count, 1)
    ratio = np.full(n, np.nan)
    good = (count >= 2) & (mean > 0.0)
    ratio[good] = np.sqrt(square[good]) / mean[good]
    return ratio


def voxel_distances(
    a: np.ndarray, b: np.ndarray, *, edge_m: float, min_points: int
) -> VoxelDistances:
    """Return W2 of the clouds a (n, 3) and b (m, 3) in each voxel of a common lattice.

    Both are in one frame [m]; the lattice is aligned to multiples of `edge_m`. Voxels with fewer
    than `min_points` of either cloud are left out.
    """
    keys_of_both = voxel_keys(np.vstack([a, b]), edge_m)
    groups = [_groups(keys) for keys in np.split(keys_of_both, [len(a)])]
    keys, in_a, in_b = np.intersect1d(
        groups[0].keys, groups[1].keys, assume_unique=True, return_indices=True
    )
    enough = (groups[0].counts[in_a] >= min_points) & (groups[1].counts[in_b] >= min_points)
    mean_a, cov_a = _gaussians(a, groups[0], in_a[enough])
    mean_b, cov_b = _gaussians(b, groups[1], in_b[enough])
    first = a[groups[0].order[groups[0].starts[in_a[enough]]]]
    return VoxelDistances(
        centres=(np.floor(first / edge_m) + 0.5) * edge_m,
        distances=np.sqrt(wasserstein_squared(mean_a, cov_a, mean_b, cov_b)),
        edge_m=edge_m,
        n_occupied=len(groups[0].keys) + len(groups[1].keys) - len(keys),
        n_of_first=len(groups[0].keys),
    )


@dataclass(frozen=True, kw_only=True)
class _Groups:
    keys: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    order: np.ndarray


def _groups(keys: np.ndarray) -> _Groups:
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
    edges = np.append(starts, len(keys))
    return _Groups(keys=keys[starts], starts=edges, counts=np.diff(edges), order=order)


def _gaussians(
    points: np.ndarray, groups: _Groups, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean (k, 3) and covariance (k, 3, 3) of the points of some groups."""
    means, covariances = np.zeros((len(groups.keys), 3)), np.zeros((len(groups.keys), 3, 3))
    run_ranges(
        kernels.gaussians, len(groups.keys), np.ascontiguousarray(points, dtype=np.float64),
        groups.order, groups.starts, means, covariances,
    )  # fmt: skip
    return means[which], covariances[which]


def wasserstein_squared(
    mean_a: np.ndarray, cov_a: np.ndarray, mean_b: np.ndarray, cov_b: np.ndarray
) -> np.ndarray:
    """Return W2^2 (k,) of Gaussians with means (k, 3) and covariances (k, 3, 3).

    Dowson and Landau 1982; Bhatia, Jain and Lim 2019, "On the Bures-Wasserstein distance".
    """
    values, vectors = np.linalg.eigh(cov_a)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.transpose(0, 2, 1)
    inner = np.linalg.eigvalsh(root @ cov_b @ root)
    trace = np.trace(cov_a + cov_b, axis1=1, axis2=2)
    bures = trace - 2.0 * np.sqrt(np.maximum(inner, 0.0)).sum(axis=1)
    return np.sum((mean_a - mean_b) ** 2, axis=1) + np.maximum(bures, 0.0)
