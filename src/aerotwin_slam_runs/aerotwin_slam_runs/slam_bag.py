# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a SLAM wrote, as a bag with the topics of a SLAM that publishes."""

from pathlib import Path

import numpy as np

from aerotwin_core.bag import BagWriter
from aerotwin_core.frames import invert_transform, make_transform, pose_from_transform
from aerotwin_core.messages import odometry_message, point_cloud_message, serialize
from aerotwin_core.trajectory import Trajectory
from aerotwin_datasets import Recording
from aerotwin_slam_runs.run import SlamRun
from aerotwin_trajectory_evaluation.alignment import TrajectoryAlignment, align_umeyama

ODOMETRY, MAP = "/slam/odom", "/slam/map"
_FRAME, _STILL = "odom", (0.0, 0.0, 0.0)
_LEAST_POSES = 3
_AS_IT_IS = TrajectoryAlignment(
    mode="none", T_reference_estimate=np.eye(4), scale=1.0, is_determined=True, n_used=0
)


def write_slam_bag(
    run: SlamRun,
    path: Path,
    *,
    truth: Trajectory | None,
    map_points: np.ndarray | None,
    recording: Recording,
    overwrite: bool = False,
) -> tuple[bool, str]:
    """Write trajectory and map of a run as /slam/odom and /slam/map, beside what judges them.

    That is the truth, static transforms and CameraInfo of the recording.

    Poses become those of `base_link`. Where the SLAM does not know the scale, poses and map are
    laid onto the true poses `truth` of base_link by Sim(3): returned is whether they were, and a
    remark. `map_points` (n, 3) are in the frame of the trajectory.
    """
    estimate, fit, remark = run.trajectory, _AS_IT_IS, ""
    with BagWriter(path, overwrite=overwrite, is_live=False) as bag:
        _copy(recording, bag)
        bag.add_topic(ODOMETRY, "nav_msgs/msg/Odometry")
        if estimate is None:
            return False, ""
        if not run.description.trajectory.is_metric:
            fit, remark = _fit(run, estimate, truth)
        R, t = fit.T_reference_estimate[:3, :3], fit.T_reference_estimate[:3, 3]
        T_body_base = invert_transform(run.T_base_body)
        for stamp_ns, T in zip(estimate.stamps_ns.tolist(), estimate.transforms(), strict=True):
            T_odom_body = make_transform(R @ T[:3, :3], fit.scale * (R @ T[:3, 3]) + t)
            pose = pose_from_transform(T_odom_body @ T_body_base)
            message = odometry_message(stamp_ns, _FRAME, "base_link", *pose, _STILL, _STILL)
            bag.write(ODOMETRY, stamp_ns, serialize(message))
        if map_points is not None:
            bag.add_topic(MAP, "sensor_msgs/msg/PointCloud2")
            last_ns = int(estimate.stamps_ns[-1])
            placed = fit.scale * (map_points @ R.T) + t
            bag.write(MAP, last_ns, serialize(point_cloud_message(last_ns, _FRAME, placed)))
    return fit is not _AS_IT_IS, remark


def _copy(recording: Recording, bag: BagWriter) -> None:
    kept = {recording.truth_topic, *(camera.info_topic for camera in recording.cameras)}
    topics = {
        topic: kind
        for topic, kind in recording.bag.topics.items()
        if topic in kept or topic.endswith("tf_static")
    }
    for topic, kind in topics.items():
        bag.add_topic(topic, kind, latched=topic.endswith("static"))
    for topic, stamp_ns, cdr in recording.raw(list(topics)):
        bag.write(topic, stamp_ns, cdr)


def _fit(
    run: SlamRun, estimate: Trajectory, truth: Trajectory | None
) -> tuple[TrajectoryAlignment, str]:
    """Return the similarity that lays the path onto the truth, and a remark on it."""
    unknown = f"{run.description.name} does not know its scale"
    if truth is None or len(truth) < 2:
        return _AS_IT_IS, f"{unknown}, and there is no truth to fit it to"
    first, last = truth.stamps_ns[[0, -1]]
    inside = (estimate.stamps_ns >= first) & (estimate.stamps_ns <= last)
    true = truth.interpolate(estimate.stamps_ns[inside]).transforms() @ run.T_base_body
    if len(true) < _LEAST_POSES:
        return _AS_IT_IS, f"{unknown}, and too few of its poses have a truth to fit it to"
    found = align_umeyama(true[:, :3, 3], estimate.p_ref_body[inside], "sim3")
    return found, (
        f"{unknown}: poses and map were laid onto the truth by Sim(3), scale {found.scale:.5g}; "
        "scores before the alignment are those after this fit"
        + ("" if found.is_determined else f"; {found.reason}")
    )
