# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Robustness of random formulas against rtamt, at every sample; hostile texts."""

import numpy as np
import pytest

from aerotwin_temporal_logic import FormulaError, Signal, Trace, judge, parse
from aerotwin_temporal_logic.parser import KEYWORDS
from aerotwin_temporal_logic.robustness import Evaluation

N_SAMPLES, N_FORMULAS, DEPTH = 12, 300, 3
ROUNDING = 1e-12
"""Values are multiples of 1/4 below 100: their sums are exact."""
KINDS = {"x": "number", "y": "number", "p": "boolean", "q": "boolean", "mode": "text"}
SIGNALS = {name: Signal(name=name, kind=kind) for name, kind in KINDS.items()}
EVENTS = {"e": 3.0, "f": 6.0}


def atom(rng):
    """Return a condition as we write it, and as rtamt, to which a boolean is +-inf >= 0."""
    name = rng.choice(["x", "y", "p", "q", "abs(x)", "(x + y)", "(x - 2.0 * y)", "abs(x - y)"])
    if name in ("p", "q"):
        return name, f"({name} >= 0)"
    text = f"{name} {rng.choice(['<', '<=', '>', '>='])} {rng.choice(['0.25', '1.5', 'x', 'y'])}"
    return text, f"({text})"


def random_formula(rng, depth):
    """Return a formula in both languages; room_D >= 0 where the run lasts D more seconds."""
    if depth == 0:
        return atom(rng)
    (a, peer_a), (b, peer_b) = (random_formula(rng, depth - 1) for _ in range(2))
    high = int(rng.integers(1, N_SAMPLES))
    until = f"({peer_a} until {peer_b})"
    kinds = [
        (f"({a}) and ({b})", f"({peer_a} and {peer_b})"),
        (f"({a}) or ({b})", f"({peer_a} or {peer_b})"),
        (f"({a}) implies ({b})", f"({peer_a} implies {peer_b})"),
        (f"not ({a})", f"(not {peer_a})"),
        (f"always ({a})", f"(always {peer_a})"),
        (f"never ({a})", f"(always (not {peer_a}))"),
        (f"eventually ({a})", f"(eventually {peer_a})"),
        (f"({a}) within {high} s", f"(eventually[0:{high}] {peer_a})"),
        (f"never ({a}) within {high} s", f"(not (eventually[0:{high}] {peer_a}))"),
        (f"({a}) for {high} s", f"((always[0:{high}] {peer_a}) and (room_{high} >= 0))"),
        (f"({a}) until ({b})", until),
        (f"always ({a}) until ({b})", f"({until} or (always {peer_a}))"),
    ]
    return kinds[rng.integers(len(kinds))]


def random_expectation(rng):
    """Return a formula over a period of the run, for the first sample."""
    a, peer = random_formula(rng, DEPTH - 1)
    end = N_SAMPLES - 1
    kinds = [
        (f"always ({a}) from 2 s to 7 s", f"(always[2:7] {peer})"),
        (f"always ({a}) after e", f"(always[3:{end}] {peer})"),
        (f"({a}) within 3 s of e", f"(eventually[3:6] {peer})"),
        (f"never ({a}) within 2 s of f", f"(always[6:8] (not {peer}))"),
        (f"eventually ({a}) within 4 s of f", f"(eventually[6:10] {peer})"),
        (f"({a}) at end", f"(always[{end}:{end}] {peer})"),
    ]
    return kinds[rng.integers(len(kinds))]


def random_trace(rng):
    numbers = rng.integers(-6, 7, (2, N_SAMPLES)) / 2.0
    bits = rng.random((2, N_SAMPLES)) < 0.5
    values = {"x": numbers[0], "y": numbers[1], "p": bits[0], "q": bits[1]}
    return Trace(times_s=np.arange(float(N_SAMPLES)), values=values, events=EVENTS)


def peer_robustness(peer, trace):
    rtamt = pytest.importorskip("rtamt", reason="rtamt not present: see requirements-dev.txt")
    data = dict(trace.values)
    for seconds in range(1, N_SAMPLES):
        data[f"room_{seconds}"] = np.arange(N_SAMPLES) + seconds < N_SAMPLES
    specification = rtamt.StlDiscreteTimeOfflineSpecification()
    for name, array in data.items():
        specification.declare_var(name, "float")
        if array.dtype == bool:
            data[name] = np.where(array, np.inf, -np.inf)
    specification.spec = peer
    specification.parse()
    table = {name: array.tolist() for name, array in data.items()}
    found = specification.evaluate({"time": list(range(N_SAMPLES)), **table})
    return [value for _, value in found]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the parser of rtamt imports typing.io
def test_every_sample_of_random_formulas_is_that_of_rtamt():
    rng = np.random.default_rng(2009)
    for _ in range(N_FORMULAS):
        (text, peer), trace = random_formula(rng, DEPTH), random_trace(rng)
        found = Evaluation(trace).robustness(parse(text, SIGNALS, EVENTS).root).value
        expected = peer_robustness(peer, trace)
        np.testing.assert_allclose(found, expected, atol=ROUNDING, err_msg=text)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_random_expectations_are_judged_as_by_rtamt():
    rng = np.random.default_rng(2010)
    for _ in range(N_FORMULAS):
        (text, peer), trace = random_expectation(rng), random_trace(rng)
        found = judge(parse(text, SIGNALS, EVENTS), trace)
        assert found.robustness == pytest.approx(peer_robustness(peer, trace)[0], abs=ROUNDING), (
            text
        )
        if found.robustness != 0.0:
            assert found.is_met == (found.robustness > 0.0), text


@pytest.mark.parametrize("kind", ["letters", "words", "changed"])
def test_hostile_texts_end_in_a_formula_or_its_error(kind):
    rng = np.random.default_rng(99)
    words = [*sorted(KEYWORDS), *SIGNALS, *EVENTS, "s", "5 s", "HOLD", *"()()<>+-*/,.²", ">="]
    words += ["1e308", "1e999", "0", "9" * 400]
    n_read = 0
    for _ in range(2000):
        if kind == "letters":
            text = bytes(rng.integers(0, 256, rng.integers(0, 60), np.uint8)).decode("latin-1")
        elif kind == "words":
            text = " ".join(rng.choice(words, rng.integers(1, 12)))
        else:
            pieces = random_expectation(rng)[0].split(" ")
            pieces[rng.integers(len(pieces))] = str(rng.choice(words))
            text = " ".join(pieces)
        try:
            n_read += parse(text, SIGNALS, EVENTS).text == text.strip()
        except FormulaError:
            continue
    assert (n_read > 20) == (kind == "changed")


@pytest.mark.parametrize("part", ["(", "not ", "-", "abs(", "p for 1 s ", "1+", "a" * 50, "((("])
def test_what_repeats_is_limited_before_it_is_read(part):
    for n in (50, 10_000, 1_000_000 // len(part)):
        with pytest.raises(FormulaError):
            parse(f"always {part * n}", SIGNALS, EVENTS)
