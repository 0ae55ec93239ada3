# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on a flight: their reasons, margins and instants, and what is not known."""

import numpy as np
import pytest

from aerotwin_temporal_logic import Trace, judge, parse

PERIOD_S, END_S = 0.5, 60.0
INFINITE = np.inf


@pytest.fixture(scope="module")
def flight():
    """A climb to 10 m until 20 s, GNSS lost at 30 s, RETURN from 32 s, landed from 50 s."""
    t = np.arange(0.0, END_S + PERIOD_S, PERIOD_S)
    values = {
        "height_m": np.interp(t, [0, 20, 40, 50], [0, 10, 10, 0]),
        "setpoint_height_m": np.full(len(t), 10.0),
        "distance_to_world_m": np.where(t == 23.5, 1.62, 4.0),
        "position_error_m": np.where(t < 3.0, np.nan, t / 20.0),
        "speed_m_s": np.full(len(t), 5.0),
        "tilt_deg": np.full(len(t), 10.0),
        "yaw_rate_deg_s": np.full(len(t), -80.0),
        "landed": (t >= 50.0) | (t < 1.0),
        "armed": t < 55.0,
        "mode": np.select([t < 25.0, t < 32.0], ["MISSION", "HOLD"], "RETURN"),
    }
    return Trace(t, values, {"gnss_lost": 30.0, "gust": 22.2, "collision": None})


