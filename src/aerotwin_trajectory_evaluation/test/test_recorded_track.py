# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tracks of made-up recordings: placed, smoothed, slowed down, refused; and their comparison."""

from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import (
    FlightRecording,
    TrackOptions,
    compare_recorded,
    make_track,
    recorded_section,
)
from aerotwin_trajectory_evaluation.recorded_track import STEP_S, check_recording

PLANE = LocalTangentPlane(GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=500.0))
START = np.array([10.0, -5.0, 2.0])
ROUNDING = 1e-9
HALF_EXTENT_M = 200.0
START_NS = 12_340_000_000


def _ground(x, y):
    """A slope of 1 in 1000, unknown beyond 200 m."""
    inside = (np.abs(x) < HALF_EXTENT_M) & (np.abs(y) < HALF_EXTENT_M)
    return np.where(inside, 2.0 + 0.001 * x, np.nan)


def _flight(t):
    """Up to 4 m, then east at 2 m/s with a swing, and down again."""
    z = 4.0 * np.clip(np.minimum(t, 40.0 - t) / 5.0, 0.0, 1.0)
    x = 2.0 * np.clip(t - 5.0, 0.0, 30.0)
    return np.column_stack([x, 1.5 * np.sin(0.4 * x), z])


def _recording(*, rate_hz=50.0, p=None, yaw=0.3, geodetic=False, shift=(0.0, 0.0, 0.0)):
    t = np.arange(0.0, 40.0 + 1e-9, 1.0 / rate_hz)
    position = (_flight(t) if p is None else p(t)) + shift
    if geodetic:
        position = np.array([PLANE.to_geodetic(row) for row in position])
    return FlightRecording(
        path=Path("flight.csv"),
        kind="made up",
        t=t,
        position=position,
        is_geodetic=geodetic,
        yaw=None if yaw is None else np.full(len(t), yaw),
    )


def _track(recording, **options):
    values = {"placement": "start", "max_speed_m_s": 8.0, **options}
    return make_track(
        recording,
        TrackOptions(**values),
        plane=PLANE,
        start_p_map=START,
        start_yaw=0.7,
        ground_height=_ground,
    )


def test_the_first_point_lies_at_the_start_and_low_parts_are_left_out():
    track = _track(_recording(), lowest_m=2.0)
    assert track.recorded_map[0] == pytest.approx([10.0, -5.0, 4.0], abs=0.02)
    assert track.recorded_map[-1, 2] == pytest.approx(START[2] + 2.0, abs=0.02)
    assert track.recorded_map[-1, 0] == pytest.approx(START[0] + 60.0)
    assert np.diff(track.t).sum() == pytest.approx(35.0, abs=0.05)
    assert track.time_scale == 1.0


def test_set_points_are_at_rest_at_both_ends_and_their_own_derivatives():
    track = _track(_recording())
    for rows in (track.v_map, track.a_map):
        assert np.abs(rows[[0, -1]]).max() < ROUNDING
    assert np.gradient(track.p_map, STEP_S, axis=0) == pytest.approx(track.v_map, abs=ROUNDING)
    assert np.gradient(track.v_map, STEP_S, axis=0) == pytest.approx(track.a_map, abs=ROUNDING)
    assert len(track.p_map) * STEP_S > track.t[-1]


def test_smoothing_leaves_steady_flight_where_and_when_it_was():
    """A moving average of a straight line is that line: only the ends move."""
    line = _recording(p=lambda t: np.column_stack([t, 0.0 * t, 3.0 + 0.1 * t]))
    track = _track(line, raise_m=1.0)
    inner = (track.t > track.t[0] + 2.0) & (track.t < track.t[-1] - 2.0)
    assert track.smoothing_error[inner].max() < ROUNDING
    assert 0.05 < track.smoothing_error.max() < 0.4


def test_noise_of_a_receiver_is_smoothed_away():
    rng = np.random.default_rng(0)
    sigma = np.array([0.05, 0.05, 0.0])
    noisy = _recording(rate_hz=10.0, p=lambda t: _flight(t) + rng.normal(size=(len(t), 3)) * sigma)
    track = _track(noisy, smoothing_s=1.0)
    truth = _track(_recording(rate_hz=10.0), smoothing_s=1.0)
    error = (track.p_map - truth.p_map)[100:-100]
    error -= error.mean(axis=0)  # the noise of the first sample moves the whole
    assert 0.005 < error[:, 0].std() < 0.02  # averages of 10, three times over: 0.05 / sqrt(18)
    assert np.linalg.norm(track.a_map, axis=1).max() < 2.0


