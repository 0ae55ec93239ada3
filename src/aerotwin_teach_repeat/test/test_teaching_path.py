# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths through way-points, and driven ones: smooth, evenly cut, where they should be."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_teach_repeat.teaching import (
    PathParameters,
    along_path,
    read_driven,
    smooth_waypoints,
)

CUT = 2e-4
"""Of a curve made of chords of 2 cm on a radius of 5 m, with room [m, and relative]."""


def circle(radius: float, n: int = 24) -> np.ndarray:
    turn = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
    return radius * np.column_stack([np.cos(turn), np.sin(turn)])


def test_a_circle_stays_one():
    path = smooth_waypoints(circle(10.0), is_closed=True)
    assert np.linalg.norm(path.points_m, axis=1) == pytest.approx(10.0, rel=CUT)
    assert path.curvature == pytest.approx(0.1, rel=0.01)
    assert path.length_m == pytest.approx(2 * np.pi * 10.0, rel=CUT)
    assert path.points_m[-1] == pytest.approx(path.points_m[0], abs=1e-9)
    assert path.heading[-1] - path.heading[0] == pytest.approx(2 * np.pi, abs=1e-6)


def test_a_circle_driven_the_other_way_bends_to_the_right():
    path = smooth_waypoints(circle(10.0)[::-1], is_closed=True)
    assert path.curvature == pytest.approx(-0.1, rel=0.01)


def test_a_straight_line_is_one():
    path = smooth_waypoints(np.array([[1.0, 2.0], [7.0, 10.0]]))
    assert path.length_m == pytest.approx(10.0)
    assert path.heading == pytest.approx(np.arctan2(8.0, 6.0))
    assert path.curvature == pytest.approx(0.0, abs=1e-6)
    assert path.points_m[0] == pytest.approx([1.0, 2.0])
    assert path.points_m[-1] == pytest.approx([7.0, 10.0])


def test_vertices_are_evenly_spaced():
    waypoints = np.array([[0, 0], [5, 1], [6, 8], [15, 9], [30, 2.0]])
    path = smooth_waypoints(waypoints, parameters=PathParameters(spacing_m=0.3))
    steps = np.linalg.norm(np.diff(path.points_m, axis=0), axis=1)
    # A chord is shorter than its arc by (spacing / radius)^2 / 24: 0.1 % on 2 m.
    assert steps == pytest.approx(np.full(len(steps), path.s_m[1]), rel=1e-3)
    assert path.s_m[1] == pytest.approx(0.3, rel=0.01)


@pytest.mark.parametrize("is_closed", [False, True])
def test_sharp_corners_are_rounded_to_the_radius(is_closed):
    square = np.array([[0, 0], [10, 0], [20, 0], [20, 10], [20, 20], [10, 20], [0, 20], [0, 10.0]])
    parameters = PathParameters(min_radius_m=3.0, max_deviation_m=2.0)
    path = smooth_waypoints(square, is_closed=is_closed, parameters=parameters)
    assert np.abs(path.curvature).max() <= 1.0 / 3.0 * 1.002
    gaps = np.linalg.norm(path.points_m[:, None] - square, axis=2).min(axis=0)
    assert gaps.max() <= 2.0 + 0.15  # half a spacing
    if not is_closed:
        assert path.points_m[[0, -1]] == pytest.approx(square[[0, -1]], abs=1e-9)


def test_a_path_that_would_pass_a_way_point_too_far_off_is_refused():
    zigzag = np.array([[k, 0.5 * (-1) ** k] for k in range(12)], dtype=float)
    parameters = PathParameters(min_radius_m=10.0, max_deviation_m=0.2)
    with pytest.raises(UserError, match=r"way-point .* turns on 10 m would pass it by more than"):
        smooth_waypoints(zigzag, parameters=parameters)


@pytest.mark.parametrize(
    ("waypoints", "reason"),
    [
        (np.zeros((3, 2)), "needs 2 different"),
        (np.array([[0.0, np.nan], [1, 1]]), "finite"),
        (np.zeros(4), "shape"),
        (np.array([[0.0, 0], [1e6, 0]]), "metres"),
    ],
)
def test_bad_way_points_are_refused(waypoints, reason):
    with pytest.raises(UserError, match=reason):
        smooth_waypoints(waypoints)


