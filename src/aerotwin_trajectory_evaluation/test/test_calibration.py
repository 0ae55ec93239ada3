# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Time offset and lever arm: known ones are found again, and their uncertainty is honest."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import (
    TrajectoryProtocol,
    evaluate_trajectory,
    find_calibration,
    read_trajectory,
)
from aerotwin_trajectory_evaluation.turn_offset import coarse_time_offset_s

ARM_M = np.array([0.12, -0.05, 0.2])
OFFSET_S = 0.137
NOISE_M = 0.02
NOISE_DEG = 0.2
N_TRIALS = 40
# The root mean square of n standard normal numbers spreads by 1/sqrt(2 n): five times that, and
# a tenth for what a covariance from 30 stretches of time is itself uncertain.
SPREAD = 5.0 / np.sqrt(2 * N_TRIALS * 4) + 0.1


STAMP_ROUNDING_S = 1e-6
# Between true poses 10 ms apart the path is a chord: a v^2 / r dt^2 / 8 of some micrometres.
CHORD_M = 1e-4


def truth(duration_s=60.0, rate_hz=100.0, turn=1.0):
    """Return a flight that turns about all axes."""
    t = np.arange(0.0, duration_s, 1.0 / rate_hz)
    p = np.column_stack(
        [4 * np.sin(0.5 * t), 3 * np.sin(0.73 * t + 1), 2 + np.sin(0.9 * t) * np.cos(0.31 * t)]
    )
    angles = turn * np.column_stack(
        [np.sin(0.8 * t), 0.7 * np.sin(1.1 * t + 2), 1.5 * np.sin(0.45 * t)]
    )
    return Trajectory((t * 1e9).astype(np.int64), p, Rotation.from_rotvec(angles).as_quat())


def correlated(rng, n, sigma):
    """Return the error (n, 3) of a SLAM: it is not white, neighbouring poses share most of it."""
    steps = rng.normal(0.0, sigma, (n, 3))
    error = np.zeros_like(steps)
    for k in range(1, n):
        error[k] = 0.9 * error[k - 1] + np.sqrt(1 - 0.9**2) * steps[k]
    return error


def seen(
    reference,
    rng,
    *,
    offset_s=OFFSET_S,
    arm_m=ARM_M,
    noise_m=NOISE_M,
    noise_deg=None,
    rate_hz=20.0,
):
    """Return what a SLAM says whose clock is `offset_s` behind, of the point at `arm_m`."""
    first, last = reference.stamps_ns[[0, -1]] * 1e-9
    clock = np.arange(first + 1.5, last - 1.5, 1.0 / rate_hz)
    at = reference.interpolate(np.round((clock + offset_s) * 1e9).astype(np.int64))
    error = correlated(rng, len(clock), noise_m)
    noise_deg = noise_m / NOISE_M * NOISE_DEG if noise_deg is None else noise_deg
    tilt = Rotation.from_rotvec(correlated(rng, len(clock), np.radians(noise_deg)))
    points = at.p_ref_body + at.R_ref_body @ arm_m + error
    turn = Rotation.from_rotvec([0.4, -0.3, 2.0])
    return Trajectory(
        np.round(clock * 1e9).astype(np.int64),
        0.8 * turn.apply(points) + [5.0, 1.0, -2.0],
        (turn * Rotation.from_quat(at.q_ref_body) * tilt).as_quat(),
    )


def test_a_known_offset_and_arm_are_found_within_their_uncertainty():
    """Of many trials the errors, in their own standard deviations, spread by one."""
    reference, normalised = truth(), []
    for seed in range(1000, 1000 + N_TRIALS):
        found = find_calibration(
            reference, seen(reference, np.random.default_rng(seed)), max_offset_s=1.0
        )
        assert found.is_offset_significant
        assert found.is_lever_arm_significant
        normalised.append(
            [
                (found.time_offset_s - OFFSET_S) / found.time_offset_std_s,
                *(found.lever_arm_m - ARM_M) / found.lever_arm_std_m,
            ]
        )
    assert np.sqrt(np.mean(np.square(normalised))) == pytest.approx(1.0, abs=SPREAD)


@pytest.mark.parametrize("offset_s", [-0.8, -0.05, 0.0, 0.4])
def test_an_exact_estimate_gives_the_exact_offset(offset_s):
    reference = truth()
    rng = np.random.default_rng(0)
    estimate = seen(reference, rng, offset_s=offset_s, arm_m=np.zeros(3), noise_m=0.0)
    found = find_calibration(reference, estimate, max_offset_s=1.0)
    # Positions between true poses 10 ms apart are interpolated on chords: tens of micrometres.
    assert found.time_offset_s == pytest.approx(offset_s, abs=1e-4)
    np.testing.assert_allclose(found.lever_arm_m, 0.0, atol=1e-3)


