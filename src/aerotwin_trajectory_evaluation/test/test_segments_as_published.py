# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""KITTI's and rpg's ways of counting against their own loops, and published figures."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_trajectory_evaluation import (
    align_trajectories,
    evaluate_trajectory,
    load_trajectory_protocol,
    read_trajectory,
)
from aerotwin_trajectory_evaluation.metrics import summarise

ROUNDING = 1e-9
# The devkit takes the angle from the trace, whose rounding near 1 shows as the root of it.
TRACE_DEG = 1e-5
PRINTED_PERCENT = 0.005  # the papers print two decimals


def kitti(shared_data):
    folder = shared_data("trajectories/evo")
    times = folder / "KITTI_00_gt_times.txt"
    names = ("KITTI_00_gt.txt", "KITTI_00_ORB.txt")
    return [read_trajectory(folder / name, times=times) for name in names]


def poses(trajectory):
    T = np.tile(np.eye(4), (len(trajectory), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = trajectory.R_ref_body, trajectory.p_ref_body
    return T


def devkit_errors(truth, result):
    """Return the errors as evaluate_odometry.cpp of the KITTI devkit counts them, pose by pose."""
    gt, est = poses(truth), poses(result)
    dist = [0.0]
    for a, b in itertools.pairwise(gt):
        dist.append(dist[-1] + np.linalg.norm(b[:3, 3] - a[:3, 3]))
    errors = []
    for first in range(0, len(gt), 10):
        for length in range(100, 900, 100):
            last = next((i for i in range(first, len(gt)) if dist[i] > dist[first] + length), None)
            if last is None:
                continue
            delta_gt = np.linalg.inv(gt[first]) @ gt[last]
            delta_est = np.linalg.inv(est[first]) @ est[last]
            error = np.linalg.inv(delta_est) @ delta_gt
            angle = np.arccos(np.clip(0.5 * (np.trace(error[:3, :3]) - 1.0), -1.0, 1.0))
            errors.append((length, np.linalg.norm(error[:3, 3]) / length, angle / length))
    return np.array(errors)


def test_the_kitti_preset_counts_as_the_devkit(shared_data):
    truth, orb = kitti(shared_data)
    ours = evaluate_trajectory(truth, orb, protocol=load_trajectory_protocol("kitti"))
    theirs = devkit_errors(truth, orb)
    for drift in ours.drift:
        of_length = theirs[theirs[:, 0] == drift.length_m]
        # The files' matrices are rounded to 1e-7: an inverse is not quite a transpose.
        np.testing.assert_allclose(drift.trans_percent, of_length[:, 1] * 100, rtol=0, atol=1e-3)
        np.testing.assert_allclose(
            drift.rot_deg_m * drift.length_m,
            np.degrees(of_length[:, 2]) * drift.length_m,
            rtol=0,
            atol=0.05,  # the arc cosine of a trace that is off by 4e-7
        )
    segments = ours.metrics()["segments"]
    assert segments["mean_percent"] == pytest.approx(theirs[:, 1].mean() * 100, abs=1e-4)


def test_orb_slam_on_kitti_00_drifts_as_published(shared_data):
    """Mur-Artal and Tardos (2017), ORB-SLAM2, table I: 0.70 %, 0.25 deg/100 m, 1.3 m."""
    truth, orb = kitti(shared_data)
    segments = evaluate_trajectory(truth, orb, protocol=load_trajectory_protocol("kitti")).metrics()
    assert segments["segments"]["mean_percent"] == pytest.approx(0.70, abs=PRINTED_PERCENT)
    assert segments["segments"]["mean_deg_per_100m"] == pytest.approx(0.25, abs=PRINTED_PERCENT)
    rmse = evaluate_trajectory(truth, orb, align="se3").metrics()["ape"]["trans_m"]["rmse"]
    assert rmse == pytest.approx(1.3, abs=0.05)


def rpg_relative_errors(truth, estimate, length):
    """Return translation, angle, yaw and gravity errors as rpg_trajectory_evaluation counts."""
    gt, est = poses(truth), poses(estimate)
    steps = np.linalg.norm(np.diff(truth.p_ref_body, axis=0), axis=1)
    distance = np.concatenate([[0.0], np.cumsum(steps)])
    rows = []
    for i, begin in enumerate(distance):
        best, error = -1, 0.2 * length
        for k in range(i, len(distance)):
            if abs(distance[k] - (begin + length)) < error:
                best, error = k, abs(distance[k] - (begin + length))
        if best < 0:
            continue
        motion_gt = np.linalg.inv(gt[i]) @ gt[best]
        motion_est = np.linalg.inv(est[i]) @ est[best]
        off = np.linalg.inv(motion_gt) @ motion_est
        turn = np.eye(4)
        turn[:3, :3] = est[best][:3, :3]
        world = turn @ off @ np.linalg.inv(turn)
        yaw, pitch, roll = Rotation.from_matrix(world[:3, :3]).as_euler("ZYX", degrees=True)
        angle = np.degrees(np.arccos(np.clip((np.trace(world[:3, :3]) - 1) / 2, -1, 1)))
        rows.append((np.linalg.norm(world[:3, 3]), angle, abs(yaw), np.hypot(pitch, roll)))
    return np.array(rows)


@pytest.mark.parametrize("name", ["V1_02", "MH_04"])
def test_the_rpg_preset_counts_as_the_toolbox(shared_data, name):
    folder = shared_data("trajectories")
    sequence = {"V1_02": "V1_02_medium", "MH_04": "MH_04_difficult"}[name]
    truth = read_trajectory(folder / f"openvins_gt/{sequence}.txt")
    estimate = read_trajectory(folder / f"rpg/{name}/vislam_ba_estimate0.txt")
    result = evaluate_trajectory(truth, estimate, protocol=load_trajectory_protocol("rpg"))
    whole = result.reference.path_length_m
    assert [d.length_m for d in result.drift] == pytest.approx(
        [np.floor(whole * share * 100) / 100 for share in (0.1, 0.2, 0.3, 0.4, 0.5)]
    )
    for drift in result.drift[:2]:
        theirs = rpg_relative_errors(result.reference, result.aligned, drift.length_m)
        np.testing.assert_allclose(
            drift.trans_percent, theirs[:, 0] / drift.length_m * 100, atol=ROUNDING, rtol=0
        )
        np.testing.assert_allclose(
            drift.rot_deg_m * drift.length_m, theirs[:, 1], atol=TRACE_DEG, rtol=0
        )
        np.testing.assert_allclose(drift.yaw_deg, theirs[:, 2], atol=ROUNDING, rtol=0)
        np.testing.assert_allclose(drift.tilt_deg, theirs[:, 3], atol=ROUNDING, rtol=0)


def test_posyaw_is_worse_than_se3_and_changes_no_tilt(shared_data):
    """The data's README: rpg's own numbers are larger than those of SE(3)."""
    folder = shared_data("trajectories")
    pair = (
        read_trajectory(folder / "openvins_gt/MH_04_difficult.txt"),
        read_trajectory(folder / "rpg/MH_04/vislam_rp_estimate0.txt"),
    )
    posyaw = evaluate_trajectory(*pair, protocol=load_trajectory_protocol("rpg"))
    se3 = evaluate_trajectory(*pair)
    assert summarise(posyaw.ape.trans_m).rmse > summarise(se3.ape.trans_m).rmse
    removed = posyaw.alignment.removed(posyaw.estimate.p_ref_body)
    assert removed["tilt_deg"] == 0.0
    # Of the first pose alone rpg takes the attitude.
    first = align_trajectories(posyaw.reference, posyaw.estimate, "yaw", n_to_align=1)
    moved = first.apply(posyaw.estimate)
    np.testing.assert_allclose(moved.p_ref_body[0], posyaw.reference.p_ref_body[0], atol=ROUNDING)
    turn = moved.R_ref_body[0] @ posyaw.reference.R_ref_body[0].T
    assert turn[1, 0] == pytest.approx(turn[0, 1], abs=ROUNDING)  # no yaw is left
