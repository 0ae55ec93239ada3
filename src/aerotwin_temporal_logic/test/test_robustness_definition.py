# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Robustness against rtamt, against its own definition written slowly, and what its sign means."""

import warnings

import numpy as np
import pytest

from aerotwin_temporal_logic import FormulaError, Trace, judge, parse
from aerotwin_temporal_logic.nodes import (
    AllOf,
    Always,
    AnyOf,
    AtInstant,
    BooleanSignal,
    Compare,
    Eventually,
    HasHappened,
    Lasting,
    Not,
    TextIs,
    Until,
    Within,
)
from aerotwin_temporal_logic.robustness import Robustness, atom_rows

N_SAMPLES, DEPTH, N_FORMULAS = 12, 3, 300
EVENTS = ("e", "f")
ROUNDING = 1e-12
"""Values are multiples of 1/4 below 100: sums of them are exact."""


def peer_robustness(peer, trace, n):
    """Return what rtamt computes at each sample, or skip where it is not installed."""
    with warnings.catch_warnings():
        # its parser imports typing.io
        warnings.simplefilter("ignore", DeprecationWarning)
        rtamt = pytest.importorskip("rtamt", reason="the peer rtamt is not installed")
    data = {name: np.asarray(array) for name, array in trace.values.items()}
    for seconds in range(1, n):
        data[f"room_{seconds}"] = np.arange(n) + seconds < n
    specification = rtamt.StlDiscreteTimeOfflineSpecification()
    for name, array in data.items():
        specification.declare_var(name, "float")
        if array.dtype == bool:
            data[name] = np.where(array, np.inf, -np.inf)
    specification.spec = peer
    specification.parse()
    table = {name: array.tolist() for name, array in data.items()}
    return [value for _, value in specification.evaluate({"time": list(range(n)), **table})]


def test_robustness_at_each_sample_is_that_of_rtamt(random_formulas, drawn_signals):
    rng = np.random.default_rng(20091127)
    drawing = random_formulas(rng, N_SAMPLES)
    for _ in range(N_FORMULAS):
        drawn, trace = drawing.formula(DEPTH), drawing.trace()
        root = parse(drawn.text, drawn_signals, EVENTS).root
        expected = peer_robustness(drawn.peer, trace, N_SAMPLES)
        found = Robustness(trace).of(root)[0]
        np.testing.assert_allclose(found, expected, atol=ROUNDING, err_msg=drawn.text)


def test_robustness_of_expectations_is_that_of_rtamt(random_formulas, drawn_signals):
    rng = np.random.default_rng(7)
    drawing = random_formulas(rng, N_SAMPLES)
    for _ in range(N_FORMULAS):
        drawn, trace = drawing.expectation(DEPTH - 1), drawing.trace()
        expected = peer_robustness(drawn.peer, trace, N_SAMPLES)[0]
        found = judge(parse(drawn.text, drawn_signals, EVENTS), trace)
        assert found.robustness == pytest.approx(expected, abs=ROUNDING), drawn.text


class Slow:
    """The definition of the semantics, sample by sample, by recursion, for any instants."""

    def __init__(self, trace):
        self.t, self.trace = trace.times_s, trace

    def in_force(self, time_s):
        return max(i for i, t in enumerate(self.t) if t <= time_s + 1e-6 or i == 0)

    def time_of(self, instant):
        base = {"start": self.t[0], "end": self.t[-1], **self.trace.events}[instant.base]
        return base + instant.offset_s

    def samples(self, span, i):
        if span is None:
            return range(i, len(self.t))
        first = self.in_force(self.time_of(span.first))
        if span.last is None:
            return range(first, len(self.t))
        last_s = self.time_of(span.last)
        if span.excludes_last:
            return [j for j in range(first, len(self.t)) if self.t[j] < last_s - 1e-6]
        return range(first, self.in_force(last_s) + 1)

    def of(self, node, i):
        """Return robustness and truth at sample i."""
        if isinstance(node, Not):
            robustness, truth = self.of(node.body, i)
            return -robustness, not truth
        if isinstance(node, AllOf):
            return self.worst([self.of(part, i) for part in node.parts])
        if isinstance(node, AnyOf):
            return self.best([self.of(part, i) for part in node.parts])
        if isinstance(node, Always):
            return self.worst([self.of(node.body, j) for j in self.samples(node.span, i)])
        if isinstance(node, Eventually):
            return self.best([self.of(node.body, j) for j in self.samples(node.span, i)])
        if isinstance(node, Until):
            samples = list(self.samples(node.span, i))
            ways = []
            for k, j in enumerate(samples):
                before = [self.of(node.left, m) for m in samples[:k]]
                ways.append(self.worst([self.of(node.right, j), *before]))
            robustness, truth = self.of(node.right, samples[0])
            return self.worst([self.best(ways), (-robustness, not truth)])
        if isinstance(node, Within):
            begin_s = self.t[i] if node.of is None else self.time_of(node.of)
            first, last = self.in_force(begin_s), self.in_force(begin_s + node.duration_s)
            return self.best([self.of(node.body, j) for j in range(first, last + 1)])
        if isinstance(node, Lasting):
            end_s = self.t[i] + node.duration_s
            if end_s > self.t[-1] + 1e-6:
                return -np.inf, False
            return self.worst([self.of(node.body, j) for j in range(i, self.in_force(end_s) + 1)])
        if isinstance(node, AtInstant):
            return self.of(node.body, self.in_force(self.time_of(node.instant)))
        return self.atom(node, i)

    def atom(self, node, i):
        if isinstance(node, HasHappened):
            truth = self.t[i] >= self.time_of(node.instant) - 1e-6
            return (np.inf if truth else -np.inf), truth
        assert isinstance(node, Compare | BooleanSignal | TextIs)
        values = {name: array[i] for name, array in self.trace.values.items()}
        robustness, truth = atom_rows(node, values, None, -np.inf)
        return float(robustness), bool(truth > 0)

    @staticmethod
    def worst(values):
        return min(r for r, _ in values), all(truth for _, truth in values)

    @staticmethod
    def best(values):
        return max(r for r, _ in values), any(truth for _, truth in values)


