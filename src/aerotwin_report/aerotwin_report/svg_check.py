# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""SVG pictures are embedded in the page: they may contain no scripts or external references."""

import re
import xml.etree.ElementTree as ElementTree

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
