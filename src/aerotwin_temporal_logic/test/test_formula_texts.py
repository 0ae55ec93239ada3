# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What formulas are read, what is refused and how; hostile texts."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_temporal_logic import FormulaError, Signal, Trace, judge, parse
from aerotwin_temporal_logic.nodes import Always, AnyOf, Compare, Lasting, Not, Until, Within
from aerotwin_temporal_logic.tokens import MAX_LETTERS, MAX_TOKENS
from aerotwin_temporal_logic.words import RESERVED

SAME = [
    ("never armed and landed", "always not (armed and landed)"),
    ("always armed or landed after gust", "always (armed or landed) after gust"),
    ("always armed until landed", "armed until landed"),
    ("never armed until landed", "(not armed) until landed"),
    ("never armed for 2 s", "always not (armed for 2 s)"),
    ("eventually armed within 5 s of gust", "armed within 5 s of gust"),
    ("never armed within 5 s of gust", "not (armed within 5 s of gust)"),
    ("(armed implies landed at end) at end", "((not armed) or (landed at end)) at end"),
    ("mode is not HOLD at end", "(not (mode is HOLD)) at end"),
    ("height_m - 1 - 2 < 3 at end", "(height_m - 1) - 2 < 3 at end"),
    ("height_m / 2 * 3 < 3 at end", "((height_m / 2) * 3) < 3 at end"),
    ("1 + 2 * height_m < 3 at end", "1 + (2 * height_m) < 3 at end"),
    ("- -height_m < -3 at end", "(height_m) < (-3) at end"),
    ("always height_m<3\n  from 1.5e1s to gust", "always height_m < 3 from 15 s to gust"),
]


def shape(node):
    """Return a tree without its texts and columns."""
    if isinstance(node, tuple):
        return tuple(shape(part) for part in node)
    if not hasattr(node, "__dataclass_fields__"):
        return node
    left_out = {"text", "column"}
    parts = {name: shape(getattr(node, name)) for name in vars(node) if name not in left_out}
    return type(node).__name__, parts


@pytest.mark.parametrize(("text", "explicit"), SAME)
def test_a_text_means_what_its_parentheses_would_say(text, explicit, signals, events):
    found, expected = parse(text, signals, events), parse(explicit, signals, events)
    assert shape(found.root) == shape(expected.root)


def test_a_formula_names_its_signals_and_events(signals, events):
    text = "mode is HOLD for 5 s within 10 s of gust and (never armed after 3 s after gnss_lost)"
    formula = parse(text, signals, events)
    assert formula.signals == {"mode", "armed"} and formula.events == {"gust", "gnss_lost"}
    within, never = formula.root.parts
    assert isinstance(within, Within) and within.duration_s == 10.0 and within.of.base == "gust"
    assert isinstance(within.body, Lasting) and within.body.text == "mode is HOLD for 5 s"
    assert isinstance(never, Always) and isinstance(never.body, Not)
    assert (never.span.first.base, never.span.first.offset_s) == ("gnss_lost", 3.0)


def test_implies_is_not_or(signals, events):
    root = parse("always (height_m > 5 implies tilt_deg < 45)", signals, events).root
    assert isinstance(root.body, AnyOf) and isinstance(root.body.parts[0], Not)
    assert isinstance(root.body.parts[1], Compare) and root.body.parts[1].unit == "deg"


def test_a_name_is_an_event_where_an_instant_is_expected(signals):
    root = parse("always armed until landed", signals, ["landed"]).root
    assert isinstance(root, Until) and root.right.name == "landed"
    assert parse("always armed after landed", signals, ["landed"]).events == {"landed"}


