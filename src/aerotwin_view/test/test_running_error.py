# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The error of an estimate while it runs."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_view.running_error import MOST_GAP_NS, RunningError

STEP_NS = 50_000_000
ROUNDING = 1e-9
ORIGIN = np.array([7.0, 8.0, 9.0])


def _pose(k: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a pose on a helix."""
    p = np.array([3.0 * np.cos(0.1 * k), 3.0 * np.sin(0.1 * k), 0.05 * k])
    return p, Rotation.from_euler("z", 0.1 * k).as_quat()


def _in_odom(k: float, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same pose in axes of their own, shifted by an error in map."""
    T = Rotation.from_euler("xyz", (0.1, -0.2, 2.0))
    p, q = _pose(k)
    return T.apply(p + shift) + ORIGIN, (T * Rotation.from_quat(q)).as_quat()


def _run(n: int, shift_of) -> RunningError:
    error = RunningError("slam/odom")
    for k in range(n):
        error.add_truth(k * STEP_NS, *_pose(k))
        error.add_estimate(k * STEP_NS, *_in_odom(k, shift_of(k)))
        error.compare()
    return error


def test_a_perfect_estimate_in_axes_of_its_own_has_no_error():
    error = _run(50, lambda _: np.zeros(3))
    assert error.error_m == pytest.approx(0.0, abs=ROUNDING)
    assert "RMS of 50 positions 0.00 m" in error.text()


def test_an_error_is_the_distance_since_the_first_common_stamp():
    error = _run(50, lambda k: np.array([0.01 * k, 0.0, 0.0]))
    assert error.error_m == pytest.approx(0.49)
    assert error.text().startswith("slam/odom: 0.49 m from the truth at 2.45 s")
    assert "Laid on the truth, position and attitude, at 0.00 s" in error.text()


def test_truth_is_interpolated_between_stamps():
    error = RunningError("slam/odom")
    for k in range(0, 50, 2):
        error.add_truth(k * STEP_NS, *_pose(k))
    for k in range(48):
        error.add_estimate(k * STEP_NS, *_in_odom(k, np.zeros(3)))
    error.compare()
    # The chord of 0.2 rad on a circle of 3 m is 15 mm inside of it.
    assert error.error_m < 0.02 and "RMS of 48 positions" in error.text()


def test_over_a_gap_nothing_is_compared():
    error = RunningError("slam/odom")
    error.add_truth(0, *_pose(0))
    error.add_truth(MOST_GAP_NS + 2, *_pose(10))
    error.add_estimate(MOST_GAP_NS // 2, *_pose(5))
    error.compare()
    assert error.text() == "" and error.T_map_odom is None


def test_an_estimate_waits_for_its_truth():
    error = RunningError("slam/odom")
    error.add_estimate(STEP_NS, *_pose(1))
    error.compare()
    assert error.text() == ""
    error.add_truth(STEP_NS, *_pose(1))
    error.compare()
    assert error.error_m == pytest.approx(0.0, abs=ROUNDING)


def test_time_that_goes_back_begins_anew():
    error = _run(100, lambda k: np.array([0.01 * k, 0.0, 0.0]))
    error.add_truth(0, *_pose(0))
    assert error.text() == "" and error.T_map_odom is None