def test_too_fast_a_flight_is_flown_slower_by_one_factor():
    track = _track(_recording(), max_speed_m_s=1.0)
    speed = np.linalg.norm(track.v_map, axis=1).max()
    assert 0.98 < speed <= 1.001
    assert 2.0 < track.time_scale < 3.5
    assert np.diff(track.t) == pytest.approx(np.full(len(track.t) - 1, 0.02 * track.time_scale))
    assert any("times slower than recorded" in note for note in track.notes)


def test_hard_turns_are_flown_slower_too():
    track = _track(_recording(), max_acceleration_m_s2=0.4)
    assert 0.39 < np.linalg.norm(track.a_map, axis=1).max() <= 0.4 * 1.01
    assert track.time_scale > 1.0


def test_a_turn_is_about_the_start_and_takes_the_yaw_along():
    track = _track(_recording(), turn_deg=90.0)
    plain = _track(_recording())
    offset, turned = plain.recorded_map[-1] - START, track.recorded_map[-1] - START
    assert turned == pytest.approx([-offset[1], offset[0], offset[2]])
    assert track.yaw == pytest.approx(plain.yaw + np.pi / 2.0)


def test_a_geodetic_recording_lies_where_it_was_recorded_with_heights_from_the_ground():
    """120 m up in the recording's own datum: it begins on the ground all the same."""
    recording = _recording(geodetic=True, shift=(20.0, 30.0, 120.0))
    track = _track(recording, placement="auto")
    assert track.recorded_map[0, :2] == pytest.approx([20.0, 30.0], abs=1e-6)
    expected = _ground(20.0, 30.0) + 4.0
    assert track.recorded_map[:, 2].max() == pytest.approx(float(expected), abs=2e-3)


def test_a_geodetic_recording_can_also_be_flown_from_the_start():
    track = _track(_recording(geodetic=True, shift=(20.0, 30.0, 120.0)))
    plain = _track(_recording())
    assert track.recorded_map == pytest.approx(plain.recorded_map, abs=2e-3)  # the Earth is round


def test_without_attitude_the_yaw_of_the_start_is_used():
    track = _track(_recording(yaw=None))
    assert track.yaw == pytest.approx(np.full(len(track.yaw), 0.7))
    assert any("no attitude" in note for note in track.notes)


@pytest.mark.parametrize(
    ("recording", "options", "message"),
    [
        ({}, {"placement": "geodetic"}, "local frame only"),
        ({"geodetic": True, "shift": (9e5, 0.0, 0.0)}, {"placement": "geodetic"}, r"\d+ km from"),
        ({"geodetic": True, "shift": (170.0, 0.0, 0.0)}, {"placement": "auto"}, r"\d+% of its"),
        ({"geodetic": True}, {"placement": "auto", "turn_deg": 9.0}, "turn_deg"),
        ({}, {"lowest_m": 9.0}, "rises 4.00 m above"),
        ({}, {"from_s": 100.0}, "lasts 40.0 s"),
        ({"shift": (0.0, 0.0, 5.0)}, {"raise_m": -3.0, "lowest_m": 0.0}, "above the surface"),
        ({"p": lambda t: 8.0 * _flight(t)}, {}, "leaves the world"),
        ({"p": lambda t: 1e3 * _flight(t)}, {}, "would last .* raise smoothing_s"),
    ],
)
def test_what_cannot_be_flown_names_the_option_that_helps(recording, options, message):
    with pytest.raises((ParameterError, UserError), match=message):
        _track(_recording(**recording), **options)


@pytest.mark.parametrize(
    ("recording", "options", "message"),
    [
        ({}, {"placement": "geodetic"}, "local frame only"),
        ({}, {"lowest_m": 9.0}, "rises 4.00 m above"),
        ({"geodetic": True}, {"lowest_m": 9.0}, "rises 4.00 m above"),
        ({}, {"from_s": 100.0}, "lasts 40.0 s"),
        ({"p": lambda t: 1e3 * _flight(t)}, {}, "would last .* raise smoothing_s"),
    ],
)
def test_what_no_world_could_change_is_refused_without_one(recording, options, message):
    with pytest.raises(ParameterError, match=message):
        check_recording(_recording(**recording), TrackOptions(**{"placement": "start", **options}))


