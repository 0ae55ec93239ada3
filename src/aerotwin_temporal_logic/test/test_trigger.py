# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Triggers: the first instant at which a condition has held, online."""

import numpy as np
import pytest

from aerotwin_temporal_logic import FormulaError, Trigger, parse


def first_true(trigger, times_s, values, events=()):
    """Return the first instant at which a trigger is true; it stays true."""
    first_s = None
    for index, time_s in enumerate(times_s):
        for name, event_s in events:
            if event_s <= time_s:
                trigger.event_happened(name, event_s)
        is_true = trigger.update(time_s, {name: array[index] for name, array in values.items()})
        assert is_true or first_s is None
        if is_true and first_s is None:
            first_s = time_s
    return first_s


T = np.arange(0.0, 20.0, 0.5)
VALUES = {
    "height_m": T,
    "speed_m_s": np.where(T < 4.0, np.nan, 10.0 - T),
    "armed": (T >= 2.0) & (T < 5.0) | (T >= 7.0),
    "mode": np.where(T < 6.0, "MISSION", "HOLD"),
}
EVENTS = [("gust", 8.1), ("gust", 12.0), ("other", 1.0)]


@pytest.mark.parametrize(
    ("text", "expected_s"),
    [
        ("height_m > 3", 3.5),
        ("height_m > 3 and mode is HOLD", 6.0),
        ("height_m > 3 implies mode is HOLD", 0.0),
        ("armed for 3 s", 10.0),
        ("not (armed for 3 s)", 0.0),
        ("(not armed) for 1.5 s", 1.5),
        ("(armed for 2 s) and mode is MISSION", 4.0),
        ("speed_m_s < 5", 5.5),
        ("not (speed_m_s < 5)", 4.0),
        ("speed_m_s is known", 4.0),
        ("(speed_m_s < 5 or armed) for 2 s", 4.0),
        ("height_m > 3 after gust", 8.5),
        ("armed for 2 s after gust", 9.0),
        ("5 s after gust", 13.5),
        ("gust and height_m > 10", 10.5),
        ("3 s after start", 3.0),
        ("height_m / 0 > 1", 0.5),
        ("height_m > 99", None),
        ("armed after collision", None),
    ],
)
def test_a_trigger_is_true_from_the_first_instant_of_its_condition(
    text, expected_s, signals, events
):
    assert first_true(Trigger(parse(text, signals, events)), T, VALUES, EVENTS) == expected_s


def test_a_duration_is_that_of_all_instants_whatever_else_decides(random_formulas, drawn_signals):
    """`F for D s` online is a run of true samples at least D s long, and so on for and, or, not."""
    rng = np.random.default_rng(5)
    n_true = 0
    for _ in range(200):
        p, q = rng.random((2, 30)) < 0.8
        a, b = rng.integers(1, 6, 2)
        text = f"p and (q for {a} s) or (((not q) and p) for {b} s)"
        long = np.convolve(q, np.ones(a + 1))[:30] > a + 0.5
        other = np.convolve(p & ~q, np.ones(b + 1))[:30] > b + 0.5
        is_true = p & long | other
        expected = float(is_true.argmax()) if is_true.any() else None
        trigger = Trigger(parse(text, drawn_signals, []))
        assert first_true(trigger, np.arange(30.0), {"p": p, "q": q}) == expected, text
        n_true += expected is not None
    assert n_true > 50


@pytest.mark.parametrize(
    "text",
    [
        "always armed",
        "eventually armed",
        "armed until mode is HOLD",
        "armed within 5 s of gust",
        "armed at end",
        "armed and (never mode is HOLD)",
        "armed after end",
    ],
)
def test_what_needs_the_future_is_no_trigger(text, signals, events):
    with pytest.raises(FormulaError, match="future; a trigger knows only what has been") as caught:
        Trigger(parse(text, signals, events, where="x.yaml"))
    assert str(caught.value).startswith("x.yaml: column ")


def test_updates_come_in_order_with_their_signals(signals):
    trigger = Trigger(parse("armed", signals, []))
    with pytest.raises(ValueError, match="must have the signal armed"):
        trigger.update(0.0, {})
    with pytest.raises(ValueError, match=r"later than 0\.0, got 0\.0"):
        trigger.update(0.0, {"armed": True})
    with pytest.raises(ValueError, match="armed must be of the kind of its signal"):
        trigger.update(1.0, {"armed": 1.0})
    assert trigger.update(2.0, {"armed": True})
