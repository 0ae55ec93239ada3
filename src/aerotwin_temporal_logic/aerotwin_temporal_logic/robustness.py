# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Space robustness of formulas at all samples of a run, with the verdict that goes with it.

Each node has two rows: its robustness and its truth as +1 or -1, by the same operations, so that
a robustness of zero has an exact verdict, too: `x >= 2` is met at 2, `x > 2` is not.

What is not known (a NaN, an instant that never came) has the value `unknown`, which is -inf, and
+inf below a `not`: it never speaks for the formula (the lower of Kleene's three values).

References
----------
G. Fainekos, G. Pappas: Robustness of temporal logic specifications for continuous-time signals.
Theoretical Computer Science 410 (2009), 4262-4291.
A. Donze, O. Maler: Robust satisfaction of temporal logic over real-valued signals. FORMATS 2010.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aerotwin_temporal_logic.nodes import (
    AllOf,
    Always,
    AnyOf,
    Arithmetic,
    AtInstant,
    BooleanSignal,
    Compare,
    Constant,
    Eventually,
    FormulaNode,
    HasHappened,
    IsKnown,
    Lasting,
    Not,
    NumberNode,
    NumberSignal,
    Span,
    TextIs,
    Until,
    Within,
)  # fmt: skip
from aerotwin_temporal_logic.trace import SAME_INSTANT_S, NoInstantError, Trace
from aerotwin_temporal_logic.words import DISTANCE

Rows = npt.NDArray[np.float64]
"""(2, n): robustness, and +1 or -1."""
_KINDS = {NumberSignal: "fiu", IsKnown: "fiu", BooleanSignal: "b", TextIs: "UO"}


class Robustness:
    """The rows of the nodes of one formula in one run, computed once each."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._rows: dict[tuple[int, float], Rows] = {}

    def of(self, node: FormulaNode, unknown: float = -np.inf) -> Rows:
        """Return robustness and truth of a node at each sample."""
        key = id(node), unknown
        if key not in self._rows:
            try:
                rows = self._compute(node, unknown)
            except NoInstantError:
                rows = np.full((2, 1), unknown)
            self._rows[key] = np.broadcast_to(rows, (2, len(self.trace.times_s)))
        return self._rows[key]

    def _compute(self, node: FormulaNode, unknown: float) -> Rows:
        match node:
            case Not(body=body):
                return -self.of(body, -unknown)
            case AllOf(parts=parts):
                return np.minimum.reduce([self.of(part, unknown) for part in parts])
            case AnyOf(parts=parts):
                return np.maximum.reduce([self.of(part, unknown) for part in parts])
            case Always(body=body, span=None):
                return -_best_from_here(-self.of(body, unknown))
            case Eventually(body=body, span=None):
                return _best_from_here(self.of(body, unknown))
            case Always(body=body, span=Span() as span):
                first, last, cut = self.trace.bounds(span)
                worst = self.of(body, unknown)[:, first : last + 1].min(axis=1, keepdims=True)
                return np.minimum(worst, unknown) if cut else worst
            case Eventually(body=body, span=Span() as span):
                first, last, cut = self.trace.bounds(span)
                best = self.of(body, unknown)[:, first : last + 1].max(axis=1, keepdims=True)
                return np.maximum(best, unknown) if cut else best
            case Until():
                return self._until(node, unknown)
            case Within():
                return self._within(node, unknown)
            case Lasting(body=body, duration_s=duration_s):
                worst = -self._best_within(-self.of(body, unknown), duration_s)
                has_room = self.trace.times_s + duration_s <= self.trace.end_s + SAME_INSTANT_S
                return np.where(has_room, worst, -np.inf)
            case AtInstant(body=body, instant=instant):
                index = self.trace.index_at(self.trace.time_in_run(instant))
                return self.of(body, unknown)[:, index, None]
            case _:
                return atom_rows(node, self.trace.values, self._now_is_after(node), unknown)

    def _until(self, node: Until, unknown: float) -> Rows:
        """Strong until, with a beginning at which `right` is not true yet: not (right) and U."""
        first, last, cut = 0, len(self.trace.times_s) - 1, None
        if node.span:
            first, last, cut = self.trace.bounds(node.span)
        left = self.of(node.left, unknown)[:, first : last + 1]
        right = self.of(node.right, unknown)[:, first : last + 1]
        has_begun = self.of(node.right, -np.inf)[:, first : last + 1]
        rows = np.minimum(until_from_here(left, right), -has_begun)
        if node.span:
            rows = rows[:, :1]
        return np.maximum(rows, unknown) if cut else rows

    def _within(self, node: Within, unknown: float) -> Rows:
        body = self.of(node.body, unknown)
        if node.of is None:
            return self._best_within(body, node.duration_s)
        first_s = self.trace.time_in_run(node.of)
        last_s = first_s + node.duration_s
        first, last = self.trace.index_at([first_s, last_s])
        best = body[:, first : last + 1].max(axis=1, keepdims=True)
        is_cut = last_s > self.trace.end_s + SAME_INSTANT_S
        return np.maximum(best, unknown) if is_cut else best

    def _best_within(self, rows: Rows, duration_s: float) -> Rows:
        last = self.trace.index_at(self.trace.times_s + duration_s)
        return best_of_ranges(rows, last)

    def _now_is_after(self, node: FormulaNode) -> npt.NDArray[np.bool_]:
        if not isinstance(node, HasHappened):
            return np.zeros(0, dtype=bool)
        try:
            time_s = self.trace.time_of(node.instant)
        except NoInstantError:
            time_s = np.inf
        return self.trace.times_s >= time_s - SAME_INSTANT_S


def atom_rows(
    node: FormulaNode, values: Mapping[str, Any], now_is_after: Any, unknown: float
) -> Rows:
    """Return the rows of a node that has no others below it, for arrays or single values.

    `now_is_after` tells whether the instant of a `HasHappened` has come.
    """
    match node:
        case Compare():
            left, right = quantity(node.left, values), quantity(node.right, values)
            with np.errstate(invalid="ignore"):
                margin = right - left if node.symbol[0] == "<" else left - right
            is_true = margin >= 0.0 if node.symbol[1:] else margin > 0.0
            rows = np.array([margin, np.where(is_true, 1.0, -1.0)])
            return np.where(np.isnan(margin), unknown, rows)
        case BooleanSignal():
            is_true = _checked(node, node.name, values)
        case TextIs():
            is_true = _checked(node, node.name, values) == node.word
        case IsKnown():
            is_true = ~np.isnan(_checked(node, node.name, values))
        case HasHappened():
            is_true = now_is_after
        case _:
            raise TypeError(f"{type(node).__name__} is no condition of its own")
    truth = np.where(is_true, 1.0, -1.0)
    return np.array([truth * np.inf, truth])


def quantity(node: NumberNode, values: Mapping[str, Any]) -> Any:
    """Return the numbers of a quantity; what cannot be computed is NaN or infinite."""
    match node:
        case Constant(value=value):
            return np.float64(value)
        case NumberSignal(name=name):
            return np.asarray(_checked(node, name, values), dtype=float)
        case Arithmetic(symbol=symbol, parts=parts):
            numbers = [quantity(part, values) for part in parts]
            with np.errstate(all="ignore"):
                return _compute_arithmetic(symbol, numbers)
    raise TypeError(f"{type(node).__name__} is no quantity")


def _compute_arithmetic(symbol: str, numbers: list[Any]) -> Any:
    if symbol == "abs":
        return np.abs(numbers[0])
    if symbol == "-" and len(numbers) == 1:
        return -numbers[0]
    operation = {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "/": np.divide,
        "min": np.minimum,
        "max": np.maximum,
        DISTANCE: np.hypot,
    }[symbol]
    result = numbers[0]
    for number in numbers[1:]:
        result = operation(result, number)
    return result


def _checked(node: FormulaNode, name: str, values: Mapping[str, Any]) -> Any:
    """Return the values of a signal, refused where they are of another kind than the formula's."""
    if name not in values:
        raise ValueError(f"values must have the signal {name}: '{node.text}' names it")
    array = np.asarray(values[name])
    if array.dtype.kind not in _KINDS[type(node)]:
        raise ValueError(f"{name} must be of the kind of its signal, got {array.dtype}")
    return array


def _best_from_here(rows: Rows) -> Rows:
    """Return at each sample the greatest value from it to the end."""
    return np.maximum.accumulate(rows[:, ::-1], axis=1)[:, ::-1]


def best_of_ranges(rows: Rows, last: npt.NDArray[np.int64]) -> Rows:
    """Return at each sample i the greatest value of samples i to last[i].

    Two overlapping ranges of a power of two cover each: O(n log n) for any spacing of samples
    (M. Bender, M. Farach-Colton: The LCA problem revisited. LATIN 2000, section 3).
    """
    first = np.arange(len(last))
    levels = np.frexp(last - first + 1)[1] - 1
    best, table = np.empty(rows.shape), rows
    for level in range(int(levels.max()) + 1):
        width = 1 << level
        here = np.flatnonzero(levels == level)
        best[:, here] = np.maximum(table[:, here], table[:, last[here] - width + 1])
        table = np.maximum(table[:, :-width], table[:, width:])
    return best


def until_from_here(left: Rows, right: Rows) -> Rows:
    """Return the robustness of strong until from each sample to the last one.

    U[i] = max(right[i], min(left[i], U[i + 1])), -inf beyond the end. Such steps are clamps, and
    clamps after each other are one: doubling composes all of them in O(n log n).
    """
    low, high = right.copy(), np.maximum(left, right)
    step = 1
    while step < low.shape[1]:
        low_here, high_here = low[:, :-step], high[:, :-step]
        low_then = np.clip(low[:, step:], low_here, high_here)
        high_then = np.clip(high[:, step:], low_here, high_here)
        low[:, :-step], high[:, :-step] = low_then, high_then
        step *= 2
    return low
