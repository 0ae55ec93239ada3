# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Substitutions `$(name argument …)` in the strings of a launch file.

Grammar, as in ROS's launch: text and substitutions alternate; the arguments of a substitution are
separated by exactly one space; an argument is bare (space, quote and parenthesis only escaped) or
as a whole in single or double quotes; both may contain further substitutions. A backslash escapes
the next character.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from aerotwin_core.documents import parse_yaml
from aerotwin_core.foreign_text import printable
from aerotwin_launch import expression, packages
from aerotwin_launch.errors import FileLine, LaunchError, suggestion

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
ESCAPE = re.compile(r"\\(.)")
MAX_DEPTH = 20
"""Of substitutions in substitutions."""
MAX_LETTERS = 100_000
"""Of a value: Linux passes at most 131,071 bytes in one argument to a program."""
_SHOWN_LETTERS = 200
# Characters that end a bare argument, by the quotes around the outermost substitution.
BARE_END = {None: " '\"()", "'": " '()", '"': ' "()'}


class Names(Protocol):
    """Lookups of a substitution during evaluation."""

    @property
    def variables(self) -> Mapping[str, str]:
        """Values of arguments and `let`."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables in this scope."""

    @property
    def folder(self) -> str:
        """Folder of the launch file, for `$(dirname)`."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One substitution: its name and its arguments, each a sequence of texts and calls."""

    name: str
    arguments: tuple["Parts", ...]


Parts = tuple["str | Call", ...]


