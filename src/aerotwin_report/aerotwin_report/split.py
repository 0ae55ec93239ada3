# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Split a result of several subjects, such as estimates side by side, into one for each."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aerotwin_report.runs import Run

_BY_SECTION = ("sections", "section_titles", "section_warnings", "section_schemas", "verdicts")


def split_run(run: Run) -> list[Run]:
    """Return one run for each section of a kind that has several; else the run itself.

    In each the section has the name of its kind, so that it is compared with those of other runs;
    sections without a kind, which cover all subjects, are left out.
    """
    kinds: Mapping[str, str] = run.document.get("section_kinds", {})
    several = [name for name, kind in kinds.items() if list(kinds.values()).count(kind) > 1]
    if not several:
        return [run]
    titles = run.document["section_titles"]
    return [
        replace(
            run,
            name=f"{run.name}/{titles[name]}",
            document=_of_section(run.document, name, kinds[name]),
        )
        for name in several
    ]


def _of_section(document: Mapping[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Return the document of one section, under the name of its kind."""
    title = document["section_titles"][name]
    parts = {
        part: {kind: document[part][name]} if name in document[part] else {} for part in _BY_SECTION
    }
    tiles = [
        {**tile, "section": kind, "label": tile["label"].removeprefix(f"{title}: ")}
        for tile in document["headline"]
        if tile["section"] == name
    ]
    parts["section_titles"] = {kind: kind.capitalize()}
    return {**document, **parts, "section_kinds": {}, "headline": tiles, "title": title}
