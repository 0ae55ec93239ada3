# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a drive."""

import numpy as np
import pytest

from aerotwin_teach_repeat.teaching import read_driven
from aerotwin_view.taught_path import LONGEST_STEP_M, STEP_M, TaughtPath

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def driven(length_m=20.0, step_m=0.01):
    path = TaughtPath()
    for k in range(int(length_m / step_m) + 1):
        assert path.add(k * 10_000_000, np.array([k * step_m, 2.0, 0.5]), LEVEL)
    return path


def test_a_pose_is_recorded_when_the_robot_has_moved():
    path = driven()
    ways = np.linalg.norm(np.diff(path.positions, axis=0), axis=1)
    assert ways.min() >= STEP_M and ways.max() < 2.0 * STEP_M
    assert path.length_m == pytest.approx(20.0, abs=STEP_M)


def test_a_path_ends_where_the_robot_is_put_elsewhere():
    path = driven()
    assert not path.add(10**12, np.array([20.0 + 1.1 * LONGEST_STEP_M, 2.0, 0.5]), LEVEL)
    assert not path.add(10**12, np.full(3, np.nan), LEVEL)
    assert path.positions[-1, 0] <= 20.0


def test_its_file_is_read_by_what_teaches_it(tmp_path):
    path = driven()
    (tmp_path / "drive.tum").write_text(path.tum_text())
    drive = read_driven(tmp_path / "drive.tum")
    assert drive.p_ref_body == pytest.approx(path.positions, abs=1e-9)


def test_way_points_are_even_and_hold_both_ends():
    path = driven()
    points = path.waypoints()
    assert points[0] == pytest.approx(path.positions[0]) and len(points) == 6
    assert points[-1] == pytest.approx(path.positions[-1])
    assert np.diff(points[:, 0]) == pytest.approx(np.full(5, path.length_m / 5))
