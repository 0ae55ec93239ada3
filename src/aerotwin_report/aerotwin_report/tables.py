# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables and hints of the page as HTML, and tables as plain text for a terminal."""

import re
import textwrap
from collections.abc import Sequence
from urllib.parse import quote

from aerotwin_core.foreign_text import html_text as escape
from aerotwin_core.section import Cell, ReportLink, Table


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


_NUMBER = re.compile(r"[+\-−]?[0-9][0-9.,\u2009 ]*([eE][+\-]?[0-9]+)?( ?%)?( ± [0-9.]+)?|–")
LONG_TABLE = 25  # a table of more rows scrolls in its card, below its head
WIDE_TABLE = 5  # one of more columns takes the whole width
WIDE_CHARACTERS = 60  # so does one whose lines would be cut in half of it
_GAP = 3  # characters between columns


def render_tables(tables: Sequence[Table], name: str) -> str:
    """Return the cards of a chapter's tables, in two columns where each fits into half the page.

    `name` is the prefix of the ids in them, unique on the page.
    """
    wide = [True, *(_is_wide(table) for table in tables), True]
    return "".join(
        # A narrow one between wide ones would leave the other column empty.
        render_table(table, f"{name}-t{k}", is_wide=wide[k + 1] or (wide[k] and wide[k + 2]))
        for k, table in enumerate(tables)
    )


def render_table(table: Table, name: str, *, is_wide: bool = False) -> str:
    """Return the card of a table, on request of full width.

    `name` is the prefix of the ids in it, unique on the page.
    """
    numeric = [is_numeric(table, column) for column in range(len(table.columns))]
    head = "".join(_heading(table, k, name, is_number) for k, is_number in enumerate(numeric))
    rows = "".join(_row(table, k, name, numeric) for k in range(len(table.rows)))
    caption = f"<p>{escape(table.caption)}</p>" if table.caption else ""
    is_long = " long" if len(table.rows) > LONG_TABLE else ""
    wide = " wide" if is_wide else ""
    return (
        f'<div class="card table{wide}"><h3>{escape(table.title)}</h3>{caption}'
        f'<div class="scroll{is_long}" tabindex="0" role="region" '
        f'aria-label="{escape(table.title)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )


def _is_wide(table: Table) -> bool:
    """Return whether half of the page is too narrow: text may wrap, numbers and names may not."""
    texts = [table.columns, *table.rows]
    longest = [
        max(len(token) for row in texts for token in [*shown(row[column]).split(), ""])
        for column in range(len(table.columns))
    ]
    return len(table.columns) > WIDE_TABLE or sum(longest) + _GAP * len(longest) > WIDE_CHARACTERS


def _heading(table: Table, column: int, name: str, is_number: bool) -> str:
    text = table.column_hints[column] if table.column_hints else ""
    label = table.columns[column]
    kind = hinted(text, "n" if is_number else "")
    mark = hint(text, about=label, name=f"{name}-c{column}")
    return f'<th scope="col"{kind}>{escape(label)}{mark}</th>'


def _row(table: Table, row: int, name: str, numeric: list[bool]) -> str:
    text = table.hints[row] if table.hints else ""
    cells = table.rows[row]
    mark = hint(text, about=shown(cells[0]), name=f"{name}-r{row}")
    parts = []
    for column, cell in enumerate(cells):
        is_best = (row, column) in table.best
        classes = " ".join(
            part for part in ("n" if numeric[column] else "", "best" if is_best else "") if part
        )
        kind = f' class="{classes}"' if classes else ""
        best = '<span class="best-mark"> best</span>' if is_best else ""
        parts.append(f"<td{kind}>{_content(cell)}{mark if column == 0 else ''}{best}</td>")
    return f"<tr{hinted(text)}>{''.join(parts)}</tr>"


def _content(cell: Cell) -> str:
    text = escape(shown(cell))
    if isinstance(cell, ReportLink):
        return f'<a href="{escape(quote(cell.path))}">{text}</a>'
    return text


def is_numeric(table: Table, column: int) -> bool:
    """Return whether all cells of a column are numbers or missing."""
    return bool(table.rows) and all(_is_number(row[column]) for row in table.rows)


def _is_number(cell: Cell) -> bool:
    if cell is None or isinstance(cell, int | float):
        return True
    return isinstance(cell, str) and _NUMBER.fullmatch(cell.strip()) is not None


def shown(cell: Cell) -> str:
    """Return a cell as text."""
    if cell is None:
        return "–"
    if isinstance(cell, ReportLink):
        return cell.text
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


_COLUMN_GAP = "  "
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
    return _COLUMN_GAP.join(
        cell.rjust(width) if is_number else cell.ljust(width)
        for cell, width, is_number in zip(cells, widths, numeric)
    ).rstrip()
