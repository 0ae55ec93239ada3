# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Formulas as trees: arithmetic over signals, comparisons, boolean and temporal operators."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from aerotwin_core.errors import UserError

NUMBER, BOOLEAN, TEXT = "number", "boolean", "text"


class FormulaError(UserError):
    """A text that is no formula: what was found, where, and what was expected."""


@dataclass(frozen=True, kw_only=True)
class Signal:
    """A named quantity of a run; its kind is `number`, `boolean` or `text`."""

    name: str
    kind: str
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class FormulaNode:
    """A part of a formula."""

    def parts(self) -> Iterator["FormulaNode"]:
        """Yield this part and all below it."""
        yield self
        for field in fields(self):
            value = getattr(self, field.name)
            for inner in value if isinstance(value, tuple) else (value,):
                if isinstance(inner, FormulaNode):
                    yield from inner.parts()


# -- numbers ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant(FormulaNode):
    """A number."""

    value: float


@dataclass(frozen=True)
class SignalValue(FormulaNode):
    """The value of a numeric signal."""

    signal: Signal


@dataclass(frozen=True)
class Operation(FormulaNode):
    """Arithmetic: + - * / with two operands, neg and abs with one, min and max with several."""

    name: str
    operands: tuple[FormulaNode, ...]


# -- conditions at one instant ---------------------------------------------------------------------


@dataclass(frozen=True)
class Compare(FormulaNode):
    """A comparison of two numbers, by `<`, `<=`, `>` or `>=`; `text` is as written."""

    operator: str
    left: FormulaNode
    right: FormulaNode
    text: str


@dataclass(frozen=True)
class Is(FormulaNode):
    """Whether a text signal is a word."""

    signal: Signal
    word: str


@dataclass(frozen=True)
class Holds(FormulaNode):
    """The value of a boolean signal."""

    signal: Signal


@dataclass(frozen=True)
class Happened(FormulaNode):
    """Whether an event happened, at least `delay_s` ago."""

    event: str
    delay_s: float = 0.0


# -- boolean and temporal operators ----------------------------------------------------------------


@dataclass(frozen=True)
class Not(FormulaNode):
    """Negation."""

    inner: FormulaNode


@dataclass(frozen=True)
class And(FormulaNode):
    """Conjunction."""

    left: FormulaNode
    right: FormulaNode


@dataclass(frozen=True)
class Or(FormulaNode):
    """Disjunction; `a implies b` is `not a or b`."""

    left: FormulaNode
    right: FormulaNode


@dataclass(frozen=True)
class Always(FormulaNode):
    """At all samples between two times from now on [s]; `is_whole`: the run must last that long."""

    inner: FormulaNode
    from_s: float = 0.0
    to_s: float = float("inf")
    is_whole: bool = False


@dataclass(frozen=True)
class Eventually(FormulaNode):
    """At one sample between two times from now on [s]."""

    inner: FormulaNode
    from_s: float = 0.0
    to_s: float = float("inf")


@dataclass(frozen=True)
class Until(FormulaNode):
    """The left at all samples before the right first holds; weak if that need not happen."""

    left: FormulaNode
    right: FormulaNode
    is_weak: bool


@dataclass(frozen=True)
class After(FormulaNode):
    """The inner formula at the instant of an event."""

    inner: FormulaNode
    event: str


@dataclass(frozen=True)
class Before(FormulaNode):
    """The inner formula on the run up to an event."""

    inner: FormulaNode
    event: str


@dataclass(frozen=True)
class AtEnd(FormulaNode):
    """The inner formula at the last sample."""

    inner: FormulaNode


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A parsed text, with the names of the signals and events that it uses."""

    text: str
    root: FormulaNode
    signals: frozenset[str]
    events: frozenset[str]

    @property
    def unit(self) -> str:
        """The unit of its robustness, if all comparisons share one; else empty."""
        units = {
            tuple(
                sorted({part.signal.unit for part in node.parts() if isinstance(part, SignalValue)})
            )
            for node in self.root.parts()
            if isinstance(node, Compare)
        }
        (only,) = units if len(units) == 1 else ((),)
        return only[0] if len(only) == 1 else ""


def used(root: FormulaNode, text: str) -> Formula:
    """Return the formula of a tree."""
    parts: list[Any] = list(root.parts())
    return Formula(
        text=text,
        root=root,
        signals=frozenset(part.signal.name for part in parts if hasattr(part, "signal")),
        events=frozenset(part.event for part in parts if hasattr(part, "event")),
    )
