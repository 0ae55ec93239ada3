# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Track files: there and back, what is refused, and missions that fly them."""

from math import pi

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_px4_bridge.mission import MissionPlan, Waypoint
from aerotwin_px4_bridge.path import PATH_STEP_S, PathLimits, PathPoint, SampledPath, plan_path
from aerotwin_px4_bridge.track import join, read_track, write_track

WRITTEN = 1e-6  # decimals of the file
LIMITS = PathLimits(
    speed=3.0, climb_rate=1.0, acceleration=2.0, jerk=4.0, corner_radius=2.0, yaw_rate=0.5
)


def _track() -> SampledPath:
    points = [PathPoint(p_map=(8.0, 2.0, 6.0), yaw=1.0), PathPoint(p_map=(8.0, 9.0, 5.0))]
    return plan_path((2.0, 1.0, 5.0), 0.5, points, LIMITS)


@pytest.fixture
def path(tmp_path):
    write_track(tmp_path / "track.csv", _track())
    return tmp_path / "track.csv"


def test_a_track_comes_back_as_it_was_written(path):
    track, read = _track(), read_track(path)
    for name in ("p_map", "v_map", "a_map", "yaw", "yaw_rate"):
        assert getattr(read, name) == pytest.approx(getattr(track, name), abs=WRITTEN), name


def test_columns_are_in_the_order_that_the_header_names(path):
    header, first = path.read_text().splitlines()[:2]
    row = dict(zip(header.split(","), map(float, first.split(","))))
    assert (row["t_s"], row["x_m"], row["y_m"], row["z_m"]) == (0.0, 2.0, 1.0, 5.0)
    assert row["yaw_rad"] == pytest.approx(0.5, abs=WRITTEN)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("t_s,", "t,"), "expected the columns t_s,x_m"),
        (lambda text: text.replace("0.040000,", "0.050000,", 1), "every 0.02 s"),
        (lambda text: text.replace("0.040000,", "nan,", 1), "finite"),
        (lambda text: text.replace("0.040000,", "word,", 1), "not a table of numbers"),
        (lambda text: "\n".join(text.splitlines()[:2]), "two rows at least"),
        (lambda text: "\n".join(text.splitlines()[:60]), "rest at both ends"),
    ],
)
def test_a_damaged_track_is_refused_by_its_fault(path, change, message):
    path.write_text(change(path.read_text()))
    with pytest.raises(ParameterError, match=message) as caught:
        read_track(path)
    assert "track.csv" in str(caught.value)


def test_a_track_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"nowhere\.csv: cannot be read"):
        read_track(tmp_path / "nowhere.csv")


def test_joined_paths_follow_each_other_and_yaw_does_not_jump():
    track = _track()
    turned = SampledPath(
        p_map=track.p_map,
        v_map=track.v_map,
        a_map=track.a_map,
        yaw=track.yaw + 4.0 * pi,
        yaw_rate=track.yaw_rate,
    )
    both = join(track, turned)
    n = len(track.yaw)
    assert len(both.yaw) == 2 * n
    assert both.p_map[n:] == pytest.approx(track.p_map)
    assert both.yaw[n] == pytest.approx(track.yaw[0])


def test_a_mission_with_a_track_flies_to_its_begin_and_then_along_it(path):
    mission = MissionPlan(track=str(path))
    planned, begins = mission.plan(np.array([0.0, 0.0, 4.0]), 0.0)
    track = read_track(path)
    k = round(begins / PATH_STEP_S)
    assert planned.p_map[k:] == pytest.approx(track.p_map)
    assert planned.p_map[k - 1] == pytest.approx(track.p_map[0], abs=1e-6)
    assert np.abs(np.diff(planned.p_map, axis=0)).max() < 3.0 * PATH_STEP_S * 1.1
    assert np.abs(np.diff(planned.yaw)).max() < 0.02


def test_way_points_lead_to_the_track(path):
    over = Waypoint(position_m=(-5.0, 0.0, 8.0))
    mission = MissionPlan(track=str(path), waypoints=(over,), corner_radius_m=0.0)
    planned, begins = mission.plan(np.array([0.0, 0.0, 4.0]), 0.0)
    gap = np.linalg.norm(planned.p_map - over.position_m, axis=1)
    assert gap.min() < 0.1 and gap.argmin() * PATH_STEP_S < begins


def test_a_mission_whose_track_is_damaged_is_refused_before_the_flight(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        MissionPlan(track=str(tmp_path / "nowhere.csv"))
