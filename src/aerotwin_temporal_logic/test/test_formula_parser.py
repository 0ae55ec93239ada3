# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts of conditions: what they mean as trees, and what a message says of others."""

import random
import string

import pytest

from aerotwin_temporal_logic import Formula, FormulaError, Signal, parse
from aerotwin_temporal_logic.parser import DEEPEST, KEYWORDS

SIGNALS = {
    name: Signal(name=name, kind=kind, unit=unit)
    for name, kind, unit in [
        ("height_m", "number", "m"), ("error_m", "number", "m"), ("speed_m_s", "number", "m/s"),
        ("tilt_deg", "number", "deg"), ("uav1.height_m", "number", "m"),
        ("landed", "boolean", ""), ("armed", "boolean", ""), ("mode", "text", ""),
    ]
}  # fmt: skip
EVENTS = ("gnss_lost", "gust")


def tree(text):
    return parse(text, SIGNALS, EVENTS).root


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("never landed", "always not landed"),
        ("height_m > 1 implies armed", "not height_m > 1 or armed"),
        ("mode is not HOLD", "not mode is HOLD"),
        ("not not landed", "landed"),
        ("landed and armed or gust", "(landed and armed) or gust"),
        ("landed or armed and gust", "landed or (armed and gust)"),
        ("not landed and armed", "(not landed) and armed"),
        ("always landed and armed", "always (landed and armed)"),
        ("always landed after gust", "(always landed) after gust"),
        ("landed and armed within 3 s of gust", "(landed and armed) within 3 s of gust"),
        ("landed within 3 s of gust", "(landed within 3 s) after gust"),
        ("mode is HOLD for 5 s and armed", "(mode is HOLD for 5 s) and armed"),
        ("eventually landed from 0 s to 3 s", "landed within 3 s"),
        ("landed\n  at   end", "landed at end"),
    ],
)
def test_two_texts_that_mean_the_same_are_the_same_tree(short, long):
    assert tree(short) == tree(long)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7.0), ("(1 + 2) * 3", 9.0), ("8 / 4 / 2", 1.0), ("7 - 4 - 2", 1.0),
        ("-2 * -3", 6.0), ("abs(-2) + min(3, 1, 2) + max(1, 5)", 8.0), ("1e-1 + .5", 0.6),
        ("((2))", 2.0),
    ],
)  # fmt: skip
def test_arithmetic_has_the_usual_order(text, value):
    import numpy as np

    from aerotwin_temporal_logic.robustness import Evaluation, Trace

    comparison = tree(f"{text} > 0")
    found = Evaluation(Trace(times_s=np.zeros(1), values={})).number(comparison.left)
    assert found[0] == pytest.approx(value)


def test_a_formula_knows_what_it_uses_and_its_unit():
    found = parse("always abs(height_m - error_m) < 1 after gust", SIGNALS, EVENTS)
    assert isinstance(found, Formula)
    assert found.signals == {"height_m", "error_m"}
    assert found.events == {"gust"}
    assert found.unit == "m"
    assert parse("height_m > 1 and speed_m_s < 2", SIGNALS).unit == ""
    assert parse("uav1.height_m > 1", SIGNALS).unit == "m"


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("always hight_m < 3", "no signal 'hight_m'; did you mean height_m", 7),
        ("landed within 3 s of gnss_los", "expected an event; did you mean gnss_lost", 21),
        ("landed within 3", "expected s, for seconds, found the end", 15),
        ("landed within 3 m of gust", "expected s, for seconds, found 'm'", 16),
        ("height_m", "expected <, <=, > or >=, found the end", 8),
        ("mode", "mode is a text: write it as mode is WORD", 0),
        ("mode < 3", "mode is a text", 0),
        ("landed is TRUE", "landed is a boolean: write it as landed", 0),
        ("height_m < 3 landed", "expected the end, and, or", 13),
        ("height_m < (3", "expected ), found the end", 13),
        ("(landed", "expected ), found the end", 7),
        ("height_m = 3", "'=' has no meaning here", 9),
        ("height_m < 3 from 5 s to 2 s", "expected a later time than 5 s, found 2 s", 25),
        ("landed from 1 s to 2 s", "belongs to always, never or eventually", 7),
        ("", "expected a condition", 0),
        ("and", "expected a signal, a number or (", 0),
        ("abs(1, 2) > 0", "expected 1 to 1 arguments of abs", 8),
    ],
)
def test_what_is_no_condition_is_shown_with_its_column(text, words, column):
    with pytest.raises(FormulaError) as error:
        parse(text, SIGNALS, EVENTS, where="my.yaml: expect[2]")
    message = str(error.value)
    assert words in message
    assert message.startswith("my.yaml: expect[2]: ")
    assert message.splitlines()[-1] == "  " + " " * column + "^"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "landed" + ")" * 5000, "(" * (DEEPEST + 1) + "landed" + ")" * (DEEPEST + 1),
        "not " * 10**4 + "landed", "landed and " * 10**4 + "landed", "-" * 900 + "1 > 0",
        "1 > 1e999", "landed implies " * 60 + "landed", "abs(" * 60 + "1" + ")" * 60 + " > 0",
    ],
)  # fmt: skip
def test_texts_that_would_exhaust_the_machine_are_refused(text):
    with pytest.raises(FormulaError):
        tree(text)


def test_any_text_is_a_formula_or_refused_as_one():
    rng = random.Random(11)
    words = [*KEYWORDS, *SIGNALS, *EVENTS, "3", "s", "(", ")", "<", ">=", "+", "-", "*", ",", "abs"]
    n_formulas, refusals = 0, []
    for _ in range(5000):
        if rng.random() < 0.8:
            text = " ".join(rng.choices(words, k=rng.randint(1, 12)))
        else:
            text = "".join(rng.choices(string.printable + "\u202e\x00é", k=rng.randint(0, 60)))
        try:
            parse(text, SIGNALS, EVENTS)
            n_formulas += 1
        except FormulaError as error:
            refusals.append(str(error))
    assert n_formulas > 5
    assert all("^" in message for message in refusals)
