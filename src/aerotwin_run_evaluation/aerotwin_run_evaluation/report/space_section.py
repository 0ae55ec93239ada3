# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Map and trajectory of a run in one 3D view, coloured by their errors."""

from typing import TYPE_CHECKING

import numpy as np

from aerotwin_core.plots import TRUTH
from aerotwin_core.scene import PathLayer, PointLayer, ReportScene
from aerotwin_core.section import Section
from aerotwin_trajectory_evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.evaluation import AS_GIVEN

if TYPE_CHECKING:
    from aerotwin_map_evaluation import MapEvaluation


def space_section(
    trajectory: TrajectoryEvaluation | None, cloud: "MapEvaluation | None", *, has_paths: bool
) -> Section | None:
    """Return the section with the view; None where there is nothing to show.

    Paths alone are skipped if the trajectory's section shows them (`has_paths`).
    """
    if trajectory is None or (cloud is None and has_paths):
        return None
    layers: list[PathLayer | PointLayer] = [
        PathLayer(name="truth", points_map=trajectory.reference.p_ref_body, colour=TRUTH),
        PathLayer(
            name="estimate",
            points_map=trajectory.estimate.p_ref_body,
            values=trajectory.ape_unaligned.trans_m,
            unit="m",
        ),
    ]
    if cloud is not None:
        layers.append(_map_layer(cloud))
    return Section(
        title="Map and trajectory in space",
        name="space",
        scenes=(
            ReportScene(
                title="What the SLAM made of the place",
                caption=(
                    f"Both as the SLAM gave them, {_placed(trajectory)}. The path is "
                    "coloured by its distance to the true one, map points by their distance to "
                    "the reference."
                ),
                layers=tuple(layers),
            ),
        ),
    )


def _placed(trajectory: TrajectoryEvaluation) -> str:
    return "in the frame of truth" if trajectory.start == AS_GIVEN else trajectory.start


def _map_layer(cloud: "MapEvaluation") -> PointLayer:
    distances = cloud.surface_distances
    if distances is None:
        distances = cloud.voxel_distances
    return PointLayer(
        name="map",
        points_map=cloud.points_map,
        values=np.where(np.isfinite(distances), distances, np.nan),
        unit="m",
    )
