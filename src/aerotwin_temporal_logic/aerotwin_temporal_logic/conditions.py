# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parser of comparisons, arithmetic and what else is true or false at an instant."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from aerotwin_core.foreign_text import listed
from aerotwin_temporal_logic.cursor import InstantReader, TokenCursor
from aerotwin_temporal_logic.nodes import (
    Arithmetic,
    BooleanSignal,
    Compare,
    Constant,
    FormulaNode,
    HasHappened,
    IsKnown,
    Not,
    NumberNode,
    NumberSignal,
    Signal,
    TextIs,
)
from aerotwin_temporal_logic.tokens import Token, close_names
from aerotwin_temporal_logic.words import DISTANCE, FUNCTIONS, POSITION, RELATIONS, RESERVED

MAX_DEPTH = 20
"""Of parentheses: each takes about ten frames of Python's stack."""


class ConditionReader:
    """Reads a condition or, within parentheses, a quantity: only what follows tells which.

    `statement` reads what is within parentheses.
    """

    def __init__(
        self,
        cursor: TokenCursor,
        signals: Mapping[str, Signal],
        events: Collection[str],
        statement: Callable[[], FormulaNode],
    ) -> None:
        self._cursor, self._signals, self._events = cursor, signals, events
        self._statement = statement
        self._depth = 0
        self.instants = InstantReader(cursor, events, signals)
        self.used_signals: set[str] = set()

    def relation(self) -> FormulaNode:
        """Read a comparison, or what stands alone."""
        begin = self._cursor.next.column
        left = self._sum()
        symbol = self._cursor.accept(*RELATIONS)
        if symbol is None:
            return left
        left, right = self._quantity(left), self._quantity(self._sum())
        unit = self._unit(left, right, symbol)
        if unit is None:
            raise self._cursor.error("expected a signal on one side", symbol)
        if self._cursor.next.text in RELATIONS:
            way_out = "write one comparison, 'and', and the other"
            raise self._cursor.error(f"this is compared twice; {way_out}", self._cursor.next)
        return self._cursor.node(
            Compare, begin, symbol=symbol.text, left=left, right=right, unit=unit
        )

    def _sum(self) -> FormulaNode:
        begin = self._cursor.next.column
        left = self._product()
        while symbol := self._cursor.accept("+", "-"):
            parts = self._quantity(left), self._quantity(self._product())
            unit = self._unit(*parts, symbol)
            left = self._cursor.node(Arithmetic, begin, symbol=symbol.text, parts=parts, unit=unit)
        return left

    def _product(self) -> FormulaNode:
        begin = self._cursor.next.column
        left = self._factor()
        while symbol := self._cursor.accept("*", "/"):
            parts = self._quantity(left), self._quantity(self._factor())
            unit = parts[0].unit if parts[1].unit is None else ""
            if symbol.text == "*" and parts[0].unit is None:
                unit = parts[1].unit
            left = self._cursor.node(Arithmetic, begin, symbol=symbol.text, parts=parts, unit=unit)
        return left

    def _factor(self) -> FormulaNode:
        begin = self._cursor.next.column
        n_minus = 0
        while self._cursor.accept("-"):
            n_minus += 1
        node = self._primary()
        if n_minus == 0:
            return node
        part = self._quantity(node)
        if n_minus % 2 == 0:
            return part
        return self._cursor.node(Arithmetic, begin, symbol="-", parts=(part,), unit=part.unit)

    def _primary(self) -> FormulaNode:
        token = self._cursor.next
        if token.text == "(":
            return self._parenthesis()
        if token.kind == "number":
            return self._number()
        if token.text.rpartition(".")[2] == DISTANCE:
            return self._distance()
        if token.text in FUNCTIONS:
            return self._function()
        if token.kind != "name" or token.text in RESERVED:
            raise self._cursor.unexpected("a signal, a number, 'not' or '('")
        return self._named()

    def _parenthesis(self) -> FormulaNode:
        begin = self._open()
        node = self._statement()
        self._close()
        return replace(node, text=self._cursor.text_since(begin), column=begin)

    def _open(self) -> int:
        """Read "(" and return its column."""
        token = self._cursor.next
        self._cursor.expect("(")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._cursor.error(f"parentheses nest more than {MAX_DEPTH} deep", token)
        return token.column

    def _close(self) -> None:
        self._cursor.expect(")")
        self._depth -= 1

    def _number(self) -> FormulaNode:
        token = self._cursor.next
        if self._cursor.after_next.text != "s":
            self._cursor.advance()
            return self._cursor.node(Constant, token.column, value=float(token.text), unit=None)
        instant = self.instants.instant()
        if " after " not in instant.text:
            raise self._cursor.error(
                f"write '{instant.text} after start', or after an event", token
            )
        return self._cursor.node(HasHappened, token.column, instant=instant)

    def _function(self) -> NumberNode:
        name = self._cursor.advance()
        self._open()
        parts = [self._quantity(self._sum())]
        unit = parts[0].unit
        while comma := self._cursor.accept(","):
            part = self._quantity(self._sum())
            unit = self._unit(replace(parts[0], unit=unit), part, comma)
            parts.append(part)
        self._close()
        if (len(parts) == 1) != (name.text == "abs"):
            expected = FUNCTIONS[name.text]
            raise self._cursor.error(f"{name.text} takes {expected}, found {len(parts)}", name)
        values = {"symbol": name.text, "parts": tuple(parts), "unit": unit}
        return self._cursor.node(Arithmetic, name.column, **values)

    def _distance(self) -> NumberNode:
        name = self._cursor.advance()
        vehicle, _, _ = name.text.rpartition(DISTANCE)
        self._open()
        parts = [self._difference(f"{vehicle}{POSITION[0]}", name)]
        while self._cursor.accept(",") and len(parts) < len(POSITION):
            parts.append(self._difference(f"{vehicle}{POSITION[len(parts)]}", name))
        self._close()
        if len(parts) < 2:
            raise self._cursor.error(f"{DISTANCE} takes {FUNCTIONS[DISTANCE]}, found 1", name)
        unit = parts[0].unit
        return self._cursor.node(
            Arithmetic, name.column, symbol=DISTANCE, parts=tuple(parts), unit=unit
        )

    def _difference(self, axis: str, function: Token) -> NumberNode:
        """Read a coordinate and return how far the signal of its axis is from it."""
        place = self._cursor.next
        coordinate = self._quantity(self._sum())
        signal = self._signals.get(axis)
        if signal is None:
            vehicles = [n.partition(".")[0] for n in self._signals if n.endswith(f".{POSITION[0]}")]
            known = f"; vehicles: {listed(vehicles)}" if vehicles else ""
            raise self._cursor.error(f"{function.shown} needs the signal {axis}{known}", function)
        self.used_signals.add(axis)
        here = self._cursor.node(NumberSignal, function.column, name=axis, unit=signal.unit)
        parts = (here, coordinate)
        unit = self._unit(replace(here, text=axis), coordinate, place)
        return self._cursor.node(Arithmetic, function.column, symbol="-", parts=parts, unit=unit)

    def _named(self) -> FormulaNode:
        token = self._cursor.next
        name, column = token.text, token.column
        signal = self._signals.get(name)
        if signal is None and name in self._events:
            return self._cursor.node(HasHappened, column, instant=self.instants.instant())
        if signal is None:
            known = [*self._signals, *self._events]
            way_out = close_names(name, [*known, *RESERVED]) or f"; known: {listed(known)}"
            raise self._cursor.error(f"no signal or event {token.shown}{way_out}", token)
        self._cursor.advance()
        self.used_signals.add(name)
        if self._cursor.accept("is"):
            return self._is_word(signal, token)
        if signal.kind == "number":
            return self._cursor.node(
                NumberSignal, column, name=name, unit=signal.unit, is_constant=signal.is_constant
            )
        if signal.kind == "text":
            raise self._cursor.error(f"'{name}' is a text; write '{name} is WORD'", token)
        return self._cursor.node(BooleanSignal, column, name=name)

    def _is_word(self, signal: Signal, token: Token) -> FormulaNode:
        is_not = self._cursor.accept("not") is not None
        word = self._cursor.advance()
        if word.kind != "name":
            raise self._cursor.error(f"expected a word after 'is', found {word.shown}", word)
        if signal.kind == "text":
            node: FormulaNode = self._cursor.node(
                TextIs, token.column, name=token.text, word=word.text
            )
        elif signal.kind == "number" and word.text == "known":
            node = self._cursor.node(IsKnown, token.column, name=token.text)
        else:
            way_out = "compare it by < <= > >=, or write 'is known'"
            if signal.kind == "boolean":
                way_out = f"write '{token.text}' or 'not {token.text}'"
            raise self._cursor.error(f"{token.shown} is a {signal.kind}; {way_out}", token)
        return self._cursor.node(Not, token.column, body=node) if is_not else node

    def _quantity(self, node: FormulaNode) -> NumberNode:
        if not isinstance(node, NumberNode):
            problem = f"expected a number, found the condition '{node.text}'"
            raise self._cursor.error(problem, node.column)
        return node

    def _unit(self, left: NumberNode, right: NumberNode, symbol: Token) -> str | None:
        """Return the unit that both have; a number as such has that of the other."""
        if left.unit is None or right.unit is None or left.unit == right.unit:
            return right.unit if left.unit is None else left.unit
        if "" in (left.unit, right.unit):
            return ""
        problem = f"'{left.text}' is in {left.unit}, '{right.text}' in {right.unit}"
        raise self._cursor.error(f"{problem}; only equal units are compared or added", symbol)
