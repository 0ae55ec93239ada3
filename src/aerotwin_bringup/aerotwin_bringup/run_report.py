# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of one run: evaluate what its bag holds and write report.html and metrics.json."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_bringup.bag_camera import true_camera
from aerotwin_bringup.frames_section import frames_section
from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform
from aerotwin_core.messages import deserialize, point_cloud_arrays, stamp_ns
from aerotwin_core.section import Section
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import (
    ResourceUsage,
    evaluate_trajectory,
    resource_section,
)
from aerotwin_trajectory_evaluation import section as trajectory_section
from aerotwin_worlds import World

LOST_VARIANCE_M2 = 1e3
"""A pose whose reported position variance is larger is a frame that was not tracked."""
COARSE_VOXEL_M = 1.0
"""Edge of the reference voxels of Beam et al. (2024)."""
FINE_VOXEL_M = 0.25
MAX_DRIFT_PERCENT = 3.0
"""Above this the report marks the drift of a stereo odometry as poor."""
TRUTH = "/truth/odom"
SLAM_ODOM = "/slam/odom"
SLAM_MAP = "/slam/map"
LEFT_IMAGE = "/stereo/left/image_raw"


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What a run left behind for its report.

    Attributes
    ----------
    folder : Path
        Where report.html and metrics.json go.
    title : str
        Heading of the report.
    truth_bag : BagReader
        Where truth and images are.
    slam_bag : BagReader or None
        Where the outputs of the SLAM under test are; None if none took part.
    world : World or None
        The true surface, for the map.
    configuration : dict
        What repeats the run.
    usage : ResourceUsage or None
        What the SLAM cost.
    duration_s : float
        Simulated (or recorded) time.
    lead : tuple of Section
        Chapters that come first.
    warnings : tuple of str
        What the reader must know.
    is_partial : bool
        The run was cut short: the map is not evaluated, the report says so.
    """

    folder: Path
    title: str
    truth_bag: BagReader
    slam_bag: BagReader | None
    world: World | None
    configuration: dict[str, Any]
    usage: ResourceUsage | None = None
    duration_s: float = 0.0
    lead: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    is_partial: bool = False


def write_run_report(record: RunRecord) -> Path:
    """Evaluate the run and write its report; return the path of report.html."""
    from aerotwin_report import write_report

    sections = list(record.lead)
    warnings = list(record.warnings)
    if record.world is not None:
        warnings += record.world.warnings
    if record.is_partial:
        warnings.insert(0, "This report is partial: the run was stopped before its end.")
    if not record.truth_bag.is_complete:
        warnings.append("The bag was not closed by its writer; its last second may be missing.")
    sections += _slam_sections(record, warnings)
    frames = None if record.is_partial else frames_section(record.truth_bag)
    if frames is not None:
        sections.append(frames)
    write_report(
        record.folder,
        title=record.title,
        sections=sections,
        configuration=record.configuration,
        warnings=warnings,
        seed=record.configuration.get("parameters", {}).get("seed"),
        world=None if record.world is None else record.world.credits,
    )
    return record.folder / "report.html"


def _slam_sections(record: RunRecord, warnings: list[str]) -> list[Section]:
    """Return the chapters on trajectory, map and cost; what is missing becomes a warning."""
    if record.slam_bag is None:
        return []
    n_outputs = record.slam_bag.counts.get(SLAM_ODOM, 0)
    if n_outputs == 0:
        warnings.append("No SLAM output was recorded: neither trajectory nor map is judged.")
        return []
    if record.truth_bag.counts.get(TRUTH, 0) < 2:
        warnings.append(f"The bag holds no truth ({TRUTH}): the SLAM is not judged.")
        return []
    truth = record.truth_bag.trajectory(TRUTH)
    estimate = tracked_trajectory(record.slam_bag)
    sections = _cost_sections(record, n_outputs, warnings)
    try:
        T_map_odom = start_pose(truth, estimate)
        evaluation = evaluate_trajectory(
            truth,
            estimate,
            frame_stamps_ns=frame_stamps_ns(record.truth_bag),
            T_reference_estimate=T_map_odom,
        )
        chapter = trajectory_section(evaluation, max_drift_percent=MAX_DRIFT_PERCENT)
        sections.insert(0, chapter)
    except UserError as error:
        warnings.append(f"The trajectory is not judged: {error}")
        return sections
    if record.world is not None and not record.is_partial:
        sections[1:1] = _map_sections(record, truth, T_map_odom, warnings)
    return sections


def _cost_sections(record: RunRecord, n_outputs: int, warnings: list[str]) -> list[Section]:
    """Return the chapter on the SLAM's cost, a warning when its process was not found."""
    usage = record.usage
    if usage is None:
        return []
    if len(usage.n_processes) == 0 or usage.n_processes.max() == 0:
        warnings.append("No process matched slam_process: CPU and memory were not measured.")
        return []
    n_frames = record.truth_bag.counts.get(LEFT_IMAGE, 0) or n_outputs
    return [resource_section(usage, n_frames=n_frames, simulated_s=record.duration_s)]