def test_perfect_data_have_neither_offset_nor_arm():
    """Rounded to nanoseconds and nanometres, all that is left is that rounding."""
    reference = truth(rate_hz=20.0)
    rng = np.random.default_rng(1000)
    p = reference.p_ref_body + rng.uniform(-5e-10, 5e-10, reference.p_ref_body.shape)
    for shift_ns, arm_m in ((0, 0.0), (1_000, 0.0), (0, 1e-6)):
        estimate = Trajectory(
            reference.stamps_ns + shift_ns,
            p + reference.R_ref_body @ [arm_m, 0.0, 0.0],
            reference.q_ref_body,
        )
        found = find_calibration(reference, estimate, max_offset_s=1.0)
        assert not found.is_offset_significant
        assert not found.is_lever_arm_significant


def test_nothing_is_applied_unless_asked_for():
    reference = truth()
    estimate = seen(reference, np.random.default_rng(1000), noise_m=0.0)
    both = {"apply_time_offset": True, "apply_lever_arm": True}
    rmse = {}
    for name, choices in (("none", {}), ("both", both), *((k, {k: True}) for k in both)):
        protocol = TrajectoryProtocol(align="sim3", **choices)
        result = evaluate_trajectory(reference, estimate, protocol=protocol)
        assert result.calibration.applied_time_offset == choices.get("apply_time_offset", False)
        assert result.calibration.applied_lever_arm == choices.get("apply_lever_arm", False)
        rmse[name] = result.metrics()["ape"]["trans_m"]["rmse"]
    assert rmse["both"] < 0.01 < min(rmse["apply_time_offset"], rmse["apply_lever_arm"])
    assert max(rmse["apply_time_offset"], rmse["apply_lever_arm"]) < rmse["none"]


def test_without_turns_the_arm_is_not_estimated_and_the_offset_is():
    reference = truth(turn=0.0)
    estimate = seen(reference, np.random.default_rng(1000), arm_m=np.zeros(3))
    found = find_calibration(reference, estimate, max_offset_s=1.0)
    assert found.lever_arm_m is None
    assert "lever arm is not determined" in found.reason
    assert found.time_offset_s == pytest.approx(OFFSET_S, abs=5 * found.time_offset_std_s)


def test_turns_about_one_axis_leave_the_arm_along_it_open():
    t = np.arange(0.0, 60.0, 0.01)
    p = np.column_stack([3 * np.sin(0.5 * t), 3 * np.sin(0.73 * t), 1 + np.sin(0.9 * t)])
    yaw = Rotation.from_rotvec(np.outer(1.5 * np.sin(0.45 * t), [0, 0, 1]))
    reference = Trajectory((t * 1e9).astype(np.int64), p, yaw.as_quat())
    found = find_calibration(
        reference, seen(reference, np.random.default_rng(1001)), max_offset_s=1.0
    )
    assert np.isnan(found.lever_arm_m[2])
    assert "z" in found.reason
    off = np.abs(found.lever_arm_m - ARM_M)[:2]
    assert (off < 5 * found.lever_arm_std_m[:2]).all()


@pytest.mark.parametrize(
    ("estimate", "tokens"),
    [
        (lambda r: Trajectory(r.stamps_ns[:2], r.p_ref_body[:2], r.q_ref_body[:2]), "three poses"),
        (lambda r: r.select(np.arange(200)), "less than 4 s"),
        (lambda r: r.select(np.arange(600)), "16 s"),
        (
            lambda r: Trajectory(
                r.stamps_ns,
                np.random.default_rng(3).normal(0, 1, (len(r), 3)),
                Rotation.random(len(r), np.random.default_rng(4)).as_quat(),
            ),
            "no time offset is determined",
        ),
        (
            lambda r: Trajectory(
                r.stamps_ns, 0 * r.p_ref_body, np.tile([0, 0, 0, 1.0], (len(r), 1))
            ),
            "no time offset is determined",
        ),
    ],
)
def test_what_cannot_be_determined_is_reported_and_not_guessed(estimate, tokens):
    reference = truth()
    found = find_calibration(reference, estimate(reference), max_offset_s=1.0)
    assert found.time_offset_s is None
    assert found.lever_arm_m is None
    assert tokens in found.reason
    assert not found.is_offset_significant
    assert found.plain()["lever_arm_m"] is None