def irregular(trace, rng):
    """Return a trace with other instants: steps between 0.05 and 2 s."""
    steps = rng.choice([0.05, 0.3, 1.0, 2.0], len(trace.times_s))
    times_s = np.cumsum(steps) + 4.0
    events = {"e": times_s[2] + 0.02, "f": times_s[4] + 0.1}
    return Trace(times_s, trace.values, events)


@pytest.mark.parametrize("is_irregular", [False, True])
def test_robustness_and_verdict_are_those_of_the_definition(
    random_formulas, drawn_signals, is_irregular
):
    rng = np.random.default_rng(2010)
    drawing = random_formulas(rng, N_SAMPLES)
    n_compared = 0
    for _ in range(N_FORMULAS):
        drawn, trace = drawing.expectation(DEPTH - 2), drawing.trace()
        if is_irregular:
            trace = irregular(trace, rng)
        formula = parse(drawn.text, drawn_signals, EVENTS)
        found = judge(formula, trace)
        if "the run ended" in found.reason or "not after" in found.reason:
            continue
        expected = Slow(trace).of(formula.root, 0)
        if np.isneginf(found.robustness) and np.isfinite(expected[0]):
            continue  # a span that the run's end cuts: see test_judging
        assert (found.robustness, found.is_met) == pytest.approx(expected), drawn.text
        n_compared += 1
    assert n_compared > N_FORMULAS * 0.8


def test_the_sign_of_robustness_is_the_verdict(random_formulas, drawn_signals):
    rng = np.random.default_rng(11)
    drawing = random_formulas(rng, N_SAMPLES)
    n_zero = 0
    for _ in range(N_FORMULAS):
        drawn, trace = drawing.expectation(DEPTH - 1), drawing.trace()
        found = judge(parse(drawn.text, drawn_signals, EVENTS), trace)
        if found.robustness == 0.0:
            n_zero += 1
        else:
            assert found.is_met == (found.robustness > 0.0), drawn.text
    assert 0 < n_zero < N_FORMULAS / 2


def test_a_change_below_the_robustness_keeps_the_verdict(random_formulas, drawn_signals):
    rng = np.random.default_rng(13)
    drawing = random_formulas(rng, N_SAMPLES, has_arithmetic=False)
    n_changed = 0
    for _ in range(N_FORMULAS):
        formula = parse(drawing.expectation(DEPTH - 1).text, drawn_signals, EVENTS)
        trace = drawing.trace()
        before = judge(formula, trace)
        least = min(abs(before.robustness), 5.0)
        for _ in range(3):
            change = least * 0.999 * rng.choice([-1.0, 1.0], N_SAMPLES)
            values = {**trace.values, "x": trace.values["x"] + change}
            after = judge(formula, Trace(trace.times_s, values, trace.events))
            assert after.is_met == before.is_met, formula.text
            assert np.isclose(after.robustness, before.robustness, atol=least, rtol=0.0)
            n_changed += least > 0.0
    assert n_changed > N_FORMULAS


def test_an_untimed_formula_is_no_expectation(drawn_signals):
    for text in ("x > 1", "x > 1 and (always p)", "p for 3 s", "p after e", "always (p after e)"):
        formula = parse(text, drawn_signals, ["e"])
        trace = Trace(np.arange(2.0), {"x": np.zeros(2), "p": np.ones(2, bool)}, {"e": 0.0})
        with pytest.raises(FormulaError, match="say when: always, never or eventually"):
            judge(formula, trace)