CASES = [
    # text, met, robustness, unit, at_s, time margin, reason
    (
        "always distance_to_world_m > 2",
        (False, -0.38, "m", 23.5, None),
        "distance_to_world_m was 1.62 at 23.5 s, 0.38 below 2",
    ),
    (
        "always 1 < distance_to_world_m",
        (True, 0.62, "m", 23.5, None),
        "distance_to_world_m was 1.62 at 23.5 s, 0.62 above 1",
    ),
    (
        "mode is RETURN within 5 s of gnss_lost",
        (True, INFINITE, "", 32.0, 3.0),
        "mode is RETURN first held at 32 s, 3 s before the deadline",
    ),
    (
        "mode is RETURN within 1.5 s of gnss_lost",
        (False, -INFINITE, "", 30.0, None),
        "mode is RETURN did not hold from 30 s to 31.5 s",
    ),
    (
        "mode is HOLD for 5 s within 10 s of gust",
        (True, INFINITE, "", 25.0, 7.2),
        "mode is HOLD for 5 s first held at 25 s, 7.2 s before the deadline",
    ),
    (
        "mode is MISSION within 5 s of gust",  # in force at the gust, between two samples
        (True, INFINITE, "", 22.2, 5.0),
        "mode is MISSION first held at 22.2 s, 5 s before the deadline",
    ),
    (
        "eventually height_m > 10.5",
        (False, -0.5, "m", 20.0, None),
        "height_m > 10.5 did not hold from 0 s to 60 s; closest: height_m was 10 at 20 s, "
        "0.5 below 10.5",
    ),
    (
        "eventually height_m >= 5 before gust",
        (True, 5.0, "m", 10.0, 12.2),
        "height_m >= 5 first held at 10 s, 12.2 s before the deadline",
    ),
    (
        "always position_error_m < 2 from 10 s to gnss_lost",
        (True, 0.5, "m", 30.0, None),
        "position_error_m was 1.5 at 30 s, 0.5 below 2",
    ),
    (
        "always position_error_m < 2.4 after 5 s until landed",
        (False, -0.075, "m", 49.5, None),
        "position_error_m was 2.475 at 49.5 s, 0.075 above 2.4",
    ),
    (
        "always position_error_m < 9 until landed",
        (False, -INFINITE, "m", 0.0, None),
        "landed held already at 0 s: nothing came before it; say from when: 'after EVENT until …'",
    ),
    (
        "always height_m < 11 after gust until speed_m_s > 6",
        (False, -1.0, "", 60.0, None),
        "speed_m_s > 6 never held up to 60 s",
    ),
    (
        "always height_m < 11 until collision",
        (False, -INFINITE, "m", None, None),
        "collision never happened",
    ),
    (
        "always abs(height_m - setpoint_height_m) < setpoint_height_m from 1 s to 30 s",
        (True, 0.5, "m", 1.0, None),
        "abs(height_m - setpoint_height_m) was 9.5 at 1 s, 0.5 below setpoint_height_m (10)",
    ),
    (
        "abs(yaw_rate_deg_s) < 90 at end",
        (True, 10.0, "deg/s", 60.0, None),
        "abs(yaw_rate_deg_s) was 80 at 60 s, 10 below 90",
    ),
    ("armed at end", (False, -INFINITE, "", 60.0, None), "armed was false at 60 s"),
    ("mode is HOLD at gust", (False, -INFINITE, "", 22.0, None), "mode was MISSION at 22 s"),
    (
        "never mode is LAND",
        (True, INFINITE, "", 60.0, None),
        "mode is LAND did not hold from 0 s to 60 s",
    ),
    (
        "always speed_m_s >= 5",
        (True, 0.0, "m/s", 0.0, None),
        "speed_m_s was 5 at 0 s, exactly 5",
    ),
    ("always speed_m_s > 5", (False, 0.0, "m/s", 0.0, None), "speed_m_s was 5 at 0 s, exactly 5"),
    # What never came, was not over, or is not known.
    (
        "landed within 60 s of collision",
        (False, -INFINITE, "", None, None),
        "collision never happened",
    ),
    (
        "not (landed within 60 s of collision)",
        (False, -INFINITE, "", None, None),
        "collision never happened",
    ),
    ("never armed after collision", (False, -INFINITE, "", None, None), "collision never happened"),
    (
        "never armed before collision",
        (False, -INFINITE, "", None, None),
        "collision never happened",
    ),
    (
        "landed at 1 s after collision",
        (False, -INFINITE, "", None, None),
        "collision never happened",
    ),
    (
        "never collision",
        (True, INFINITE, "", 60.0, None),
        "collision did not hold from 0 s to 60 s",
    ),
    ("eventually collision", (False, -INFINITE, "", None, None), "collision never happened"),
    ("never gust", (False, -INFINITE, "", 22.5, None), "gust was at 22.2 s"),
    (
        "always height_m < 11 from 50 s to 70 s",
        (False, -INFINITE, "m", 60.0, None),
        "the run ended at 60 s, before 70 s",
    ),
    (
        "always height_m > 3 from 50 s to 70 s",
        (False, -INFINITE, "m", 50.0, None),
        "height_m was 0 at 50 s, 3 below 3",
    ),
    ("landed at 61 s", (False, -INFINITE, "", 60.0, None), "the run ended at 60 s, before 61 s"),
    (
        "never height_m > 5 within 30 s of 25 s after gnss_lost",
        (False, -INFINITE, "m", 60.0, None),
        "the run ended at 60 s, before 85 s",
    ),
    (
        "height_m > 5 within 30 s of 25 s after gnss_lost",
        (False, -5.0, "m", 55.0, None),
        "height_m > 5 did not hold from 55 s to the end of the run at 60 s; closest: "
        "height_m was 0 at 55 s, 5 below 5",
    ),
    (
        "always armed from gnss_lost to gust",
        (False, -INFINITE, "", 22.2, None),
        "gust, at 22.2 s, was not after gnss_lost",
    ),
    (
        "landed for 11 s at 50 s",
        (False, -INFINITE, "", 60.0, None),
        "the run ended at 60 s, before 'landed' had held for 11 s",
    ),
    (
        "always position_error_m < 5",
        (False, -INFINITE, "m", 0.0, None),
        "position_error_m was not known at 0 s, first known at 3 s",
    ),
    (
        "never position_error_m > 5",
        (False, -INFINITE, "m", 0.0, None),
        "position_error_m was not known at 0 s, first known at 3 s",
    ),
    (
        "position_error_m is known within 5 s",
        (True, INFINITE, "", 3.0, 2.0),
        "position_error_m is known first held at 3 s, 2 s before the deadline",
    ),
    (
        "always (position_error_m is known implies position_error_m < 5)",
        (True, 2.0, "m", 60.0, None),
        "position_error_m was 3 at 60 s, 2 below 5",
    ),
    (
        "position_error_m is known at 2 s",
        (False, -INFINITE, "", 2.0, None),
        "position_error_m was not known at 2 s",
    ),
    (
        "always height_m / speed_m_s < 3 and setpoint_height_m > 8",
        (True, 1.0, "", 20.0, None),
        "height_m / speed_m_s was 2 at 20 s, 1 below 3",
    ),
]
ROUNDING = 1e-12


