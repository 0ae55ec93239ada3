# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Places in a document of plain values, by dotted paths: `events.gnss_lost.at_s`.

A part of a path is a key of a mapping; in a list it is a number from 0, or the `name` of a mapping
in it.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import listed, shown


def check_path(document: Mapping[str, Any], path: str, *, is_new: bool, place: str) -> None:
    """Refuse a path that a document does not have; a new one may lack its last parts.

    Raises `ParameterError` with close names.
    """
    parts = path.split(".")
    if not all(parts):
        raise ParameterError(f"{place}: '{path}' has an empty part; expected names joined by dots")
    value: Any = document
    for depth, part in enumerate(parts):
        before = ".".join(parts[:depth]) or "base"
        if isinstance(value, Mapping | list):
            key = _key(value, part)
            if key is not None:
                value = value[key]
                continue
            if is_new and isinstance(value, Mapping):
                return
            names = _names(value)
            close = difflib.get_close_matches(part, names, n=3)
            listing = f"did you mean {' or '.join(close)}?" if close else f"it has {listed(names)}"
            new = f"; to add it, list '{path}' under 'new'" if isinstance(value, Mapping) else ""
            raise ParameterError(f"{place}: {before} has no '{part}'; {listing}{new}")
        raise ParameterError(
            f"{place}: expected a mapping or a list at {before}, found {shown(value)}"
        )
    if is_new:
        raise ParameterError(f"{place}: base has '{path}' already; remove it from 'new'")


def with_value(document: Any, parts: Sequence[str], value: Any) -> Any:
    """Return a document with another value at a path; what is not on the path is shared.

    Parameters
    ----------
    document : mapping or list
    parts : sequence of str
        A path that `check_path` accepted, divided at its dots.
    value : plain value
    """
    if not parts:
        return value
    if isinstance(document, list):
        key = _key(document, parts[0])
        changed: Any = list(document)
        inner = document[key]
    else:
        key = parts[0]
        changed = dict(document)
        inner = document.get(key, {})
    changed[key] = with_value(inner, parts[1:], value)
    return changed


def _key(value: Any, part: str) -> Any:
    """Return the key or index of a part in a mapping or list, None if there is none."""
    if isinstance(value, Mapping):
        return part if part in value else None
    if part.isascii() and part.isdigit():
        return int(part) if int(part) < len(value) else None
    found = [k for k, each in enumerate(value) if isinstance(each, Mapping) and _is(each, part)]
    return found[0] if len(found) == 1 else None


def _is(each: Mapping[str, Any], name: str) -> bool:
    return each.get("name") == name


def _names(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return list(value)
    named = [each["name"] for each in value if isinstance(each, Mapping) and "name" in each]
    return [str(name) for name in named] or [str(k) for k in range(len(value))]
