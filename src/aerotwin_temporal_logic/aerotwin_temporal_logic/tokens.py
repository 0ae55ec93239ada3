# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The words of a formula and its errors, which point at a column of its text."""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable

MAX_LETTERS, MAX_TOKENS = 1000, 200
"""Far more than a person reads at once; what nests is thereby bounded, too."""
_SHOWN_LETTERS = 100
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<symbol><=|>=|[-+*/<>(),])",
    re.ASCII,
)
_INSTEAD = {
    "=": "numbers are compared by < <= > >=, texts by 'is'",
    "!": "write 'not', or 'is not' for texts",
    "&": "write 'and'",
    "|": "write 'or', or abs(…) for a magnitude",
    "'": "texts are written without quotes: mode is HOLD",
    '"': "texts are written without quotes: mode is HOLD",
    ";": "write one formula for each condition",
    "^": "write a product",
    "%": "write a quotient",
}


class FormulaError(UserError):
    """A formula cannot be read, or cannot be used for this; the message points at the column."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """A number, name or symbol of a formula; `kind` "end" closes the text.

    Columns count from 0; the texts of errors count from 1.
    """

    kind: str
    text: str
    column: int

    @property
    def shown(self) -> str:
        """The token as an error message names it."""
        return "the end of the text" if self.kind == "end" else f"'{printable(self.text, 40)}'"


def tokenize(text: str, where: str) -> list[Token]:
    """Return the tokens of a formula, the last of kind "end".

    Raises `FormulaError` at a letter that is none of the language, at a number that is no finite
    double, and if the text is longer than `MAX_LETTERS` or `MAX_TOKENS`.
    """
    if len(text) > MAX_LETTERS:
        problem = f"a formula has at most {MAX_LETTERS} letters, this one has {len(text)}"
        raise formula_error(problem, text, MAX_LETTERS, where)
    tokens, column = [], 0
    while column < len(text):
        if text[column].isspace():
            column += 1
            continue
        match = _TOKEN.match(text, column)
        if match is None:
            found = printable(text[column])
            hint = _INSTEAD.get(text[column], "a formula is plain ASCII")
            raise formula_error(f"'{found}' is not understood; {hint}", text, column, where)
        token = Token(kind=str(match.lastgroup), text=match.group(), column=column)
        if token.kind == "number" and not math.isfinite(float(token.text)):
            raise formula_error(f"{token.shown} is too large for a number", text, column, where)
        tokens.append(token)
        column = match.end()
        if len(tokens) > MAX_TOKENS:
            problem = f"a formula has at most {MAX_TOKENS} words and symbols"
            raise formula_error(problem, text, token.column, where)
    return [*tokens, Token(kind="end", text="", column=len(text))]


def formula_error(problem: str, text: str, column: int, where: str) -> FormulaError:
    """Return an error: what is wrong, then the text and a caret below its column."""
    first = max(0, min(column - _SHOWN_LETTERS // 2, len(text) - _SHOWN_LETTERS))
    part = text[first : first + _SHOWN_LETTERS]
    line = "".join(letter if letter.isprintable() else " " for letter in part)
    before, after = "… " if first else "", " …" if first + len(part) < len(text) else ""
    caret = " " * (len(before) + column - first) + "^"
    place = f"{where}: " if where else ""
    return FormulaError(
        f"{place}column {column + 1}: {problem}\n    {before}{line}{after}\n    {caret}"
    )


def close_names(name: str, known: Iterable[str]) -> str:
    """Return what may have been meant, as the end of a sentence, or nothing."""
    close = difflib.get_close_matches(name[:80], sorted(known), n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""
