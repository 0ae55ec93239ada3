# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of flights whose errors are known by construction."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import TrajectoryProtocol, evaluate_trajectory
from aerotwin_trajectory_evaluation.metrics import pairs_by_path, segment_drift, segments, travelled


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


def test_segment_drift_of_a_scaled_path_is_the_scale():
    truth = flight()
    scaled = Trajectory(truth.stamps_ns, truth.p_ref_body * 1.03, truth.q_ref_body)
    (drift,) = segment_drift(truth, scaled, TrajectoryProtocol(segment_lengths_m=(10.0,)))
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
    (drift,) = segment_drift(truth, turned, TrajectoryProtocol(segment_lengths_m=(20.0,)))
    # A segment ends with the first pose beyond its length, one step of 0.1 m late at most.
    np.testing.assert_allclose(drift.rot_deg_m, 0.2, rtol=0.006)
    np.testing.assert_allclose(drift.yaw_deg / 20.0, drift.rot_deg_m, rtol=1e-6)
    np.testing.assert_allclose(drift.tilt_deg, 0.0, atol=1e-9)


def stop_and_go():
    """Return positions on a grid of a quarter of a metre, with stops: many poses equally far."""
    steps = np.tile([0.25, 0.25, 0.0, 0.0, 0.25, 0.5, 0.0], 20)
    return np.column_stack([np.concatenate([[0.0], np.cumsum(steps)]), *np.zeros((2, 141))])


@pytest.mark.parametrize("delta_m", [0.25, 1.0, 1.125, 3.0])
@pytest.mark.parametrize("all_pairs", [False, True])
def test_pairs_of_a_path_with_stops_are_those_of_evo(delta_m, all_pairs):
    from evo.core.filters import filter_pairs_by_path

    p = stop_and_go()
    poses = np.tile(np.eye(4), (len(p), 1, 1))
    poses[:, :3, 3] = p
    first, second = pairs_by_path(p, delta_m, all_pairs=all_pairs, tolerance=0.2)
    theirs = filter_pairs_by_path(list(poses), delta_m, delta_m * 0.2, all_pairs)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == theirs


def test_a_segment_of_kitti_ends_beyond_its_length_and_one_of_rpg_at_it():
    path = travelled(stop_and_go())
    for end in ("beyond", "nearest"):
        first, second = segments(path, 2.0, step=3, end=end)
        expected = []
        for i in range(0, len(path), 3):
            off = np.abs(path[i + 1 :] - path[i] - 2.0)
            if end == "beyond" and (path > path[i] + 2.0).any():
                expected.append((i, int(np.argmax(path > path[i] + 2.0))))
            elif end == "nearest" and len(off) and off.min() < 0.4:
                expected.append((i, i + 1 + int(np.argmin(off))))
        assert list(zip(first.tolist(), second.tolist(), strict=True)) == expected


@pytest.mark.parametrize("mode", ["se3", "sim3", "yaw", "origin", "robust"])
def test_aligned_scores_do_not_depend_on_the_frame_of_the_estimate(mode):
    truth, estimate = flight(), noisy(flight())
    turn = Rotation.from_rotvec([0.0, 0.0, 1.3] if mode == "yaw" else [0.4, -0.2, 1.3])
    moved = Trajectory(
        estimate.stamps_ns,
        turn.apply(estimate.p_ref_body) + np.array([7.0, -3.0, 2.0]),
        (turn * Rotation.from_quat(estimate.q_ref_body)).as_quat(),
    )
    provided, there = (evaluate_trajectory(truth, e, align=mode) for e in (estimate, moved))
    np.testing.assert_allclose(there.ape.trans_m, provided.ape.trans_m, atol=1e-6)
    np.testing.assert_allclose(there.ape.rot_deg, provided.ape.rot_deg, atol=1e-5)
    np.testing.assert_allclose(there.rpe_metre.trans_m, provided.rpe_metre.trans_m, atol=1e-9)


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
    assert [c.seen_by for c in result.controls] == ["APE"] * 3
    noise = result.controls[2]
    assert noise.measured_m == pytest.approx(0.2 * np.sqrt(3), rel=0.05)  # 5 sigma/sqrt(2n)


@pytest.mark.parametrize("mode", ["none", "origin", "yaw", "se3", "sim3", "robust"])
def test_controls_are_judged_as_the_estimate_and_do_not_claim_what_it_cannot_show(mode):
    truth = flight()
    result = evaluate_trajectory(truth, noisy(truth), align=mode)
    scale = result.controls[0]
    p = truth.p_ref_body
    corrupted = Trajectory(truth.stamps_ns, p[0] + (p - p[0]) * 1.01, truth.q_ref_body)
    alone = evaluate_trajectory(truth, corrupted, align=mode).metrics()["ape"]["trans_m"]["rmse"]
    assert scale.measured_m == pytest.approx(alone, abs=1e-9)
    assert scale.seen_by == ("scale_percent" if mode == "sim3" else "APE")
    assert [c.seen_by for c in result.controls[1:]] == ["APE"] * 2
    if mode == "sim3":
        assert scale.measured_m < 1e-6


def test_what_the_pairing_alone_costs_is_not_taken_for_a_control():
    """Stamps 8 ms off: the truth itself, paired with the nearest stamps, has an error then."""
    truth = flight()
    late = Trajectory(truth.stamps_ns + 8_000_000, truth.p_ref_body, truth.q_ref_body)
    scale = evaluate_trajectory(truth, late, align="none").controls[0]
    at = truth.interpolate(late.stamps_ns[:-1]).p_ref_body
    floor_m = np.sqrt(np.mean(np.sum((at - truth.p_ref_body[:-1]) ** 2, axis=1)))
    assert scale.floor_m == pytest.approx(floor_m)
    assert scale.floor_m > 0.0


def test_clocks_that_do_not_meet_are_explained():
    truth = flight()
    late = Trajectory(truth.stamps_ns + 10**12, truth.p_ref_body, truth.q_ref_body)
    with pytest.raises(UserError, match="check clocks"):
        evaluate_trajectory(truth, late)