@pytest.mark.parametrize(("text", "expected", "reason"), CASES, ids=[case[0] for case in CASES])
def test_the_verdict_has_the_numbers_of_the_flight(text, expected, reason, flight, signals, events):
    found = judge(parse(text, signals, events), flight)
    is_met, robustness, unit, at_s, time_margin_s = expected
    assert found.reason == reason
    assert (found.is_met, found.unit) == (is_met, unit)
    assert found.robustness == pytest.approx(robustness, abs=ROUNDING)
    assert found.at_s == (None if at_s is None else pytest.approx(at_s, abs=ROUNDING))
    margin = None if time_margin_s is None else pytest.approx(time_margin_s, abs=ROUNDING)
    assert found.time_margin_s == margin


def test_another_condition_decides_where_one_is_not_known(flight, signals, events):
    text = "landed within 9 s of collision or landed within 60 s of gnss_lost"
    assert judge(parse(text, signals, events), flight).is_met
    text = "landed within 9 s of collision and landed within 60 s of gnss_lost"
    assert judge(parse(text, signals, events), flight).reason == "collision never happened"


def test_a_quantity_that_cannot_be_computed_is_not_met(signals):
    trace = Trace([0.0, 1.0], {"height_m": [0.0, 0.0], "speed_m_s": [0.0, 1.0]}, {})
    for text in ("always speed_m_s / height_m > -9", "never speed_m_s / height_m < -9"):
        found = judge(parse(text, signals, []), trace)
        assert not found.is_met
        assert "could not be computed at 0 s" in found.reason


def test_instants_that_rounding_moves_are_the_same(signals):
    times_s = np.cumsum(np.full(300, 0.1))
    trace = Trace(times_s, {"armed": times_s < 20.05}, {"gust": 20.0})
    assert times_s[199] > 20.0
    assert judge(parse("armed at gust", signals, ["gust"]), trace).is_met
    assert not judge(parse("armed at 0.1 s after gust", signals, ["gust"]), trace).is_met


def test_a_run_of_one_sample_is_judged(signals):
    trace = Trace([5.0], {"armed": [True]}, {"gust": 5.0})
    for text in ("always armed", "armed at end", "armed within 3 s", "always armed after gust"):
        assert judge(parse(text, signals, ["gust"]), trace).is_met
    found = judge(parse("never armed before gust", signals, ["gust"]), trace)
    assert not found.is_met and found.reason == "gust, at 5 s, was not after start"


def test_texts_of_a_run_are_shown_as_a_terminal_may_get_them(signals):
    trace = Trace([0.0], {"mode": np.array(["\x1b[2J"])}, {})
    assert judge(parse("always mode is HOLD", signals, []), trace).reason.isprintable()


@pytest.mark.parametrize(
    ("times_s", "values", "events", "expected"),
    [
        ([], {}, {}, "n > 0"),
        ([[0.0]], {}, {}, r"\(n,\)"),
        ([0.0, 0.0], {}, {}, "increase"),
        ([0.0, np.nan], {}, {}, "finite"),
        ([0.0, 1.0], {"armed": [True]}, {}, r"armed must be \(2,\), got \(1,\)"),
        ([0.0], {}, {"gust": np.inf}, "event gust must be finite"),
    ],
)
def test_a_trace_refuses_what_is_none(times_s, values, events, expected):
    with pytest.raises(ValueError, match=expected):
        Trace(times_s, values, events)


@pytest.mark.parametrize(
    "values", [{}, {"armed": [1.0]}, {"armed": ["yes"]}], ids=["none", "number", "text"]
)
def test_a_trace_without_a_signal_or_of_another_kind_is_refused(values, signals):
    with pytest.raises(ValueError, match=r"armed must be of the kind|must have the signal armed"):
        judge(parse("always armed", signals, []), Trace([0.0], values, {}))