def driven(n: int = 60) -> np.ndarray:
    """Along a circle of 20 m, rolling on the way."""
    turn = np.linspace(0.0, 1.5, n)
    return np.array(
        [
            make_transform(
                Rotation.from_euler("ZX", [a + np.pi / 2, 0.1 * a]).as_matrix(),
                [20.0 * np.cos(a), 20.0 * np.sin(a), 0.5 * a],
            )
            for a in turn
        ]
    )


def test_a_driven_path_is_cut_evenly_and_stays_on_itself():
    poses, s_m = along_path(driven(), 0.3)
    turn = np.unwrap(np.arctan2(poses[:, 1, 3], poses[:, 0, 3]))
    assert s_m[-1] == pytest.approx(30.0, rel=1e-3)
    assert np.diff(s_m) == pytest.approx(np.full(len(s_m) - 1, s_m[1]))
    # The sagitta of a chord of half a metre on 20 m is 1.6 mm.
    assert np.hypot(poses[:, 0, 3], poses[:, 1, 3]) == pytest.approx(20.0, abs=2e-3)
    assert poses[:, 2, 3] == pytest.approx(0.5 * turn, abs=2e-3)
    angles = Rotation.from_matrix(poses[:, :3, :3]).as_euler("ZYX")
    assert angles[:, 0] == pytest.approx(turn + np.pi / 2, abs=2e-3)
    assert angles[:, 2] == pytest.approx(0.1 * turn, abs=2e-4)


def test_a_halt_makes_no_vertices():
    poses = driven()
    halted = np.concatenate([poses[:30], np.repeat(poses[29:30], 100, axis=0), poses[30:]])
    assert along_path(halted, 0.3)[0] == pytest.approx(along_path(poses, 0.3)[0])
    with pytest.raises(UserError, match="no length"):
        along_path(poses[[3, 3, 3]], 0.3)
    with pytest.raises(UserError, match="finite"):
        along_path(np.full((3, 4, 4), np.nan), 0.3)


def test_a_tum_file_is_read_with_exact_stamps(tmp_path):
    file = tmp_path / "drive.tum"
    file.write_text(
        "# t x y z q\n1700000000.123456789 1 2 3 0 0 0.6 0.8\n1700000001 2 2 3 0 0 0 1\n"
    )
    found = read_driven(file)
    assert found.stamps_ns.tolist() == [1_700_000_000_123_456_789, 1_700_000_001_000_000_000]
    assert found.p_ref_body[0] == pytest.approx([1, 2, 3])
    assert found.q_ref_body[0] == pytest.approx([0, 0, 0.6, 0.8])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 2 3\n", r"tum:1: .*8 numbers expected, 3"),
        ("0 0 0 0 0 0 0 1\n1 x 0 0 0 0 0 1\n", "tum:2: .*could not convert"),
        ("# nothing\n", "1 to 10000000 poses, got 0"),
        ("0 0 0 0 0 0 0 1\n1 nan 0 0 0 0 0 1\n", "finite"),
        ("inf 0 0 0 0 0 0 1\n1 0 0 0 0 0 0 1\n", "tum:1"),
    ],
)
def test_a_damaged_tum_file_is_refused(tmp_path, text, reason):
    file = tmp_path / "drive.tum"
    file.write_text(text)
    with pytest.raises(UserError, match=reason):
        read_driven(file)


def write_bag(folder, topics):
    with BagWriter(folder) as bag:
        for topic in topics:
            bag.add_topic(topic, "nav_msgs/msg/Odometry")
            for k in range(5):
                message = messages.odometry_message(
                    k * 100_000_000,
                    "odom",
                    "base_link",
                    [0.5 * k, 1.0, 0.0],
                    [0.0, 0.0, 0.0, 1.0],
                    [0.0, 0.0, 0.0],
                    [0.0, 0.0, 0.0],
                )
                bag.write(topic, k * 100_000_000, messages.serialize(message))


def test_a_bag_is_read_by_its_topic(tmp_path):
    write_bag(tmp_path / "one", ["/odom"])
    write_bag(tmp_path / "two", ["/odom", "/truth/odom"])
    for source in (tmp_path / "one", f"{tmp_path / 'two'}:/odom"):
        assert read_driven(source).p_ref_body[:, 0] == pytest.approx([0, 0.5, 1, 1.5, 2])
    with pytest.raises(UserError, match=r"name the topic .*/odom, /truth/odom"):
        read_driven(tmp_path / "two")
