# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Known results: trajectories/README.md of the shared data, and evo in the same run."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import evaluate_trajectory, read_trajectory
from aerotwin_trajectory_evaluation.metrics import (
    absolute_errors,
    relative_errors,
    segment_drift,
    summarise,
)

ROUNDING = 1e-9
PRINTED = 1e-6  # the README prints six decimals
ROTATION_FILE = 2e-6  # KITTI's six-digit matrices are made orthonormal here, not in evo


def flight(n=400, seed=1000):
    """Return a smooth flight of about 60 m with turns, 20 Hz."""
    t = np.arange(n) / 20.0
    rng = np.random.default_rng(seed)
    positions = np.column_stack([3 * t, 4 * np.sin(0.5 * t), 2 + np.cos(0.3 * t)])
    rotvecs = np.column_stack([0.1 * np.sin(t), 0.1 * np.cos(t), 0.8 * np.sin(0.2 * t)])
    stamps = (t * 1e9).astype(np.int64) + int(rng.integers(10**9))
    return Trajectory(stamps, positions, Rotation.from_rotvec(rotvecs).as_quat())


def noisy(truth, sigma=0.05, seed=3):
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(rng.normal(0, 0.01, (len(truth), 3)))
    attitudes = (Rotation.from_quat(truth.q_ref_body) * turn).as_quat()
    positions = truth.p_ref_body + rng.normal(0, sigma, (len(truth), 3))
    return Trajectory(truth.stamps_ns, positions, attitudes)


def evo_pair(*trajectories):
    from evo.core.trajectory import PoseTrajectory3D

    return tuple(
        PoseTrajectory3D(
            positions_xyz=t.p_ref_body,
            orientations_quat_wxyz=np.roll(t.q_ref_body, 1, axis=1),
            timestamps=t.stamps_ns * 1e-9,
        )
        for t in trajectories
    )


@pytest.mark.parametrize("relation", ["translation_part", "rotation_angle_deg"])
@pytest.mark.parametrize(("delta", "unit"), [(1, "frames"), (1.0, "m"), (7.5, "m")])
def test_relative_errors_equal_evo(relation, delta, unit):
    from evo.core import metrics

    truth = flight()
    estimate = noisy(truth)
    ours = relative_errors(truth, estimate, delta=delta, unit=unit)
    units = {"frames": metrics.Unit.frames, "m": metrics.Unit.meters}
    theirs = metrics.RPE(metrics.PoseRelation[relation], delta, units[unit])
    theirs.process_data(evo_pair(truth, estimate))
    errors = ours.trans_m if relation == "translation_part" else ours.rot_deg
    np.testing.assert_allclose(errors, theirs.error, atol=ROUNDING)
    assert ours.at.tolist() == theirs.delta_ids


@pytest.mark.parametrize("relation", ["translation_part", "rotation_angle_deg"])
def test_absolute_errors_equal_evo(relation):
    from evo.core import metrics

    truth = flight()
    estimate = noisy(truth)
    ours = absolute_errors(truth, estimate)
    theirs = metrics.APE(metrics.PoseRelation[relation])
    theirs.process_data(evo_pair(truth, estimate))
    errors = ours.trans_m if relation == "translation_part" else ours.rot_deg
    np.testing.assert_allclose(errors, theirs.error, atol=ROUNDING)
    assert summarise(errors).rmse == pytest.approx(theirs.get_all_statistics()["rmse"])


def test_segment_drift_of_a_scaled_path_is_the_scale():
    truth = flight()
    scaled = Trajectory(truth.stamps_ns, truth.p_ref_body * 1.03, truth.q_ref_body)
    (drift,) = segment_drift(truth, scaled, (10.0,))
    i, j = (
        0,
        np.searchsorted(np.cumsum(np.linalg.norm(np.diff(truth.p_ref_body, axis=0), axis=1)), 10.0),
    )
    chord = np.linalg.norm(truth.p_ref_body[j + 1] - truth.p_ref_body[i])
    assert drift.trans_percent[0] == pytest.approx(0.03 * chord / 10.0 * 100.0)
    np.testing.assert_allclose(drift.rot_deg_m, 0.0, atol=1e-6)


def test_segment_drift_of_a_yaw_bias_is_the_bias_per_metre():
    """A straight flight whose estimate turns by 0.2 deg/m without moving off: KITTI's measure."""
    x = np.arange(0.0, 40.0, 0.1)
    truth = Trajectory(
        np.arange(len(x)) * 10**8,
        np.column_stack([x, 0 * x, 0 * x]),
        np.tile([0, 0, 0, 1.0], (len(x), 1)),
    )
    turned = Trajectory(
        truth.stamps_ns,
        truth.p_ref_body,
        Rotation.from_rotvec(np.radians(np.outer(0.2 * x, [0, 0, 1]))).as_quat(),
    )
    (drift,) = segment_drift(truth, turned, (20.0,))
    # A segment ends with the first pose beyond its length, one step of 0.1 m late at most.
    np.testing.assert_allclose(drift.rot_deg_m, 0.2, rtol=0.006)


