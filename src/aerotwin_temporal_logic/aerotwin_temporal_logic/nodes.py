# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a formula is made of: a tree of frozen nodes, and the signals that it may name."""

from collections.abc import Iterator
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Signal:
    """Something of a run that has one value at each instant, such as height_m or mode.

    `kind` is "number", "boolean" or "text"; `unit` is that of a number, "" for none; `meaning`
    is one sentence for people. One that `is_constant` has the same value at all instants, as a
    number of the whole run has: a condition on such signals alone need not say when.
    """

    name: str
    kind: str
    unit: str = ""
    meaning: str = ""
    is_constant: bool = False


@dataclass(frozen=True)
class Instant:
    """An instant of the run: `base` is "start", "end" or an event, whose first occurrence counts.

    `offset_s` is added to it; `text` is as written.
    """

    base: str
    offset_s: float
    text: str


@dataclass(frozen=True)
class Span:
    """From `first` to `last`, both included; without `last` to the end of the run.

    `excludes_last` is that of `before`: all that is earlier than `last`.
    """

    first: Instant
    last: Instant | None = None
    excludes_last: bool = False


@dataclass(frozen=True, kw_only=True)
class FormulaNode:
    """A part of a formula: its text as written and where that begins, from 0."""

    text: str
    column: int

    def children(self) -> Iterator["FormulaNode"]:
        """Yield the nodes directly below this one."""
        for field in fields(self):
            value = getattr(self, field.name)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, FormulaNode):
                    yield part

    def walk(self) -> Iterator["FormulaNode"]:
        """Yield this node and all below it."""
        yield self
        for child in self.children():
            yield from child.walk()


@dataclass(frozen=True, kw_only=True)
class NumberNode(FormulaNode):
    """A number at each instant. `unit` is None for a number as such, "" where it is not known."""

    unit: str | None


@dataclass(frozen=True, kw_only=True)
class Constant(NumberNode):
    """A number of the text."""

    value: float


@dataclass(frozen=True, kw_only=True)
class NumberSignal(NumberNode):
    """The value of a signal."""

    name: str
    is_constant: bool = False


@dataclass(frozen=True, kw_only=True)
class Arithmetic(NumberNode):
    """+ - * / abs min max of quantities; `-` of one is its negative.

    `distance_to` is the length of a vector of quantities.
    """

    symbol: str
    parts: tuple[NumberNode, ...]


@dataclass(frozen=True, kw_only=True)
class Compare(FormulaNode):
    """< <= > >= of two quantities."""

    symbol: str
    left: NumberNode
    right: NumberNode
    unit: str


@dataclass(frozen=True, kw_only=True)
class BooleanSignal(FormulaNode):
    """A signal that is true or false."""

    name: str


@dataclass(frozen=True, kw_only=True)
class TextIs(FormulaNode):
    """A text signal has one value."""

    name: str
    word: str


@dataclass(frozen=True, kw_only=True)
class IsKnown(FormulaNode):
    """A number signal is not NaN."""

    name: str


@dataclass(frozen=True, kw_only=True)
class HasHappened(FormulaNode):
    """An instant has come: an event, or some seconds after it."""

    instant: Instant


@dataclass(frozen=True, kw_only=True)
class Not(FormulaNode):
    """The opposite."""

    body: FormulaNode


@dataclass(frozen=True, kw_only=True)
class AllOf(FormulaNode):
    """A conjunction."""

    parts: tuple[FormulaNode, ...]


@dataclass(frozen=True, kw_only=True)
class AnyOf(FormulaNode):
    """A disjunction; `A implies B` is `not A or B`."""

    parts: tuple[FormulaNode, ...]


@dataclass(frozen=True, kw_only=True)
class Always(FormulaNode):
    """At all instants of a span; None: from the instant where it is judged to the run's end."""

    body: FormulaNode
    span: Span | None


@dataclass(frozen=True, kw_only=True)
class Eventually(FormulaNode):
    """At some instant of a span; None as for `Always`."""

    body: FormulaNode
    span: Span | None


@dataclass(frozen=True, kw_only=True)
class Until(FormulaNode):
    """`left` at all instants before one at which `right` holds; None as for `Always`."""

    left: FormulaNode
    right: FormulaNode
    span: Span | None


@dataclass(frozen=True, kw_only=True)
class Within(FormulaNode):
    """At some instant up to `duration_s` after `of`; None: after the instant where it is judged."""

    body: FormulaNode
    duration_s: float
    of: Instant | None


@dataclass(frozen=True, kw_only=True)
class Lasting(FormulaNode):
    """`for D s`: from here on for a duration; in a trigger, for that duration up to now."""

    body: FormulaNode
    duration_s: float


@dataclass(frozen=True, kw_only=True)
class AtInstant(FormulaNode):
    """At one instant."""

    body: FormulaNode
    instant: Instant


@dataclass(frozen=True, kw_only=True)
class OnlyAfter(FormulaNode):
    """`F after T` without always, never or eventually: F holds and T has come; for triggers."""

    body: FormulaNode
    instant: Instant
