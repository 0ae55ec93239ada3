# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of a moving cloud, searched again only where the nearest point may have changed."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.threads import run_ranges
from aerotwin_registration.point_tree import PointTree

# The search reaches a little beyond the radius, so that small moves need no new search.
_REACH = 1.25


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The nearest target point within the radius of every source point, and their sums."""

    # moved and index: source points at their current position in the target frame, and the index of
    # the nearest target point; -1 without one within the radius
    moved: np.ndarray  # (n, 3)
    index: np.ndarray  # (n,)
    sums: np.ndarray  # (19,) as in `tree_kernels.tracked_pairs`

    @property
    def n(self) -> int:
        """Number of pairs."""
        return int(self.sums[0])

    @property
    def fitness(self) -> float:
        """Share of source points with a pair."""
        return self.n / len(self.index)

    @property
    def rmse_m(self) -> float:
        """Root mean square distance of the pairs [m]; NaN without."""
        return float(np.sqrt(self.sums[1] / self.n)) if self.n else float("nan")


class PairTracker:
    """The nearest target point, within a radius, of every source point as the source moves.

    A point that has moved by m since its last search keeps its neighbour as long as
    2 m < d2 - d1, the lead of the nearest over the second nearest (triangle inequality); after
    that a few known neighbours are checked before the tree. The result equals a full search in
    every step, at a small part of its cost once steps are small.

    `source` (n, 3), `target`: moving points, fastest along a curve as `PointTree.points` are, and
    the searched ones. `radius_m`: neighbours farther than this do not count [m]. `robust`,
    `robust_m`: kind of weight of a pair in the sums (`tree_kernels`), and its threshold
    distance [m].
    """

    def __init__(
        self,
        source: np.ndarray,
        target: PointTree,
        radius_m: float,
        *,
        robust: int = 0,
        robust_m: float = 1.0,
    ) -> None:
        from aerotwin_registration.tree_kernels import N_NEAR

        n = len(source)
        self._source = np.ascontiguousarray(source)
        self._target = target
        self._choices = (radius_m, radius_m * _REACH, robust, robust_m)
        self._anchors, self._leads = np.zeros((n, 3)), np.full(n, -1.0)
        self._limits = np.full(n, -1.0)
        self._near = np.full((n, N_NEAR), -1)

    def pairs(self, S: np.ndarray) -> Pairs:
        """Return the pairs of the source moved by S (4, 4)."""
        from aerotwin_registration.tree_kernels import tracked_pairs

        n = len(self._source)
        moved, index = np.empty((n, 3)), np.empty(n, dtype=np.int64)
        sums = run_ranges(
            tracked_pairs,
            n,
            *self._target.arrays,
            self._source,
            np.ascontiguousarray(S[:3]),
            *self._choices,
            self._anchors,
            self._leads,
            self._limits,
            self._near,
            moved,
            index,
        )
        return Pairs(moved=moved, index=index, sums=sum(sums))
