# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tracks: features of many pictures that observe the same point."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


@dataclass(frozen=True, kw_only=True)
class Tracks:
    """Observations of points, those of a point next to each other.

    Attributes
    ----------
    picture, point : (n,) int64 arrays
        Index of the picture, and of the point (ascending, none left out).
    pixels : (n, 2) float64 array
    """

    picture: np.ndarray
    point: np.ndarray
    pixels: np.ndarray

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.point[-1]) + 1 if len(self.point) else 0

    @property
    def starts(self) -> np.ndarray:
        """First observation of each point, and the end, (n_points + 1,)."""
        return np.searchsorted(self.point, np.arange(self.n_points + 1))

    def select(self, is_retained: np.ndarray) -> "tuple[Tracks, np.ndarray]":
        """Return some observations, of points that keep two, and which points those are."""
        n_left = np.bincount(self.point[is_retained], minlength=self.n_points)
        is_retained = is_retained & (n_left[self.point] >= 2)
        points, index = np.unique(self.point[is_retained], return_inverse=True)
        retained = Tracks(
            picture=self.picture[is_retained], point=index, pixels=self.pixels[is_retained]
        )
        return retained, points


def link_tracks(
    pixels: Sequence[np.ndarray], pairs: np.ndarray, matches: Sequence[np.ndarray], *, n_enough: int
) -> Tracks:
    """Join matches to tracks; tracks with two features of a picture are contradictory and dropped.

    Parameters
    ----------
    pixels : sequence of (n, 2) arrays
        Features of each picture.
    pairs, matches : (m, 2) array, sequence of (k, 2) arrays
        Pictures of each pair, and its matching features.
    n_enough : int
        Tracks that suffice for a picture; the longest are used.
    """
    first = np.cumsum([0, *(len(p) for p in pixels)])
    a = np.concatenate([first[i] + m[:, 0] for (i, _), m in zip(pairs, matches)] or [[]])
    b = np.concatenate([first[j] + m[:, 1] for (_, j), m in zip(pairs, matches)] or [[]])
    a, b = a.astype(np.int64), b.astype(np.int64)
    n = int(first[-1])
    graph = coo_matrix((np.ones(len(a), bool), (a, b)), (n, n))
    _, label = connected_components(graph, directed=False)
    picture = np.repeat(np.arange(len(pixels)), np.diff(first))
    length = np.bincount(label)
    distinct = np.unique(np.column_stack([label, picture]), axis=0)
    n_pictures = np.bincount(distinct[:, 0], minlength=len(length))
    is_track = (length >= 2) & (length == n_pictures)
    rows = np.flatnonzero(is_track[label])
    rows = rows[np.argsort(label[rows], kind="stable")]
    names, point = np.unique(label[rows], return_inverse=True)
    xy = np.concatenate(pixels).astype(np.float64)[rows].reshape(-1, 2)
    tracks = Tracks(picture=picture[rows], point=point, pixels=xy)
    is_selected = _longest(tracks, length[names], len(pixels), n_enough)
    return tracks.select(is_selected[tracks.point])[0]


def _longest(tracks: Tracks, length: np.ndarray, n_pictures: int, n_enough: int) -> np.ndarray:
    """Return which tracks are used: from long to short, while a picture still needs one."""
    has = np.zeros(n_pictures, np.int64)
    starts = tracks.starts
    taken = np.zeros(len(length), bool)
    for k in np.argsort(-length, kind="stable"):
        pictures = tracks.picture[starts[k] : starts[k + 1]]
        if has[pictures].min() < n_enough:
            taken[k] = True
            has[pictures] += 1
    return taken