REFUSED = [
    ("", 1, "found the end of the text"),
    ("always hieght_m > 2", 8, "no signal or event 'hieght_m'; did you mean height_m"),
    ("landed within 60 s of gnss_lots", 23, "did you mean gnss_lost"),
    ("landed within 60 s of armed", 23, "'armed' is a signal, no event; events: collision"),
    ("landed within 60 of gust", 18, "expected 's', found 'of'"),
    ("landed within gust", 15, "expected a number of seconds"),
    ("landed within 0 s", 15, "more than 0 s"),
    ("always height_m == 3", 17, "compared by < <= > >="),
    ("always mode = HOLD", 13, "texts by 'is'"),
    ("always mode", 8, "'mode' is a text; write 'mode is WORD'"),
    ("always height_m is HOLD", 8, "is a number; compare it"),
    ("always landed is HOLD", 8, "write 'landed' or 'not landed'"),
    ("always mode is 3", 16, "expected a word after 'is', found '3'"),
    ("always height_m", 8, "'height_m' is a number; compare it"),
    ("height_m and landed", 1, "'height_m' is a number"),
    ("always landed > 3", 8, "expected a number, found the condition 'landed'"),
    ("always height_m < armed", 19, "expected a number, found the condition 'armed'"),
    ("always height_m > speed_m_s", 17, "'height_m' is in m, 'speed_m_s' in m/s"),
    ("always height_m + tilt_deg > 3", 17, "only equal units"),
    ("always max(height_m, tilt_deg) > 3", 20, "only equal units"),
    ("always 2 < 3", 10, "expected a signal on one side"),
    ("always 1 < height_m < 3", 21, "compared twice"),
    ("always abs(height_m, 2) > 3", 8, "abs takes one argument, found 2"),
    ("always min(height_m) > 3", 8, "min takes two or more, found 1"),
    ("always (height_m > 3", 21, "expected ')', found the end of the text"),
    ("always height_m > 3)", 20, "found ')'"),
    ("always height_m > 3 landed", 21, "expected 'and', 'or', 'implies' or the end"),
    ("landed for 3 s and", 19, "expected a signal"),
    ("always armed until landed and armed", 27, "read in two ways"),
    ("landed and armed at end", 18, "read in two ways"),
    ("armed or landed and not armed at end", 31, "read in two ways"),
    ("not armed for 3 s", 11, "read in two ways"),
    ("never landed and armed for 3 s", 24, "read in two ways"),
    ("armed implies landed implies armed", 22, "read in two ways"),
    ("always armed and never landed", 18, "put parentheses around 'never"),
    ("always armed within 5 s", 14, "'always' and 'within' both say when"),
    ("never armed at end", 13, "'never' and 'at' both say when"),
    ("always armed for 3 s", 14, "has no duration"),
    ("eventually armed until landed", 18, "ends by 'before EVENT'"),
    ("armed before gust", 7, "always, never or eventually"),
    ("always armed after gust before gust", 25, "one limit too many"),
    ("always armed from 5 s to 3 s", 26, "after '5 s'"),
    ("always armed after 5 s after end", 30, "expected an event"),
    ("5 s and armed", 1, "write '5 s after start'"),
    ("always héight_m > 2", 9, "plain ASCII"),
    ("always mode is 'HOLD'", 16, "without quotes"),
    ("always height_m < 1e999", 19, "too large"),
    (f"always {'(' * 21}armed{')' * 21}", 28, "nest more than 20 deep"),
    (f"always {'abs(' * 21}height_m{')' * 21} < 1", 91, "nest more than 20 deep"),
    ("armed and " * 101 + "armed", 1001, f"at most {MAX_LETTERS} letters"),
    ("(" * 300, 201, f"at most {MAX_TOKENS} words"),
]


@pytest.mark.parametrize(("text", "column", "expected"), REFUSED)
def test_an_error_points_at_the_column_and_says_the_way_out(
    text, column, expected, signals, events
):
    with pytest.raises(FormulaError) as caught:
        parse(text, signals, events, where="hover.yaml, expect 3")
    head, line, caret = str(caught.value).split("\n")
    assert head.startswith(f"hover.yaml, expect 3: column {column}: ")
    assert expected in head
    if len(text) <= 100:
        assert line == f"    {text}" and caret == " " * (3 + column) + "^"
    else:
        assert len(line) < 120 and caret.index("^") < 120


def test_what_is_no_text_is_refused(signals):
    with pytest.raises(UserError, match="expected a formula as text, found True"):
        parse(True, signals, [])


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_no_signal_or_event_has_a_word_of_the_language_as_its_name(word, signals):
    with pytest.raises(FormulaError, match=f"{word}: a word of formulas"):
        parse("always armed", {**signals, word: Signal(word, "boolean", "", "")}, [])
    with pytest.raises(FormulaError, match="rename it"):
        parse("always armed", signals, [word])


