# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a drive."""

import numpy as np
import pytest

from aerotwin_teach_repeat.teaching import read_driven
from aerotwin_view.panels.taught_path import BACK_NS, JUMP_M, MOST_M_S, STEP_M, TaughtPath
from aerotwin_view.panels.teach_panel import TeachPanel

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
    path, last_ns = driven(), 20_000_000_000
    away_m = MOST_M_S * 0.1 + JUMP_M
    assert not path.add(last_ns + 100_000_000, np.array([20.1 + away_m, 2.0, 0.5]), LEVEL)
    assert not path.add(last_ns + 100_000_000, np.full(3, np.nan), LEVEL)
    assert not TaughtPath().add(0, np.full(3, np.nan), LEVEL)
    assert path.positions[-1, 0] <= 20.0


def test_a_robot_that_stood_and_is_put_elsewhere_was_not_driven_there():
    path, second_ns = driven(), 1_000_000_000
    for second in range(21, 60):
        assert path.add(second * second_ns, np.array([20.0, 2.0, 0.5]), LEVEL)
    assert not path.add(60 * second_ns, np.array([90.0, 2.0, 0.5]), LEVEL)


def test_a_drive_that_is_seen_seldom_goes_on():
    path, second_ns = TaughtPath(), 1_000_000_000
    for k in range(20):  # 15 m/s, as a simulation at full speed is seen twenty times a second
        assert path.add(k * second_ns, np.array([15.0 * k, 0.0, 0.0]), LEVEL)
    assert len(path) == 20 and path.length_m == pytest.approx(19 * 15.0)


def test_a_path_ends_when_a_new_run_begins():
    path = driven()
    assert path.add(20_000_000_000 - BACK_NS // 2, np.array([20.0, 2.0, 0.5]), LEVEL)  # came late
    assert not path.add(1_000_000_000, np.array([20.0, 2.0, 0.5]), LEVEL)
    assert np.diff([float(line.split()[0]) for line in path.tum_text().splitlines()]).min() > 0.0


def test_what_is_drawn_is_thinned_and_what_is_copied_stays():
    path = driven()
    line = path.thinned_positions(30)
    assert len(line) == 30 and line[[0, -1]] == pytest.approx(path.positions[[0, -1]])
    assert path.thinned_positions(10_000) == pytest.approx(path.positions)
    assert TaughtPath().thinned_positions(30).shape == (0, 3)
    copied, n = path.copied(), len(path)
    assert path.add(10**11, np.array([21.0, 2.0, 0.5]), LEVEL)
    assert len(copied) == len(copied.positions) == n == len(path) - 1


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


def test_the_panel_draws_a_thinned_line_and_hands_over_way_points(page):
    handed = []
    panel = TeachPanel(page)
    panel.edit_by(handed.append)
    panel._record(is_on=True)
    for k in range(4000):
        panel.add("uav0", k * 10_000_000, np.array([0.1 * k, 0.0, 0.3]), LEVEL)
    panel.draw()
    line = page.scene._handle_from_node_name["/taught"].points
    assert len(line) < 3000 and line[-1, 1] == pytest.approx([399.9, 0.0, 0.4], abs=1e-3)
    panel._hand_over()
    (points,) = handed
    assert points[-1] == pytest.approx([399.9, 0.0, 0.3])
    panel._record(is_on=True)
    panel.draw()
    assert "/taught" not in page.scene._handle_from_node_name
