# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures and scenes as HTML."""

import base64
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

from aerotwin_core.foreign_text import html_text as escape
from aerotwin_core.plots import colour_table
from aerotwin_core.section import Figure, ReportScene
from aerotwin_report.scene_data import ShownLayer, scene_document
from aerotwin_report.still import still_picture

_REFUSED = {"script", "foreignObject", "iframe", "object", "embed", "set", "animate", "handler"}
_SAFE_LINK = re.compile(r"(#|data:image/(png|jpeg);base64,)")
_LOADING_STYLE = re.compile(r"@import|url\(\s*['\"]?(?!#)", re.IGNORECASE)


def checked_svg(svg: str, title: str) -> str:
    """Return the SVG element, or raise ValueError if it contains more than a drawing."""
    if "<!" in svg.replace("<!--", ""):
        raise ValueError(
            f"figure {title!r}: the SVG has a declaration; give the <svg> element only"
        )
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise ValueError(f"figure {title!r}: the SVG is not well-formed: {error}") from error
    if root.tag.rpartition("}")[2] != "svg":
        raise ValueError(f"figure {title!r}: the SVG starts with <{root.tag}>")
    for element in root.iter():
        tag = str(element.tag).rpartition("}")[2]
        if tag in _REFUSED:
            raise ValueError(f"figure {title!r}: <{tag}> is not allowed in a picture")
        if tag == "style" and _LOADING_STYLE.search(element.text or ""):
            raise ValueError(f"figure {title!r}: its style loads something")
        for key, value in element.attrib.items():
            name = key.rpartition("}")[2].lower()
            is_link = name in ("href", "src") and not _SAFE_LINK.match(value.strip())
            loads = _LOADING_STYLE.search(value) is not None and name != "href"
            if name.startswith("on") or is_link or loads:
                raise ValueError(f"figure {title!r}: attribute {name} is not allowed")
    return svg


_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_N_STOPS = 16


def render_figure(figure: Figure) -> str:
    """Return the card of a figure.

    Raises ValueError if the picture is no PNG, or an SVG that contains more than a drawing.
    """
    if figure.svg is not None:
        picture = checked_svg(figure.svg, figure.title)
        picture = picture.replace(
            "<svg ", f'<svg role="img" aria-label="{escape(figure.title)}" ', 1
        )
    else:
        if not (figure.png or b"").startswith(_PNG_SIGNATURE):
            raise ValueError(f"figure {figure.title!r}: png must hold a PNG file")
        picture = _image(figure.png or b"", figure.title)
    wide = " wide" if figure.is_wide else ""
    return (
        f'<figure class="card{wide}">{_caption(figure.title, figure.caption)}'
        f'<div class="picture">{picture}</div></figure>'
    )


def render_scene(scene: ReportScene, shown: Sequence[ShownLayer]) -> str:
    """Return the card of a scene: a still picture, its legend, and the input of the viewer."""
    data = json.dumps(scene_document(scene, shown), allow_nan=False, separators=(",", ":"))
    # Inside <script>, only "<" could end the element.
    data = data.replace("<", "\\u003c")
    legend = "".join(f"<li>{_legend_entry(part)}</li>" for part in shown)
    return (
        f'<figure class="card wide scene">{_caption(scene.title, scene.caption)}'
        f'<div class="stage">{_image(still_picture(shown), scene.title, "still")}</div>'
        f'<ul class="legend">{legend}</ul><div class="controls"></div>'
        f'<script type="application/json" class="scene-data">{data}</script></figure>'
    )


def colour_scale() -> tuple[str, str]:
    """Return the error colours as a CSS gradient, and as base64 of 256 x 3 bytes."""
    table = colour_table()
    stops = ",".join(
        f"#{bytes(table[round(255 * k / (_N_STOPS - 1))]).hex()}" for k in range(_N_STOPS)
    )
    return f"linear-gradient(90deg,{stops})", base64.b64encode(table.tobytes()).decode("ascii")


def _image(png: bytes, title: str, kind: str = "") -> str:
    code = base64.b64encode(png).decode("ascii")
    named = f' class="{kind}"' if kind else ""
    return f'<img{named} alt="{escape(title)}" src="data:image/png;base64,{code}">'


def _caption(title: str, caption: str) -> str:
    text = f"<p>{escape(caption)}</p>" if caption else ""
    return f"<figcaption><b>{escape(title)}</b>{text}</figcaption>"


def _legend_entry(shown: ShownLayer) -> str:
    layer, n = shown.layer, len(shown.which)
    what = "points of the path" if shown.is_path else "points"
    counted = f"{n:,}" if n == len(layer.points_map) else f"{n:,} of {len(layer.points_map):,}"
    text = f"{layer.name}: {counted} {what} shown"
    if shown.n_far:
        text += f", {shown.n_far:,} far from all others left out"
    if not layer.is_shown:
        text += ", off at first"
    if shown.values is None:
        return f'<i class="swatch" style="background:{shown.colour}"></i>{escape(text)}'
    low, high = shown.limits
    scale = f"{text}; {layer.quantity} {low:.3g} to {high:.3g} {layer.unit}".strip()
    return f'<i class="swatch scaled"></i>{escape(scale)}'
