# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Robustness against the definition, sample by sample, and against another monitor (rtamt)."""

import itertools
import math

import numpy as np
import pytest

from aerotwin_temporal_logic import Signal, Trace, judge, parse
from aerotwin_temporal_logic import formula as f
from aerotwin_temporal_logic.range_extremes import index_of_least
from aerotwin_temporal_logic.robustness import Evaluation

SIGNALS = {
    **{name: Signal(name=name, kind="number", unit="m") for name in ("a", "b", "c")},
    "p": Signal(name="p", kind="boolean"),
    "mode": Signal(name="mode", kind="text"),
}
EVENTS = ("e", "g", "never_came")
N_FORMULAS, N_SAMPLES = 400, 14
ROUNDING = 1e-9


def random_trace(rng, *, is_regular=False, with_gaps=False):
    steps = np.ones(N_SAMPLES) if is_regular else rng.uniform(0.3, 1.5, N_SAMPLES)
    values = {name: rng.integers(-6, 7, N_SAMPLES) / 2.0 for name in "abc"}
    if with_gaps:
        values["b"][rng.random(N_SAMPLES) < 0.3] = np.nan
    return Trace(
        times_s=np.cumsum(steps) - steps[0],
        values=values | {
            "p": rng.random(N_SAMPLES) < 0.5, "mode": rng.choice(["HOLD", "LAND"], N_SAMPLES),
        },
        events={"e": float(rng.uniform(0.0, 6.0)), "g": float(rng.uniform(0.0, 6.0)),
                "never_came": None},
    )  # fmt: skip


def random_condition(rng, depth):
    def leaf():
        name, other = rng.choice(list("abc"), 2)
        return rng.choice(
            [f"{name} {rng.choice(['<', '<=', '>', '>='])} {rng.integers(-3, 4)}",
             f"{name} - {other} > {rng.integers(-2, 3) / 2}", f"abs({name}) < 2", "p", "e",
             "mode is HOLD", "1 s after g"]
        )  # fmt: skip

    if depth == 0:
        return leaf()
    one, two = (random_condition(rng, depth - 1) for _ in range(2))
    low, high = sorted(rng.integers(0, 6, 2))
    kinds = [
        f"({one}) and ({two})", f"({one}) or ({two})", f"({one}) implies ({two})", f"not ({one})",
        f"always ({one})", f"never ({one})", f"eventually ({one})", f"({one}) for {low} s",
        f"always ({one}) from {low} s to {high} s", f"eventually ({one}) from {low} s to {high} s",
        f"({one}) within {high} s", f"({one}) until ({two})", f"always ({one}) until ({two})",
        f"always ({one}) after e", f"({one}) within {high} s of g", f"eventually ({one}) before g",
        f"({one}) at end",
    ]  # fmt: skip
    return f"({rng.choice(kinds)})"


class Slow:
    """The definition, written down: (robustness, truth) of a node at sample k; None: not known."""

    def __init__(self, trace):
        self.trace, self.times = trace, trace.times_s

    def number(self, node, k):
        if isinstance(node, f.Constant):
            return node.value
        if isinstance(node, f.SignalValue):
            return float(self.trace.values[node.signal.name][k])
        x = [self.number(operand, k) for operand in node.operands]
        if node.name == "-":
            return x[0] - x[1]
        return abs(x[0]) if node.name == "abs" else -x[0]

    def at(self, node, k):
        name = type(node).__name__
        return getattr(self, name)(node, k)

    def Compare(self, node, k):
        left, right = self.number(node.left, k), self.number(node.right, k)
        gap = left - right if node.operator[0] == ">" else right - left
        if math.isnan(gap):
            return None
        return gap, (gap >= 0 if "=" in node.operator else gap > 0)

    def truth(self, is_met):
        return (math.inf if is_met else -math.inf), bool(is_met)

    def Is(self, node, k):
        return self.truth(self.trace.values[node.signal.name][k] == node.word)

    def Holds(self, node, k):
        return self.truth(self.trace.values[node.signal.name][k])

    def Happened(self, node, k):
        return self.truth(self.times[k] >= self.trace.events[node.event] + node.delay_s)

    def Not(self, node, k):
        found = self.at(node.inner, k)
        return None if found is None else (-found[0], not found[1])

    def And(self, node, k):
        both = self.at(node.left, k), self.at(node.right, k)
        if None in both:
            known = [each for each in both if each is not None and not each[1]]
            return known[0] if known else None
        return min(both)

    def Or(self, node, k):
        both = self.at(node.left, k), self.at(node.right, k)
        if None in both:
            known = [each for each in both if each is not None and each[1]]
            return known[0] if known else None
        return max(both)

    def window(self, node, k):
        chosen = [
            j for j in range(len(self.times))
            if node.from_s - ROUNDING <= self.times[j] - self.times[k] <= node.to_s + ROUNDING
        ]  # fmt: skip
        found = [self.at(node.inner, j) for j in chosen]
        return [each for each in found if each is not None]

    def Always(self, node, k):
        if node.is_whole and self.times[k] + node.to_s > self.times[-1] + ROUNDING:
            return -math.inf, False
        return min(self.window(node, k), default=None)

    def Eventually(self, node, k):
        return max(self.window(node, k), default=None)

    def Until(self, node, k):
        n = len(self.times)
        left = [self.at(node.left, j) or (math.inf, True) for j in range(n)]
        right = [self.at(node.right, j) or (-math.inf, False) for j in range(n)]
        options = [min([right[j], *left[k:j]]) for j in range(k, n)]
        if node.is_weak:
            options.append(min([(math.inf, True), *left[k:]]))
        return max(options)

    def first(self, event):
        later = np.flatnonzero(self.times >= self.trace.events[event] - ROUNDING)
        return later[0] if len(later) else None

    def After(self, node, k):
        first = self.first(node.event)
        return None if first is None else self.at(node.inner, first)

    def Before(self, node, k):
        part = Slow(self.trace.until(self.trace.events[node.event]))
        return part.at(node.inner, min(k, len(part.times) - 1)) if len(part.times) else None

    def AtEnd(self, node, k):
        return self.at(node.inner, len(self.times) - 1)


