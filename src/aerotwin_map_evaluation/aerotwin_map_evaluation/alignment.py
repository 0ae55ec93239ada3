# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Alignment of a map to its reference, and the floor: the score of a perfect map aligned so too."""

from dataclasses import dataclass, replace

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_map_evaluation.surface import one_per_voxel
from aerotwin_registration import Registration, align, coarse_align

COARSE_OFFSET_M = 20.0


def align_map(points_map: np.ndarray, target: np.ndarray, protocol: MapProtocol) -> Registration:
    """Return the alignment of a map (n, 3) to reference points (m, 3) by a protocol [m].

    `points_map` has its initial pose applied. Returns `T_target_source` of `points_map`; read
    `converged` first: failures are results. The protocol's `align`, `method`, `with_scale`,
    `regions_m` and the three ICP choices are used.
    """
    if protocol.align == "none":
        return _still("judged where it stands")
    if protocol.align == "icp":
        return _fine(points_map, target, protocol, _still("ICP"))
    coarse = coarse_align(points_map, target, max_offset_m=COARSE_OFFSET_M, seed=protocol.seed)
    if not coarse.converged:
        return replace(coarse, reason=f"coarse alignment: {coarse.reason}")
    fine = _fine(points_map, target, protocol, coarse)
    return replace(fine, reason=f"coarse alignment, then ICP: {fine.reason}")


def _fine(
    points_map: np.ndarray, target: np.ndarray, protocol: MapProtocol, start: Registration
) -> Registration:
    """Align by ICP from a start; the regions are cut out of the map moved by the start."""
    is_in = is_inside(transform_points(start.S_target_source, points_map), protocol.boxes)
    n_in, fewest = int(np.count_nonzero(is_in)), protocol.icp.min_correspondences
    few = f"{n_in} of {len(points_map)} points lie in the regions"
    if protocol.boxes and n_in < fewest:
        return replace(start, converged=False, reason=f"{few}, {fewest} are needed")
    fine = align(
        points_map[is_in],
        target,
        T_target_source_initial=start.T_target_source,
        scale_initial=start.scale,
        protocol=protocol.icp,
    )
    if fine.converged or not protocol.boxes:
        return fine
    return replace(fine, reason=f"{fine.reason} ({few})")


def is_inside(points: np.ndarray, boxes: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return which points (n, 3) lie in any of the boxes; all without boxes."""
    if not boxes:
        return np.ones(len(points), dtype=bool)
    is_in = np.zeros(len(points), dtype=bool)
    for lower, upper in boxes:
        is_in |= ((points >= lower) & (points <= upper)).all(axis=1)
    return is_in


def _still(reason: str) -> Registration:
    """Return the identity alignment."""
    return Registration(
        T_target_source=np.eye(4),
        converged=True,
        reason=reason,
        n_iterations=0,
        n_correspondences=0,
        fitness=float("nan"),
        rmse_m=float("nan"),
    )


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
