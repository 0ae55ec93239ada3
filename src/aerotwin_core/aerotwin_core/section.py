# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a package says in a report, as plain data.

Every package that measures something describes its result as a `Section`; `aerotwin_report`
renders sections. Neither needs to know the other. Text is plain text: the renderer escapes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STATUSES = ("neutral", "good", "warn", "bad")

Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture with a title and a caption that says what to look for.

    Parameters
    ----------
    title, caption : str
        Plain text.
    png : bytes, optional
        The picture as a PNG file. Exactly one of `png` and `svg` is given.
    svg : str, optional
        The picture as an SVG document. ``currentColor`` follows the report's light or dark theme.
    is_wide : bool
        Whether it takes the whole width of the page.
    """

    title: str
    caption: str = ""
    png: bytes | None = None
    svg: str | None = None
    is_wide: bool = False

    def __post_init__(self) -> None:
        if (self.png is None) == (self.svg is None):
            raise ValueError(f"figure {self.title!r} must have either png or svg; give one")


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table; numbers are right-aligned and printed as they are given (format them as text)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.title!r}: a row must have {len(self.columns)} cells, "
                    f"got {len(row)}: {row!r}"
                )


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One key number as a tile: what it is, how much, and what that means in words."""

    label: str
    value: str
    unit: str = ""
    meaning: str = ""
    status: str = "neutral"

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status must be one of {STATUSES}, got {self.status!r}")


@dataclass(frozen=True, kw_only=True)
class Section:
    """One chapter of a report.

    Parameters
    ----------
    title : str
        Heading, and entry in the navigation.
    name : str
        Key of this section in `metrics.json`; lower case with underscores.
    text : str
        What was done and how to read it; blank lines part paragraphs.
    headline : tuple of Headline
        Key numbers; they also stand at the top of the report.
    figures, tables : tuple
        Shown in this order: figures, then tables.
    metrics : mapping
        The numbers for machines: nested mappings and lists of plain values.
    warnings : tuple of str
        What the reader must know before believing the numbers.
    """

    title: str
    name: str
    text: str = ""
    headline: tuple[Headline, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    metrics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def measure(label: str, value: float | None, unit: str, meaning: str, *, digits: int = 3):
    """Return a table row *quantity, value, unit, meaning*; a missing number shows as a dash."""
    if value is None or value != value:
        return (label, "–", unit, meaning)
    return (label, f"{value:.{digits}f}", unit, meaning)


MEASURE_COLUMNS = ("quantity", "value", "unit", "meaning")
