# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page: sections as HTML, in one file that loads nothing. All text is escaped here."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from importlib import resources
from typing import Any

from aerotwin_core.section import Cell, Figure, Headline, Section, Table
from aerotwin_report.svg_check import checked_svg

_NUMBER = re.compile(r"[+\-−]?[0-9][0-9.,\u2009 ]*([eE][+\-]?[0-9]+)?( ?%)?|–")
_TILES_PER_ROW = 6
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The page may run its own inline script and show its own pictures; nothing is fetched.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def render_page(
    document: Mapping[str, Any],
    *,
    sections: Sequence[Section],
    summary: str,
    created: datetime,
) -> str:
    """Return the whole page of a report.

    Parameters
    ----------
    document : mapping
        What `metrics_document` returned.
    sections : sequence of Section
        What to show, in order.
    summary : str
        Below the heading.
    created : datetime
        Printed in the head of the page.
    """
    title = escape(document["title"])
    body = "\n".join(
        [
            _header(document, summary, created),
            _banner(document["warnings"]),
            _tiles(sections),
            *(_section(section) for section in sections),
            _configuration(document),
            _footer(document),
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{_asset("report.css")}
</style>
</head>
<body>
{_navigation(sections)}
<main>
{body}
</main>
<script>
{_asset("report.js")}
</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return resources.files("aerotwin_report").joinpath(name).read_text("utf-8").strip()


def _navigation(sections: Sequence[Section]) -> str:
    entries = [("summary", "Summary"), *((_anchor(s), s.title) for s in sections)]
    entries.append(("configuration", "Configuration"))
    links = "\n".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in entries)
    return (
        '<nav aria-label="Sections"><div class="brand">aerotwin</div>\n'
        f'<div class="links">\n{links}\n</div>\n'
        '<button id="theme" type="button" title="light or dark">◐<span> theme</span></button></nav>'
    )


def _anchor(section: Section) -> str:
    return "s-" + re.sub(r"[^a-z0-9]+", "-", section.name.lower()).strip("-")


def _header(document: Mapping[str, Any], summary: str, created: datetime) -> str:
    facts = [("created", created.strftime("%Y-%m-%d %H:%M %Z").strip())]
    if document["world"]:
        facts.append(("world", document["world"].get("name", "–")))
    if document["seed"] is not None:
        facts.append(("seed", str(document["seed"])))
    chips = "".join(
        f'<span class="chip"><b>{escape(name)}</b> {escape(value)}</span>' for name, value in facts
    )
    text = f'<p class="lead">{escape(summary)}</p>' if summary else ""
    return (
        f'<header id="summary"><h1>{escape(document["title"])}</h1>{text}'
        f'<div class="chips">{chips}</div></header>'
    )


def _banner(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in warnings)
    return f'<div class="banner" role="alert"><b>Read this first</b><ul>{items}</ul></div>'


def _tiles(sections: Sequence[Section]) -> str:
    tiles = [_tile(tile, _anchor(s)) for s in sections for tile in s.headline]
    if not tiles:
        return ""
    # Rows of equal length: seven tiles stand as four and three, not as six and one.
    n_columns = -(-len(tiles) // -(-len(tiles) // _TILES_PER_ROW))
    return f'<div class="tiles" style="--columns: {n_columns}">{"".join(tiles)}</div>'


def _tile(tile: Headline, anchor: str) -> str:
    unit = f'<span class="unit">{escape(tile.unit)}</span>' if tile.unit else ""
    return (
        f'<a class="tile {escape(tile.status)}" href="#{anchor}">'
        f'<span class="label">{escape(tile.label)}</span>'
        f'<span class="value">{escape(tile.value)}{unit}</span>'
        f'<span class="meaning">{escape(tile.meaning)}</span></a>'
    )


def _section(section: Section) -> str:
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in section.warnings)
    paragraphs = "".join(
        f'<p class="text">{escape(part.strip())}</p>'
        for part in section.text.split("\n\n")
        if part.strip()
    )
    figures = "".join(_figure(figure) for figure in section.figures)
    grid = f'<div class="figures">{figures}</div>' if figures else ""
    tables = "".join(_table(table) for table in section.tables)
    return (
        f'<section id="{_anchor(section)}"><h2>{escape(section.title)}</h2>'
        f'{paragraphs}{warnings}{grid}<div class="tables">{tables}</div></section>'
    )


def _figure(figure: Figure) -> str:
    if figure.svg is not None:
        picture = checked_svg(figure.svg, figure.title)
        picture = picture.replace(
            "<svg ", f'<svg role="img" aria-label="{escape(figure.title)}" ', 1
        )
    else:
        if not (figure.png or b"").startswith(_PNG_SIGNATURE):
            raise ValueError(f"figure {figure.title!r}: png must hold a PNG file")
        code = base64.b64encode(figure.png or b"").decode("ascii")
        picture = f'<img alt="{escape(figure.title)}" src="data:image/png;base64,{code}">'
    wide = " wide" if figure.is_wide else ""
    caption = f"<p>{escape(figure.caption)}</p>" if figure.caption else ""
    return (
        f'<figure class="card{wide}"><figcaption><b>{escape(figure.title)}</b>{caption}'
        f'</figcaption><div class="picture">{picture}</div></figure>'
    )


def _table(table: Table) -> str:
    numeric = [
        bool(table.rows) and all(_is_number(row[i]) for row in table.rows)
        for i in range(len(table.columns))
    ]
    align = [' class="n"' if is_number else "" for is_number in numeric]
    head = "".join(f"<th{a}>{escape(name)}</th>" for name, a in zip(table.columns, align))
    rows = "".join(
        "<tr>" + "".join(f"<td{a}>{_cell(cell)}</td>" for cell, a in zip(row, align)) + "</tr>"
        for row in table.rows
    )
    caption = f"<p>{escape(table.caption)}</p>" if table.caption else ""
    return (
        f'<div class="card table"><h3>{escape(table.title)}</h3>{caption}'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        "</div></div>"
    )


def _is_number(cell: Cell) -> bool:
    if cell is None or isinstance(cell, int | float):
        return True
    return _NUMBER.fullmatch(cell.strip()) is not None


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    return escape(f"{cell:g}" if isinstance(cell, float) else str(cell))


def _configuration(document: Mapping[str, Any]) -> str:
    text = json.dumps(document["configuration"], indent=2, sort_keys=True, ensure_ascii=False)
    versions = Table(
        title="Versions",
        columns=("what", "version"),
        rows=tuple(document["versions"].items()),
        caption="The same seed gives the same sensor data on one machine with these versions.",
    )
    return (
        '<section id="configuration"><h2>Configuration</h2>'
        '<p class="text">Everything needed to repeat the run; the same stands in config.yaml and '
        "metrics.json.</p>"
        f'<div class="tables">{_table(versions)}'
        '<details class="card table" open><summary>Configuration</summary>'
        f"<pre>{escape(text)}</pre></details></div></section>"
    )


def _footer(document: Mapping[str, Any]) -> str:
    world = document["world"] or {}
    parts = []
    if world.get("attribution"):
        parts.append(f"World: {world['attribution']}")
    if world.get("licence"):
        parts.append(f"Licence of the world: {world['licence']}")
    parts.append("Simulated figures are not comparable to published field figures.")
    return "<footer>" + "".join(f"<p>{escape(part)}</p>" for part in parts) + "</footer>"
