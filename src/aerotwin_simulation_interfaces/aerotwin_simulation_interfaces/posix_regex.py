# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""POSIX extended regular expressions in linear time, for patterns from outside.

Python's `re` backtracks: a pattern such as ``(a+)+$`` keeps it busy for years. Here a pattern is a
nondeterministic automaton, and matching takes at most pattern length times text length.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_PATTERN = 512
"""Characters of a pattern."""
MAX_STATES = 2000
"""States of an automaton: counted repetitions are written out."""
MAX_REPEATS = 255
"""RE_DUP_MAX of POSIX."""
MAX_NESTING = 64
_CLASSES: dict[str, Callable[[str], bool]] = {
    "alpha": str.isalpha,
    "digit": str.isdigit,
    "alnum": str.isalnum,
    "upper": str.isupper,
    "lower": str.islower,
    "space": str.isspace,
    "blank": lambda c: c in " \t",
    "punct": lambda c: c in string.punctuation,
    "print": str.isprintable,
    "graph": lambda c: c.isprintable() and not c.isspace(),
    "cntrl": lambda c: ord(c) < 32 or ord(c) == 127,
    "xdigit": lambda c: c in string.hexdigits,
}
Test = Callable[[str], bool]


class PatternError(ValueError):
    """A pattern is not a POSIX extended regular expression, or too large."""


@dataclass
class _State:
    """A state: consumes a character that passes `test`, or moves on if an `anchor` holds."""

    test: Test | None = None
    anchor: str = ""
    following: "list[_State]" = field(default_factory=list)


Fragment = tuple[_State, _State]


