# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables for a terminal: aligned columns of plain text, nothing escaped."""

import textwrap

from aerotwin_core.section import Table
from aerotwin_report.tables import is_numeric, shown

_GAP = "  "
_BEST = " *"
_CAPTION_COLUMNS = 100


def table_text(table: Table) -> str:
    """Return a table as text: title, caption, columns; the best cells carry a star.

    Examples
    --------
    >>> print(table_text(Table(title="APE", columns=("method", "m"), rows=(("orb", "0.10"),))))
    APE
    method     m
    orb     0.10
    """
    numeric = [is_numeric(table, column) for column in range(len(table.columns))]
    rows = [[" ".join(str(text).split()) for text in table.columns]]
    for r, row in enumerate(table.rows):
        rows.append([_cell(table, r, c) for c in range(len(row))])
    widths = [max(len(row[c]) for row in rows) for c in range(len(table.columns))]
    lines = [_line(row, widths, numeric) for row in rows]
    caption = textwrap.wrap(table.caption, _CAPTION_COLUMNS)
    star = ["* best"] if table.best else []
    return "\n".join([table.title, *caption, *lines, *star])


def _cell(table: Table, row: int, column: int) -> str:
    text = " ".join(shown(table.rows[row][column]).split())
    if not any(at == column for _, at in table.best):
        return text
    return text + (_BEST if (row, column) in table.best else " " * len(_BEST))


def _line(cells: list[str], widths: list[int], numeric: list[bool]) -> str:
    return _GAP.join(
        cell.rjust(width) if is_number else cell.ljust(width)
        for cell, width, is_number in zip(cells, widths, numeric)
    ).rstrip()
