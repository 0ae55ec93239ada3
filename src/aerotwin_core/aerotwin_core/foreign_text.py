# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Text from outside (files, servers, topics): parsed as numbers and shown to a person."""

import reprlib
from collections.abc import Iterable
from html import escape
from typing import Any

_MOST_DIGITS = 18
"""All of an int64 fit."""
_MOST_NAMES, _MOST_SHOWN = 20, 60
_KEPT_IN_HTML = "\n\t\u00a0\u2009\u202f"
"""Line ends, tabs and the blanks of typography."""
_short = reprlib.Repr()
_short.maxlevel, _short.maxstring, _short.maxother = 2, _MOST_SHOWN, _MOST_SHOWN


def whole_number(text: str) -> int | None:
    """Return the count that ASCII digits write, None for anything else or more than 18 digits.

    `int` accepts signs, underscores and other scripts, and refuses more than 4300 digits with an
    error of its own.

    >>> whole_number("1200"), whole_number("-1"), whole_number("9" * 5000)
    (1200, None, None)
    """
    is_count = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_count else None


def printable(text: str, most: int | None = None, *, keep: str = "") -> str:
    r"""Return text as a terminal may get it: control characters escaped, too long ones cut.

    An escape sequence in a topic's name or a server's answer would move the cursor, rewrite lines
    above or set the title of the window. Characters that turn the direction of writing are also
    escaped. More than `most` characters lose their middle; control characters in `keep`, such as a
    newline, are not escaped.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if most is not None and len(text) > most:
        head = most * 2 // 3
        text = f"{text[:head]} … {text[len(text) - (most - head) :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def html_text(text: str) -> str:
    r"""Return text for a page of HTML: markup escaped, and control characters as `printable` does.

    >>> html_text("<b>a\x1b[2J\u202eb\nc")
    '&lt;b&gt;a\\x1b[2J\\u202eb\nc'
    """
    return escape(printable(text, keep=_KEPT_IN_HTML))


def shown(value: Any) -> str:
    """Return a value as text for an error message, with its type; truncated before formatting."""
    return f"{printable(_short.repr(value), _MOST_SHOWN)} ({type(value).__name__})"


def listed(names: Iterable[object], most: int = _MOST_NAMES) -> str:
    """Return names joined by commas, and how many more there are.

    >>> listed("abcd", 2)
    'a, b and 2 more'
    """
    found = [str(name) for name in names]
    text = ", ".join(found[:most])
    return text if len(found) <= most else f"{text} and {len(found) - most} more"
