# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The robustness of a formula at every sample of a run, and the sample that decides it.

Each operator chooses one of its operands' samples, the least for `and` and `always`, the greatest
for `or` and `eventually`; so a choice carries with it the sample and the comparison it came from.

References
----------
Fainekos and Pappas: Robustness of temporal logic specifications for continuous-time signals.
Theoretical Computer Science 410(42), 2009.
Donze and Maler: Robust satisfaction of temporal logic over real-valued signals. FORMATS 2010.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from aerotwin_temporal_logic import formula as f
from aerotwin_temporal_logic.range_extremes import index_of_least

ROUNDING_S = 1e-9
"""Of sample times: an instant this much after a limit is still within it."""
_LARGEST = np.finfo(np.float64).max
_ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": np.divide,
    "neg": operator.neg, "abs": np.abs,
}  # fmt: skip


class EventNeverCame(Exception):
    """An event that a formula needs did not happen in the run."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Signals of a run.

    Attributes
    ----------
    times_s : (n,) array
        Of the samples, increasing.
    values : mapping
        Arrays (n,) by signal: float (NaN: not known), bool or str.
    events : mapping
        Instant of each event [s]; None if it did not happen.
    """

    times_s: np.ndarray
    values: Mapping[str, np.ndarray]
    events: Mapping[str, float | None] = field(default_factory=dict)

    def until(self, time_s: float) -> "Trace":
        """Return the samples before an instant."""
        n = int(np.searchsorted(self.times_s, time_s - ROUNDING_S))
        values = {name: array[:n] for name, array in self.values.items()}
        return Trace(times_s=self.times_s[:n], values=values, events=self.events)

    def index(self, time_s: float) -> int:
        """Return the first sample at or after an instant; the number of samples if none is."""
        return int(np.searchsorted(self.times_s, time_s - ROUNDING_S))


class Robustness(NamedTuple):
    """Of one formula at each sample (n,).

    `value` is the robustness, NaN where it is not known; `is_met` its truth there; `sample` and
    `leaf` the sample and the number of the condition that decide it.
    """

    value: np.ndarray
    is_met: np.ndarray
    sample: np.ndarray
    leaf: np.ndarray

    def at(self, k: np.ndarray) -> "Robustness":
        """Return it at chosen samples (m,)."""
        return Robustness(*(array[k] for array in self))


