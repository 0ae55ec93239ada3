# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Effect of a reference cloud's spacing on a map's distances, and planes that remove it.

Against points s apart a perfect map scores 0.38 s (points on a square grid) to 0.5 s (random
points): that is not an error of the map. A plane through the points around the nearest one splits
the distance: normal to the plane is the map's error, along it the spacing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_map_evaluation.neighbours import nearest
from aerotwin_map_evaluation.statistics import describe, describe_all
from aerotwin_registration.point_tree import PointTree

N_AROUND = 8
"""Neighbours of a reference point through which, and itself, its plane goes: one ring of a grid."""
# Points spread less than this across than along their plane's longer side lie on a line (one ring
# of a lidar): no plane goes through them.
_LEAST_WIDTH = 0.1
# A plane holds this many times as far as its points reach: the gaps of a random cloud are no wider.
_HOLDS = 2.0
_CHUNK = 1 << 17


class Planes:
    """The plane through each point of a cloud of more than `N_AROUND` points and its neighbours."""

    def __init__(self, tree: PointTree) -> None:
        self._tree = tree
        n = len(tree.points)
        self._centres, self._normals = np.empty((n, 3)), np.empty((n, 3))
        self._reach = np.empty(n)
        for start in range(0, n, _CHUNK):
            part = slice(start, start + _CHUNK)
            distances, index = tree.nearest(tree.points[part], N_AROUND + 1)
            around = tree.points[index]
            centres = around.mean(axis=1)
            offsets = around - centres[:, None]
            values, vectors = np.linalg.eigh(np.einsum("nij,nik->njk", offsets, offsets))
            is_plane = values[:, 1] > _LEAST_WIDTH**2 * values[:, 2]
            self._centres[part], self._normals[part] = centres, vectors[:, :, 0]
            self._reach[part] = np.where(is_plane, _HOLDS * distances[:, -1], -1.0)

    @property
    def spacing_m(self) -> float:
        """Spacing of the points of the cloud as of a surface: root of the median area of each [m].

        Eight neighbours of a grid of spacing s reach to 1.4 s, of a random cloud to 1.56 s: within
        an eighth either way this is s.
        """
        reach = self._reach[self._reach > 0.0] / _HOLDS
        return float(np.median(reach) * np.sqrt(np.pi / N_AROUND)) if len(reach) else float("nan")

    def feet(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the foot (n, 3) of each point on the plane of the nearest one, and if it exists.

        It does not where the nearest lies on a line of points, or far beyond its own neighbours.
        """
        distances, index = (each[:, 0] for each in self._tree.nearest(points, 1))
        normals = self._normals[index]
        off = np.einsum("ij,ij->i", points - self._centres[index], normals)
        return points - off[:, None] * normals, distances <= self._reach[index]

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Return the distance (n,) [m] to the plane; to the nearest point where there is none."""
        feet, has_plane = self.feet(points)
        off = np.linalg.norm(points - feet, axis=1)
        return np.where(has_plane, off, nearest(self._tree, points))


@dataclass(frozen=True, kw_only=True)
class PlaneScores:
    """A map's distances to planes, and the part of its distances to points that is spacing."""

    # spacing of the reference's points, and distance of each map point to its plane [m]
    spacing_m: float
    to_planes: np.ndarray
    # (k,): distance of the feet, a perfect map, to the nearest reference point [m]; of the map
    # points within the cut that have a plane
    floor: np.ndarray
    share: float  # share of the map points that have one

    @classmethod
    def of(
        cls, planes: Planes, tree: PointTree, points: np.ndarray, *, cut_m: float
    ) -> "PlaneScores":
        """Return the scores of map points (n, 3); the floor of those within a cut of a point."""
        feet, has_plane = planes.feet(points)
        is_near = nearest(tree, points) <= cut_m
        return cls(
            spacing_m=planes.spacing_m,
            to_planes=planes.distances(points),
            floor=nearest(tree, feet[has_plane & is_near]),
            share=float(np.mean(has_plane)),
        )

    def plain(self, within_m: tuple[float, ...]) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "spacing_m": None if np.isnan(self.spacing_m) else self.spacing_m,
            "share": self.share,
            "distance": describe_all(self.to_planes, within_m),
            "floor": describe(self.floor),
        }
