# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Report of an evaluation in progress."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.plots import TRUTH
from aerotwin_core.protocol import Protocol
from aerotwin_core.scene import PathLayer, PointLayer, ReportScene
from aerotwin_core.section import Section
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.evaluation import JOINED, evaluate_trajectory
from aerotwin_trajectory_evaluation.live import LiveSnapshot
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol
from aerotwin_trajectory_evaluation.sections import section
from aerotwin_trajectory_evaluation.slam_poses import start_pose

JOINED_NOTE = "the estimate's first pose was put onto the truth, whatever frame its headers name"


def write_live_report(
    folder: Path,
    snapshot: LiveSnapshot,
    *,
    protocol: Protocol[TrajectoryProtocol],
    configuration: Mapping[str, Any],
    is_over: bool,
) -> bool:
    """Write report.html and metrics.json, each atomically; return whether anything was scored."""
    from aerotwin_report import write_report

    warnings = [] if is_over else ["The run goes on: this report is of the part so far."]
    try:
        chapters = live_sections(snapshot, protocol)
    except UserError as error:
        chapters, warnings = [], [*warnings, f"The trajectory is not judged: {error}"]
    write_report(
        folder,
        title="Live evaluation",
        sections=chapters,
        configuration=configuration,
        warnings=warnings,
    )
    return bool(chapters)


def live_sections(snapshot: LiveSnapshot, protocol: Protocol[TrajectoryProtocol]) -> list[Section]:
    """Return the chapters; the estimate is joined to truth at its first pose.

    Raises UserError if there is nothing to score yet.
    """
    truth, estimate = snapshot.truth, snapshot.estimate
    if min(len(truth), len(estimate)) < 2:
        raise UserError(f"{len(truth)} true and {len(estimate)} estimated poses came, two needed")
    T_reference_estimate = start_pose(truth, estimate)
    evaluation = evaluate_trajectory(
        truth,
        estimate,
        protocol=protocol,
        T_reference_estimate=T_reference_estimate,
        start=JOINED,
    )
    running = Section(
        title="As it ran",
        name="running",
        text="What stood on /diagnostics last; truth was interpolated at the estimate's stamps.",
        metrics=snapshot.values,
    )
    chapters = [section(evaluation, notes=(JOINED_NOTE,)), running]
    if snapshot.points is not None and len(snapshot.points):
        chapters.append(_map_section(snapshot.points, T_reference_estimate, truth))
    return chapters


def _map_section(
    points: np.ndarray, T_reference_estimate: np.ndarray, truth: Trajectory
) -> Section:
    moved = points @ T_reference_estimate[:3, :3].T + T_reference_estimate[:3, 3]
    layers = (
        PathLayer(name="truth", points_map=truth.p_ref_body, colour=TRUTH),
        PointLayer(name="map", points_map=moved),
    )
    return Section(
        title="Map so far",
        name="live_map",
        text="The newest map, joined to truth at the first pose; it is shown, not judged.",
        scenes=(ReportScene(title="The newest map", layers=layers),),
        metrics={"n_points": len(points)},
    )