class Evaluation:
    """Evaluates formulas over one trace; `leaves` are the conditions at one instant it met."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.leaves: list[f.FormulaNode] = []

    def robustness(self, node: f.FormulaNode) -> Robustness:
        """Return the robustness of a formula at every sample.

        Raises
        ------
        EventNeverCame
            If it needs an event that did not happen.
        """
        match node:
            case f.Compare():
                return self._compare(node)
            case f.Is(signal, word):
                return self._truth(node, self._trace.values[signal.name] == word)
            case f.Holds(signal):
                return self._truth(node, self._trace.values[signal.name])
            case f.Happened(event, delay_s):
                instant_s = self._trace.events.get(event)
                since_s = math.inf if instant_s is None else instant_s + delay_s
                return self._truth(node, self._trace.times_s >= since_s - ROUNDING_S)
            case f.Not(inner):
                return _negated(self.robustness(inner))
            case f.And(left, right):
                return _least(self.robustness(left), self.robustness(right))
            case f.Or(left, right):
                return _greatest(self.robustness(left), self.robustness(right))
            case f.Always(inner, from_s, to_s, is_whole):
                return self._always(self.robustness(inner), from_s, to_s, is_whole=is_whole)
            case f.Eventually(inner, from_s, to_s):
                return _negated(self._always(_negated(self.robustness(inner)), from_s, to_s))
            case f.Until(left, right, is_weak):
                return self._until(self.robustness(left), self.robustness(right), is_weak=is_weak)
            case f.After(inner, event):
                return self._fixed(self.robustness(inner), self._trace.index(self._instant(event)))
            case f.Before(inner, event):
                return self._before(inner, self._instant(event))
            case f.AtEnd(inner):
                return self._fixed(self.robustness(inner), len(self._trace.times_s) - 1)
        raise TypeError(f"{type(node).__name__} is no condition")

    # -- conditions at one instant ---------------------------------------------------------------

    def _compare(self, node: f.Compare) -> Robustness:
        left, right = self.number(node.left), self.number(node.right)
        value = left - right if node.operator[0] == ">" else right - left
        is_met = value >= 0.0 if node.operator.endswith("=") else value > 0.0
        return self._leaf(node, value, is_met)

    def _truth(self, node: f.FormulaNode, is_met: np.ndarray) -> Robustness:
        return self._leaf(node, np.where(is_met, np.inf, -np.inf), np.asarray(is_met, dtype=bool))

    def _leaf(self, node: f.FormulaNode, value: np.ndarray, is_met: np.ndarray) -> Robustness:
        n = len(self._trace.times_s)
        self.leaves.append(node)
        leaf = np.full(n, len(self.leaves) - 1)
        return Robustness(np.broadcast_to(value, n).astype(float), np.broadcast_to(is_met, n),
                          np.arange(n), leaf)  # fmt: skip

    def number(self, node: f.FormulaNode) -> np.ndarray:
        """Return the value (n,) of an arithmetic expression; NaN where it is not known."""
        match node:
            case f.Constant(value):
                return np.full(len(self._trace.times_s), value)
            case f.SignalValue(signal):
                return np.asarray(self._trace.values[signal.name], dtype=float)
            case f.Operation(name, operands):
                values = [self.number(operand) for operand in operands]
                with np.errstate(all="ignore"):  # x / 0 is not known, or infinite
                    if name in _ARITHMETIC:
                        return np.asarray(_ARITHMETIC[name](*values))
                    reduce = np.minimum if name == "min" else np.maximum
                    return np.asarray(reduce.reduce(values))
        raise TypeError(f"{type(node).__name__} is no number")

    # -- time -----------------------------------------------------------------------------------

    def _instant(self, event: str) -> float:
        instant_s = self._trace.events.get(event)
        if instant_s is None:
            raise EventNeverCame(event)
        return instant_s

    def _fixed(self, inner: Robustness, k: int) -> Robustness:
        """Return the robustness at sample k for all samples; not known beyond the end."""
        n = len(self._trace.times_s)
        if k >= n:
            return _unknown(inner)
        return inner.at(np.full(n, k))

    def _before(self, inner: f.FormulaNode, instant_s: float) -> Robustness:
        part = self._trace.until(instant_s)
        n, n_part = len(self._trace.times_s), len(part.times_s)
        if n_part == 0:
            return _unknown(self.robustness(inner))
        own = Evaluation(part)
        own.leaves = self.leaves
        found = own.robustness(inner)
        return found.at(np.minimum(np.arange(n), n_part - 1))

    def _always(
        self, inner: Robustness, from_s: float, to_s: float, *, is_whole: bool = False
    ) -> Robustness:
        """Return the least of the samples in the window of each sample; NaN for an empty one."""
        times = self._trace.times_s
        first = np.searchsorted(times, times + from_s - ROUNDING_S)
        last = np.searchsorted(times, times + to_s + ROUNDING_S, side="right") - 1
        n = len(times)
        is_empty = (first > last) | (first >= n)
        # among equal values one that is not met decides: at a limit > is not met, and >= is
        key = np.where(inner.is_met, inner.value, np.nextafter(inner.value, -np.inf))
        key = np.where(np.isnan(key), np.inf, np.minimum(key, _LARGEST))  # what is known is first
        found = index_of_least(key, np.where(is_empty, 0, first), np.where(is_empty, 0, last))
        chosen = inner.at(found)
        is_known = _counts_of_known(inner, first, last) > 0
        value = np.where(is_empty | ~is_known, np.nan, chosen.value)
        is_met = chosen.is_met & ~np.isnan(value)
        if is_whole:
            is_short = times + to_s > times[-1] + ROUNDING_S
            value = np.where(is_short, -np.inf, value)
            is_met = is_met & ~is_short
        return Robustness(value, is_met, chosen.sample, chosen.leaf)

    def _until(self, left: Robustness, right: Robustness, *, is_weak: bool) -> Robustness:
        """Return the robustness of until, backwards: r_k = max(b_k, min(a_k, r_k+1))."""
        n = len(left.value)
        neutral_left = np.where(np.isnan(left.value), np.inf, left.value)
        neutral_right = np.where(np.isnan(right.value), -np.inf, right.value)
        value, is_met = np.empty(n), np.empty(n, dtype=bool)
        sample, leaf = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        after = (np.inf, True, n - 1, left.leaf[-1]) if is_weak else (
            -np.inf, False, n - 1, right.leaf[-1]
        )  # fmt: skip
        for k in range(n - 1, -1, -1):
            a = (neutral_left[k], bool(left.is_met[k] or np.isnan(left.value[k])),
                 left.sample[k], left.leaf[k])  # fmt: skip
            b = (neutral_right[k], bool(right.is_met[k]), right.sample[k], right.leaf[k])
            goes_on = min(a, after, key=lambda each: each[:2])
            after = max(b, goes_on, key=lambda each: each[:2])
            value[k], is_met[k], sample[k], leaf[k] = after
        return Robustness(value, is_met, sample, leaf)


def _negated(r: Robustness) -> Robustness:
    return Robustness(-r.value, ~r.is_met & ~np.isnan(r.value), r.sample, r.leaf)


def _least(a: Robustness, b: Robustness) -> Robustness:
    """Return the lesser of two, sample by sample; not known unless one alone decides."""
    is_a = (a.value < b.value) | ((a.value == b.value) & ~a.is_met)
    chosen = _chosen(is_a, a, b)
    is_a_known, is_b_known = ~np.isnan(a.value), ~np.isnan(b.value)
    both = is_a_known & is_b_known
    only = _chosen(is_a_known, a, b)  # where one is known, it decides if it is not met
    decides = (is_a_known ^ is_b_known) & ~only.is_met
    value = np.where(both, chosen.value, np.where(decides, only.value, np.nan))
    return Robustness(
        value,
        both & chosen.is_met,
        np.where(both, chosen.sample, only.sample),
        np.where(both, chosen.leaf, only.leaf),
    )


def _greatest(a: Robustness, b: Robustness) -> Robustness:
    return _negated(_least(_negated(a), _negated(b)))


def _chosen(is_first: np.ndarray, a: Robustness, b: Robustness) -> Robustness:
    return Robustness(*(np.where(is_first, x, y) for x, y in zip(a, b, strict=True)))


def _unknown(r: Robustness) -> Robustness:
    n = len(r.value)
    return Robustness(np.full(n, np.nan), np.zeros(n, dtype=bool), r.sample, r.leaf)


def _counts_of_known(r: Robustness, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return how many samples of each range are known."""
    counts = np.concatenate([[0], np.cumsum(~np.isnan(r.value))])
    n = len(r.value)
    return counts[np.minimum(last + 1, n)] - counts[np.minimum(first, n)]
