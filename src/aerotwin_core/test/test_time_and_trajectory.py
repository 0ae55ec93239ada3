# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.time import Schedule
from aerotwin_core.trajectory import Trajectory

ROUNDING = 1e-9


@pytest.mark.parametrize("rate_hz", [1, 5, 7, 20, 30, 60, 100, 250])
def test_due_times_meet_the_exact_fractions_whatever_the_step(rate_hz):
    step_ns, end_ns = 4_000_000, 2_000_000_000
    schedule = Schedule(rate_hz)
    found = [t for k in range(end_ns // step_ns) for t in schedule.until((k + 1) * step_ns)]
    expected = [round(Fraction(k * 10**9, rate_hz)) for k in range(1, 2 * rate_hz + 1)]
    assert found == expected


@pytest.mark.parametrize("after_ns", [0, 1, 50_000_000, 50_000_001, 99_999_999])
def test_a_schedule_that_starts_late_goes_on_where_an_early_one_is(after_ns):
    early, late = Schedule(20.0), Schedule(20.0, after_ns)
    early.until(after_ns)
    assert late.until(10**9) == early.until(10**9)


def test_a_pixel_comes_back_from_its_point():
    camera = PinholeCamera(width=752, height=480, fx=458.0, fy=457.0, cx=367.2, cy=248.4)
    pixels = np.array([[0.0, 0.0], [367.2, 248.4], [700.0, 13.0]])
    points = camera.unproject(pixels, np.array([2.0, 3.0, 40.0]))
    np.testing.assert_allclose(camera.project(points), pixels, atol=ROUNDING)
    np.testing.assert_allclose(points[1], [0.0, 0.0, 3.0], atol=ROUNDING)


def test_a_point_behind_the_camera_has_no_pixel():
    camera = PinholeCamera(width=10, height=10, fx=1.0, fy=1.0, cx=0.0, cy=0.0)
    assert np.isnan(camera.project([[0.0, 0.0, -1.0]])).all()


def test_interpolation_meets_the_middle_of_a_turn():
    half = np.sqrt(0.5)
    trajectory = Trajectory(
        np.array([0, 10]), np.array([[0, 0, 0], [2, 0, 0]]), np.array([[0, 0, 0, 1], [0, 0, 1, 0]])
    )
    middle = trajectory.interpolate(np.array([5]))
    np.testing.assert_allclose(middle.p_ref_body, [[1, 0, 0]], atol=ROUNDING)
    np.testing.assert_allclose(np.abs(middle.q_ref_body), [[0, 0, half, half]], atol=ROUNDING)
    assert trajectory.path_length_m == 2.0


def test_stamps_that_go_back_are_refused():
    with pytest.raises(ValueError, match="they do not at pose 1"):
        Trajectory(np.array([5, 4]), np.zeros((2, 3)), np.tile([0, 0, 0, 1.0], (2, 1)))


def test_not_a_number_is_refused():
    with pytest.raises(ValueError, match="finite"):
        Trajectory(np.array([5]), np.full((1, 3), np.nan), np.array([[0, 0, 0, 1.0]]))
