# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How a map comes onto its reference: where it stands, coarse from any yaw, then ICP."""

from dataclasses import replace

import numpy as np

from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_registration import Registration, align, coarse_align

COARSE_OFFSET_M = 20.0


def align_map(points_map: np.ndarray, target: np.ndarray, protocol: MapProtocol) -> Registration:
    """Return the alignment of a map to reference points by a protocol.

    Parameters
    ----------
    points_map : (n, 3) array
        The map where its given pose puts it [m].
    target : (m, 3) array
        Voxel centres or a cloud [m].
    protocol : MapProtocol
        `align`, `method`, `with_scale`, `regions_m` and the three choices of the ICP.

    Returns
    -------
    Registration
        `T_target_source` of `points_map`; read `converged` first. Failures are results.
    """
    if protocol.align == "none":
        return _unaligned(points_map)
    source = inside(points_map, protocol.boxes)
    if protocol.align == "icp":
        return align(source, target, protocol=protocol.icp)
    coarse = coarse_align(source, target, max_offset_m=COARSE_OFFSET_M, seed=protocol.seed)
    if not coarse.converged:
        return replace(coarse, reason=f"coarse alignment: {coarse.reason}")
    fine = align(
        source,
        target,
        T_target_source_initial=coarse.T_target_source,
        scale_initial=coarse.scale,
        protocol=protocol.icp,
    )
    return replace(fine, reason=f"coarse alignment, then ICP: {fine.reason}")


def inside(points: np.ndarray, boxes: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the points (n, 3) in any of the boxes; all without boxes."""
    if not boxes:
        return points
    is_in = np.zeros(len(points), dtype=bool)
    for lower, upper in boxes:
        is_in |= ((points >= lower) & (points <= upper)).all(axis=1)
    return points[is_in]


def _unaligned(points: np.ndarray) -> Registration:
    return Registration(
        T_target_source=np.eye(4),
        converged=True,
        reason="judged where it stands",
        n_iterations=0,
        n_correspondences=0,
        fitness=float("nan"),
        rmse_m=float("nan"),
    )
