# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reading a formula's tokens one after the other, and the instants and durations among them."""

from collections.abc import Collection
from typing import Any, TypeVar

from aerotwin_core.foreign_text import listed
from aerotwin_temporal_logic.nodes import FormulaNode, Instant
from aerotwin_temporal_logic.tokens import FormulaError, Token, close_names, formula_error, tokenize

N = TypeVar("N", bound=FormulaNode)


class TokenCursor:
    """The tokens of a formula and which of them is next."""

    def __init__(self, text: str, where: str) -> None:
        self._text, self._where = text, where
        self._tokens = tokenize(text, where)
        self._position = 0

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self._tokens[self._position]

    @property
    def after_next(self) -> Token:
        """The one after it; of kind "end" beyond the text."""
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Read a token, whatever it is."""
        token = self.next
        self._position += token.kind != "end"
        return token

    def accept(self, *texts: str) -> Token | None:
        """Read the next token if it is one of these."""
        return self.advance() if self.next.text in texts else None

    def expect(self, text: str) -> None:
        """Read a token that must come here."""
        if self.accept(text) is None:
            raise self.unexpected(f"'{text}'")

    def text_since(self, column: int) -> str:
        """Return the text from a column to the last token that was read, blanks joined."""
        last = self._tokens[max(self._position - 1, 0)]
        return " ".join(self._text[column : last.column + len(last.text)].split())

    def node(self, kind: type[N], column: int, **values: Any) -> N:
        """Return a node whose text is that from a column to the last token that was read."""
        return kind(text=self.text_since(column), column=column, **values)

    def error(self, problem: str, at: Token | int) -> FormulaError:
        """Return an error that points at a token or a column."""
        column = at.column if isinstance(at, Token) else at
        return formula_error(problem, self._text, column, self._where)

    def unexpected(self, expected: str) -> FormulaError:
        """Return the error that something else was expected here."""
        return self.error(f"expected {expected}, found {self.next.shown}", self.next)


class InstantReader:
    """Reads instants (`gnss_lost`, `10 s`, `5 s after gust`, `end`) and durations."""

    def __init__(self, cursor: TokenCursor, events: Collection[str], signals: Collection[str]):
        self._cursor, self._events, self._signals = cursor, events, signals
        self.used_events: set[str] = set()

    def instant(self) -> Instant:
        """Read an instant of the run."""
        begin = self._cursor.next
        if begin.kind == "number":
            offset_s = self.seconds()
            base = self.base() if self._cursor.accept("after") else "start"
        else:
            offset_s = 0.0
            base = "end" if self._cursor.accept("end") else self.base()
        return Instant(base, offset_s, self._cursor.text_since(begin.column))

    def base(self) -> str:
        """Read `start` or an event."""
        token = self._cursor.advance()
        if token.text in self._events:
            self.used_events.add(token.text)
        elif token.text != "start":
            all_events = f"; events: {listed(sorted(self._events)) or 'none'}"
            known = close_names(token.text, self._events) or all_events
            what = "is a signal, no event" if token.text in self._signals else "was found"
            expected = "expected an event, start, end or seconds"
            raise self._cursor.error(f"{expected}; {token.shown} {what}{known}", token)
        return token.text

    def duration_s(self) -> float:
        """Read seconds that are more than none."""
        token = self._cursor.next
        duration_s = self.seconds()
        if duration_s <= 0.0:
            raise self._cursor.error("expected more than 0 s", token)
        return duration_s

    def seconds(self) -> float:
        """Read a number of seconds, which is never negative."""
        if self._cursor.next.kind != "number":
            raise self._cursor.unexpected("a number of seconds, such as '5 s'")
        seconds = float(self._cursor.advance().text)
        self._cursor.expect("s")
        return seconds
