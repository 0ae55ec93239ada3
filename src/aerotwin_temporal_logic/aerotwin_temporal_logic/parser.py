# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From text to formula, by recursive descent: messages say column, what was expected and found.

A parser generator would be longer than these twenty rules, and its messages worse.
"""

import difflib
import math
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple, NoReturn

from aerotwin_core.foreign_text import listed, printable
from aerotwin_temporal_logic.formula import (
    BOOLEAN,
    NUMBER,
    TEXT,
    After,
    Always,
    And,
    AtEnd,
    Before,
    Compare,
    Constant,
    Eventually,
    Formula,
    FormulaError,
    FormulaNode,
    Happened,
    Holds,
    Is,
    Not,
    Operation,
    Or,
    Signal,
    SignalValue,
    Until,
    used,
)

LONGEST_TEXT, MOST_TOKENS, DEEPEST = 1000, 200, 40
FUNCTIONS = {"abs": (1, 1), "min": (2, 9), "max": (2, 9)}
"""Names and numbers of arguments."""
COMPARISONS = ("<", "<=", ">", ">=")
_WORDS = (
    "and or not implies always never eventually until within of after before from to for at end is"
)
KEYWORDS = frozenset(_WORDS.split())
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_][\w.]*)"
    r"|(?P<sign><=|>=|[<>()+\-*/,]))"
)
_LONGEST_FOUND = 40


class _Token(NamedTuple):
    kind: str  # number, name, sign, end
    text: str
    column: int


def parse(
    text: str, signals: Mapping[str, Signal], events: Collection[str] = (), *, where: str = ""
) -> Formula:
    """Return the formula of a text.

    Parameters
    ----------
    text : str
        As the grammar of the package says, at most 1000 characters.
    signals : mapping
        The known signals by name.
    events : collection of str
        Names of known events.
    where : str
        Origin of the text, for messages.

    Raises
    ------
    FormulaError
        If it is none: with the text, the column, what was expected and what was found.

    Examples
    --------
    >>> speed = Signal(name="speed", kind="number", unit="m/s")
    >>> parse("always speed < 3 after gust", {"speed": speed}, ["gust"]).unit
    'm/s'
    """
    return _Parser(text, signals, events, where).formula()


class _Parser:
    def __init__(
        self, text: str, signals: Mapping[str, Signal], events: Collection[str], where: str
    ) -> None:
        self._text, self._signals, self._events, self._where = text, signals, events, where
        self._depth = 0
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
            self._text = printable(str(text), LONGEST_TEXT)
            self._fail(f"expected a condition of at most {LONGEST_TEXT} characters", 0)
        self._tokens = self._split()
        self._next = 0

    def formula(self) -> Formula:
        root = self._expectation()
        if self._token.kind != "end":
            self._fail_at("expected the end, and, or, within, after, ...")
        return used(root, self._text.strip())

    # -- tokens -------------------------------------------------------------------------------

    def _split(self) -> list[_Token]:
        tokens, place, end = [], 0, len(self._text.rstrip())
        while place < end:
            match = _TOKEN.match(self._text, place)
            if match is None:
                place += len(self._text[place:]) - len(self._text[place:].lstrip())
                self._fail(f"'{printable(self._text[place])}' has no meaning here", place)
            assert match.lastgroup is not None
            tokens.append(_Token(match.lastgroup, match[match.lastgroup],
                                 match.start(match.lastgroup)))  # fmt: skip
            place = match.end()
            if len(tokens) > MOST_TOKENS:
                self._fail(f"expected at most {MOST_TOKENS} words and signs", place)
        return [*tokens, _Token("end", "", end)]

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._token
        self._next += 1
        return token

    def _accept(self, *words: str) -> bool:
        """Take the next token if it is one of the words."""
        if self._token.kind != "number" and self._token.text in words:
            self._next += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            self._fail_at(f"expected {word}")

    def _fail_at(self, expected: str) -> NoReturn:
        token = self._token
        found = "the end" if token.kind == "end" else f"'{token.text[:_LONGEST_FOUND]}'"
        self._fail(f"{expected}, found {found}", token.column)

    def _fail(self, problem: str, column: int) -> NoReturn:
        place = f"{self._where}: " if self._where else ""
        caret = " " * column + "^"
        raise FormulaError(f"{place}{problem}\n  {printable(self._text)}\n  {caret}")

    # -- conditions ---------------------------------------------------------------------------

    def _expectation(self) -> FormulaNode:
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail_at(f"expected parentheses at most {DEEPEST} deep")
        node, word = self._quantified()
        while True:
            if self._token.text == "within":
                node, word = self._within(node, word), ""
            elif self._accept("after"):
                node = After(node, self._event())
            elif self._accept("before"):
                node = Before(node, self._event())
            elif self._accept("from"):
                node = self._between(node)
            elif self._accept("at"):
                self._expect("end")
                node = AtEnd(node)
            else:
                self._depth -= 1
                return node

    def _within(self, node: FormulaNode, word: str) -> FormulaNode:
        """Read a deadline: of the condition that `never` or `eventually` is about."""
        if word in ("always", "until"):
            self._fail_at("expected one of always, until and within, which say when; parentheses "
                          "around a part make it one condition")  # fmt: skip
        self._take()
        limit_s = self._seconds()
        if isinstance(node, Always | Eventually) and word:
            node = type(node)(node.inner, 0.0, limit_s)
        else:
            node = Eventually(node, 0.0, limit_s)
        return After(node, self._event()) if self._accept("of") else node

    def _between(self, node: FormulaNode) -> FormulaNode:
        begin_s = self._seconds()
        self._expect("to")
        end_s = self._seconds()
        if end_s < begin_s:
            self._fail(f"expected a later time than {begin_s:g} s, found {end_s:g} s",
                       self._tokens[self._next - 2].column)  # fmt: skip
        if isinstance(node, Always | Eventually) and (node.from_s, node.to_s) == (0.0, math.inf):
            return type(node)(node.inner, begin_s, end_s)
        return self._fail("from ... to ... belongs to always, never or eventually",
                   self._tokens[self._next - 6].column)  # fmt: skip

    def _quantified(self) -> tuple[FormulaNode, str]:
        """Return a condition and the word that says when it must hold, or an empty one."""
        word = self._token.text
        if self._accept("eventually"):
            return Eventually(self._implication()), word
        is_throughout = self._accept("always", "never")
        node = self._implication()
        if is_throughout and word == "never":
            node = Not(node)
        if self._accept("until"):
            return Until(node, self._implication(), is_weak=is_throughout), "until"
        return (Always(node), word) if is_throughout else (node, "")

    def _implication(self) -> FormulaNode:
        node = self._disjunction()
        if self._accept("implies"):
            self._depth += 1
            if self._depth > DEEPEST:
                self._fail_at(f"expected at most {DEEPEST} times implies")
            node = Or(Not(node), self._implication())
            self._depth -= 1
        return node

    def _disjunction(self) -> FormulaNode:
        node = self._conjunction()
        while self._accept("or"):
            node = Or(node, self._conjunction())
        return node

    def _conjunction(self) -> FormulaNode:
        node = self._negation()
        while self._accept("and"):
            node = And(node, self._negation())
        return node

    def _negation(self) -> FormulaNode:
        n_negations = 0
        while self._accept("not"):
            n_negations += 1
        node = self._primary()
        if self._accept("for"):
            node = Always(node, 0.0, self._seconds(), is_whole=True)
        return Not(node) if n_negations % 2 else node

    def _primary(self) -> FormulaNode:
        if self._token.text == "(" and not self._is_arithmetic():
            self._take()
            node = self._expectation()
            self._expect(")")
            return node
        first, second, third = (self._tokens[min(self._next + k, len(self._tokens) - 1)]
                                for k in range(3))  # fmt: skip
        if first.kind == "number" and (second.text, third.text) == ("s", "after"):
            delay_s = self._seconds()
            self._take()
            return Happened(self._event(), delay_s)
        if first.kind == "name" and first.text not in FUNCTIONS:
            name = first.text
            if second.text == "is" and second.kind == "name":
                return self._word(name)
            if name in self._events:
                self._take()
                return Happened(name)
            if name in self._signals and self._signals[name].kind == BOOLEAN:
                self._take()
                return Holds(self._signals[name])
        return self._comparison()

    def _is_arithmetic(self) -> bool:
        """Return whether the parenthesis that opens here belongs to a number, as in (a + b) > c."""
        depth, k = 0, self._next
        while k < len(self._tokens):
            text = self._tokens[k].text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return self._tokens[k + 1].text in (*COMPARISONS, "+", "-", "*", "/")
            k += 1
        return False

    def _word(self, name: str) -> FormulaNode:
        signal = self._signal(name, TEXT)
        self._take()
        self._expect("is")
        is_negated = self._accept("not")
        if self._token.kind != "name":
            self._fail_at("expected a word")
        node = Is(signal, self._take().text)
        return Not(node) if is_negated else node

    def _comparison(self) -> FormulaNode:
        begin = self._token.column
        left = self._sum()
        if self._token.text not in COMPARISONS:
            self._fail_at("expected <, <=, > or >=")
        operator = self._take().text
        right = self._sum()
        last = self._tokens[self._next - 1]
        return Compare(operator, left, right, self._text[begin : last.column + len(last.text)])

    # -- numbers ------------------------------------------------------------------------------

    def _sum(self) -> FormulaNode:
        node = self._product()
        while self._token.text in ("+", "-"):
            node = Operation(self._take().text, (node, self._product()))
        return node

    def _product(self) -> FormulaNode:
        node = self._factor()
        while self._token.text in ("*", "/"):
            node = Operation(self._take().text, (node, self._factor()))
        return node

    def _factor(self) -> FormulaNode:
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail_at(f"expected numbers nested at most {DEEPEST} deep")
        node = self._innermost()
        self._depth -= 1
        return node

    def _innermost(self) -> FormulaNode:
        token = self._token
        if token.kind == "number":
            return Constant(self._number())
        if self._accept("-"):
            return Operation("neg", (self._factor(),))
        if self._accept("("):
            node = self._sum()
            self._expect(")")
            return node
        if token.kind == "name" and token.text in FUNCTIONS:
            return self._function()
        if token.kind == "name" and token.text not in KEYWORDS:
            signal = self._signal(token.text, NUMBER)
            self._take()
            return SignalValue(signal)
        return self._fail_at("expected a signal, a number or (")

    def _function(self) -> FormulaNode:
        name = self._take().text
        self._expect("(")
        operands = [self._sum()]
        while self._accept(","):
            operands.append(self._sum())
        fewest, most = FUNCTIONS[name]
        if not fewest <= len(operands) <= most:
            self._fail_at(f"expected {fewest} to {most} arguments of {name}")
        self._expect(")")
        return Operation(name, tuple(operands))

    def _number(self) -> float:
        if self._token.kind != "number":
            self._fail_at("expected a number")
        value = float(self._token.text)
        if not math.isfinite(value):
            self._fail_at("expected a finite number")
        self._take()
        return value

    def _seconds(self) -> float:
        seconds = self._number()
        if not (self._token.kind == "name" and self._token.text == "s"):
            self._fail_at("expected s, for seconds")
        self._take()
        return seconds

    # -- names --------------------------------------------------------------------------------

    def _event(self) -> str:
        token = self._token
        if token.kind != "name" or token.text not in self._events:
            known = f"the events are {listed(self._events)}" if self._events else "there is none"
            near = difflib.get_close_matches(token.text, list(self._events), n=1)
            hint = f"did you mean {near[0]}?" if near else known
            self._fail_at(f"expected an event; {hint}")
        return self._take().text

    def _signal(self, name: str, kind: str) -> Signal:
        signal = self._signals.get(name)
        if signal is None:
            known = [*self._signals, *self._events]
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"did you mean {', '.join(near)}?" if near else f"known are {listed(known, 60)}"
            self._fail(f"no signal '{printable(name, _LONGEST_FOUND)}'; {hint}",
                       self._token.column)  # fmt: skip
        if signal.kind != kind:
            usual = {NUMBER: f"{name} < 1", BOOLEAN: name, TEXT: f"{name} is WORD"}[signal.kind]
            self._fail(f"{name} is a {signal.kind}: write it as {usual}", self._token.column)
        return signal
