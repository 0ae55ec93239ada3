# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables as HTML."""

import re
from collections.abc import Sequence
from html import escape

from aerotwin_core.section import Cell, Table
from aerotwin_report.hints import hint, hinted

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
        parts.append(f"<td{kind}>{escape(shown(cell))}{mark if column == 0 else ''}{best}</td>")
    return f"<tr{hinted(text)}>{''.join(parts)}</tr>"


def is_numeric(table: Table, column: int) -> bool:
    """Return whether all cells of a column are numbers or missing."""
    return bool(table.rows) and all(_is_number(row[column]) for row in table.rows)


def _is_number(cell: Cell) -> bool:
    if cell is None or isinstance(cell, int | float):
        return True
    return _NUMBER.fullmatch(cell.strip()) is not None


def shown(cell: Cell) -> str:
    """Return a cell as text."""
    if cell is None:
        return "–"
    return f"{cell:g}" if isinstance(cell, float) else str(cell)
