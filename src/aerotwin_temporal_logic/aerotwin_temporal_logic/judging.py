# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run by a formula, and one sentence that says why."""

from dataclasses import dataclass, replace

import numpy as np

from aerotwin_core.foreign_text import printable
from aerotwin_temporal_logic.formula import Formula
from aerotwin_temporal_logic.nodes import (
    AllOf,
    Always,
    AnyOf,
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
    NumberSignal,
    Span,
    TextIs,
    Until,
    Within,
)  # fmt: skip
from aerotwin_temporal_logic.robustness import Robustness, Rows, quantity
from aerotwin_temporal_logic.trace import SAME_INSTANT_S, NoInstantError, Trace, seconds


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a run was by a formula.

    Attributes
    ----------
    is_met : bool
        Whether the run is as the formula says.
    robustness : float
        By how much [`unit`]: a comparison may be off by less, at each instant, without another
        verdict. Negative where not met; infinite where a boolean, a text or an event decides.
    unit : str
        Of `robustness`, if all comparisons have one unit, else "".
    at_s : float or None
        The instant that decides [s]; None where there is none, as of an event that never came.
    time_margin_s : float or None
        How much before its deadline a `within`, or an `eventually` with an end, held first [s];
        None without a deadline and where it did not hold.
    reason : str
        One sentence with the numbers that decided.
    """

    is_met: bool
    robustness: float
    unit: str
    at_s: float | None
    time_margin_s: float | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class _Cause:
    """The instant that decides [s], what was so then, and the time left to a deadline [s]."""

    at_s: float | None
    reason: str
    time_margin_s: float | None = None


def judge(formula: Formula, trace: Trace) -> Verdict:
    """Return whether a run is as a formula says, by how much, and why.

    Raises `FormulaError` if the formula does not say when (`Formula.check_says_when`). Raises
    `ValueError` if the trace lacks a signal of the formula, or has it with another kind.
    """
    formula.check_says_when()
    rows = Robustness(trace)
    robustness, truth = rows.of(formula.root)[:, 0]
    cause = _Causes(rows).of(formula.root, 0)
    units = {node.unit for node in formula.root.walk() if isinstance(node, Compare)}
    return Verdict(
        is_met=bool(truth > 0.0),
        robustness=float(robustness),
        unit=units.pop() if len(units) == 1 else "",
        at_s=cause.at_s,
        time_margin_s=cause.time_margin_s,
        reason=cause.reason,
    )


class _Causes:
    """Follows the values of a formula down to the sample and the condition that decided."""

    def __init__(self, rows: Robustness) -> None:
        self._rows, self._trace = rows, rows.trace

    def of(self, node: FormulaNode, index: int, unknown: float = -np.inf) -> _Cause:
        """Return why a node has its value at a sample."""
        try:
            return self._of(node, index, unknown)
        except NoInstantError as error:
            return _Cause(at_s=error.at_s, reason=str(error))

    def _of(self, node: FormulaNode, index: int, unknown: float) -> _Cause:
        match node:
            case Not(body=body):
                return replace(self.of(body, index, -unknown), time_margin_s=None)
            case AllOf(parts=parts) | AnyOf(parts=parts):
                values = np.stack(
                    [self._rows.of(part, unknown)[:, index] for part in parts], axis=1
                )
                part = _least(values if isinstance(node, AllOf) else -values)
                return replace(self.of(parts[part], index, unknown), time_margin_s=None)
            case Always():
                return self._always(node, index, unknown)
            case Eventually() | Within():
                return self._eventually(node, index, unknown)
            case Until():
                return self._until(node, index, unknown)
            case Lasting(body=body, duration_s=duration_s):
                end_s = float(self._trace.times_s[index]) + duration_s
                last = int(self._trace.index_at(end_s))
                if end_s > self._trace.end_s + SAME_INSTANT_S and self._holds(body, index, last):
                    raise self._trace.ended_before(f"'{body.text}' had held for {duration_s:g} s")
                return self._worst(body, index, last, unknown)
            case AtInstant(body=body, instant=instant):
                there = int(self._trace.index_at(self._trace.time_in_run(instant)))
                return self.of(body, there, unknown)
            case _:
                return _Cause(at_s=self._time_s(index), reason=self._fact(node, index))

    def _always(self, node: Always, index: int, unknown: float) -> _Cause:
        first, last, cut = self._bounds(node.span, index)
        if cut and unknown < 0.0 and self._holds(node.body, first, last):
            raise cut
        return self._worst(node.body, first, last, unknown)

    def _eventually(self, node: Eventually | Within, index: int, unknown: float) -> _Cause:
        first, last, cut, begin_s, deadline_s = self._limits(node, index)
        held = np.flatnonzero(self._rows.of(node.body, unknown)[1, first : last + 1] > 0.0)
        if held.size:
            time_s = max(self._time_s(first + int(held[0])), begin_s)
            reason = f"{node.body.text} first held at {seconds(time_s)}"
            if deadline_s is None:
                return _Cause(at_s=time_s, reason=reason)
            margin_s = max(deadline_s - time_s, 0.0)
            reason += f", {seconds(margin_s)} before the deadline"
            return _Cause(at_s=time_s, reason=reason, time_margin_s=margin_s)
        if cut and unknown > 0.0:
            raise cut
        best = first + _least(-self._rows.of(node.body, unknown)[:, first : last + 1])
        closest = self.of(node.body, best, unknown)
        if isinstance(node.body, HasHappened):
            return closest
        reason = f"{node.body.text} did not hold from {seconds(begin_s)} to "
        reason += (
            f"the end of the run at {seconds(self._trace.end_s)}"
            if cut
            else seconds(self._time_s(last) if deadline_s is None else deadline_s)
        )
        if not isinstance(node.body, BooleanSignal | TextIs | IsKnown):
            reason += f"; closest: {closest.reason}"
        return _Cause(at_s=closest.at_s, reason=reason)

    def _limits(
        self, node: Eventually | Within, index: int
    ) -> tuple[int, int, NoInstantError | None, float, float | None]:
        """Return first and last index, why the rest is missing, begin and deadline [s]."""
        if isinstance(node, Eventually):
            begin_s = self._trace.time_of(node.span.first) if node.span else self._time_s(index)
            deadline_s = (
                self._trace.time_of(node.span.last) if node.span and node.span.last else None
            )
            return *self._bounds(node.span, index), begin_s, deadline_s
        begin_s = self._trace.time_in_run(node.of) if node.of else self._time_s(index)
        deadline_s = begin_s + node.duration_s
        first, last = (int(at) for at in self._trace.index_at([begin_s, deadline_s]))
        cut = None
        if deadline_s > self._trace.end_s + SAME_INSTANT_S:
            cut = self._trace.ended_before(f"{seconds(deadline_s)}")
        return first, last, cut, begin_s, deadline_s

    def _until(self, node: Until, index: int, unknown: float) -> _Cause:
        first, last, cut = self._bounds(node.span, index)
        right = self._rows.of(node.right, unknown)[1, first : last + 1] > 0.0
        left = self._rows.of(node.left, unknown)[1, first : last + 1] > 0.0
        n_before = int(right.argmax()) if right.any() else len(right)
        if n_before == 0:
            reason = f"{node.right.text} held already at {seconds(self._time_s(first))}"
            way_out = "nothing came before it; say from when: 'after EVENT until …'"
            return _Cause(at_s=self._time_s(first), reason=f"{reason}: {way_out}")
        if n_before == len(right) and left.all():
            if cut and unknown > 0.0:
                raise cut
            if isinstance(node.right, HasHappened):
                return self.of(node.right, last, unknown)
            reason = f"{node.right.text} never held up to {seconds(self._time_s(last))}"
            return _Cause(at_s=self._time_s(last), reason=reason)
        return self._worst(node.left, first, first + n_before - 1, unknown)

    def _worst(self, body: FormulaNode, first: int, last: int, unknown: float) -> _Cause:
        rows = self._rows.of(body, unknown)[:, first : last + 1]
        worst = _least(rows)
        if np.isposinf(rows[0, worst]) and last > first:
            period = f"from {seconds(self._time_s(first))} to {seconds(self._time_s(last))}"
            held = (
                f"{body.body.text} did not hold" if isinstance(body, Not) else f"{body.text} held"
            )
            return _Cause(at_s=self._time_s(last), reason=f"{held} {period}")
        return self.of(body, first + worst, unknown)

    def _bounds(self, span: Span | None, index: int) -> tuple[int, int, NoInstantError | None]:
        return self._trace.bounds(span) if span else (index, len(self._trace.times_s) - 1, None)

    def _holds(self, body: FormulaNode, first: int, last: int) -> bool:
        return bool((self._rows.of(body)[1, first : last + 1] > 0.0).all())

    def _time_s(self, index: int) -> float:
        return float(self._trace.times_s[index])

    def _fact(self, node: FormulaNode, index: int) -> str:
        """Return what was so at a sample, of a condition that has no others below it."""
        at = f"at {seconds(self._time_s(index))}"
        match node:
            case Compare():
                return self._comparison_fact(node, index, at)
            case BooleanSignal(name=name):
                return f"{name} was {str(bool(self._trace.values[name][index])).lower()} {at}"
            case TextIs(name=name):
                return f"{name} was {printable(str(self._trace.values[name][index]), 60)} {at}"
            case IsKnown(name=name):
                is_known = not np.isnan(self._trace.values[name][index])
                return f"{name} was {'' if is_known else 'not '}known {at}"
            case HasHappened(instant=instant):
                time_s = self._trace.time_of(instant)
                return f"{instant.text} was at {seconds(time_s)}"
        raise TypeError(f"{type(node).__name__} is no condition of its own")

    def _comparison_fact(self, node: Compare, index: int, at: str) -> str:
        names = {part.name for part in node.walk() if isinstance(part, NumberSignal)}
        values = {name: self._trace.values[name][index] for name in names}
        for name in sorted(names):
            if np.isnan(values[name]):
                return f"{name} was not known {at}{self._first_known(name)}"
        measured, limit = node.left, node.right
        if isinstance(measured, Constant):
            measured, limit = limit, measured
        number, other = float(quantity(measured, values)), float(quantity(limit, values))
        if np.isnan(number - other):
            return f"{node.text} could not be computed {at}"
        side = "above" if number > other else "below"
        difference = f"{abs(number - other):.4g} {side}" if number != other else "exactly"
        text = f"{measured.text} was {number:.4g} {at}, {difference} {limit.text}"
        return text if isinstance(limit, Constant) else f"{text} ({other:.4g})"

    def _first_known(self, name: str) -> str:
        """Return the end of a sentence that says from when on a signal was known."""
        known = np.flatnonzero(~np.isnan(self._trace.values[name]))
        if not known.size:
            return ", nor at any other instant"
        return f", first known at {seconds(self._time_s(int(known[0])))}" if known[0] else ""


def _least(rows: Rows) -> int:
    """Return the first index of the least robustness, of those the one that is not true."""
    least = np.flatnonzero(rows[0] == rows[0].min())
    return int(least[rows[1, least].argmin()])
