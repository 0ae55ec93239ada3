# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import TrajectoryProtocol, evaluate_trajectory
from aerotwin_trajectory_evaluation.association import associate, pair

ROUNDING = 1e-9


def track(seconds, seed=1):
    rng = np.random.default_rng(seed)
    attitudes = Rotation.from_rotvec(rng.normal(0, 0.5, (len(seconds), 3))).as_quat()
    stamps = np.round(np.asarray(seconds) * 1e9).astype(np.int64)
    return Trajectory(stamps, rng.normal(0, 3, (len(seconds), 3)), attitudes)


@pytest.mark.parametrize("seed", [1000, 1001, 1002])
@pytest.mark.parametrize(("n_reference", "n_estimate"), [(400, 90), (90, 400), (200, 200)])
def test_nearest_stamps_are_those_of_evo(seed, n_reference, n_estimate):
    from evo.core.sync import matching_time_indices

    rng = np.random.default_rng(seed)
    start = 1.7e9 + rng.uniform(0, 10)
    reference, estimate = (
        track(start + np.sort(rng.uniform(0, 10, n))) for n in (n_reference, n_estimate)
    )
    ours = associate(reference, estimate, max_gap_s=0.02)
    stamps = [t.stamps_ns // 10**9 + t.stamps_ns % 10**9 * 1e-9 for t in (reference, estimate)]
    if n_estimate > n_reference:
        theirs = matching_time_indices(*stamps, 0.02)
    else:
        theirs = matching_time_indices(*stamps[::-1], 0.02)[::-1]
    assert [side.tolist() for side in ours] == [list(side) for side in theirs]


def test_of_two_equally_near_stamps_the_earlier_is_taken():
    """A quarter of a second is exact in binary, so that this is a true tie."""
    reference, estimate = track([0.0, 0.5, 1.0]), track([0.25, 0.75])
    i, j = associate(reference, estimate, max_gap_s=0.25)
    assert i.tolist() == [0, 1]
    assert j.tolist() == [0, 1]


def test_interpolation_meets_slerp_and_leaves_gaps_out():
    reference = track(np.r_[0.0:2.0:0.1, 3.0:5.0:0.1])  # silent for more than a second
    estimate = track(np.arange(0.05, 4.9, 0.25), seed=2)
    choices = TrajectoryProtocol(association="interpolate", max_gap_s=0.2)
    paired, guess, index = pair(reference, estimate, choices)
    seconds = guess.stamps_ns * 1e-9
    assert not ((seconds > 1.91) & (seconds < 3.0)).any()
    assert len(paired) == np.sum((seconds <= 1.91) | (seconds >= 3.0)) == len(index)
    own = reference.stamps_ns * 1e-9
    expected = Slerp(own, Rotation.from_quat(reference.q_ref_body))(seconds)
    off = Rotation.from_quat(paired.q_ref_body).inv() * expected
    assert np.abs(off.as_rotvec()).max() < ROUNDING
    for axis in range(3):
        column = np.interp(seconds, own, reference.p_ref_body[:, axis])
        np.testing.assert_allclose(paired.p_ref_body[:, axis], column, atol=ROUNDING)


def test_interpolation_takes_away_the_error_of_thin_truth():
    """At 1 m/s, truth at 10 Hz and stamps half way between: nearest is 5 cm off, between is 0."""
    t = np.arange(0.0, 20.0, 0.1)
    line = lambda s: np.column_stack([s, np.sin(s), 0 * s])  # noqa: E731
    level = lambda s: np.tile([0, 0, 0, 1.0], (len(s), 1))  # noqa: E731
    truth = Trajectory(np.round(t * 1e9).astype(np.int64), line(t), level(t))
    middle = t[:-1] + 0.05
    exact = (line(t)[:-1] + line(t)[1:]) / 2.0
    estimate = Trajectory(np.round(middle * 1e9).astype(np.int64), exact, level(middle))
    scores = {
        kind: evaluate_trajectory(
            truth,
            estimate,
            protocol=TrajectoryProtocol(association=kind, max_gap_s=0.11, align="none"),
        ).ape.trans_m.max()
        for kind in ("nearest", "interpolate")
    }
    assert scores["nearest"] == pytest.approx(0.05 * np.sqrt(2), rel=0.02)
    assert scores["interpolate"] < ROUNDING


@pytest.mark.parametrize("association", ["nearest", "interpolate"])
def test_clocks_that_do_not_meet_are_explained(association):
    truth = track(np.arange(0, 10, 0.1))
    late = track(np.arange(1000, 1010, 0.1))
    with pytest.raises(UserError, match=r"100 poses from 0\.000 s to 9\.900 s.*check clocks"):
        evaluate_trajectory(truth, late, protocol=TrajectoryProtocol(association=association))
