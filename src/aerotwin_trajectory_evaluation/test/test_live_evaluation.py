# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Running figures equal those of the evaluation of the whole, and the report grows."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import evaluate_trajectory
from aerotwin_trajectory_evaluation.live import LiveEvaluation, RunningErrors, StampedPose
from aerotwin_trajectory_evaluation.live_report import write_live_report
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol, load_trajectory_protocol

ROUNDING = 1e-9
PERIOD_NS = 50_000_000
FAR_M = 5e5  # UTM coordinates
FAR_ROUNDING = 1e-6  # of metres: 16 digits less those of FAR_M squared, under a root


def flight(n=200, seed=1000, offset_m=0.0):
    """A climbing curve and a drifting, noisy estimate of it in another frame."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) * PERIOD_NS * 1e-9
    p = np.column_stack([4.0 * np.sin(0.4 * t), 3.0 * np.cos(0.3 * t), 1.0 + 0.2 * t]) + offset_m
    q = Rotation.from_euler("zyx", np.column_stack([0.5 * t, 0.1 * np.sin(t), 0.0 * t]))
    truth = Trajectory((t * 1e9).astype(np.int64), p, q.as_quat())
    R = Rotation.from_euler("zyx", [1.0, 0.02, -0.03])
    drift = np.cumsum(rng.normal(0.0, 0.004, p.shape), axis=0)
    estimate = Trajectory(truth.stamps_ns, R.apply(p - p[0] + drift), (R * q).as_quat())
    return truth, estimate


def poses(trajectory):
    columns = (trajectory.stamps_ns, trajectory.p_ref_body, trajectory.q_ref_body)
    return [StampedPose(int(s), tuple(p), tuple(q)) for s, p, q in zip(*columns, strict=True)]


@pytest.mark.parametrize(("offset_m", "tolerance"), [(0.0, ROUNDING), (FAR_M, FAR_ROUNDING)])
def test_running_errors_are_those_of_the_whole(offset_m, tolerance):
    truth, estimate = flight(offset_m=offset_m)
    errors = RunningErrors(rpe_m=1.0)
    for row in zip(
        truth.p_ref_body, truth.q_ref_body, estimate.p_ref_body, estimate.q_ref_body, strict=True
    ):
        errors.add(*row)
    joined = truth.transforms()[0] @ np.linalg.inv(estimate.transforms()[0])
    whole = evaluate_trajectory(truth, estimate, T_reference_estimate=joined)
    numbers = whole.metrics()
    assert errors.ape_m == pytest.approx(numbers["ape_unaligned"]["trans_m"]["rmse"], abs=tolerance)
    assert errors.ape_aligned_m == pytest.approx(numbers["ape"]["trans_m"]["rmse"], abs=tolerance)
    assert errors.worst_m == pytest.approx(
        numbers["ape_unaligned"]["trans_m"]["max"], abs=tolerance
    )
    assert errors.rpe_m == pytest.approx(numbers["rpe"]["metre"]["trans_m"]["rmse"], abs=tolerance)
    frame = numbers["rpe"]["frame"]["trans_m"]["rmse"]
    assert errors.rpe_frame_m == pytest.approx(frame, abs=tolerance)
    assert errors.path_m == pytest.approx(truth.path_length_m, abs=tolerance)


def test_a_mirrored_path_is_not_mended_by_the_alignment():
    """The best rotation may not mirror: of the unit axes and their mirror image, 2/3 stays."""
    errors = RunningErrors()
    level = np.array([0.0, 0.0, 0.0, 1.0])
    for p in (np.zeros(3), *np.eye(3), *-np.eye(3)):
        errors.add(p, level, p * [1.0, 1.0, -1.0], level)
    # Each axis has variance 2/7; two are met, the third is met with the wrong sign.
    assert errors.ape_aligned_m == pytest.approx(np.sqrt(4.0 * 2.0 / 7.0), abs=ROUNDING)


def live(**choices):
    protocol = load_trajectory_protocol()
    if choices:
        protocol = type(protocol)(
            name="test", part="trajectory", choices=TrajectoryProtocol(**choices)
        )
    return LiveEvaluation(protocol)


def test_an_estimate_waits_for_the_truth_and_is_paired_with_what_lies_between():
    evaluation = live()
    level = (0.0, 0.0, 0.0, 1.0)
    evaluation.add_truth(StampedPose(0, (0.0, 0.0, 0.0), level))
    evaluation.add_estimate(StampedPose(10_000_000, (0.0, 0.0, 0.0), level))
    evaluation.add_estimate(StampedPose(30_000_000, (2.0, 0.0, 0.0), level))
    assert evaluation.status()[2]["n_pairs"] == "0"
    evaluation.add_truth(StampedPose(40_000_000, (4.0, 0.0, 0.0), level))
    values = evaluation.status()[2]
    assert values["n_pairs"] == "2"
    assert float(values["ape_max_m"]) < ROUNDING  # truth at 10 ms is 1, at 30 ms 3


def test_a_gap_of_the_truth_is_not_bridged():
    evaluation = live()
    level = (0.0, 0.0, 0.0, 1.0)
    evaluation.add_truth(StampedPose(0, (0.0, 0.0, 0.0), level))
    evaluation.add_truth(StampedPose(1_000_000_000, (9.0, 0.0, 0.0), level))
    evaluation.add_estimate(StampedPose(500_000_000, (1.0, 0.0, 0.0), level))
    assert evaluation.status()[2]["n_pairs"] == "0"


def test_diagnostics_say_what_is_wrong_and_since_when():
    evaluation = live(lost_m=1.0, silence_s=0.5)
    assert evaluation.status()[:2] == (1, "waiting for truth")
    truth, estimate = flight(100)
    true_poses, estimated = poses(truth), poses(estimate)
    evaluation.add_truth(true_poses[0])
    assert evaluation.status()[:2] == (1, "waiting for an estimate")
    for pose, guess in zip(true_poses[:40], estimated[:40], strict=True):
        evaluation.add_truth(pose)
        evaluation.add_estimate(guess)
    assert evaluation.status()[:2] == (0, "tracking")
    for pose in true_poses[40:60]:
        evaluation.add_truth(pose)
    level, text, _ = evaluation.status()
    assert (level, text) == (1, "no estimate for 1.0 s")
    frozen = estimated[39]
    for pose in true_poses[60:]:
        evaluation.add_truth(pose)
        evaluation.add_estimate(StampedPose(pose.stamp_ns, frozen.p, frozen.q))
    level, text, values = evaluation.status()
    assert level == 1
    assert text.startswith("lost: ")
    # 1 s of 4.95 s was silent; the step over it is longer than silence_s and does not count.
    assert float(values["coverage"]) == pytest.approx((4.95 - 1.05) / 4.95, abs=1e-5)


def level_pose(stamp_s, x_m=0.0):
    return StampedPose(round(stamp_s * 1e9), (x_m, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def test_estimates_that_no_truth_judges_are_not_called_tracked():
    evaluation = live(silence_s=0.5)
    evaluation.add_truth(level_pose(1.0))
    evaluation.add_estimate(level_pose(0.8))  # before the first truth
    evaluation.add_estimate(level_pose(1.1))  # truth has not caught up
    level, text, values = evaluation.status()
    assert (level, values["n_unpaired"]) == (1, "1")
    assert text == "nothing judged yet: none of 2 estimates has truth at its stamp"
    evaluation.add_truth(level_pose(1.1))
    for k in range(20):
        evaluation.add_truth(level_pose(1.11 + 0.01 * k))
        evaluation.add_estimate(level_pose(1.11 + 0.01 * k))
    assert evaluation.status()[:2] == (0, "tracking")
    evaluation.add_estimate(level_pose(1.9))
    assert evaluation.status()[:2] == (
        1,
        "no truth for 0.6 s of estimates: has it stopped, are the clocks one?",
    )


def test_a_truth_with_gaps_is_said_to_leave_estimates_unjudged():
    evaluation = live()
    for k in range(20):
        evaluation.add_truth(level_pose(0.05 * k))
        evaluation.add_estimate(level_pose(0.05 * k))
    assert evaluation.status()[:2] == (0, "tracking")
    for stamp_s in (1.1, 1.2, 1.3):  # the truth comes back at 1.4 s, 0.45 s after its last
        evaluation.add_estimate(level_pose(stamp_s))
    evaluation.add_truth(level_pose(1.4))
    level, text, values = evaluation.status()
    assert (level, values["n_unpaired"]) == (1, "3")
    assert text == "3 of 23 estimates found no truth at their stamps"


def test_poses_that_are_none_or_reported_lost_or_late_are_counted_not_judged():
    evaluation = live()
    level = (0.0, 0.0, 0.0, 1.0)
    for stamp in (0, 100_000_000):
        evaluation.add_truth(StampedPose(stamp, (0.0, 0.0, 0.0), level))
    good = StampedPose(50_000_000, (0.0, 0.0, 0.0), level)
    evaluation.add_estimate(good, latency_s=0.25)
    evaluation.add_estimate(good)  # repeats its stamp
    evaluation.add_estimate(StampedPose(60_000_000, (np.nan, 0.0, 0.0), level))
    evaluation.add_estimate(StampedPose(70_000_000, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)))
    evaluation.add_estimate(StampedPose(80_000_000, (5.0, 0.0, 0.0), level), variance_m2=1e6)
    evaluation.add_estimate(StampedPose(90_000_000, (5.0, 0.0, 0.0), level), variance_m2=np.nan)
    values = evaluation.status()[2]
    assert values["n_pairs"] == "1"
    assert values["n_left_out"] == "3"
    assert values["n_reported_lost"] == "2"
    assert float(values["latency_median_s"]) == 0.25


def test_the_report_says_first_that_there_is_nothing_and_then_what_there_is(tmp_path):
    evaluation = live()
    protocol = load_trajectory_protocol()
    write = lambda: write_live_report(  # noqa: E731
        tmp_path, evaluation.snapshot(), protocol=protocol, configuration={}, is_over=False
    )
    assert not write()
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert "not judged" in metrics["warnings"][1]
    truth, estimate = flight()
    for pose, guess in zip(poses(truth), poses(estimate), strict=True):
        evaluation.add_truth(pose)
        evaluation.add_estimate(guess)
    evaluation.set_map(np.eye(3))
    assert write()
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["sections"]["running"]["n_pairs"] == 200
    assert metrics["sections"]["trajectory"]["n_pairs"] == 200
    assert metrics["sections"]["live_map"]["n_points"] == 3
    ape = metrics["sections"]["trajectory"]["ape_unaligned"]["trans_m"]["rmse"]
    assert metrics["sections"]["running"]["ape_m"] == pytest.approx(ape, abs=ROUNDING)


def test_a_report_over_trajectories_of_other_clocks_says_so(tmp_path):
    evaluation = live()
    truth, estimate = flight(20)
    for pose, guess in zip(poses(truth), poses(estimate), strict=True):
        evaluation.add_truth(pose)
        evaluation.add_estimate(StampedPose(guess.stamp_ns + 10**15, guess.p, guess.q))
    judged = write_live_report(
        tmp_path,
        evaluation.snapshot(),
        protocol=load_trajectory_protocol(),
        configuration={},
        is_over=True,
    )
    assert not judged
    assert "check their clocks" in (tmp_path / "metrics.json").read_text()


@pytest.mark.parametrize("q", [(0.0,) * 4, (1e-320, 0.0, 0.0, 0.0), (1e308,) * 4])
def test_an_attitude_without_a_direction_is_no_pose(q):
    assert not StampedPose(0, (0.0, 0.0, 0.0), q).is_pose
    with pytest.raises(ValueError, match="nor too large"):
        Trajectory(np.array([0]), np.zeros((1, 3)), np.array([q]))
