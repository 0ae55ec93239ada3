# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine-readable side of a report: `metrics.json` and its schema."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

from aerotwin_core.run_folder import library_versions
from aerotwin_core.section import Section

SCHEMA_VERSION = 2


def metrics_document(
    *,
    title: str,
    summary: str = "",
    created: str,
    sections: Sequence[Section],
    configuration: Mapping[str, Any],
    warnings: Sequence[str],
    seed: int | None,
    world: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return the content of `metrics.json`, valid by its `schema_of`.

    Raises
    ------
    ValueError
        If two sections have one name.
    """
    names = [section.name for section in sections]
    if len(set(names)) != len(names):
        raise ValueError(f"sections must have different names, got {names}")
    return {
        "schema_version": SCHEMA_VERSION,
        "title": title,
        "summary": summary,
        "created": created,
        "is_complete": not warnings,
        "warnings": list(warnings),
        "seed": seed,
        "world": dict(world) if world is not None else None,
        "versions": library_versions(),
        "configuration": plain(configuration),
        "sections": {s.name: plain(s.metrics) for s in sections},
        "section_titles": {s.name: s.title for s in sections},
        "section_kinds": {s.name: s.kind for s in sections if s.kind},
        "section_warnings": {s.name: list(s.warnings) for s in sections if s.warnings},
        "section_schemas": {s.name: plain(s.schema) for s in sections if s.schema is not None},
        "verdicts": {s.name: s.verdict for s in sections if s.verdict},
        "headline": [{"section": s.name, **asdict(tile)} for s in sections for tile in s.headline],
    }


def schema_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of one document: the static one, with those of its sections."""
    brought = document.get("section_schemas")
    return schema(brought if isinstance(brought, Mapping) else {})


def schema(section_schemas: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the JSON schema (2020-12) of `metrics.json`.

    Schemas of sections, by name, may refer to the definitions of the static schema
    (``#/$defs/share``, ``number``, ``statistics``, ``pose_errors``, ``transform``, ``distances``)
    and add their own.

    Raises
    ------
    ValueError
        If a section redefines an existing definition differently.
    """
    merged = _written_schema()
    definitions = merged["$defs"]
    for name, own in (section_schemas or {}).items():
        for key, definition in own.get("$defs", {}).items():
            if definitions.setdefault(key, definition) != definition:
                raise ValueError(
                    f"schema of section {name!r}: $defs/{key} is defined differently elsewhere; "
                    "take another name"
                )
        merged["properties"]["sections"].setdefault("properties", {})[name] = {
            key: value for key, value in own.items() if key != "$defs"
        }
    return merged


def _written_schema() -> dict[str, Any]:
    text = resources.files("aerotwin_report").joinpath("metrics.schema.json").read_text("utf-8")
    return json.loads(text)


def plain(value: Any) -> Any:
    """Return a value of plain JSON types; NaN and infinity, which JSON lacks, become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
