# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page: sections as HTML, in one file that loads nothing. All text is escaped here."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib import resources
from typing import Any
from urllib.parse import quote

from aerotwin_core.foreign_text import html_text as escape
from aerotwin_core.section import Headline, Section, Table
from aerotwin_report.pictures import colour_scale, render_figure, render_scene
from aerotwin_report.scene_data import ShownLayer, thinned_scenes
from aerotwin_report.tables import hint, hinted, render_table, render_tables

_TILES_PER_ROW = 6
_SCRIPTS = (
    "parts.js",
    "camera.js",
    "scene.js",
    "draw_gl.js",
    "draw_plain.js",
    "pointers.js",
    "viewer.js",
    "scenes.js",
    "report.js",
)


def render_page(
    document: Mapping[str, Any],
    *,
    sections: Sequence[Section],
    summary: str,
    created: datetime,
) -> str:
    """Return the whole page of a report from the document of `metrics_document`.

    Sections keep their order; the summary is below the heading, the time in the head of the page.
    """
    scenes = iter(thinned_scenes([scene for s in sections for scene in s.scenes]))
    body = "\n".join(
        [
            _header(document, sections, summary, created),
            _tiles(sections),
            *(_section(section, scenes) for section in sections),
            _configuration(document),
            _footer(document),
        ]
    )
    gradient, table = colour_scale()
    script = "(() => {\n" + "\n".join(['"use strict";', *map(_asset, _SCRIPTS)]) + "\n})();\n"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">
<title>{escape(document["title"])}</title>
<link rel="icon" href="data:,">
<style>
:root {{ --error-colours: {gradient}; }}
{_asset("report.css")}
{_asset("viewer.css")}
</style>
</head>
<body>
{_navigation(sections)}
<main>
{body}
</main>
<script type="text/plain" id="error-colours">{table}</script>
<script>{script}</script>
</body>
</html>
"""


def _policy(script: str) -> str:
    """Allow this one script and pictures within the page; nothing is fetched."""
    code = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{code}'; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return resources.files("aerotwin_report").joinpath("page", name).read_text("utf-8").strip()


def _navigation(sections: Sequence[Section]) -> str:
    entries = [("summary", "Summary"), *((_anchor(s), s.title) for s in sections)]
    entries.append(("configuration", "Configuration"))
    links = "\n".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in entries)
    return (
        '<nav aria-label="Sections"><div class="brand">aerotwin</div>\n'
        f'<div class="links">\n{links}\n</div>\n'
        '<button id="theme" type="button" aria-label="light or dark">'
        "◐<span> theme</span></button></nav>"
    )


def _anchor(section: Section) -> str:
    return "s-" + re.sub(r"[^a-z0-9]+", "-", section.name.lower()).strip("-")


def _header(
    document: Mapping[str, Any], sections: Sequence[Section], summary: str, created: datetime
) -> str:
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
        f'<header id="summary"><h1>{escape(document["title"])}</h1>'
        f"{_banner(document['warnings'])}{_verdicts(sections)}{text}"
        f'<div class="chips">{chips}</div></header>'
    )


def _banner(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in warnings)
    return f'<div class="banner" role="alert"><b>Read this first</b><ul>{items}</ul></div>'


def _verdicts(sections: Sequence[Section]) -> str:
    rows = "".join(
        f'<p><a href="#{_anchor(s)}">{escape(s.title)}</a> {escape(s.verdict)}</p>'
        for s in sections
        if s.verdict
    )
    return f'<div class="verdicts">{rows}</div>' if rows else ""


def _tiles(sections: Sequence[Section]) -> str:
    tiles = [
        _tile(tile, _anchor(s), f"{_anchor(s)}-h{k}")
        for s in sections
        for k, tile in enumerate(s.headline)
    ]
    if not tiles:
        return ""
    # Rows of equal length: seven tiles are arranged as four and three, not as six and one.
    n_columns = -(-len(tiles) // -(-len(tiles) // _TILES_PER_ROW))
    return f'<div class="tiles" style="--columns: {n_columns}">{"".join(tiles)}</div>'


def _tile(tile: Headline, anchor: str, name: str) -> str:
    unit = f'<span class="unit">{escape(tile.unit)}</span>' if tile.unit else ""
    mark = hint(tile.computed, about=tile.label, name=name)
    return (
        f"<div{hinted(tile.computed, 'tile', tile.status)}>"
        f'<span class="label"><a href="#{anchor}">{escape(tile.label)}</a>{mark}</span>'
        f'<span class="value">{escape(tile.value)}{unit}</span>'
        f'<span class="meaning">{escape(tile.meaning)}</span></div>'
    )


def _section(section: Section, scenes: Iterator[tuple[ShownLayer, ...]]) -> str:
    anchor = _anchor(section)
    verdict = f'<p class="text verdict">{escape(section.verdict)}</p>' if section.verdict else ""
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in section.warnings)
    paragraphs = "".join(
        f'<p class="text">{escape(part.strip())}</p>'
        for part in section.text.split("\n\n")
        if part.strip()
    )
    cards = [render_scene(scene, shown) for scene, shown in zip(section.scenes, scenes)]
    cards += [render_figure(figure) for figure in section.figures]
    grid = f'<div class="figures">{"".join(cards)}</div>' if cards else ""
    tables = render_tables(section.tables, anchor)
    links = "".join(
        f'<a class="chip" href="{escape(quote(link.path))}">{escape(link.text)}</a>'
        for link in section.links
    )
    row = f'<div class="chips">{links}</div>' if links else ""
    return (
        f'<section id="{anchor}"><h2>{escape(section.title)}</h2>'
        f'{verdict}{paragraphs}{row}{warnings}{grid}<div class="tables">{tables}</div></section>'
    )


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
        '<p class="text">Everything needed to repeat it; the same is in its JSON.</p>'
        f'<div class="tables">{render_table(versions, "configuration-t0")}'
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
    if world:
        parts.append("Simulated figures are not comparable to published field figures.")
    return "<footer>" + "".join(f"<p>{escape(part)}</p>" for part in parts) + "</footer>"
