# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine-readable side of a report: `metrics.json` and its schema."""

import json
import math
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata, resources
from typing import Any

from aerotwin_core.section import Section

SCHEMA_VERSION = 1
_LISTED = ("numpy", "scipy", "numba", "opencv-contrib-python-headless", "evo", "open3d-cpu")


def metrics_document(
    *,
    title: str,
    created: str,
    sections: Sequence[Section],
    configuration: Mapping[str, Any],
    warnings: Sequence[str],
    seed: int | None,
    world: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return what `metrics.json` holds; it obeys `schema()`.

    Raises
    ------
    ValueError
        If two sections have one name or a value cannot be written as JSON.
    """
    names = [section.name for section in sections]
    if len(set(names)) != len(names):
        raise ValueError(f"sections must have different names, got {names}")
    return {
        "schema_version": SCHEMA_VERSION,
        "title": title,
        "created": created,
        "is_complete": not warnings,
        "warnings": list(warnings),
        "seed": seed,
        "world": dict(world) if world is not None else None,
        "versions": versions(),
        "configuration": plain(configuration),
        "sections": {s.name: plain(s.metrics) for s in sections},
        "section_warnings": {s.name: list(s.warnings) for s in sections if s.warnings},
    }


def schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of `metrics.json`."""
    text = resources.files("aerotwin_report").joinpath("metrics.schema.json").read_text("utf-8")
    return json.loads(text)


def versions() -> dict[str, str]:
    """Return the versions of Python, the machine's architecture and what computes the numbers."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in _LISTED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


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