def test_what_a_world_may_allow_is_not_refused_without_one():
    for recording, options in (
        ({"p": lambda t: 8.0 * _flight(t)}, {}),
        ({"geodetic": True}, {"placement": "auto", "lowest_m": 9.0}),
        ({"yaw": None}, {}),
    ):
        check_recording(_recording(**recording), TrackOptions(**options))


@pytest.mark.parametrize(
    ("recording", "said"),
    [({}, "no GNSS"), ({"geodetic": True, "shift": (2e4, 0.0, 0.0)}, "recorded 20 km")],
)
def test_a_recording_from_elsewhere_is_flown_from_the_start_and_says_so(recording, said):
    track = _track(_recording(**recording), placement="auto", lowest_m=2.0)
    assert track.recorded_map[0, :2] == pytest.approx(START[:2], abs=0.05)  # the vertical turns
    assert any(said in note and "placement auto" in note for note in track.notes)


def test_what_is_cut_is_reported_and_counts_in_the_coverage_of_the_recording():
    recording = _recording()
    track = _track(recording, from_s=2.0, to_s=20.0)
    n, n_all = len(track.t), len(recording.t)
    lost_s = 40.0 - np.ptp(track.t)
    said = f"Cut by lowest_m, from_s, to_s: {n_all - n} of {n_all} samples, {lost_s:.1f} s."
    assert n < n_all and said in track.notes
    numbers = compare_recorded(track, _flown(track), START_NS).metrics()
    assert numbers["coverage_of_recording"] == pytest.approx(n / n_all)
    assert numbers["coverage"] == 1.0


def test_gaps_are_reported():
    recording = _recording()
    keep = (recording.t < 15.0) | (recording.t > 18.0)
    cut = FlightRecording(
        path=recording.path,
        kind=recording.kind,
        t=recording.t[keep],
        position=recording.position[keep],
        is_geodetic=False,
    )
    assert any("gap of 3.0 s" in note for note in _track(cut).notes)


# -- compared ---------------------------------------------------------------------------------


def _flown(track, offset=(0.0, 0.0, 0.0), *, until_s=None, yaw=0.0):
    """Return the truth of a vehicle that flies the recorded track itself, moved."""
    stamps = START_NS + np.round(track.t * 1e9).astype(np.int64)
    c, s = np.cos(yaw), np.sin(yaw)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    p = track.recorded_map @ R.T + offset
    n = len(stamps) if until_s is None else int(until_s / STEP_S)
    return Trajectory(stamps[:n], p[:n], np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)))


def test_a_flight_along_the_recording_deviates_by_nothing():
    track = _track(_recording())
    flight = compare_recorded(track, _flown(track), START_NS)
    assert flight.deviation.max() < ROUNDING
    assert flight.coverage == 1.0
    numbers = flight.metrics()
    assert numbers["tracking_m"] == pytest.approx(numbers["smoothing_m"])


def test_offset_and_yaw_count_and_are_removed_beside():
    track = _track(_recording())
    flight = compare_recorded(track, _flown(track, (0.3, -0.4, 1.2), yaw=0.05), START_NS)
    numbers = flight.metrics()
    assert numbers["deviation_m"]["rmse"] > 1.2
    assert numbers["deviation_vertical_m"]["rmse"] == pytest.approx(1.2)
    assert numbers["deviation_yaw_offset_removed_m"]["rmse"] < 1e-6
    assert numbers["removed"]["yaw_deg"] == pytest.approx(-np.degrees(0.05), abs=1e-6)


def test_a_flight_cut_short_says_how_much_was_flown():
    track = _track(_recording())
    flight = compare_recorded(track, _flown(track, until_s=10.0), START_NS)
    assert flight.coverage == pytest.approx(10.0 * 50 / len(track.t), abs=0.01)
    (warning,) = recorded_section(flight).warnings
    assert "was flown again" in warning


def test_a_track_that_was_not_reached_is_not_compared():
    track = _track(_recording())
    assert compare_recorded(track, _flown(track), START_NS + 10**12) is None


def test_the_chapter_says_what_it_compares():
    track = _track(_recording())
    chapter = recorded_section(compare_recorded(track, _flown(track, (0.1, 0.0, 0.0)), START_NS))
    assert "deviation of a simulated from a recorded flight" in chapter.text
    assert chapter.headline[0].value == "0.10"
    assert all("<svg" in (figure.svg or "") for figure in chapter.figures)