def test_a_shifted_copy_tells_the_sign_as_evo_counts_it():
    """Stamps 50 ms too late: -50 ms are to be added, by our option as by evo's --t_offset."""
    sync = pytest.importorskip("evo.core.sync")
    trajectory = pytest.importorskip("evo.core.trajectory")
    reference = truth()
    late = dataclasses.replace(reference, stamps_ns=reference.stamps_ns + 50_000_000)
    found = find_calibration(reference, late, max_offset_s=1.0)
    assert found.time_offset_s == pytest.approx(-0.05, abs=STAMP_ROUNDING_S)
    result = evaluate_trajectory(
        reference, late, protocol=TrajectoryProtocol(apply_time_offset=True)
    )
    assert result.metrics()["ape"]["trans_m"]["max"] < CHORD_M

    def of_evo(t):
        return trajectory.PoseTrajectory3D(t.p_ref_body, t.q_ref_body, t.stamps_ns * 1e-9)

    pairs = sync.associate_trajectories(
        of_evo(reference), of_evo(late), max_diff=0.001, offset_2=found.time_offset_s
    )
    assert len(pairs[0].timestamps) == len(reference)
    np.testing.assert_allclose(pairs[0].positions_xyz, pairs[1].positions_xyz, atol=CHORD_M)


def test_an_estimate_that_stands_still_has_the_offset_of_its_turns():
    reference = truth()
    still = Trajectory(reference.stamps_ns, 0 * reference.p_ref_body, reference.q_ref_body)
    found = find_calibration(reference, still, max_offset_s=1.0)
    assert found.certainty == "turns alone"
    assert found.time_offset_s == pytest.approx(0.0, abs=STAMP_ROUNDING_S)
    assert found.lever_arm_m is None
    assert "does not tell" in found.reason or "do not tell" in found.reason


def test_an_error_of_positions_that_looks_like_time_is_no_offset():
    """Positions 40 ms ahead along the path, attitudes in time: it is not the clock."""
    reference = truth()
    rng = np.random.default_rng(1003)
    ahead = seen(reference, rng, offset_s=0.04, arm_m=np.zeros(3))
    in_time = seen(reference, rng, offset_s=0.0, arm_m=np.zeros(3)).q_ref_body
    n = min(len(ahead), len(in_time))
    estimate = Trajectory(ahead.stamps_ns[:n], ahead.p_ref_body[:n], in_time[:n])
    found = find_calibration(reference, estimate, max_offset_s=1.0)
    assert found.certainty == "disputed"
    assert found.by_displacements.offset_s == pytest.approx(0.04, abs=0.004)
    assert not found.is_offset_significant
    assert abs(found.time_offset_s) < 3.0 * found.time_offset_std_s
    assert "differ" in found.reason


@pytest.mark.parametrize("offset_s", [0.2, -0.2])
def test_the_offset_of_a_ground_robot_is_found_in_its_integrated_velocity(offset_s):
    """Slow, in a plane, its heading and scale drift, recorded for longer than the truth."""
    rng = np.random.default_rng(1004)
    t = np.arange(0.0, 400.0, 0.02)
    of_time = lambda w, phase: sum(np.sin(k * w * t + phase * k) for k in (1.0, 2.7, 4.3)) / 3.0  # noqa: E731
    speed, rate = 0.1 + 0.05 * of_time(0.15, 1.0), 0.5 * of_time(0.11, 2.0)

    def integrated(speed, rate):
        yaw = np.cumsum(rate) * 0.02
        p = np.cumsum(np.column_stack([np.cos(yaw), np.sin(yaw), 0 * t]) * speed[:, None], axis=0)
        return p * 0.02, Rotation.from_rotvec(np.outer(yaw, [0, 0, 1])).as_quat()

    stamps = np.round(t * 1e9).astype(np.int64)
    whole = Trajectory(stamps, *integrated(speed, rate))
    wheels = integrated(
        1.05 * speed + rng.normal(0, 0.02, len(t)), 0.98 * rate + 0.01 + rng.normal(0, 0.05, len(t))
    )
    shift = round(offset_s * 1e9)
    found = find_calibration(
        whole.select(np.flatnonzero(t < 120.0)),
        Trajectory(stamps - shift, *wheels),
        max_offset_s=1.0,
    )
    assert found.is_offset_significant
    assert found.time_offset_s == pytest.approx(offset_s, abs=4 * found.time_offset_std_s)
    assert found.time_offset_std_s < 0.05


def test_truth_with_too_few_poses_says_so():
    reference = truth(rate_hz=1.0)
    found = find_calibration(reference, seen(truth(), np.random.default_rng(0)), max_offset_s=1.0)
    assert found.time_offset_s is None
    assert "more than 0.25 s apart" in found.reason


