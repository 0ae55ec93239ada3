# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Text that somebody else wrote (files, servers, topics): read as numbers and shown to a person."""

_MOST_DIGITS = 18
"""All of an int64 fit."""


def whole_number(text: str) -> int | None:
    """Return the count that ASCII digits write, None for anything else or more than 18 digits.

    `int` takes signs, underscores and other scripts, and refuses more than 4300 digits with an
    error of its own.

    Examples
    --------
    >>> whole_number("1200"), whole_number("-1"), whole_number("9" * 5000)
    (1200, None, None)
    """
    is_count = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_count else None
