# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hints: how a number was computed, on hover, focus and touch; in print and without script, below.

A hint is a button and a text that describes it. The element that holds both has the class
`hinted`: a pointer anywhere over it opens the hint.
"""

from html import escape


def hint(text: str, *, about: str, name: str) -> str:
    """Return the button and the text of a hint, or "" without a text.

    `about` is the explained subject, for screen readers; `name` is unique on the page, of letters,
    digits and dashes.
    """
    if not text:
        return ""
    return (
        f'<button type="button" class="hint" aria-label="how {escape(about)} is computed" '
        f'aria-expanded="false" aria-describedby="{name}">?</button>'
        f'<span class="hint-text" role="tooltip" id="{name}">{escape(text)}</span>'
    )


def hinted(text: str, *classes: str) -> str:
    """Return the class attribute of an element that may hold a hint, or ""."""
    named = [name for name in (*classes, "hinted" if text else "") if name]
    return f' class="{" ".join(named)}"' if named else ""
