# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The score of a perfect map under the same protocol: the floor that voxels set."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_map_evaluation.alignment import align_map
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_map_evaluation.surface import one_per_voxel
from aerotwin_registration import Registration


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Score of a perfect map of the same region under the same protocol."""

    points_map: np.ndarray  # (n, 3): samples of the true surface
    region: str  # how the region was found
    # (n,): to what correspondences are measured to, after the same alignment; infinite beyond the
    # cuts
    distances: np.ndarray
    registration: Registration  # that alignment; it moves even a perfect map


def floor_of(
    reference: MapReference,
    below_map: np.ndarray,
    observed: np.ndarray | None,
    protocol: MapProtocol,
) -> Floor | None:
    """Return the floor; None when too little of the surface lies near the map.

    The reference must have a surface. The region is `observed` (k, 3), surface points seen from
    true poses, else `below_map` (n, 3), the surface points nearest to the map's points.
    """
    if observed is not None and len(observed):
        perfect, region = observed, "surface seen from the true poses"
    else:
        perfect, region = below_map, "surface below the map's points (true poses were not given)"
    perfect = one_per_voxel(perfect, protocol.floor_spacing_m)
    if len(perfect) < protocol.icp.min_correspondences:
        return None
    registration = align_map(perfect, reference.points, protocol)
    return Floor(
        points_map=perfect,
        region=region,
        distances=aligned_distances(perfect, registration, reference, protocol),
        registration=registration,
    )


def aligned_distances(
    points_map: np.ndarray,
    registration: Registration,
    reference: MapReference,
    protocol: MapProtocol,
) -> np.ndarray:
    """Return the distances (n,) of correspondences after an alignment, up to the last cut."""
    reach = max(*protocol.rejection_m, protocol.cut_m) * (1.0 + 1e-9)
    moved = transform_points(registration.S_target_source, points_map)
    return reference.distances(moved, protocol.distance, limit_m=reach)
