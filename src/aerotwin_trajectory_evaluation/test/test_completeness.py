# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What went wrong is found, with its time, and only that."""

import numpy as np
import pytest

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import (
    TrajectoryProtocol,
    evaluate_trajectory,
    read_trajectory,
)
from aerotwin_trajectory_evaluation.summary import OF_PROTOCOL, cautions, score_rows

RATE_HZ = 20
CHOICES = TrajectoryProtocol(align="none", max_time_offset_s=0.0)


def flight(duration_s=60.0):
    """Return a flight along x at 2 m/s that sways and climbs; no attitude."""
    t = np.arange(0.0, duration_s, 1.0 / RATE_HZ)
    p = np.column_stack([2 * t, 3 * np.sin(0.4 * t), 2 + np.sin(0.3 * t)])
    return Trajectory(np.round(t * 1e9).astype(np.int64), p, np.tile([0, 0, 0, 1.0], (len(t), 1)))


def judged(estimate, choices=CHOICES):
    return evaluate_trajectory(flight(), estimate, protocol=choices)


def corrupted(change):
    truth = flight()
    p = truth.p_ref_body.copy()
    change(truth.stamps_ns * 1e-9, p)
    return Trajectory(truth.stamps_ns, p, truth.q_ref_body)


def kinds(result):
    return [(i.kind, round(i.from_s, 2), round(i.to_s, 2)) for i in result.completeness.incidents]


def test_a_perfect_estimate_has_no_incident():
    found = judged(flight()).completeness
    assert found.incidents == ()
    assert found.tracked_path == pytest.approx(1.0)
    assert found.not_lost == 1.0
    assert found.auc == pytest.approx(1.0)
    assert found.n_without_reference == 0


def test_a_late_start_an_early_end_and_a_gap_are_named_with_their_times():
    truth = flight()
    t = truth.stamps_ns * 1e-9
    keep = (t >= 5.0) & (t <= 50.0) & ~((t > 20.0) & (t < 24.0))
    result = judged(truth.select(np.flatnonzero(keep)))
    assert kinds(result) == [
        ("late start", 0.0, 5.0),
        ("gap", 20.0, 24.0),
        ("early end", 50.0, 59.95),
    ]
    assert [i.text for i in result.completeness.incidents][1] == "no pose for 4.00 s"
    assert result.completeness.tracked_path == pytest.approx(41.0 / 59.95, abs=0.02)
    assert result.coverage == pytest.approx(41.0 / 59.95, abs=0.01)


def test_a_jump_is_one_incident_and_being_lost_after_it_another():
    def jump(t, p):
        p[t >= 30.0] += [0.0, 4.0, 0.0]

    result = judged(corrupted(jump))
    lost = result.completeness.lost_above_m
    assert lost == pytest.approx(0.01 * flight().path_length_m)  # above 1 m: the share counts
    assert kinds(result) == [("jump", 30.0, 30.0), ("lost", 30.0, 59.95)]
    assert [i.size for i in result.completeness.incidents] == pytest.approx([4.0, 4.0])
    assert result.completeness.not_lost == pytest.approx(0.5, abs=0.01)


def test_moving_across_a_gap_is_no_jump():
    def drift_while_silent(t, p):
        p[t >= 30.0] += [0.0, 0.9, 0.0]

    estimate = corrupted(drift_while_silent)
    t = estimate.stamps_ns * 1e-9
    found = kinds(judged(estimate.select(np.flatnonzero((t < 28.0) | (t >= 30.0)))))
    assert [kind for kind, *_ in found] == ["gap"]


def test_two_stretches_that_are_lost_are_two_incidents():
    def lost_twice(t, p):
        p[((t > 10) & (t < 12)) | ((t > 40) & (t < 41))] += [0.0, 0.0, 3.0]

    result = judged(corrupted(lost_twice))
    counts = result.completeness.n_incidents
    assert counts["lost"] == 2
    assert counts["jump"] == 4  # out and back, twice


def test_the_area_under_the_curve_is_a_closed_form():
    """An error of 0.25 m everywhere, limits up to 1 m: three quarters."""

    def shift(t, p):
        p[:, 1] += 0.25

    assert judged(corrupted(shift)).completeness.auc == pytest.approx(0.75)


def test_silence_of_the_truth_is_not_held_against_the_estimate():
    truth = flight()
    t = truth.stamps_ns * 1e-9
    thin = truth.select(np.flatnonzero((t < 19.99) | (t > 30.01)))
    result = evaluate_trajectory(thin, truth, protocol=CHOICES)
    assert result.completeness.tracked_path == pytest.approx(1.0, abs=0.01)
    assert result.completeness.n_without_reference == 201
    assert result.completeness.incidents == ()