@pytest.mark.parametrize("with_gaps", [False, True])
def test_every_operator_is_its_definition(with_gaps):
    rng = np.random.default_rng(17)
    seen = set()
    for _ in range(N_FORMULAS):
        text = random_condition(rng, int(rng.integers(1, 4)))
        trace = random_trace(rng, with_gaps=with_gaps)
        formula = parse(text, SIGNALS, EVENTS)
        seen |= {type(part).__name__ for part in formula.root.parts()}
        found = Evaluation(trace).robustness(formula.root)
        slow = Slow(trace)
        for k in range(N_SAMPLES):
            expected = slow.at(formula.root, k)
            if expected is None:
                assert math.isnan(found.value[k]), (text, k)
                assert not found.is_met[k]
            else:
                assert found.value[k] == pytest.approx(expected[0], abs=ROUNDING), (text, k)
                assert found.is_met[k] == expected[1], (text, k)
    assert len(seen) >= 16


def test_the_sign_of_robustness_is_the_verdict_and_less_than_it_changes_nothing():
    rng = np.random.default_rng(23)
    n_numbers = 0
    for _ in range(N_FORMULAS):
        formula = parse(random_condition(rng, 2), SIGNALS, EVENTS)
        trace = random_trace(rng)
        found = judge(formula, trace)
        if math.isnan(found.robustness):
            assert not found.is_met
            continue
        if found.robustness != 0.0:
            assert found.is_met == (found.robustness > 0.0)
        if not math.isfinite(found.robustness) or found.robustness == 0.0:
            continue
        n_numbers += 1
        # a comparison of two signals moves by twice as much as each of them
        most = 0.49 * abs(found.robustness)
        values = {
            name: array + rng.uniform(-most, most, N_SAMPLES) if array.dtype == float else array
            for name, array in trace.values.items()
        }
        moved = Trace(times_s=trace.times_s, values=values, events=trace.events)
        assert judge(formula, moved).is_met == found.is_met, formula.text
    assert n_numbers > 50


# fmt: off
RTAMT = {
    "always (a > 1)": "always(a > 1)",
    "never (a > 1)": "always(not(a > 1))",
    "eventually (a - b < 0)": "eventually(a - b < 0)",
    "always (a > 0 implies (b < 1 within 3 s))": "always((a > 0) implies (eventually[0:3](b < 1)))",
    "always (a > -1) from 2 s to 5 s": "always[2:5](a > -1)",
    "eventually (abs(c) <= 1 and a > 0) from 1 s to 4 s":
        "eventually[1:4]((abs(c) <= 1) and (a > 0))",
    "(a > -2) until (b > 1)": "(a > -2) until (b > 1)",
    "always (eventually (a > 0) from 0 s to 2 s)": "always(eventually[0:2](a > 0))",
    "(a > 0 or b > 0) and not (c > 1)": "((a > 0) or (b > 0)) and (not(c > 1))",
}
# fmt: on


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", RTAMT)
def test_it_agrees_with_another_monitor(text):
    rtamt = pytest.importorskip("rtamt", reason="rtamt not present: see requirements-dev.txt")
    formula, rng = parse(text, SIGNALS), np.random.default_rng(5)
    for _ in range(20):
        trace = random_trace(rng, is_regular=True)
        monitor = rtamt.StlDiscreteTimeSpecification()
        for name in (*"abc", "out"):
            monitor.declare_var(name, "float")
        monitor.spec = f"out = {RTAMT[text]}"
        monitor.parse()
        data = {name: trace.values[name].tolist() for name in "abc"}
        found = monitor.evaluate({"time": list(range(N_SAMPLES)), **data})
        assert judge(formula, trace).robustness == pytest.approx(found[0][1], abs=ROUNDING)


def test_the_least_of_ranges_is_that_of_a_search():
    values = np.random.default_rng(3).integers(0, 9, 37).astype(float)
    ranges = np.array([(i, j) for i, j in itertools.product(range(37), repeat=2) if i <= j])
    found = index_of_least(values, ranges[:, 0], ranges[:, 1])
    expected = [i + int(np.argmin(values[i : j + 1])) for i, j in ranges]
    np.testing.assert_array_equal(found, expected)
