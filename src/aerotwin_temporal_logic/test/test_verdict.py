# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on one made-up flight, as an engineer reads the sentences; conditions as triggers."""

import math

import numpy as np
import pytest

from aerotwin_temporal_logic import FormulaError, Signal, Trace, Trigger, judge, parse

SIGNALS = {
    name: Signal(name=name, kind=kind, unit=unit)
    for name, kind, unit in [
        ("height_m", "number", "m"), ("error_m", "number", "m"), ("distance_m", "number", "m"),
        ("landed", "boolean", ""), ("mode", "text", ""),
    ]
}  # fmt: skip
EVENTS = ("gnss_lost", "gust", "never_came")
TIMES = np.arange(0.0, 60.0, 0.04)
"""Up to 10 m in 10 s; GNSS is lost at 20 s, RETURN from 22 s on, down from 30 s, landed at 50 s."""
HEIGHT = np.interp(TIMES, [0.0, 10.0, 30.0, 50.0], [0.0, 10.0, 10.0, 0.0])
TRACE = Trace(
    times_s=TIMES,
    values={
        "height_m": HEIGHT,
        "error_m": np.where(TIMES < 5.0, np.nan, 0.2 + 0.1 * np.maximum(0.0, TIMES - 20.0)),
        "distance_m": 3.0 + np.abs(TIMES - 23.4),
        "landed": TIMES >= 50.0,
        "mode": np.where(TIMES < 22.0, "OFFBOARD", np.where(TIMES < 45.0, "RETURN", "LAND")),
    },
    events={"gnss_lost": 20.0, "gust": 40.0, "never_came": None},
)


def verdict(text):
    return judge(parse(text, SIGNALS, EVENTS), TRACE)


@pytest.mark.parametrize(
    ("text", "robustness", "at_s"),
    [
        ("always distance_m > 2", 1.0, 23.4),
        ("always error_m < 4 until landed", 0.8, 50.0),
        ("always error_m < 1 after gnss_lost", -3.2, 59.96),
        ("never height_m > 9 from 0 s to 5 s", 4.0, 5.0),
        ("eventually height_m >= 10", 0.0, 10.0),
        ("height_m < 1 at end", 1.0, 59.96),
    ],
)  # fmt: skip
def test_the_robustness_is_the_distance_to_the_limit_where_it_is_least(text, robustness, at_s):
    found = verdict(text)
    assert found.robustness == pytest.approx(robustness, abs=0.05)
    assert found.at_s == pytest.approx(at_s, abs=0.05)
    assert found.is_met == (robustness >= 0.0)
    assert found.unit == "m"


@pytest.mark.parametrize(
    ("text", "margin_s"),
    [
        ("landed within 60 s of gnss_lost", 30.0),
        ("mode is RETURN within 5 s of gnss_lost", 3.0),
        ("mode is RETURN for 5 s within 5 s of gnss_lost", 3.0),
        ("height_m > 5 within 20 s", 15.0),
    ],
)
def test_a_deadline_that_is_met_says_how_much_earlier(text, margin_s):
    found = verdict(text)
    assert found.is_met
    assert found.time_margin_s == pytest.approx(margin_s, abs=0.05)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mode is RETURN within 1 s of gnss_lost", "mode was OFFBOARD at 2"),
        ("landed within 9 s of gust", "landed was false at 4"),
        ("landed within 9 s of never_came", "never_came never happened"),
        ("always landed after never_came", "never_came never happened"),
        ("always error_m < 4", "error_m < 4: 4.196 at 59.96 s"),
        ("mode is HOLD for 1 s within 9 s of gust", "mode was "),
        ("always error_m < 1 from 0 s to 3 s", "nothing of it is known in this run"),
        ("always height_m < 1 from 90 s to 99 s", "nothing of it is known in this run"),
        ("always height_m < 11 from 50 s to 70 s", "the run ended at 59.96 s, before 70.00 s"),
        ("never height_m > 11 within 30 s of gust", "the run ended at 59.96 s, before 70.00 s"),
        ("always height_m > 5 from 50 s to 70 s", "height_m > 5: 0 at 50.00 s"),
    ],
)
def test_what_is_not_met_says_why(text, reason):
    found = verdict(text)
    assert not found.is_met
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "is_met", "robustness"),
    [
        ("never height_m > 5 within 30 s of gnss_lost", False, -5.0),
        ("never height_m < 5 within 5 s of gnss_lost", True, 5.0),
        ("eventually height_m > 9 within 5 s", False, -4.0),
        ("eventually height_m > 9 within 10 s", True, 1.0),
    ],
)
def test_a_deadline_is_that_of_the_condition_that_never_or_eventually_is_about(
    text, is_met, robustness
):
    found = verdict(text)
    assert found.is_met == is_met
    assert found.robustness == pytest.approx(robustness, abs=0.05)


@pytest.mark.parametrize("text", ["always landed within 5 s", "gust until landed within 5 s"])
def test_two_words_that_say_when_are_refused(text):
    with pytest.raises(FormulaError, match="expected one of always, until and within"):
        parse(text, SIGNALS, EVENTS)


def test_what_is_not_known_yet_counts_neither_way():
    assert verdict("always error_m < 4 until landed").is_met  # not known in the first 5 s
    assert not verdict("eventually error_m > 5").is_met
    assert math.isnan(verdict("error_m < 3").robustness)


def test_words_alone_are_infinitely_robust():
    assert verdict("eventually mode is LAND").robustness == math.inf
    assert verdict("always mode is LAND").robustness == -math.inf


def test_a_trace_without_a_signal_of_the_formula_is_refused():
    with pytest.raises(ValueError, match="height_m"):
        judge(parse("height_m > 1", SIGNALS), Trace(times_s=TIMES, values={}))


def happens_at(text, events=None):
    """Return when a trigger fires along the flight; None if it does not."""
    trigger = Trigger(parse(text, SIGNALS, EVENTS))
    for k, time_s in enumerate(TIMES):
        for name, instant_s in (TRACE.events if events is None else events).items():
            if instant_s is not None and time_s >= instant_s:
                trigger.event_happened(name, instant_s)
        values = {name: TRACE.values[name][k] for name in trigger.formula.signals}
        if trigger.update(float(time_s), values):
            return float(time_s)
    return None


@pytest.mark.parametrize(
    ("text", "at_s"),
    [
        ("height_m > 5", 5.04), ("height_m > 11", None), ("mode is RETURN", 22.0),
        ("mode is RETURN for 3 s", 25.0), ("height_m > 9.99 for 50 s", None),
        ("3 s after gnss_lost", 23.0), ("3 s after gnss_lost and height_m < 5", 40.04),
        ("never_came", None), ("gust", 40.0), ("landed or height_m >= 9", 9.0),
        ("error_m < 1", 5.0), ("not error_m < 1", 0.0), ("height_m > 2 implies landed", 0.0),
        ("max(height_m, 3) - 1 > 4 * 2", 9.04), ("height_m / 2 > 4", 8.04),
    ],
)  # fmt: skip
def test_a_trigger_fires_at_the_first_sample_at_which_it_holds(text, at_s):
    assert happens_at(text) == (None if at_s is None else pytest.approx(at_s, abs=1e-6))


@pytest.mark.parametrize(
    "text",
    ["always height_m > 1", "eventually landed", "landed within 3 s", "landed until gust",
     "landed at end", "always landed after gust"],
)  # fmt: skip
def test_a_trigger_does_not_see_into_the_future(text):
    with pytest.raises(FormulaError, match="needs the future of the run"):
        Trigger(parse(text, SIGNALS, EVENTS))