def test_control_letters_do_not_reach_the_terminal(signals):
    for text in ("always \x1b[2J", "always armed\x1b", "alw\x00ays", "always \u202e"):
        with pytest.raises(FormulaError) as caught:
            parse(text, signals, [], where="x.yaml")
        assert all(line.isprintable() for line in str(caught.value).split("\n"))


@pytest.mark.parametrize("kind", ["letters", "words", "changed"])
def test_hostile_texts_end_in_a_formula_or_its_error(kind, signals, events):
    rng = np.random.default_rng(99)
    words = [*sorted(RESERVED), *signals, *events, "HOLD", "(", ")", "(", ")", "<", ">=", "+", "-"]
    words += ["*", "/", ",", "1e308", "5", "0", "1e999", "9" * 400, ".", "is", "s", "5 s", "é"]
    good = [text for pair in SAME for text in pair]
    n_read, problems = 0, []
    for _ in range(3000):
        if kind == "letters":
            text = bytes(rng.integers(0, 256, rng.integers(0, 60), np.uint8)).decode("latin-1")
        elif kind == "words":
            text = " ".join(rng.choice(words, rng.integers(1, 12)))
        else:
            pieces = str(rng.choice(good)).split(" ")
            for _ in range(2):
                pieces[rng.integers(len(pieces))] = str(rng.choice(words))
            text = " ".join(pieces)
        try:
            n_read += parse(text, signals, events).text == text
        except FormulaError as error:
            problems.append(str(error))
    assert {problem.count("\n") for problem in problems} == {2}
    assert (n_read > 20) == (kind == "changed")


@pytest.mark.parametrize(
    "part", ["(", "not ", "-", "abs(", "armed for 1 s ", "1+", "a" * 50, "((("]
)
def test_what_repeats_is_limited_before_it_is_read(part, signals, events):
    for n in (50, 10_000, 1_000_000 // len(part)):
        with pytest.raises(FormulaError):
            parse(f"always {part * n}", signals, events)


class TestDistance:
    """Of a place from the vehicle, as one word."""

    PLACES = {
        name: Signal(name, "number", "m")
        for name in ("east_m", "north_m", "up_m", "b.east_m", "b.north_m", "height_m")
    } | {"speed_m_s": Signal("speed_m_s", "number", "m/s")}

    def value(self, text, **values):
        n = 3
        columns = {name: np.full(n, 0.0) for name in self.PLACES}
        columns |= {name: np.full(n, value) for name, value in values.items()}
        trace = Trace(times_s=np.arange(float(n)), values=columns)
        return judge(parse(f"always {text} < 0", self.PLACES), trace)

    def test_it_is_the_length_of_the_way_there(self):
        here = {"east_m": 4.0, "north_m": 1.0, "up_m": 14.0}
        assert -self.value("distance_to(1, -3)", **here).robustness == pytest.approx(5.0)
        assert -self.value("distance_to(1, -3, 2)", **here).robustness == pytest.approx(13.0)
        assert -self.value("distance_to(height_m, 1)", **here).robustness == pytest.approx(4.0)
        assert self.value("distance_to(1, -3)", **here).unit == "m"

    def test_a_name_before_it_is_that_of_the_vehicle(self):
        there = {"b.east_m": 3.0, "b.north_m": -4.0, "east_m": 99.0}
        found = parse("always b.distance_to(0, 0) < 9", self.PLACES)
        assert found.signals == {"b.east_m", "b.north_m"}
        assert -self.value("b.distance_to(0, 0)", **there).robustness == pytest.approx(5.0)

    def test_what_is_not_known_speaks_for_nothing(self):
        assert not self.value("distance_to(0, 0)", east_m=np.nan).is_met

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("distance_to(1) < 2", "takes two or three, found 1"),
            ("distance_to(1, 2, 3, 4) < 2", "expected '\\)'"),
            ("distance_to < 2", "expected '\\('"),
            ("c.distance_to(1, 2) < 2", "needs the signal c.east_m; vehicles: b"),
            ("b.distance_to(1, 2, 3) < 2", "needs the signal b.up_m"),
            ("distance_to(speed_m_s, 2) < 2", "only equal units"),
            ("distance_to(1, 2) < speed_m_s", "only equal units"),
            ("distance_to(1, 2)", "expected a condition|expected a number|alone|<"),
        ],
    )
    def test_what_is_no_distance_is_refused(self, text, words):
        with pytest.raises(FormulaError, match=words):
            parse(f"always {text}", self.PLACES)