@pytest.mark.parametrize("kind", ["turns and speeds", "speeds alone"])
@pytest.mark.parametrize("offset_s", [-1.2, 0.033, 0.9])
def test_rates_alone_find_the_offset_to_half_a_period(offset_s, kind):
    reference = truth()
    estimate = seen(reference, np.random.default_rng(1002), offset_s=offset_s, noise_m=0.0)
    if kind == "speeds alone":
        reference, estimate = (
            Trajectory(t.stamps_ns, t.p_ref_body, np.tile([0, 0, 0, 1.0], (len(t), 1)))
            for t in (truth(turn=0.0), seen(truth(turn=0.0), np.random.default_rng(0),
                                            offset_s=offset_s, arm_m=np.zeros(3), noise_m=0.0))
        )  # fmt: skip
    found, reason = coarse_time_offset_s(reference, estimate, max_offset_s=2.0)
    assert reason == ""
    assert found == pytest.approx(offset_s, abs=0.025)


@pytest.mark.parametrize(
    ("truth_file", "estimate_file"),
    [
        ("evo/V102_groundtruth.csv", "evo/V102.txt"),
        ("openvins_gt/MH_04_difficult.txt", "rpg/MH_04/vislam_rp_estimate0.txt"),
    ],
)
def test_what_is_put_into_real_data_comes_out(shared_data, truth_file, estimate_file):
    folder = shared_data("trajectories")
    reference, estimate = (read_trajectory(folder / f) for f in (truth_file, estimate_file))
    before = find_calibration(reference, estimate, max_offset_s=1.0)
    moved = Trajectory(
        reference.stamps_ns + 500_000_000,
        reference.p_ref_body - reference.R_ref_body @ ARM_M,
        reference.q_ref_body,
    )
    after = find_calibration(moved, estimate, max_offset_s=1.0)
    # Both fits see the same residuals, but that at the ends other poses lie within the truth.
    assert after.time_offset_s - before.time_offset_s == pytest.approx(0.5, abs=1e-4)
    np.testing.assert_allclose(after.lever_arm_m - before.lever_arm_m, ARM_M, atol=1e-3)


def test_the_offset_of_a_real_filter_is_found_and_makes_it_better(shared_data):
    """The V1_02 estimate of rpg is 54 ms late; with that taken out its shape error falls."""
    folder = shared_data("trajectories")
    reference = read_trajectory(folder / "openvins_gt/V1_02_medium.txt")
    estimate = read_trajectory(folder / "rpg/V1_02/vislam_rp_estimate0.txt")
    provided = evaluate_trajectory(reference, estimate)
    assert provided.calibration.is_offset_significant
    assert not provided.calibration.is_lever_arm_significant
    shifted = evaluate_trajectory(
        reference, estimate, protocol=TrajectoryProtocol(apply_time_offset=True)
    )
    assert summarised(shifted) < 0.9 * summarised(provided)


@pytest.mark.parametrize(
    ("truth_file", "estimate_file", "offset_s", "limit_s"),
    [
        # Keyframes after bundle adjustment, and Leutenegger's: stamped as the images, no offset.
        # MH_04's is monocular: its positions alone say +40 ms.
        ("openvins_gt/MH_04_difficult.txt", "rpg/MH_04/vislam_ba_estimate0.txt", 0.0, 0.001),
        ("openvins_gt/V1_02_medium.txt", "rpg/V1_02/vislam_ba_estimate0.txt", 0.0, 0.001),
        ("evo/V102_groundtruth.csv", "evo/V102.txt", 0.0, 0.001),
        # In real time: of both runs stamped one frame (20 Hz) late.
        ("openvins_gt/MH_04_difficult.txt", "rpg/MH_04/vislam_rp_estimate0.txt", -0.05, 0.001),
        ("openvins_gt/V1_02_medium.txt", "rpg/V1_02/vislam_rp_estimate0.txt", -0.05, 0.001),
    ],
)
def test_real_estimates_have_the_offset_of_their_frames(
    shared_data, truth_file, estimate_file, offset_s, limit_s
):
    folder = shared_data("trajectories")
    reference, estimate = (read_trajectory(folder / f) for f in (truth_file, estimate_file))
    found = find_calibration(reference, estimate, max_offset_s=1.0)
    assert found.time_offset_s == pytest.approx(offset_s, abs=limit_s)
    assert found.is_offset_significant == (offset_s != 0.0)


@pytest.mark.parametrize("seed", range(1000, 1003))
def test_an_estimate_that_is_lost_ends_in_words_or_in_bounds(seed):
    """Its pieces jump about: the fit may run anywhere, and must not leave the reference."""
    rng = np.random.default_rng(seed)
    reference = truth(duration_s=100.0)
    estimate = seen(reference, rng)
    jumps = np.cumsum(rng.normal(0.0, 3.0, estimate.p_ref_body.shape), axis=0)
    lost = dataclasses.replace(estimate, p_ref_body=estimate.p_ref_body + jumps)
    found = find_calibration(reference, lost, max_offset_s=1.0)
    assert found.reason or abs(found.time_offset_s) <= 1.0


def summarised(result):
    return result.metrics()["ape"]["trans_m"]["rmse"]
