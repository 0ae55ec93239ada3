# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Distances of a map to a reference: those of `aerotwin evaluate map`, point by point."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import transform_points
from aerotwin_map_evaluation import MapProtocol, evaluate_map
from aerotwin_map_evaluation.inputs import reference_of, start_of
from aerotwin_map_evaluation.neighbours import nearest
from aerotwin_map_evaluation.reference import checked_points
from aerotwin_map_evaluation.statistics import describe_all, removed_by
from aerotwin_registration.point_tree import PointTree
from aerotwin_voxel_cloud import MapInput

UNALIGNED = "none"


@dataclass(frozen=True, kw_only=True)
class MapDistances:
    """Distances of a map's points to the nearest of a reference."""

    points_map: np.ndarray  # (n, 3), where they were judged [m]
    distances_m: np.ndarray  # (n,)
    alignment: str  # what was done, as text

    def text(self) -> str:
        """Return the figures of `accuracy` of a map evaluation."""
        found = describe_all(self.distances_m, ())
        return (
            f"median {found['median_m']:.3f} m, mean {found['mean_m']:.3f} m, "
            f"95 % {found['p95_m']:.3f} m, max {found['max_m']:.3f} m"
        )


def map_distances(reference: MapInput, estimate: MapInput, align: str = UNALIGNED) -> MapDistances:
    """Return the distances of a map, of points, as `evaluate map --align ALIGN` measures them.

    Raises
    ------
    UserError
        If an alignment is asked for and fails.
    """
    points = checked_points(estimate.points, estimate.spec)
    T_start = start_of(
        reference.origin, estimate.origin, initial=None, origin=None, reference_origin=None,
        with_scale=False,
    )  # fmt: skip
    surface, reference_points = reference_of(reference, None)
    if align == UNALIGNED:
        said = "none; the map is judged where its file has it"
        if T_start is not None:
            points, said = (
                transform_points(T_start, points),
                "by the origins in both files",
            )
        if surface is not None:
            distances_m = surface.distances(points)
        else:
            assert reference_points is not None
            tree = PointTree(checked_points(reference_points, reference.spec))
            distances_m = nearest(tree, PointTree(points))
        return MapDistances(points_map=points, distances_m=distances_m, alignment=said)
    evaluation = evaluate_map(
        surface,
        points,
        T_map_odom_initial=T_start,
        is_placed=False,
        protocol=MapProtocol(align=align, sensitivity_m=()),
        reference_points=reference_points,
    )
    if not evaluation.is_judged:
        raise UserError(
            f"--align {align}: not aligned: {evaluation.registration.reason}; leave it out, or try "
            "coarse"
        )
    judged = evaluation.judged_points_map
    moved = removed_by(evaluation.S_judged, evaluation.points_map)
    return MapDistances(
        points_map=judged,
        distances_m=evaluation.judged_distances,
        alignment=f"{align}, which moved it by {moved['offset_m']:.3f} m and turned it by "
        f"{moved['yaw_deg']:.2f} deg of yaw, {moved['tilt_deg']:.2f} deg of tilt",
    )