def test_a_given_start_pose_is_applied_before_everything():
    truth = flight()
    T = truth.transforms()[0]
    local = np.linalg.inv(T) @ truth.transforms()
    estimate = Trajectory(
        truth.stamps_ns, local[:, :3, 3], Rotation.from_matrix(local[:, :3, :3]).as_quat()
    )
    result = evaluate_trajectory(truth, estimate, T_reference_estimate=T)
    assert result.ape_unaligned.trans_m.max() < 1e-6
    assert evaluate_trajectory(truth, estimate).ape_unaligned.trans_m.max() > 0.5


def test_lost_frames_show_in_the_coverage():
    truth = flight()
    keep = np.r_[0:100, 200:400]
    part = Trajectory(truth.stamps_ns[keep], truth.p_ref_body[keep], truth.q_ref_body[keep])
    assert evaluate_trajectory(truth, part, frame_stamps_ns=truth.stamps_ns).coverage == 0.75
    by_time = evaluate_trajectory(truth, part).coverage
    assert by_time == pytest.approx(1 - 101 / 399)


def test_controls_of_known_size_are_seen():
    result = evaluate_trajectory(flight(), noisy(flight()))
    assert [c.is_detected for c in result.controls] == [True] * 3
    noise = result.controls[2]
    assert noise.measured_m == pytest.approx(0.2 * np.sqrt(3), rel=0.05)  # 5 sigma/sqrt(2n)


def test_clocks_that_do_not_meet_are_explained():
    truth = flight()
    late = Trajectory(truth.stamps_ns + 10**12, truth.p_ref_body, truth.q_ref_body)
    with pytest.raises(UserError, match="check clocks"):
        evaluate_trajectory(truth, late)


@pytest.mark.parametrize(
    ("reference", "estimate", "n_pairs", "unaligned", "se3", "sim3"),
    [
        ("evo/freiburg1_xyz-groundtruth.txt", "evo/freiburg1_xyz-rgbdslam.txt",
         785, 0.020079, 0.013470, 0.013389),
        ("evo/fr2_desk_groundtruth.txt", "evo/fr2_desk_ORB.txt",
         2174, 3.173994, 0.008119, 0.006123),
        ("openvins_gt/V1_02_medium.txt", "rpg/V1_02/vislam_rp_estimate0.txt",
         1355, 3.628489, 0.064920, 0.061871),
        ("openvins_gt/MH_04_difficult.txt", "rpg/MH_04/vislam_ba_estimate0.txt",
         187, 20.981244, 0.103023, 0.086935),
    ],
)  # fmt: skip
def test_published_pairs_get_their_known_scores(
    shared_data, reference, estimate, n_pairs, unaligned, se3, sim3
):
    folder = shared_data("trajectories")
    pair = read_trajectory(folder / reference), read_trajectory(folder / estimate)
    for mode, rmse in (("none", unaligned), ("se3", se3), ("sim3", sim3)):
        result = evaluate_trajectory(*pair, align=mode)
        assert len(result.reference) == n_pairs
        assert summarise(result.ape.trans_m).rmse == pytest.approx(rmse, abs=PRINTED)


def test_kitti_00_gets_its_published_scores(shared_data):
    folder = shared_data("trajectories/evo")
    truth = read_trajectory(folder / "KITTI_00_gt.txt", times=folder / "KITTI_00_gt_times.txt")
    orb = read_trajectory(folder / "KITTI_00_ORB.txt", times=folder / "KITTI_00_gt_times.txt")
    result = evaluate_trajectory(truth, orb)
    ape = summarise(result.ape.trans_m)
    assert truth.path_length_m == pytest.approx(3724.187, abs=5e-4)
    assert [ape.rmse, ape.mean, ape.median, ape.max] == pytest.approx(
        [1.303450, 1.156997, 1.065625, 3.587949], abs=ROTATION_FILE
    )
    rpe = relative_errors(truth, orb, delta=10.0, unit="m")
    assert len(rpe.trans_m) == 354
    stats = summarise(rpe.trans_m)
    assert [stats.rmse, stats.mean, stats.max] == pytest.approx(
        [0.236763, 0.172301, 1.331392], abs=1e-5 * 10
    )
    frame = summarise(result.rpe_frame.trans_m)
    assert [frame.rmse, frame.mean] == pytest.approx([0.028120, 0.019301], abs=1e-5)