class PosixRegex:
    """A compiled pattern. Raises PatternError."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN:
            raise PatternError(
                f"the pattern must have at most {MAX_PATTERN} characters, got {len(pattern)}"
            )
        self._text, self._at, self._n_states, self._depth = pattern, 0, 0, 0
        self._start, self._end = self._alternatives()
        if self._at < len(pattern):
            raise self._error("')' without '('")

    def search(self, text: str) -> bool:
        """Return whether the pattern matches any part of a text."""
        active: dict[int, _State] = {}
        for at in range(len(text) + 1):
            self._enter(active, self._start, at, len(text))
            if id(self._end) in active:
                return True
            if at == len(text):
                break
            before, active = active, {}
            for state in before.values():
                if state.test is not None and state.test(text[at]):
                    for following in state.following:
                        self._enter(active, following, at + 1, len(text))
        return False

    def _enter(self, active: dict[int, _State], state: _State, at: int, n: int) -> None:
        """Add a state and all that follow without a character."""
        waiting = [state]
        while waiting:
            state = waiting.pop()
            if id(state) in active:
                continue
            if (state.anchor == "^" and at > 0) or (state.anchor == "$" and at < n):
                continue
            active[id(state)] = state
            if state.test is None:
                waiting += state.following

    # -- parsing ------------------------------------------------------------------------------

    def _error(self, what: str) -> PatternError:
        return PatternError(f"'{self._text}' is no POSIX extended regular expression: {what}")

    def _new(self, test: Test | None = None, anchor: str = "") -> _State:
        self._n_states += 1
        if self._n_states > MAX_STATES:
            raise PatternError(f"the pattern needs more than {MAX_STATES} states; shorten it")
        return _State(test, anchor)

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _alternatives(self) -> Fragment:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise PatternError(f"the pattern must be nested at most {MAX_NESTING} deep")
        start, end = self._new(), self._new()
        while True:
            first, last = self._sequence()
            start.following.append(first)
            last.following.append(end)
            if self._next() != "|":
                break
            self._at += 1
        self._depth -= 1
        return start, end

    def _sequence(self) -> Fragment:
        start = end = self._new()
        while (character := self._next()) and character not in "|)":
            begin = self._at
            first, last = self._repeated(begin)
            end.following.append(first)
            end = last
        return start, end

    def _repeated(self, begin: int) -> Fragment:
        """Parse an atom with its repetitions; each copy is parsed anew from `begin`."""
        fragment = self._atom()
        while (character := self._next()) and character in "*+?{":
            stop = self._at
            lowest, highest = self._bounds()
            after = self._at
            copies = [fragment]
            while len(copies) < max(lowest, highest or 0, 1):
                self._at = begin
                copies.append(self._copy(begin, stop))
            self._at = after
            fragment = self._chain(copies, lowest, highest)
        return fragment

    def _copy(self, begin: int, stop: int) -> Fragment:
        """Parse the atom at `begin` with its repetitions before `stop` once more."""
        text, self._text = self._text, self._text[:stop]
        self._at = begin
        fragment = self._repeated(begin)
        self._text = text
        return fragment

    def _chain(self, copies: list[Fragment], lowest: int, highest: int | None) -> Fragment:
        start, end = self._new(), self._new()
        at = start
        if highest == 0:
            start.following.append(end)
            return start, end
        for k, (first, last) in enumerate(copies):
            if k >= lowest:
                at.following.append(end)
            at.following.append(first)
            at = last
        if highest is None:
            again = copies[-1][0]
            at.following.append(again)
        at.following.append(end)
        return start, end

    def _bounds(self) -> tuple[int, int | None]:
        character = self._next()
        self._at += 1
        if character != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
        close = self._text.find("}", self._at)
        inside = self._text[self._at : close] if close >= 0 else ""
        low, comma, high = inside.partition(",")
        if not low.isdecimal() or not low.isascii() or (high and not high.isdecimal()):
            raise self._error("'{' must be followed by NUMBER}, NUMBER,} or NUMBER,NUMBER}")
        lowest = int(low[:6])
        highest = int(high[:6]) if high else None if comma else lowest
        if max(lowest, highest or 0) > MAX_REPEATS or (highest is not None and highest < lowest):
            raise self._error(f"repetitions must be ordered and at most {MAX_REPEATS}")
        self._at = close + 1
        return lowest, highest

    def _atom(self) -> Fragment:
        character = self._next()
        self._at += 1
        if character == "(":
            fragment = self._alternatives()
            if self._next() != ")":
                raise self._error("'(' without ')'")
            self._at += 1
            return fragment
        if character in "*+?{":
            raise self._error(f"'{character}' repeats nothing")
        if character in "^$":
            state = self._new(anchor=character)
            return state, state
        if character == "[":
            return self._consuming(self._bracket())
        if character == ".":
            return self._consuming(lambda _: True)
        if character == "\\":
            character = self._next()
            if not character:
                raise self._error("it ends with a backslash")
            self._at += 1
        return self._consuming(lambda c, wanted=character: c == wanted)

    def _consuming(self, test: Test) -> Fragment:
        start, end = self._new(test), self._new()
        start.following.append(end)
        return start, end

    def _bracket(self) -> Test:
        """Parse what follows '['."""
        is_negated = self._next() == "^"
        self._at += is_negated
        tests: list[Test] = []
        is_first = True
        while is_first or self._next() != "]":
            is_first = False
            if not self._next():
                raise self._error("'[' without ']'")
            tests.append(self._of_bracket())
        self._at += 1
        return lambda c: any(test(c) for test in tests) != is_negated

    def _of_bracket(self) -> Test:
        if self._text.startswith("[:", self._at):
            name, colon, _ = self._text[self._at + 2 :].partition(":]")
            if not colon or name not in _CLASSES:
                raise self._error(f"a class must be one of {', '.join(_CLASSES)}")
            self._at += len(name) + 4
            return _CLASSES[name]
        if self._text.startswith(("[.", "[="), self._at):
            raise self._error("collating elements and equivalence classes are not supported")
        low = high = self._next()
        self._at += 1
        is_range = self._next() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", "")
        if is_range:
            high = self._text[self._at + 1]
            self._at += 2
            if high < low:
                raise self._error(f"the range {low}-{high} is empty")
        return lambda c: low <= c <= high