def _map_sections(
    record: RunRecord, truth: Trajectory, T_map_odom: np.ndarray, warnings: list[str]
) -> list[Section]:
    """Judge the last map against voxels of 1 m, as published, and against finer ones."""
    from aerotwin_map_evaluation import MapProtocol, SurfaceReference, evaluate_map
    from aerotwin_map_evaluation import section as map_section
    from aerotwin_registration import write_cloud

    assert record.world is not None
    assert record.slam_bag is not None
    try:
        points = last_map(record.slam_bag)
    except ValueError as error:
        warnings.append(f"The map on {SLAM_MAP} is not judged: {error}")
        return []
    if points is None:
        warnings.append(f"No map was recorded on {SLAM_MAP}: it is not judged.")
        return []
    reference = SurfaceReference.from_meshes(record.world.meshes)
    camera = true_camera(record.truth_bag, truth)
    observed = None if camera is None else reference.seen_from(*camera)
    evaluations = [
        evaluate_map(
            reference,
            points,
            T_map_odom_initial=T_map_odom,
            protocol=MapProtocol(voxel_m=voxel_m),
            observed=observed,
        )
        for voxel_m in (COARSE_VOXEL_M, FINE_VOXEL_M)
    ]
    write_cloud(record.folder / "slam_map.ply", evaluations[0].points_map)
    for evaluation in evaluations:
        name = f"voxels_{evaluation.protocol.voxel_m:g}m.ply"
        write_cloud(record.folder / name, evaluation.voxels_map)
    coarse, fine = (map_section(evaluation) for evaluation in evaluations)
    title = f"Map against voxels of {FINE_VOXEL_M:g} m"
    fine = dataclasses.replace(fine, title=title, name="map_fine", headline=(), figures=())
    return [coarse, fine]


def tracked_trajectory(bag: BagReader) -> Trajectory:
    """Return the SLAM's poses without those it reported as lost."""
    stamps, rows = [], []
    for _, _, message in bag.messages([SLAM_ODOM]):
        stamp, pose = stamp_ns(message), message.pose.pose
        p, q = pose.position, pose.orientation
        row = [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
        is_tracked = message.pose.covariance[0] <= LOST_VARIANCE_M2  # False for not-a-number
        if not is_tracked or not np.isfinite(row).all() or not any(row[3:]):
            continue
        if not stamps or stamp > stamps[-1]:
            stamps.append(stamp)
            rows.append(row)
    table = np.array(rows).reshape(-1, 7)
    return Trajectory(np.array(stamps, dtype=np.int64), table[:, :3], table[:, 3:])


def start_pose(truth: Trajectory, estimate: Trajectory) -> np.ndarray:
    """Return T_map_odom from the true pose at the first stamp of the estimate.

    Raises
    ------
    UserError
        If truth does not cover that stamp.
    """
    inside = (estimate.stamps_ns >= truth.stamps_ns[0]) & (
        estimate.stamps_ns <= truth.stamps_ns[-1]
    )
    if len(truth) < 2 or not inside.any():
        raise UserError(f"no pose of {SLAM_ODOM} lies within the time of {TRUTH}")
    first = int(np.argmax(inside))
    T_map_base = truth.interpolate(estimate.stamps_ns[first : first + 1]).transforms()[0]
    return T_map_base @ invert_transform(estimate.transforms()[first])


def frame_stamps_ns(bag: BagReader) -> np.ndarray | None:
    """Return the stamps of all left images [ns], None when the bag holds none."""
    stamps = [stamp for _, stamp, _ in bag.raw([LEFT_IMAGE])]
    return np.array(stamps, dtype=np.int64) if stamps else None


def last_map(bag: BagReader) -> np.ndarray | None:
    """Return the points (n, 3) of the last map in odom [m], None when there is none."""
    cdr = None
    for _, _, raw in bag.raw([SLAM_MAP]):
        cdr = raw
    if cdr is None:
        return None
    arrays = point_cloud_arrays(deserialize(cdr, bag.topics[SLAM_MAP]))
    points = np.column_stack([arrays[axis] for axis in "xyz"]).astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    return points if len(points) else None
