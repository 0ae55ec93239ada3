# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the pictures to compare: same view, at a suitable baseline."""

import numpy as np

from aerotwin_reconstruction.bundle.align import PhotoAlignment
from aerotwin_reconstruction.dense.parameters import DenseParameters

_FEWEST_SHARED = 15
_ACROSS = np.sin(np.radians(50.0))
_DEGREES_LIKE_A_FACTOR_OF_TWO = 12.0


def shared_tracks(alignment: PhotoAlignment) -> np.ndarray:
    """Return the number of points that each two pictures share, (k, k)."""
    from scipy.sparse import csr_matrix

    tracks = alignment.tracks
    seen = csr_matrix(
        (np.ones(len(tracks.picture), np.int32), (tracks.picture, tracks.point)),
        (len(alignment.photos), tracks.n_points),
    )
    shared = (seen @ seen.T).toarray()
    np.fill_diagonal(shared, 0)
    return shared


def depth_ranges(alignment: PhotoAlignment) -> np.ndarray:
    """Return nearest, median and farthest depth of each picture's points, (k, 3) [m].

    NaN where a picture has none. The ends are the 1st and 99th percentiles: single tracks may be
    wrong.
    """
    tracks, T = alignment.tracks, alignment.T_map_optical
    away = alignment.points[tracks.point] - T[tracks.picture, :3, 3]
    depth = np.einsum("ni,ni->n", away, T[tracks.picture, :3, 2])
    ranges = np.full((len(T), 3), np.nan)
    for k in np.unique(tracks.picture):
        ranges[k] = np.quantile(depth[tracks.picture == k], [0.01, 0.5, 0.99])
    return ranges


def choose_neighbours(
    alignment: PhotoAlignment,
    shared: np.ndarray,
    median_depth_m: np.ndarray,
    parameters: DenseParameters,
) -> list[np.ndarray]:
    """Return for each picture the indices of its neighbours for stereo, the best first.

    They share points, look the same way, and are beside rather than behind each other, at a
    distance that makes depths precise while surfaces still look alike (Furukawa and Hernandez,
    Multi-View Stereo: A Tutorial, 2015, 2.4).
    """
    centres, axes = alignment.T_map_optical[:, :3, 3], alignment.T_map_optical[:, :3, 2]
    chosen = []
    for k in range(len(centres)):
        baseline = centres - centres[k]
        length = np.maximum(np.linalg.norm(baseline, axis=1), 1e-9)
        share = length / median_depth_m[k]
        angle_deg = np.degrees(np.arccos(np.clip(axes @ axes[k], -1.0, 1.0)))
        along = np.abs(baseline @ axes[k]) / length
        is_fit = (
            (shared[k] >= _FEWEST_SHARED)
            & (share >= parameters.narrowest)
            & (share <= parameters.widest)
            & (angle_deg <= parameters.largest_angle_deg)
            & (along < _ACROSS)
            & alignment.is_tied
        )
        penalty = np.abs(np.log2(share / parameters.best))
        penalty += angle_deg / _DEGREES_LIKE_A_FACTOR_OF_TWO
        fit = np.flatnonzero(is_fit) if alignment.is_tied[k] else np.empty(0, np.int64)
        chosen.append(fit[np.argsort(penalty[fit], kind="stable")[: parameters.n_neighbours]])
    return chosen