@pytest.mark.parametrize("every", [1, 5, 40])
def test_truth_that_is_sparser_than_the_estimate_tracks_it_all_the_same(every):
    truth = flight()
    sparse = truth.select(np.arange(0, len(truth), every))
    found = evaluate_trajectory(sparse, truth, protocol=CHOICES)
    assert found.completeness.tracked_path == pytest.approx(1.0)
    assert found.coverage == pytest.approx(1.0)
    # What is not there is left out, to the truth's own period at either end of it.
    t = truth.stamps_ns * 1e-9
    gappy = truth.select(np.flatnonzero((t <= 20.0) | (t >= 30.0)))
    share = evaluate_trajectory(sparse, gappy, protocol=CHOICES).completeness.tracked_path
    assert share == pytest.approx(1.0 - 10.0 / 59.95, abs=2 * every / RATE_HZ / 59.95 + 0.01)


def test_a_real_estimate_is_tracked_alike_by_dense_and_by_sparse_truth(shared_data):
    """EuRoC V1_02 against every 200th line of its truth: one pose a second."""
    folder = shared_data("trajectories")
    truth = read_trajectory(folder / "evo/V102_groundtruth.csv")
    sparse = truth.select(np.arange(0, len(truth), 200))
    assert evaluate_trajectory(sparse, truth).completeness.tracked_path == pytest.approx(1.0)
    estimate = read_trajectory(folder / "evo/V102.txt")
    dense = evaluate_trajectory(truth, estimate).completeness.tracked_path
    thin = evaluate_trajectory(sparse, estimate).completeness.tracked_path
    # At either end a second of 76 m in 83 s is not judged.
    assert thin == pytest.approx(dense, abs=0.03)


KEYFRAMES = TrajectoryProtocol(align="none", max_time_offset_s=0.0, keyframe_gap_s=2.0)


def keyframes(lost=(0.0, 0.0)):
    """Return poses 0.1 to 1.9 s apart, many of them close together; none while it is lost."""
    truth = flight()
    steps = np.random.default_rng(6).choice([2, 3, 38], size=400, p=[0.6, 0.3, 0.1])
    chosen = np.cumsum(steps) - steps[0]
    chosen = chosen[chosen < len(truth)]
    t = truth.stamps_ns[chosen] * 1e-9
    return truth.select(chosen[(t <= lost[0]) | (t >= lost[1])])


def test_key_frames_of_a_slam_that_tracks_cover_the_time_between_them():
    estimate, frames = keyframes(), flight().stamps_ns
    assert np.diff(estimate.stamps_ns).max() == 1_900_000_000
    span = (estimate.stamps_ns[-1] - estimate.stamps_ns[0]) * 1e-9 / 59.95
    sparse = evaluate_trajectory(flight(), estimate, protocol=CHOICES, frame_stamps_ns=frames)
    assert sparse.coverage == pytest.approx(len(estimate) / len(frames))
    (caution,) = [text for text in cautions(sparse) if text.startswith("Only")]
    assert "key-frames only, --keyframe-gap-s 2" in caution
    (caution,) = [text for text in cautions(sparse, OF_PROTOCOL) if text.startswith("Only")]
    assert "key-frames only, keyframe_gap_s: 2 in a file of --protocol" in caution
    for stamps_ns in (None, frames):
        found = evaluate_trajectory(
            flight(), estimate, protocol=KEYFRAMES, frame_stamps_ns=stamps_ns
        )
        assert found.coverage == pytest.approx(span, abs=2.0 / len(frames))
        assert found.completeness.tracked_path == pytest.approx(span, abs=0.02)
        assert not any(kind == "gap" for kind, _, _ in kinds(found))


@pytest.mark.parametrize(
    ("choices", "label"), [(KEYFRAMES, "RPE per key-frame"), (CHOICES, "RPE per frame")]
)
def test_a_relative_error_says_how_far_apart_in_time_its_poses_are(choices, label):
    # Six in ten steps are of two frames of 20 Hz.
    (row,) = [row for row in score_rows(judged(keyframes(), choices)) if label in row.label]
    assert row.meaning.endswith("0.1 s in the median")


def test_key_frames_of_a_lost_slam_do_not_cover_the_time_it_was_lost():
    estimate = keyframes(lost=(20.0, 29.0))
    gap_s = np.diff(estimate.stamps_ns).max() * 1e-9
    found = judged(estimate, KEYFRAMES)
    span_s = (estimate.stamps_ns[-1] - estimate.stamps_ns[0]) * 1e-9
    assert found.coverage == pytest.approx((span_s - gap_s) / 59.95)
    assert [kind for kind, _, _ in kinds(found)].count("gap") == 1
    sparse = evaluate_trajectory(
        flight(), estimate, protocol=CHOICES, frame_stamps_ns=flight().stamps_ns
    )
    assert "key-frames" not in " ".join(cautions(sparse))