class SubstitutionFailure(Exception):
    """A substitution has no value; the message has no file and line yet."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """A string of a launch file, parsed."""

    parts: Parts
    place: FileLine
    source: str

    @property
    def literal(self) -> str | None:
        """The text if it contains no substitution, else None."""
        if any(isinstance(part, Call) for part in self.parts):
            return None
        return "".join(str(part) for part in self.parts)

    def evaluate(self, names: Names) -> str:
        """Return the text with every substitution replaced."""
        return self.evaluate_parts(self.parts, names)

    def evaluate_parts(self, parts: Parts, names: Names) -> str:
        """Return the text of some of the parts; errors name the line of the whole."""
        try:
            return _text(parts, names)
        except (SubstitutionFailure, packages.LookupFailure) as error:
            raise LaunchError(self.place, str(error)) from None


def unescape(text: str) -> str:
    """Remove the backslash from every escaped character."""
    return ESCAPE.sub(r"\1", text)


@lru_cache(maxsize=1024)  # aliases of YAML repeat a text at no cost to the file
def parse_template(text: str, place: FileLine) -> Template:
    """Parse a string; unknown substitutions and wrong numbers of arguments are errors."""
    parser = _Parser(text, place)
    parts = parser.row(None)
    return Template(parts=parts or ("",), place=place, source=text)


class _Parser:
    """Recursive descent over one string."""

    def __init__(self, text: str, place: FileLine) -> None:
        self.text = text
        self.place = place
        self.at = 0
        self.depth = 0

    def row(self, quote: str | None) -> Parts:
        """Parse text and substitutions up to the closing quote or the end of the string."""
        return self._parts(quote, quote or "")

    def _parts(self, quote: str | None, end: str) -> Parts:
        parts: list[str | Call] = []
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in end:
            if self.text.startswith("$(", self.at) and self.text[self.at - 1 : self.at] != "\\":
                self._flush(parts, start)
                parts.append(self._call(quote))
                start = self.at
            else:
                self.at += 2 if self.text[self.at] == "\\" else 1
        self.at = min(self.at, len(self.text))
        self._flush(parts, start)
        return tuple(parts)

    def _flush(self, parts: list[str | Call], start: int) -> None:
        if self.at > start:
            parts.append(unescape(self.text[start : self.at]))

    def _call(self, quote: str | None) -> Call:
        start = self.at
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(start, f"substitutions stand more than {MAX_DEPTH} deep")
        self.at += 2
        match = IDENTIFIER.match(self.text, self.at)
        if match is None:
            raise self._error(start, "a name must follow '$('")
        self.at = match.end()
        arguments = []
        while self._next() == " ":
            self.at += 1
            arguments.append(self._argument(quote, start))
        if self._next() != ")":
            raise self._error(start, "')' is missing, or a space or quote is out of place")
        self.at += 1
        self.depth -= 1
        self._check(match.group(), len(arguments))
        return Call(name=match.group(), arguments=tuple(arguments))

    def _argument(self, quote: str | None, start: int) -> Parts:
        mark = self._next()
        if quote is None and mark in ("'", '"'):
            self.at += 1
            parts = self.row(mark)
            if self._next() != mark:
                raise self._error(start, f"the quote {mark} is not closed")
            self.at += 1
            return parts
        parts = self._parts(quote, BARE_END[quote])
        if not parts:
            raise self._error(start, "an argument is empty (separate them by exactly one space)")
        return parts

    def _check(self, name: str, count: int) -> None:
        if name not in SUBSTITUTIONS:
            hint = suggestion(name, SUBSTITUTIONS) or f"; supported are {_list(SUBSTITUTIONS)}"
            raise LaunchError(self.place, f"substitution '$({name})' is not supported{hint}")
        least, most, _ = SUBSTITUTIONS[name]
        if not least <= count <= most:
            requested = str(least) if least == most else f"{least} or {most}"
            hint = "; put the expression in quotes" if name == "eval" else ""
            message = f"'$({name})' takes {requested} argument(s), got {count}{hint}"
            raise LaunchError(self.place, message)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _error(self, start: int, what: str) -> LaunchError:
        shown = self.text[start : start + 40]
        return LaunchError(self.place, f"cannot read the substitution '{shown}': {what}")


def _text(parts: Parts, names: Names) -> str:
    text = "".join(part if isinstance(part, str) else _value(part, names) for part in parts)
    if len(text) > MAX_LETTERS:
        raise SubstitutionFailure(
            f"a value has {len(text)} letters, at most {MAX_LETTERS} are passed on; shorten it"
        )
    if "\0" in text:
        raise SubstitutionFailure("a value holds a NUL, which no program can be given; remove it")
    return text


def _value(call: Call, names: Names) -> str:
    if call.name == "var" and len(call.arguments) == 2:
        # Only this one does not evaluate its default unless needed.
        name = _text(call.arguments[0], names)
        return names.variables[name] if name in names.variables else _text(call.arguments[1], names)
    function = SUBSTITUTIONS[call.name][2]
    return function([_text(argument, names) for argument in call.arguments], names)


def as_boolean(text: str) -> bool:
    """Return a boolean by the rules of YAML, and 1 and 0; raise ValueError for other text."""
    try:
        value = parse_yaml({"1": "true", "0": "false"}.get(text, text))
    except ValueError:
        value = None
    if not isinstance(value, bool):
        raise ValueError(f"'{text}' is neither true nor false")
    return value


def _boolean(text: str) -> bool:
    try:
        return as_boolean(text)
    except ValueError as error:
        raise SubstitutionFailure(str(error)) from None


def _variable(arguments: list[str], names: Names) -> str:
    name = arguments[0]
    if name in names.variables:
        return names.variables[name]
    hint = suggestion(name, names.variables) or f"; defined are {_list(names.variables)}"
    raise SubstitutionFailure(f"the variable '{name}' is not defined here{hint}")


def _environment(arguments: list[str], names: Names) -> str:
    name = arguments[0]
    if name in names.environment:
        return names.environment[name]
    if len(arguments) == 2:
        return arguments[1]
    raise SubstitutionFailure(
        f"the environment variable '{name}' is not set; set it, or write $(env {name} default)"
    )


def _evaluate(arguments: list[str], names: Names) -> str:
    try:
        return str(expression.evaluate(arguments[0]))
    except Exception as error:  # whatever the author's expression raises
        shown = printable(arguments[0], _SHOWN_LETTERS)
        raise SubstitutionFailure(
            f'$(eval) of "{shown}": {type(error).__name__}: {error}'
            + ("; text in it needs quotes of its own" if isinstance(error, NameError) else "")
        ) from None


def _equals(arguments: list[str], names: Names) -> str:
    """Compare as booleans if both are, as numbers if both are, else as text."""
    left, right = arguments
    truths = {"true": True, "1": True, "false": False, "0": False}
    if left.lower() in truths and right.lower() in truths:
        return _token(truths[left.lower()] == truths[right.lower()])
    try:
        return _token(math.isclose(float(left), float(right)))
    except ValueError:
        return _token(left == right)


def _token(truth: bool) -> str:
    return "true" if truth else "false"


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


Function = Callable[[list[str], Names], str]
# name: fewest and most arguments, function
SUBSTITUTIONS: dict[str, tuple[int, int, Function]] = {
    "var": (1, 2, _variable),
    "env": (1, 2, _environment),
    "find-pkg-share": (1, 1, lambda a, n: str(packages.package_share(a[0], n.environment))),
    "find-pkg-prefix": (1, 1, lambda a, n: str(packages.package_prefix(a[0], n.environment))),
    "dirname": (0, 0, lambda a, n: n.folder),
    "eval": (1, 1, _evaluate),
    "equals": (2, 2, _equals),
    "not-equals": (2, 2, lambda a, n: _token(_equals(a, n) == "false")),
    "not": (1, 1, lambda a, n: _token(not _boolean(a[0]))),
    "and": (2, 2, lambda a, n: _token(_boolean(a[0]) and _boolean(a[1]))),
    "or": (2, 2, lambda a, n: _token(_boolean(a[0]) or _boolean(a[1]))),
}
