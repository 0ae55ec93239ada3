# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of a package for a report, as plain data.

Every package that measures something describes its result as a `Section`; `aerotwin_report`
renders sections. Neither depends on the other. Text is plain text: the renderer escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aerotwin_core.scene import PathLayer as PathLayer
from aerotwin_core.scene import PointLayer as PointLayer
from aerotwin_core.scene import ReportScene as ReportScene

_NOT_A_PATH = re.compile(r"[\\:?\x00-\x1f]")  # schemes, queries, other systems' separators

STATUSES = ("neutral", "good", "warn", "bad")
BETTER = ("", "lower", "higher")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture with a title and a caption that says what to look for.

    Exactly one of `png` (bytes of a PNG file) and `svg` (an SVG document) is set; ``currentColor``
    in an SVG follows the report's light or dark theme. `is_wide` takes the whole width of the page.
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
    """A table; numbers are right-aligned and printed as they are (format them as text).

    A cell may be a link.

    Parameters
    ----------
    columns : tuple of str
        Headings, with the unit where a column has one.
    rows : tuple of tuples
        One cell for each column.
    hints, column_hints : tuple of str
        How the numbers of each row or column were computed: shown on hover, focus and touch, and in
        print. Empty, or one for each; an empty text shows nothing.
    best : tuple of (row, column)
        Cells to mark as the best of those they are compared with.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    hints: tuple[str, ...] = ()
    column_hints: tuple[str, ...] = ()
    best: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.title!r}: a row must have {len(self.columns)} cells, "
                    f"got {len(row)}: {row!r}"
                )
        self._require("hints", len(self.hints), len(self.rows), "row")
        self._require("column_hints", len(self.column_hints), len(self.columns), "column")
        for row_index, column in self.best:
            if not (0 <= row_index < len(self.rows) and 0 <= column < len(self.columns)):
                raise ValueError(
                    f"table {self.title!r}: best names the cell ({row_index}, {column}) of "
                    f"{len(self.rows)} rows and {len(self.columns)} columns"
                )

    def _require(self, name: str, found: int, expected: int, what: str) -> None:
        if found not in (0, expected):
            raise ValueError(
                f"table {self.title!r}: {name} must be one for each {what} ({expected}), "
                f"got {found}"
            )


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One key number as a tile: label, value, and what the value means as text.

    Parameters
    ----------
    value : str
        Formatted by the caller, who knows its precision.
    status, better : str
        One of `STATUSES`, and one of `BETTER`: which of two runs is ahead; comparisons mark the
        best with it.
    computed : str
        How the number was computed: shown on hover, focus and touch, and in print.
    """

    label: str
    value: str
    unit: str = ""
    meaning: str = ""
    status: str = "neutral"
    computed: str = ""
    better: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status must be one of {STATUSES}, got {self.status!r}")
        if self.better not in BETTER:
            raise ValueError(f"better must be one of {BETTER}, got {self.better!r}")


@dataclass(frozen=True, kw_only=True)
class ReportLink:
    """A link to a file beside the report, such as the report of one of the runs it compares.

    `path` is relative, with forward slashes.
    """

    text: str
    path: str

    def __post_init__(self) -> None:
        if not self.path or self.path.startswith(("/", "#")) or _NOT_A_PATH.search(self.path):
            raise ValueError(
                f"link {self.text!r}: path must be relative, with forward slashes, "
                f"got {self.path!r}"
            )


Cell = str | int | float | ReportLink | None


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
        What was done and how to read it; blank lines separate paragraphs.
    headline : tuple of Headline
        Key numbers, also shown at the top of the report.
    scenes, figures, tables : tuple
        Shown in this order.
    metrics : mapping
        The numbers for machines: nested mappings and lists of plain values.
    warnings : tuple of str
        What the reader must know before believing the numbers.
    verdict : str
        The result in one sentence; the report begins with the verdicts of all sections.
    schema : mapping, optional
        JSON schema (2020-12, the keywords of `aerotwin_report.schema_check`) of `metrics`. A number
        in it with ``title``, ``unit`` and ``better`` (``lower`` or ``higher``) is compared between
        runs.
    links : tuple of ReportLink
        Shown below the text.
    kind : str
        Group of sections that are compared with each other, as those of several estimates. Empty
        for a section that is the only one of its kind.
    """

    title: str
    name: str
    text: str = ""
    headline: tuple[Headline, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    metrics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    scenes: tuple[ReportScene, ...] = ()
    verdict: str = ""
    schema: Mapping[str, Any] | None = None
    links: tuple[ReportLink, ...] = ()
    kind: str = ""


def measure(label: str, value: float | None, unit: str, meaning: str, *, digits: int = 3):
    """Return a table row *quantity, value, unit, meaning*; a missing number shows as a dash."""
    if value is None or value != value:
        return (label, "–", unit, meaning)
    return (label, f"{value:.{digits}f}", unit, meaning)


MEASURE_COLUMNS = ("quantity", "value", "unit", "meaning")
